"""What a contestant is: something that can be run again and again, and what one run of it counts for."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Load:
    """A contestant at work."""

    step: Callable[[], Any]
    """Plays one step of all environments, with everything that the contestant includes."""
    agent_steps: int = 0
    """Decisions of agents in a step: two a game where both sides act at the same time."""
    env_steps: int = 0
    """Steps of single environments in a step: phases of games, for ours."""
    payload: int = 0
    """Bytes of observations and action masks that a step writes anew (the bytes copied, for the copy)."""
    ended: Callable[[Any], float] | None = None
    """The share of environments that ended in a step, from what the step returned."""


@dataclass(frozen=True)
class Contestant:
    """What is measured. It is imported and made in a process of its own, so that nothing is shared."""

    name: str
    """Short and unique, as it stands in the raw figures."""
    title: str
    """What it is, for tables."""
    process: str
    """Contestants of one name share a process."""
    packages: tuple[str, ...]
    """The distributions that it comes from, for their versions."""
    batch: int
    """How many environments a full run plays side by side (MiB, for the copy)."""
    quick_batch: int
    """The same for a quick run."""
    includes: str
    """What a step includes."""
    make: Callable[[int], Load]
    """Makes a batch of it. Raises ImportError where a package is missing."""
    threads: int = 1
    environment: tuple[tuple[str, str], ...] = ()
    """Variables that its process needs."""
    is_peer: bool = True
    """Whether it may be missing."""
