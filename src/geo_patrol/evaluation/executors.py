"""Where chunks are played: in this process, in worker processes of this machine, or on any other executor.

``campaign.Campaign`` decides; an executor is a ``concurrent.futures.Executor``, for example that of a cluster.
"""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor
from contextlib import closing, contextmanager, suppress
from functools import partial
from itertools import islice
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, TypeAlias, TypedDict, TypeVar

from geo_patrol.agents.isolation.agent import IsolatedAgent, without_main
from geo_patrol.agents.isolation.worker import end_with_parent
from geo_patrol.agents.protocol import Agent
from geo_patrol.agents.registry import is_user_defined, make_agent
from geo_patrol.base.arguments import check_count
from geo_patrol.base.errors import AgentError, GeoPatrolError
from geo_patrol.evaluation.chunks import Chunk, OnFailure, PlayedChunk, add_progress, play_chunk

_T = TypeVar("_T")
_R = TypeVar("_R")

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the number of finished games and of all games."""

MAX_PENDING = 1_000
"""Tasks that wait in an executor at the same time, unless it has an attribute ``max_pending``: enough for 500 workers."""
_POLL_SECONDS = 0.2
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


# In the workers: this process, others, threads, or the nodes of a cluster


class AgentCache:
    """The agents of a worker. Built-in ones are new for every chunk; processes of user-defined ones are reused and reset."""

    def __init__(self) -> None:
        self._guarded: dict[tuple[str, bool], IsolatedAgent] = {}
        self._new: set[str] = set()

    def check(self, name: str, move_time: float) -> str:
        """Make an agent for the first time; return its name in results.

        Raises:
            AgentError: the user-defined agent cannot be made.
            ValueError: there is no built-in agent of that name.
        """
        if not is_user_defined(name):
            return make_agent(name).name
        if (name, False) not in self._guarded:
            self._guarded[name, False] = IsolatedAgent(name, move_time)
            self._new.add(name)
        return name

    def pair(self, chunk: Chunk) -> tuple[Agent, Agent]:
        """Return the agents of a chunk, those that are given by name without any state of earlier games."""
        (first, second), move_time = chunk.match.agents, chunk.match.move_time
        return self._get(first, move_time), self._get(second, move_time, is_copy=first == second)

    def _get(self, agent: str | Agent, move_time: float, *, is_copy: bool = False) -> Agent:
        if not isinstance(agent, str):
            return agent
        if not is_user_defined(agent):
            return make_agent(agent)
        key = (agent, is_copy)
        if key not in self._guarded:
            self._guarded[key] = IsolatedAgent(agent, start=False)
        self._guarded[key].move_time = move_time  # of this match; the process may have played others
        if agent in self._new and not is_copy:
            self._new.remove(agent)
        else:
            with suppress(AgentError):  # it fails again when its games begin, and loses them
                self._guarded[key].renew()
        return self._guarded[key]

    def close(self) -> None:
        """End all processes; they start again when they are needed."""
        self._new.clear()
        for agent in self._guarded.values():
            agent.close()


class _WorkerState(threading.local):
    """The state of a worker: of a process, or of a thread where the executor has threads."""

    def __init__(self) -> None:
        self.agents = AgentCache()
        self.count: Callable[[int], None] = lambda _: None
        """Called after every phase with the number of games that have just been finished."""


_worker = _WorkerState()


def init_worker(finished_games: Any) -> None:
    """Initialise a process of a ``ProcessExecutor``, which counts the games that its workers have finished."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the parent
    threading.Thread(target=end_with_parent, daemon=True).start()  # the parent may be killed without notice

    def count(games: int) -> None:
        with finished_games.get_lock():
            finished_games.value += games

    _worker.count = count


def play_in_worker(chunk: Chunk, on_failure: OnFailure = "forfeit", *, keeps_orders: bool = False) -> PlayedChunk:
    """Play a chunk with the agents of this worker, see ``play_chunk``."""
    reported = 0

    def report(finished: int) -> None:
        nonlocal reported
        if finished != reported:
            _worker.count(finished - reported)
        reported = finished

    return play_chunk(_worker.agents.pair(chunk), chunk, on_failure, report, keeps_orders=keeps_orders)


# In the process that asks for the games


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
        ValueError: it is not an integer from 1 on.
    """
    if processes is None:
        return usable_cores()
    return check_count("processes", processes, 1024)


class ProcessExecutor(ProcessPoolExecutor):
    """Worker processes of this machine that end with this process, however that happens, and count finished games.

    Every worker has a single thread for linear algebra: its results must not depend on the number of workers. Workers do not
    import the main module, so a script that starts them needs no ``if __name__ == "__main__":``; functions to call must be
    those of other modules.
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
        with _worker_environment(), without_main():
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
        message = "a worker process was killed, or ran out of memory; finished games are stored"
        if isinstance(executor, ProcessPoolExecutor) and not isinstance(executor, ProcessExecutor):
            message += '. Or the script that made the executor has no if __name__ == "__main__": around it'
        raise WorkerError(message) from error
    finally:
        for future in pending:
            future.cancel()


class WorkerOptions(TypedDict, total=False):
    """Keyword arguments of functions that play many games."""

    move_time: float
    """Seconds for a decision in one game, for user-defined agents, see ``make_match_agent``."""
    processes: int | None
    """Number of worker processes; 1 plays in this process, and None takes one for each core if all agents are given by name. The
    games do not depend on it."""
    executor: Executor | None
    """Plays the games instead of new processes, for example on a cluster; it is not shut down. The games do not depend on
    it either, if its workers have the same version of the package, and the files of user-defined agents."""
    progress: Progress | None
    """Called several times a second with the number of finished games and of all games."""


def play_here(
    agents: AgentCache,
    chunks: Iterable[Chunk],
    progress: Callable[[int], None],
    on_failure: OnFailure,
    *,
    keeps_orders: bool,
) -> Generator[tuple[Chunk, PlayedChunk], None, None]:
    """Play chunks in this process; ``progress`` is called with the number of finished games after every phase."""
    games = 0
    for chunk in chunks:
        report = partial(add_progress, progress, games)
        yield chunk, play_chunk(agents.pair(chunk), chunk, on_failure, report, keeps_orders=keeps_orders)
        games += chunk.games


def play_on(
    executor: Executor,
    chunks: Iterable[Chunk],
    progress: Callable[[int], None],
    on_failure: OnFailure,
    *,
    keeps_orders: bool,
) -> Generator[tuple[Chunk, PlayedChunk], None, None]:
    """Play chunks on an executor; ``progress`` is called with the number of finished games several times a second.

    Raises:
        WorkerError: a worker died, or the executor was shut down.
    """
    games = 0
    before = getattr(executor, "finished_games", 0)  # in earlier calls

    def poll() -> None:
        progress(getattr(executor, "finished_games", games + before) - before)

    function = partial(play_in_worker, on_failure=on_failure, keeps_orders=keeps_orders)
    with closing(run_tasks(executor, function, chunks, poll)) as played:
        for chunk, result in played:
            games += chunk.games
            yield chunk, result


def in_order(finished: Iterable[tuple[Chunk, _R]]) -> Iterator[tuple[Chunk, _R]]:
    """Yield the chunks of a match in their order, in another of which they are finished, and what was returned of them."""
    early: dict[int, tuple[Chunk, _R]] = {}
    expected = 0
    for chunk, played in finished:
        early[chunk.index] = chunk, played
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
