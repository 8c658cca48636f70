"""Executors: play tasks in worker processes of this machine, or on any other ``concurrent.futures.Executor``."""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from itertools import islice
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, TypeVar

from geo_patrol.errors import GeoPatrolError
from geo_patrol.evaluation.tasks import Task
from geo_patrol.evaluation.workers import init_worker

_T = TypeVar("_T")
_R = TypeVar("_R")

MAX_PENDING = 1_000
"""Tasks that wait in an executor at the same time, unless it has an attribute ``max_pending``: enough for 500 workers."""
_POLL_SECONDS = 0.2
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


class WorkerError(GeoPatrolError):
    """A worker ended for an external reason: killed, out of memory, or its cluster is gone."""


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def check_processes(processes: Any) -> int:
    """Return the number of processes; None for one per core.

    Raises:
        ValueError: it is not a whole number from 1 on.
    """
    if processes is None:
        return usable_cores()
    if isinstance(processes, bool) or not isinstance(processes, int) or not 1 <= processes <= 1024:
        raise ValueError(f"processes = {processes!r}: give a whole number from 1 to 1024")
    return processes


class ProcessExecutor(ProcessPoolExecutor):
    """Worker processes of this machine that end with this process, however that happens, and count finished games.

    Every worker has a single thread for linear algebra: its results must not depend on the number of workers.
    Leaving a ``with`` block by an exception ends the tasks that are running.
    """

    def __init__(self, processes: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.max_pending = 2 * processes
        self._finished_games = context.Value("q", 0)
        self._other_children = set(multiprocessing.active_children())
        super().__init__(processes, mp_context=context, initializer=init_worker, initargs=(self._finished_games,))

    @property
    def finished_games(self) -> int:
        """The number of games that all workers have finished, those of unfinished tasks included."""
        return int(self._finished_games.get_obj().value)  # without the lock, with which a worker may have been killed

    def submit(self, fn: Callable[..., _T], /, *args: Any, **kwargs: Any) -> Future[_T]:
        """Schedule a call; a process may be started for it."""
        with _worker_environment():
            return super().submit(fn, *args, **kwargs)

    def __exit__(
        self, error: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        for child in set(multiprocessing.active_children()) - self._other_children if error else ():
            child.terminate()
        self.shutdown(cancel_futures=True)


def run_tasks(
    executor: Executor, function: Callable[[_T], _R], tasks: Iterable[_T], poll: Callable[[], None] = lambda: None
) -> Generator[tuple[_T, _R], None, None]:
    """Call a function with every task on an executor, which gets the tasks in their order.

    Close the generator to cancel the rest.

    Args:
        executor: where the function runs.
        function: must be importable there.
        tasks: any number of them; a limited number is taken in advance.
        poll: called several times a second.

    Yields:
        Every task and what the function returned, as they are finished.

    Raises:
        WorkerError: a worker died, or the executor was shut down.
    """
    waiting = iter(tasks)
    pending: dict[Future[_R], _T] = {}
    finished: SimpleQueue[Future[_R]] = SimpleQueue()
    try:
        while True:
            for task in islice(waiting, max(0, getattr(executor, "max_pending", MAX_PENDING) - len(pending))):
                future = executor.submit(function, task)
                pending[future] = task
                future.add_done_callback(finished.put)
            if not pending:
                return
            poll()
            with suppress(Empty):
                future = finished.get(timeout=_POLL_SECONDS)
                yield pending.pop(future), future.result()
    except (BrokenExecutor, CancelledError) as error:
        raise WorkerError("a worker process was killed, or ran out of memory; finished games are stored") from error
    finally:
        for future in pending:
            future.cancel()


def play_tasks(
    tasks: Iterable[Task],
    executor: Executor,
    progress: Callable[[int], None],
    function: Callable[[Task], _R],
) -> Generator[tuple[Task, _R], None, None]:
    """Play tasks on an executor, see ``run_tasks``.

    A user's own agent has a process of its own beside the worker: it cannot be the reason for a ``WorkerError``.

    Args:
        tasks: what to play.
        executor: where to play.
        progress: called several times a second with the number of finished games.
        function: plays a task.
    """
    games = 0

    def poll() -> None:
        progress(executor.finished_games if isinstance(executor, ProcessExecutor) else games)

    for task, result in run_tasks(executor, function, tasks, poll):
        games += task.games
        yield task, result


def in_order(finished: Iterable[tuple[Task, _R]]) -> Iterator[_R]:
    """Yield the results of tasks 0, 1, 2, ..., which are finished in another order."""
    early: dict[int, _R] = {}
    expected = 0
    for task, result in finished:
        early[task.number] = result
        while expected in early:
            yield early.pop(expected)
            expected += 1


@contextmanager
def _worker_environment() -> Iterator[None]:
    """Make processes that start in the block ignore Ctrl-C, which this process handles, and use a single thread each.

    They inherit that the signal is blocked. Here it is pending until the end of the block: if it were ignored, it would be
    lost.
    """
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    blocked = set() if sys.platform == "win32" else signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        if sys.platform != "win32":
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
