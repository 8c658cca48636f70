"""The parameters of a search, how they are parsed from a name, and its budget."""

import re
from typing import Annotated, NamedTuple

from pydantic import Field

from geo_patrol.agents.scripted.parameters import describe_parameters, read_parameters
from geo_patrol.errors import show

_DEFAULT_SECONDS = 0.01
_MAX_SECONDS = 60.0
_BUDGET = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(ms|s)")
_AGENT = re.compile(r"(?:^|,)\s*(enemy|propose)\s*=")


class Search(NamedTuple):
    """The parameters of a search."""

    budget: str = ""
    """The time for one decision, such as "10ms" or "1.5s"; nothing: 10 ms, if there is no number of rollouts."""
    rollouts: Annotated[int, Field(ge=0, le=100_000)] = 0
    """The number of rollouts for one decision, about; 0: by time. The same number always plays the same."""
    candidates: Annotated[int, Field(ge=2, le=256)] = 16
    """The maximum number of joint orders that are evaluated."""
    doubt: Annotated[float, Field(ge=0, le=10)] = 0.0
    """Standard errors by which others must beat the first script's orders."""
    samples: Annotated[int, Field(ge=0, le=64)] = 0
    """Joint orders sampled from the proposer in each decision; 0: 4, or 24 of a policy."""
    enemy: str = ""
    """The name of the agent that the enemy is, as far as the search knows, such as "policy:base"; its parameters may hold
    commas. Nothing: several."""
    propose: str = ""
    """The name of an agent that proposes candidates, such as "policy:base"; its parameters may hold commas."""


def read_search(text: str) -> Search:
    """Read what follows the colon of a search's name, such as ``10ms,candidates=8,propose=policy:base``.

    A budget may stand alone in front. ``enemy`` and ``propose`` come last: what follows belongs to these agents.

    Raises:
        ValueError: a parameter is unknown, given twice, or has a wrong value; or searches are to search in searches.
    """
    name = f"search:{text}"
    own, *pieces = _AGENT.split(text)
    agents: dict[str, str] = {}
    for parameter, agent in zip(pieces[::2], pieces[1::2], strict=True):
        if parameter in agents:
            raise ValueError(f"agent {name!r}: {parameter} is given twice")
        agents[parameter] = _read_agent(name, parameter, agent.strip())
    if "=" not in own.partition(",")[0] and own:
        own = f"budget={own}"
    search = read_parameters(name, own, Search) if own or not agents else Search()
    return search._replace(enemy=agents.get("enemy", ""), propose=agents.get("propose", ""))


def _read_agent(name: str, parameter: str, agent: str) -> str:
    if not agent:
        raise ValueError(f"agent {name!r}: {parameter} = '': give the name of an agent")
    if agent.partition(":")[0].strip() == "search":
        verb = "propose to" if parameter == "propose" else "be the enemy that is expected by"
        raise ValueError(f"agent {name!r}: {parameter} = {show(agent)}: a search cannot {verb} a search")
    return agent


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
    if not 0.0 < seconds <= _MAX_SECONDS:
        raise ValueError(
            f"search: budget = {show(search.budget)}: give a time such as 10ms or 1.5s, up to {_MAX_SECONDS:g}s"
        )
    return seconds, 0


def describe_search(search: Search) -> str:
    """Return the name of a search, as ``make_agent`` reads it."""
    return describe_parameters("search", search).replace("budget=", "", 1)
