"""Agents by name, with parameters after a colon: ``random``, ``raider:defenders=2,path=cheap``, ``search:10ms``."""

import difflib
from collections.abc import Callable
from typing import Any, NamedTuple

from geo_patrol.agents.basic import IdleAgent, RandomAgent
from geo_patrol.agents.loading import load_agent, split_location
from geo_patrol.agents.policy.agent import PolicyAgent, read_policy
from geo_patrol.agents.protocol import Agent
from geo_patrol.agents.scripted import MixedAgent, Raid, RaiderAgent, ScriptedAgent, Style, TurtleAgent
from geo_patrol.agents.scripted.parameters import read_parameters
from geo_patrol.agents.search import Critic, LookaheadAgent, SearchAgent
from geo_patrol.agents.search.budget import read_search


class _Kind(NamedTuple):
    """How agents of a name are made."""

    make: Callable[..., Agent]
    parameters: type[Any] | None = None
    """A NamedTuple that ``make`` takes, if the name takes parameters."""
    read: Callable[[str], Agent] | None = None
    """Makes an agent of what follows the colon, where that is no list of parameters."""


def _read_search(text: str) -> Agent:
    """Make a search of what follows the colon of its name, with the proposer that it names."""
    search = read_search(text)
    proposer = _make_ours(search.propose) if search.propose else None
    return LookaheadAgent(search, proposer) if isinstance(proposer, Critic) else SearchAgent(search, proposer=proposer)


_KINDS: dict[str, _Kind] = {
    "random": _Kind(RandomAgent),
    "idle": _Kind(IdleAgent),
    "turtle": _Kind(TurtleAgent),
    "raider": _Kind(RaiderAgent, Raid),
    "mixed": _Kind(MixedAgent),
    "scripted": _Kind(ScriptedAgent, Style),
    "search": _Kind(SearchAgent, read=_read_search),
    "policy": _Kind(PolicyAgent, read=read_policy),
}


def agent_names() -> tuple[str, ...]:
    """Return the names that ``make_agent`` knows."""
    return tuple(_KINDS)


def make_agent(name: str) -> Agent:
    """Make an agent by its name, such as ``random``, or by name and parameters, such as ``raider:defenders=2``.

    One of your own is made by where it is, ``file.py:Name`` or ``module:Name``, see ``loading``: that runs its code.

    Raises:
        ValueError: there is none of that name, or a parameter is wrong.
    """
    if str(name).partition(":")[0] not in _KINDS and split_location(str(name)):
        return load_agent(name)
    return _make_ours(name)


def _make_ours(name: str) -> Agent:
    """Make one of our own agents: a name within a name, which may come from a stranger's file, runs nobody's code."""
    base, colon, text = str(name).partition(":")
    if base not in _KINDS:
        raise ValueError(f"there is no agent {name!r}{hint(base) or '.'} The agents are: {', '.join(_KINDS)}.")
    kind = _KINDS[base]
    if not colon:
        return kind.make()
    if kind.read is not None:
        return kind.read(text)
    if kind.parameters is None:
        raise ValueError(f"agent {name!r}: {base!r} takes no parameters")
    return kind.make(read_parameters(name, text, kind.parameters))


def hint(base: str) -> str:
    """Return a question after the agent whose name is close to one that there is not; nothing if none is."""
    close = difflib.get_close_matches(base, _KINDS, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
