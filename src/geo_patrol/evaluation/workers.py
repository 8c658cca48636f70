"""What runs in the workers of executors: processes, threads, or the nodes of a cluster."""

import signal
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.isolation.worker import end_with_parent
from geo_patrol.agents.protocol import Agent
from geo_patrol.evaluation.chunks import Chunk, OnFailure, play_chunk
from geo_patrol.evaluation.results import MatchResult
from geo_patrol.evaluation.tasks import AgentCache, Record, Task, play_task


class _Worker(threading.local):
    """The state of a worker: of a process, or of a thread where the executor has threads."""

    def __init__(self) -> None:
        self.agents = AgentCache()


_worker = _Worker()
_finished_games: Any = None


def init_worker(finished_games: Any) -> None:
    """Initialise a process of a ``ProcessExecutor``, which counts the games that its workers have finished."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the parent
    global _finished_games  # noqa: PLW0603 - the initializer of a process pool has no other way to hand over state
    _finished_games = finished_games
    threading.Thread(target=end_with_parent, daemon=True).start()  # the parent may be killed without notice


def play_in_worker(task: Task) -> Record:
    """Play a task with the agents of this worker."""
    return play_task(task, _worker.agents, _counter())


class RecordedChunk(NamedTuple):
    """A chunk of a match with everything that ``play_match`` returns and saves of it."""

    result: MatchResult
    orders: list[list[NDArray[np.int8]]]
    """As ``chunks.ChunkCallback`` gets them; empty if they are not kept."""


def record_chunk(
    agents: tuple[Agent, Agent],
    chunk: Chunk,
    on_failure: OnFailure,
    progress: Callable[[int], None],
    *,
    keeps_orders: bool,
) -> RecordedChunk:
    """Play a chunk of a match, see ``play_chunk``."""
    orders: list[list[NDArray[np.int8]]] = []

    def keep(_chunk: Chunk, played: list[list[NDArray[np.int8]]]) -> None:
        orders.extend(played)

    on_finish = keep if keeps_orders else None
    result = play_chunk(agents, chunk, on_failure=on_failure, on_finish=on_finish, progress=progress)
    return RecordedChunk(result, orders)


def record_in_worker(task: Task, on_failure: OnFailure, *, keeps_orders: bool) -> RecordedChunk:
    """Play a chunk of a match with the agents of this worker."""
    agents = _worker.agents.pair(task)
    return record_chunk(agents, task.chunk, on_failure, _counter(), keeps_orders=keeps_orders)


def _counter() -> Callable[[int], None]:
    """Return a function that takes the number of finished games of a task, and adds new ones to the shared count."""
    reported = 0

    def report(games: int) -> None:
        nonlocal reported
        if _finished_games is not None:
            with _finished_games.get_lock():
                _finished_games.value += games - reported
        reported = games

    return report
