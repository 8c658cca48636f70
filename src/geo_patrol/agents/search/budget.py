"""The parameters of a search, and what they say about its budget."""

import re
from typing import Annotated, NamedTuple

from pydantic import Field

from geo_patrol.agents.scripted.parameters import describe_parameters
from geo_patrol.errors import show

_DEFAULT_SECONDS = 0.01
_MOST_SECONDS = 3600.0
_BUDGET = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(ms|s)")


class Search(NamedTuple):
    """The parameters of a search."""

    budget: str = ""
    """The time for one decision, such as "10ms" or "1.5s"; nothing: 10 ms, if there is no number of rollouts."""
    rollouts: Annotated[int, Field(ge=0, le=100_000)] = 0
    """The number of rollouts for one decision, about; 0: by time. The same number always plays the same."""
    candidates: Annotated[int, Field(ge=2, le=256)] = 16
    """Joint orders that are judged."""
    doubt: Annotated[float, Field(ge=0, le=10)] = 0.0
    """Standard errors by which others must beat the first script's orders."""


def read_budget(search: Search) -> tuple[float, int]:
    """Return the seconds and the number of rollouts of a decision, one of them 0.

    Raises:
        ValueError: the time cannot be read or is out of bounds, or both are given.
    """
    if search.rollouts:
        if search.budget:
            raise ValueError(f"search: budget = {show(search.budget)} and rollouts = {search.rollouts}: give one")
        return 0.0, search.rollouts
    if not search.budget:
        return _DEFAULT_SECONDS, 0
    match = _BUDGET.fullmatch(search.budget)
    seconds = float(match[1]) * (0.001 if match[2] == "ms" else 1.0) if match else 0.0
    if not 0.0 < seconds <= _MOST_SECONDS:
        raise ValueError(f"search: budget = {show(search.budget)}: give a time such as 10ms or 1.5s, up to an hour")
    return seconds, 0


def describe_search(search: Search) -> str:
    """Return the name of a search, as ``make_agent`` reads it."""
    return describe_parameters("search", search).replace("budget=", "")
