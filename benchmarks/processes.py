"""Worker processes, one for each library, pinned to cores."""

import multiprocessing
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from benchmarks.worker import Missing, serve

_TIMEOUT = 300.0
"""Seconds after which a worker that does not answer is killed."""
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
CAN_PIN = hasattr(os, "sched_setaffinity")


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
def process_settings(threads: int, variables: Mapping[str, str]) -> Iterator[None]:
    """Pin processes started in the block to as many cores as threads, and set their environment variables."""
    before = os.environ.copy()
    os.environ.update({name: str(threads) for name in _THREAD_VARIABLES} | dict(variables))
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

    def __init__(self, name: str, threads: int, variables: Mapping[str, str], logs: Path) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, worker_end = context.Pipe()
        self._log = logs / f"{re.sub(r'[^a-z0-9-]', '-', name)}.log"
        self._process = context.Process(target=serve, args=(worker_end, self._log), daemon=True)
        with process_settings(threads, variables):
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
