"""Match play: two agents, many games, batch by batch. ``chunks`` says which games a seed gives."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.protocol import Agent, check_agent
from geo_patrol.agents.registry import make_agent
from geo_patrol.config.presets import ConfigSource, Overrides, load_config
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine.batch import check_seed, fresh_seed
from geo_patrol.evaluation.chunks import (
    CHUNK_PAIRS,
    SEATINGS,
    Chunk,
    ChunkCallback,
    OnFailure,
    distinct_names,
    play_chunk,
    split_into_chunks,
)
from geo_patrol.evaluation.results import MatchResult, join_results

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the number of finished games and of all games."""


class MatchOptions(TypedDict, total=False):
    """Further keyword arguments of ``play_match``."""

    save: str | Path | None
    """A new replay file for all games; those of a chunk are written when it has been played. Games that an agent lost
    by failing are unfinished in it, because the rules do not know that end; without a phase they are missing."""
    progress: Progress | None
    """Called after every phase."""
    on_failure: OnFailure
    """What happens when an agent raises an exception or returns something else than orders: "raise", the default, ends
    the match with an ``AgentError``; "forfeit" makes the agent lose all games of the batch that are still running, with
    no points, lists that in ``MatchResult.failures``, and continues with the next batch."""


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
        **options: ``save``, ``progress``, ``on_failure``, see ``MatchOptions``.

    Returns:
        The results of every game. If the agents have the same name, the second is called "scripted (2)".

    Raises:
        ConfigError: the configuration is wrong.
        AgentError: an agent raised an exception, or returned orders of a wrong shape or type, and ``on_failure`` is
            "raise".
        ValueError: another argument is wrong.
        OSError: the file cannot be written; ``FileExistsError`` if it exists.
    """
    agents = _check_agent(first, "first"), _check_agent(second, "second")
    if agents[0] is agents[1]:
        raise ValueError(f"first and second are the same object, agent {agents[0].name!r}: give two")
    num_pairs = check_games(games) // 2
    seed = new_seed() if seed is None else check_seed(seed)
    names = distinct_names(agents[0].name, agents[1].name)
    chunks = split_into_chunks(names, load_config(config, overrides), seed, num_pairs)
    return _play_chunks(agents, chunks, **options)


def _play_chunks(
    agents: tuple[Agent, Agent],
    chunks: Sequence[Chunk],
    *,
    save: str | Path | None = None,
    progress: Progress | None = None,
    on_failure: OnFailure = "raise",
) -> MatchResult:
    """Play all chunks of a match in this process."""
    if on_failure not in ("raise", "forfeit"):
        raise ValueError(f"on_failure = {on_failure!r}: give 'raise' or 'forfeit'")
    games = 2 * sum(chunk.num_pairs for chunk in chunks)

    def report(finished: int) -> None:
        if progress is not None:
            progress(2 * CHUNK_PAIRS * len(results) + finished, games)

    results: list[MatchResult] = []
    with _open_recorder(save, chunks[0].config) as record:
        for chunk in chunks:
            result = play_chunk(agents, chunk, on_failure=on_failure, on_finish=record, progress=report)
            results.append(result)
    return join_results(results)


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
