"""Executors: play tasks in worker processes."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

from geo_patrol.agents.isolation.worker import end_with_parent
from geo_patrol.errors import GeoPatrolError
from geo_patrol.evaluation.tasks import AgentCache, Record, Task, play_task

_POLL_SECONDS = 0.2
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


class WorkerError(GeoPatrolError):
    """A worker process died for an external reason: killed, or out of memory."""


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


def play_tasks(
    tasks: Sequence[Task], processes: int, progress: Callable[[int], None] = lambda _: None
) -> Generator[Record, None, None]:
    """Play tasks in worker processes, started in their order.

    Close the generator to cancel the rest. Every worker has a single thread for linear algebra: its results must not
    depend on the number of workers.

    Args:
        tasks: what to play.
        processes: number of workers.
        progress: called several times a second with the number of finished games.

    Yields:
        The records of the tasks, as they are finished.

    Raises:
        WorkerError: a worker process died. A user's own agent cannot be the reason: it has its own process.
    """
    context = multiprocessing.get_context("spawn")
    finished = context.RawArray("q", max(1, len(tasks)))  # games of every task; each is written by one worker
    others = set(multiprocessing.active_children())
    count = max(1, min(processes, len(tasks)))
    executor = ProcessPoolExecutor(count, mp_context=context, initializer=_init_worker, initargs=(finished,))
    waiting = list(enumerate(tasks))[::-1]
    running: set[Future[Record]] = set()
    try:
        while waiting or running:
            with _worker_environment():
                while waiting and len(running) < 2 * count:
                    running.add(executor.submit(_play, *waiting.pop()))
            done, running = wait(running, _POLL_SECONDS, FIRST_COMPLETED)
            progress(sum(finished))
            for future in done:
                yield future.result()
    except BrokenProcessPool as error:
        raise WorkerError("a worker process was killed, or ran out of memory; finished games are stored") from error
    finally:
        executor.shutdown(wait=not running, cancel_futures=True)
        for child in set(multiprocessing.active_children()) - others if running else ():
            child.terminate()


@contextmanager
def _worker_environment() -> Iterator[None]:
    """Make processes that start in the block ignore Ctrl-C, which this process handles, and use a single thread each."""
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    in_main = threading.current_thread() is threading.main_thread()
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN) if in_main else None
    try:
        yield
    finally:
        if in_main:
            signal.signal(signal.SIGINT, usual)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


# Worker processes

_agents = AgentCache()
_finished: Any = None


def _init_worker(finished: Any) -> None:
    global _finished  # noqa: PLW0603 - the initializer of a process pool has no other way to hand over state
    _finished = finished
    threading.Thread(target=end_with_parent, daemon=True).start()  # the parent may be killed without notice


def _play(i: int, task: Task) -> Record:
    """Play a task and write its number of finished games to the shared array."""

    def report(games: int) -> None:
        _finished[i] = games

    return play_task(task, _agents, report)
