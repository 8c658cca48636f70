"""The types of contestants: what to measure, and how its steps are counted."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Workload:
    """A contestant that is ready to step."""

    step: Callable[[], Any]
    """Plays one step of all environments."""
    agent_steps: int = 0
    """Decisions of agents per step: two per game where both sides act simultaneously."""
    env_steps: int = 0
    """Steps of single environments per step: for ours, phases of games; of a contestant with a unit, how many of it."""
    payload: int = 0
    """Bytes of observations and action masks per step (for the copy: the bytes copied)."""
    fraction_ended: Callable[[Any], float] | None = None
    """Computes the fraction of environments that ended in a step from what the step returned."""


@dataclass(frozen=True)
class Contestant:
    """Something to measure. Its libraries are imported in a worker process."""

    name: str
    """Short and unique, used in the raw results."""
    title: str
    """Its name in tables."""
    process: str
    """The worker process; contestants with the same name share it."""
    packages: tuple[str, ...]
    """The distributions whose versions are reported."""
    batch: int
    """The number of environments in a full run (MiB for the copy)."""
    quick_batch: int
    """The number of environments in a quick run."""
    includes: str
    """What a step includes."""
    make: Callable[[int], Workload]
    """Creates a batch. Raises ImportError if a package is missing."""
    threads: int = 1
    environment: tuple[tuple[str, str], ...] = ()
    """Environment variables of its process."""
    is_peer: bool = True
    """Whether it is another library, which need not be installed."""
    unit: str = ""
    """What it does, if that is not stepping environments: ``env_steps`` counts these."""
