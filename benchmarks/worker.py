"""Worker processes, one for each library, pinned to cores: they create contestants and run them on request."""

import multiprocessing
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Self

from benchmarks.contestants import CONTESTANTS, Workload
from benchmarks.machine import CAN_PIN

_CLOCK_READS = 20
"""Clock reads per round."""
_WARM_UP_STEPS = 64
"""Steps before the first measurement, so that the environments are not all at the start of an episode."""
_TIMEOUT = 300.0
"""Seconds after which a worker that does not answer is killed."""
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


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
    """Begins with "failed", unless its library is not installed."""


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

    def prepare(self, name: str, batch: int, seconds: float) -> Ready:
        """Create a contestant and warm it up."""
        workload = CONTESTANTS[name].make(batch)
        _repeat(workload.step, 1 if CONTESTANTS[name].unit else _WARM_UP_STEPS)
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
        connection.send(answer(runner, method, arguments))


def answer(runner: Runner, method: str, arguments: tuple[Any, ...]) -> Any:
    """Return what a method returns, or why it cannot."""
    try:
        return getattr(runner, method)(*arguments)
    except ModuleNotFoundError as error:
        return Missing(f"{error.name} is not installed")
    except Exception as error:
        return Missing(f"failed: {type(error).__name__}: {error}")


def physical_cores() -> list[int]:
    """Return the available cores in descending order, one for each physical core."""
    if not CAN_PIN:
        return list(range(os.cpu_count() or 1))[::-1]
    siblings: dict[str, int] = {}
    for core in sorted(os.sched_getaffinity(0)):
        listed = Path(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list")
        siblings.setdefault(listed.read_text() if listed.exists() else str(core), core)
    return sorted(siblings.values(), reverse=True)


@contextmanager
def process_settings(threads: int) -> Iterator[None]:
    """Pin processes started in the block to as many cores as threads, and let their libraries use as many threads."""
    before = os.environ.copy()
    os.environ.update({name: str(threads) for name in _THREAD_VARIABLES})
    cores = os.sched_getaffinity(0) if CAN_PIN else set()
    try:
        if CAN_PIN:
            os.sched_setaffinity(0, physical_cores()[:threads])
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        if CAN_PIN:
            os.sched_setaffinity(0, cores)


class WorkerProcess:
    """A process that serves requests; a context manager that terminates it on exit."""

    def __init__(self, name: str, threads: int, logs: Path) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, worker_end = context.Pipe()
        self._log = logs / f"{re.sub(r'[^a-z0-9-]', '-', name)}.log"
        self._process = context.Process(target=serve, args=(worker_end, self._log), daemon=True)
        with process_settings(threads):
            self._process.start()
        worker_end.close()

    def request(self, method: str, *arguments: Any) -> Any:
        """Send a request and return the answer, or Missing if there is none."""
        try:
            self._connection.send((method, arguments))
            if self._connection.poll(_TIMEOUT):
                return self._connection.recv()
        except (EOFError, OSError):
            return Missing(f"failed: its process ended{self._last_output()}")
        self._process.kill()
        return Missing(f"failed: no answer within {_TIMEOUT:.0f} seconds")

    def _last_output(self) -> str:
        """Return the last line that the process has printed."""
        lines = self._log.read_text(errors="replace").split("\n") if self._log.exists() else []
        printed = [line.strip() for line in lines if line.strip()]
        return f": {printed[-1][:200]}" if printed else ""

    def close(self) -> None:
        """Terminate the process."""
        with suppress(OSError):
            self._connection.send(None)
        self._process.join(5)
        self._process.kill()
        self._process.join()
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
