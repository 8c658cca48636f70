"""Match play: two agents, many games, chunk by chunk. ``chunks`` says which games a seed gives."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from geo_patrol.agents.isolation.agent import MOVE_TIME
from geo_patrol.agents.playing import check_pair
from geo_patrol.agents.protocol import Agent
from geo_patrol.agents.registry import as_agent
from geo_patrol.config.presets import ConfigSource, Overrides, load_config
from geo_patrol.config.schema import GameConfig
from geo_patrol.evaluation.campaign import Campaign, agent_version, read_seed
from geo_patrol.evaluation.chunks import SEATINGS, OnFailure, PlannedMatch, PlayedChunk
from geo_patrol.evaluation.executors import Progress, WorkerOptions, check_processes, in_order
from geo_patrol.evaluation.results import MatchResult, join_results


def play_match(
    first: str | Agent,
    second: str | Agent,
    *,
    config: ConfigSource = "geo_patrol",
    overrides: Overrides | None = None,
    games: int = 1000,
    seed: int | None = None,
    save: str | Path | None = None,
    progress: Progress | None = None,
    on_failure: OnFailure = "raise",
    processes: int = 1,
    executor: Executor | None = None,
    move_time: float = MOVE_TIME,
) -> MatchResult:
    """Play a match between two agents.

    Args:
        first: an agent's name, see ``agent_names``, or an ``Agent``.
        second: its opponent; an object that keeps a state between calls must be another one. The two games of a pair share
            their seed, unless the agents have the same name.
        config: a preset's name, the path of a TOML file, its content as a mapping, or a ``GameConfig``.
        overrides: single values that replace those of the configuration, such as ``{"bravo.patrols.ammo": 3}``.
        games: number of games, even: half of them are played with the sides swapped.
        seed: seed of all random streams, a non-negative integer; None takes one from the operating system.
        save: a new replay file for all games; those of a chunk are written when it has been played. Games that an agent
            lost by failing are unfinished in it, because the rules do not know that end; without a phase they are missing.
        progress: called with the number of finished games and of all games, after every phase; with an executor, several
            times a second.
        on_failure: what happens when an agent raises an exception or returns something else than orders. "raise" ends the
            match with an ``AgentError``; "forfeit" makes the agent lose all games of the batch that are still running,
            with no points, lists that in ``MatchResult.failures``, and continues with the next batch.
        processes: number of worker processes; 1 plays in this process. Worker processes need agents by name and make them anew
            for every chunk, user-defined ones in processes of their own, as in tournaments.
        executor: plays the games instead of worker processes, see ``WorkerOptions``; the same holds for it.
        move_time: seconds for a decision in one game, for user-defined agents that workers make, see ``make_match_agent``.

    Returns:
        The results of every game. If the agents have the same name, the second is called "scripted (2)".

    Raises:
        ConfigError: the configuration is wrong.
        AgentError: an agent raised an exception, or returned orders of a wrong shape or type, and ``on_failure`` is
            "raise".
        WorkerError: a worker died.
        ValueError: another argument is wrong.
        OSError: the file cannot be written; ``FileExistsError`` if it exists.
    """
    if on_failure not in ("raise", "forfeit"):
        raise ValueError(f"on_failure must be 'raise' or 'forfeit', got {on_failure!r}")
    loaded, pairs, seed = load_config(config, overrides), check_games(games) // 2, read_seed(seed)
    agents: tuple[str | Agent, str | Agent] = first, second
    if executor is None and check_processes(processes) == 1:
        agents = as_agent(first, "first"), as_agent(second, "second")
        check_pair(*agents)
    workers: WorkerOptions = {"move_time": move_time, "executor": executor, "progress": progress}
    if executor is None:
        workers["processes"] = processes
    with Campaign(agents, **workers) as campaign, _open_recorder(save, loaded) as record:
        match = PlannedMatch(agents, loaded, seed, campaign.move_time, campaign.names_of(agents))
        results, start = [], time.perf_counter()
        played = campaign.play(
            match.chunks(pairs), on_failure=on_failure, keeps_orders=record is not None, warms_up=False
        )
        with closing(played):
            for _, chunk in in_order(played):
                results.append(chunk.result)
                if record is not None:
                    record(chunk)
        seconds = time.perf_counter() - start  # chunks may be played side by side
    first_version, second_version = (agent_version(agent, loaded) for agent in (first, second))
    return replace(join_results(results), seconds=seconds, versions=(first_version, second_version))


def check_games(games: Any) -> int:
    """Return the number of games of a match.

    Raises:
        ValueError: it is odd, not positive, or not an integer.
    """
    if isinstance(games, bool) or not hasattr(games, "__index__") or games < 2 or games % 2:
        raise ValueError(
            f"games must be an even number of at least 2, got {games!r}; every second game swaps the sides"
        )
    return int(games)


@contextmanager
def _open_recorder(path: str | Path | None, config: GameConfig) -> Iterator[Callable[[PlayedChunk], None] | None]:
    """Open a replay file and yield the function that writes a chunk to it; None without a path."""
    if path is None:
        yield None
        return
    from geo_patrol.replays.files import Recorder  # noqa: PLC0415 - only where games are saved

    with Recorder(path, config, sync=False) as recorder:

        def record(chunk: PlayedChunk) -> None:
            names = chunk.result.agents
            for game, seed in enumerate(chunk.result.seeds.tolist()):
                pair, batch = divmod(game, 2)
                alpha, bravo = SEATINGS[batch]
                recorder.begin(seed=seed, alpha=names[alpha], bravo=names[bravo])
                for phase in chunk.orders[batch]:
                    if recorder.is_over:
                        break
                    recorder.record_codes(phase[pair])
            recorder.sync()

        yield record
