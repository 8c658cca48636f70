"""Agents by name."""

import difflib
from collections.abc import Callable

from geo_patrol.agents.basic import IdleAgent, RandomAgent
from geo_patrol.agents.loading import load_agent, split_location
from geo_patrol.agents.protocol import Agent
from geo_patrol.agents.scripted import ScriptedAgent

_MAKERS: dict[str, Callable[[], Agent]] = {"random": RandomAgent, "idle": IdleAgent, "scripted": ScriptedAgent}


def agent_names() -> tuple[str, ...]:
    """Return the names that ``make_agent`` knows."""
    return tuple(_MAKERS)


def make_agent(name: str) -> Agent:
    """Make an agent by its name, or by where it is: ``file.py:Name``, ``module:Name``, see ``loading``.

    Raises:
        ValueError: there is none of that name.
    """
    if name not in _MAKERS:
        if split_location(str(name)):
            return load_agent(name)
        close = difflib.get_close_matches(str(name), _MAKERS, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else "."
        raise ValueError(f"there is no agent {name!r}{hint} The agents are: {', '.join(_MAKERS)}.")
    return _MAKERS[name]()
