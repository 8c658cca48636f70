"""Match play: two agents, many games, batch by batch. ``chunks`` says which games a seed gives."""

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.isolation.guard import MOVE_TIME, try_agent
from geo_patrol.agents.protocol import Agent, check_agent
from geo_patrol.agents.registry import make_agent
from geo_patrol.config.presets import ConfigSource, Overrides, load_config
from geo_patrol.config.schema import GameConfig
from geo_patrol.errors import show
from geo_patrol.evaluation.chunks import (
    CHUNK_PAIRS,
    SEATINGS,
    Chunk,
    ChunkCallback,
    OnFailure,
    split_into_chunks,
)
from geo_patrol.evaluation.executors import in_order, play_tasks
from geo_patrol.evaluation.results import MatchResult, join_results
from geo_patrol.evaluation.tasks import Task
from geo_patrol.evaluation.workers import RecordedChunk, record_chunk, record_in_worker
from geo_patrol.games import check_seed, fresh_seed

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the number of finished games and of all games."""


class RecordOptions(TypedDict, total=False):
    """What is saved and reported of a match; keyword arguments of ``play_match``."""

    save: str | Path | None
    """A new replay file for all games; those of a chunk are written when it has been played. Games that an agent lost
    by failing are unfinished in it, because the rules do not know that end; without a phase they are missing."""
    progress: Progress | None
    """Called after every phase; with an executor, several times a second."""
    on_failure: OnFailure
    """What happens when an agent raises an exception or returns something else than orders: "raise", the default, ends
    the match with an ``AgentError``; "forfeit" makes the agent lose all games of the batch that are still running, with
    no points, lists that in ``MatchResult.failures``, and continues with the next batch."""


class MatchOptions(RecordOptions, total=False):
    """Further keyword arguments of ``play_match``."""

    executor: Executor | None
    """Plays the batches, see ``WorkerOptions``; None, the default, plays them in this process. An executor needs agents
    by name and makes them anew for every batch, users' own ones in processes of their own, as in tournaments."""
    move_time: float
    """Seconds for a decision in one game, for users' own agents on an executor, see ``guard.seat_agent``."""


def play_match(
    first: str | Agent,
    second: str | Agent,
    *,
    config: ConfigSource = "geo_patrol",
    overrides: Overrides | None = None,
    games: int = 1000,
    seed: int | None = None,
    **options: Unpack[MatchOptions],
) -> MatchResult:
    """Play a match between two agents.

    Args:
        first: an agent's name, see ``agent_names``, or an ``Agent``.
        second: its opponent; another object, even if it is of the same kind. The two games of a pair share their seed,
            unless the agents have the same name.
        config: a preset's name, the path of a TOML file, its content as a mapping, or a ``GameConfig``.
        overrides: single values that replace those of the configuration, such as ``{"bravo.patrols.ammo": 3}``.
        games: number of games, even: half of them are played with the sides swapped.
        seed: of all random streams, 0 or larger; None takes one from the operating system.
        **options: ``executor``, ``move_time``, ``save``, ``progress``, ``on_failure``, see ``MatchOptions``.

    Returns:
        The results of every game. If the agents have the same name, the second is called "scripted (2)".

    Raises:
        ConfigError: the configuration is wrong.
        AgentError: an agent raised an exception, or returned orders of a wrong shape or type, and ``on_failure`` is
            "raise".
        WorkerError: a worker of the executor died.
        ValueError: another argument is wrong.
        OSError: the file cannot be written; ``FileExistsError`` if it exists.
    """
    seats, record_options = _take_seats(first, second, **options)
    num_pairs = check_games(games) // 2
    seed = new_seed() if seed is None else check_seed(seed)
    chunks = split_into_chunks(*seats.agent_names, load_config(config, overrides), seed, num_pairs)
    return _play_chunks(seats, chunks, **record_options)


def _take_seats(
    first: str | Agent,
    second: str | Agent,
    *,
    executor: Executor | None = None,
    move_time: float = MOVE_TIME,
    **options: Unpack[RecordOptions],
) -> tuple["_Here | _OnExecutor", RecordOptions]:
    """Return the agents where they will play, and the other options."""
    seats = _Here(first, second) if executor is None else _OnExecutor(first, second, executor, move_time)
    return seats, options


def _play_chunks(
    seats: "_Here | _OnExecutor",
    chunks: Sequence[Chunk],
    *,
    save: str | Path | None = None,
    progress: Progress | None = None,
    on_failure: OnFailure = "raise",
) -> MatchResult:
    """Play all chunks of a match."""
    if on_failure not in ("raise", "forfeit"):
        raise ValueError(f"on_failure = {on_failure!r}: give 'raise' or 'forfeit'")
    games = 2 * sum(chunk.num_pairs for chunk in chunks)

    def report(finished: int) -> None:
        if progress is not None:
            progress(finished, games)

    results = []
    with (
        _open_recorder(save, chunks[0].config) as record,
        closing(seats.play(chunks, on_failure, report, keeps_orders=record is not None)) as played,
    ):
        for chunk, (result, orders) in zip(chunks, played, strict=True):
            results.append(result)
            if record is not None:
                record(chunk, orders)
    return join_results(results)


class _Here:
    """Two agents that play in this process."""

    def __init__(self, first: str | Agent, second: str | Agent) -> None:
        self._agents = agents = _check_agent(first, "first"), _check_agent(second, "second")
        if agents[0] is agents[1]:
            raise ValueError(f"first and second are the same object, agent {agents[0].name!r}: give two")
        self.agent_names = agents[0].name, agents[1].name

    def play(
        self, chunks: Sequence[Chunk], on_failure: OnFailure, progress: Callable[[int], None], *, keeps_orders: bool
    ) -> Generator[RecordedChunk, None, None]:
        """Yield finished chunks in their order."""
        for chunk in chunks:
            finished = 2 * CHUNK_PAIRS * chunk.index

            def report(games: int, finished: int = finished) -> None:
                progress(finished + games)

            yield record_chunk(self._agents, chunk, on_failure, report, keeps_orders=keeps_orders)


class _OnExecutor:
    """Two agents whose names go to the workers of an executor, which make them."""

    def __init__(self, first: str | Agent, second: str | Agent, executor: Executor, move_time: float) -> None:
        if not isinstance(first, str) or not isinstance(second, str):
            agent = second if isinstance(first, str) else first
            raise ValueError(f"agent {show(agent)}: an executor makes the agents itself, give their names")
        self._agents, self._executor, self._move_time = (first, second), executor, move_time
        self.agent_names = try_agent(first, move_time), try_agent(second, move_time)

    def play(
        self, chunks: Sequence[Chunk], on_failure: OnFailure, progress: Callable[[int], None], *, keeps_orders: bool
    ) -> Generator[RecordedChunk, None, None]:
        """Yield finished chunks in their order."""
        tasks = [Task(chunk.index, self._agents, chunk, self._move_time) for chunk in chunks]
        function = partial(record_in_worker, on_failure=on_failure, keeps_orders=keeps_orders)
        with closing(play_tasks(tasks, self._executor, progress, function)) as played:
            yield from in_order(played)
        progress(sum(task.games for task in tasks))


def new_seed() -> int:
    """Return a seed from the operating system that is short enough to type."""
    return fresh_seed() >> 31


def check_games(games: Any) -> int:
    """Return the number of games of a match.

    Raises:
        ValueError: it is odd, not positive, or not a whole number.
    """
    if isinstance(games, bool) or not hasattr(games, "__index__") or games < 2 or games % 2:
        raise ValueError(f"games = {games!r}: give an even number from 2 on; every second game swaps the sides")
    return int(games)


def _check_agent(agent: str | Agent, parameter: str) -> Agent:
    return check_agent(make_agent(agent) if isinstance(agent, str) else agent, parameter)


@contextmanager
def _open_recorder(path: str | Path | None, config: GameConfig) -> Iterator[ChunkCallback | None]:
    """Open a replay file and yield the function that writes a chunk to it; None without a path."""
    if path is None:
        yield None
        return
    from geo_patrol.replays.recorder import Recorder  # noqa: PLC0415 - only where games are saved

    with Recorder(path, config, sync=False) as recorder:

        def record(chunk: Chunk, orders: list[list[NDArray[np.int8]]]) -> None:
            for pair, seeds in enumerate(chunk.seeds):
                for seed, (alpha, bravo), phases in zip(seeds, SEATINGS, orders, strict=True):
                    recorder.begin(seed=seed, alpha=chunk.names[alpha], bravo=chunk.names[bravo])
                    for phase in phases:
                        if recorder.is_over:
                            break
                        recorder.record_codes(phase[pair])
            recorder.sync()

        yield record
