"""The worker process: it creates contestants and runs them on request."""

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
    from benchmarks.contestants.base import Workload
    from benchmarks.stages import StagedGames

_CLOCK_READS = 20
"""Clock reads per round."""
_WARM_UP_STEPS = 64
"""Steps before the first measurement, so that the environments are not all at the start of an episode."""


@dataclass(frozen=True)
class Ready:
    """How the steps of a contestant are counted."""

    agent_steps: int
    env_steps: int
    payload: int
    fraction_ended: float | None
    """The fraction of environments that end per step: as many steps only reset."""


@dataclass(frozen=True)
class Missing:
    """The reason why a contestant cannot be measured."""

    reason: str


@dataclass(frozen=True)
class Timing:
    """The result of one round."""

    steps_per_second: float
    cores: float
    """Processor time over elapsed time."""


class Runner:
    """Creates contestants and runs them."""

    def __init__(self) -> None:
        self._workloads: dict[tuple[str, int], Workload] = {}
        self._calls: dict[tuple[str, int], int] = {}
        self._staged_games: dict[tuple[str, int], StagedGames] = {}

    def prepare(self, name: str, batch: int, seconds: float) -> Ready:
        """Create a contestant and warm it up."""
        workload = CONTESTANTS[name].make(batch)
        _repeat(workload.step, _WARM_UP_STEPS)
        calls, ended, elapsed = 0, 0.0, 0.0
        start = time.perf_counter()
        while elapsed < seconds:  # once at least, however long this process had to wait
            result = workload.step()
            ended += workload.fraction_ended(result) if workload.fraction_ended else 0.0
            calls += 1
            elapsed = time.perf_counter() - start
        self._workloads[name, batch] = workload
        self._calls[name, batch] = max(1, int(calls / elapsed * seconds / _CLOCK_READS))
        fraction_ended = ended / calls if workload.fraction_ended else None
        return Ready(workload.agent_steps, workload.env_steps, workload.payload, fraction_ended)

    def run(self, name: str, batch: int, seconds: float) -> Timing:
        """Run a contestant for some seconds."""
        step, calls = self._workloads[name, batch].step, self._calls[name, batch]
        _repeat(step, calls)  # fill the caches, which other processes have used meanwhile
        done, elapsed = 0, 0.0
        start, start_of_work = time.perf_counter(), time.process_time()
        while elapsed < seconds:
            _repeat(step, calls)
            done += calls
            elapsed = time.perf_counter() - start
        return Timing(done / elapsed, (time.process_time() - start_of_work) / elapsed)

    def profile(self, observation: Literal["onehot", "tokens"], games: int, seconds: float) -> dict[str, float]:
        """Return the microseconds of each stage of a step."""
        from benchmarks.stages import StagedGames

        key = (observation, games)
        if key not in self._staged_games:
            self._staged_games[key] = StagedGames(observation, games)
            self._staged_games[key].microseconds(seconds)  # warm up
        return self._staged_games[key].microseconds(seconds)

    @staticmethod
    def peak_memory() -> int:
        """Return the peak memory of this process in bytes."""
        import resource

        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _repeat(step: Callable[[], Any], calls: int) -> None:
    for _ in range(calls):
        step()


def serve(connection: Connection, log: Path) -> None:
    """Answer requests, (method, arguments), until None arrives. Output of the process goes to the log."""
    with log.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    runner = Runner()
    while request := connection.recv():
        method, arguments = request
        try:
            connection.send(getattr(runner, method)(*arguments))
        except ModuleNotFoundError as error:
            connection.send(Missing(f"{error.name} is not installed"))
        except Exception as error:
            connection.send(Missing(f"failed: {type(error).__name__}: {error}"))
