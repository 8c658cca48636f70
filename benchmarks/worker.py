"""The far end of the pipe: a process that makes contestants and runs them when it is asked to, a round at a time."""

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from benchmarks.contestants import CONTESTANTS

if TYPE_CHECKING:
    from benchmarks.contestants.base import Load
    from benchmarks.parts import Parts

_CHECKS = 20
"""How often a round looks at the clock."""
_LOOSENING = 64
"""Steps before anything is measured: the environments, all begun at once, drift apart."""


@dataclass(frozen=True)
class Ready:
    """What one step of a contestant counts for."""

    agent_steps: int
    env_steps: int
    payload: int
    ended: float | None
    """The share of environments that end in a step: as many steps only begin a new episode."""


@dataclass(frozen=True)
class Missing:
    """Why there is nothing to measure."""

    reason: str


@dataclass(frozen=True)
class Timing:
    """One round."""

    steps_per_second: float
    cores: float
    """Seconds of processor time that the process took in a second."""


class Workshop:
    """Contestants that have been made, and how to run them."""

    def __init__(self) -> None:
        self._loads: dict[tuple[str, int], Load] = {}
        self._calls: dict[tuple[str, int], int] = {}
        self._parts: dict[tuple[str, int], Parts] = {}

    def prepare(self, name: str, batch: int, seconds: float) -> Ready:
        """Make a contestant and warm it up."""
        load = CONTESTANTS[name].make(batch)
        _repeat(load.step, _LOOSENING)
        calls, shares = 0, 0.0
        start = time.perf_counter()
        while (elapsed := time.perf_counter() - start) < seconds:
            result = load.step()
            shares += load.ended(result) if load.ended else 0.0
            calls += 1
        self._loads[name, batch] = load
        self._calls[name, batch] = max(1, int(calls / elapsed * seconds / _CHECKS))
        ended = shares / calls if load.ended else None
        return Ready(load.agent_steps, load.env_steps, load.payload, ended)

    def run(self, name: str, batch: int, seconds: float) -> Timing:
        """Run a contestant for a while."""
        step, calls = self._loads[name, batch].step, self._calls[name, batch]
        _repeat(step, calls)  # fill the caches again after the others' turns
        done = 0
        start, start_of_work = time.perf_counter(), time.process_time()
        while (elapsed := time.perf_counter() - start) < seconds:
            _repeat(step, calls)
            done += calls
        return Timing(done / elapsed, (time.process_time() - start_of_work) / elapsed)

    def profile(self, observation: Literal["onehot", "tokens"], games: int, seconds: float) -> dict[str, float]:
        """Return the microseconds that the compiled parts of a step take."""
        from benchmarks.parts import Parts

        key = (observation, games)
        if key not in self._parts:
            self._parts[key] = Parts(observation, games)
            self._parts[key].microseconds(seconds)  # warm up
        return self._parts[key].microseconds(seconds)

    @staticmethod
    def peak_memory() -> int:
        """Return the most memory that this process has held, in bytes."""
        import resource

        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _repeat(step: Callable[[], Any], calls: int) -> None:
    for _ in range(calls):
        step()


def serve(connection: Connection, log: Path) -> None:
    """Answer requests, (method, arguments), until there are no more. What libraries print goes to the log."""
    with log.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    workshop = Workshop()
    while request := connection.recv():
        method, arguments = request
        try:
            connection.send(getattr(workshop, method)(*arguments))
        except ModuleNotFoundError as error:
            connection.send(Missing(f"{error.name} is not installed"))
        except Exception as error:
            connection.send(Missing(f"failed: {type(error).__name__}: {error}"))
