"""Many matches on all cores, resumable: what tournaments and sweeps have in common."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from geo_patrol.agents.isolation.guard import GuardedAgent, check_move_time, is_own_agent
from geo_patrol.agents.registry import make_agent
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine.batch import check_seed
from geo_patrol.evaluation.journal import FolderError, Journal, digest_files, read_plan
from geo_patrol.evaluation.match import new_seed, play_match
from geo_patrol.evaluation.pool import check_processes, play_tasks
from geo_patrol.evaluation.results import MatchResult
from geo_patrol.evaluation.tasks import PlannedMatch, Record, cut, put_together
from geo_patrol.versions import __version__

ONE_TURN = {"turn_limit": 1}
"""Overrides for games that are to be short."""
Progress = Callable[[int, int], None]
"""Hears how many games are finished, and of how many."""


def play_all(
    matches: Sequence[PlannedMatch],
    *,
    move_time: float,
    processes: int | None,
    folder: Path | None,
    plan: Mapping[str, Any],
    progress: Progress | None = None,
) -> list[MatchResult]:
    """Play matches, or what a folder has not of them yet.

    Agents that fail lose games and are listed in ``MatchResult.failures``.

    Args:
        matches: what to play.
        move_time: seconds for a decision, for agents of the user's own.
        processes: how many at once; None for one on every core. The games do not depend on it.
        folder: where finished games are kept, so that a killed run can go on; None keeps them in memory alone.
        plan: plain data that tells this set of matches from others, without agents' files and move time.
        progress: is called several times a second.
    """
    tasks = cut(matches, check_move_time(move_time))
    count = check_processes(processes)
    names = list(dict.fromkeys(name for match in matches for name in (match.first, match.second)))
    full_plan = {**plan, "move_time": move_time, "files": digest_files(names)}
    journal = None if folder is None else Journal(folder, full_plan, tasks)
    records = {} if journal is None else journal.records
    missing = [task for task in tasks if task.number not in records]
    if missing:
        warm_up(names, matches[0].config)
    total = sum(task.games for task in tasks)
    before = total - sum(task.games for task in missing)

    def report(games: int) -> None:
        if progress is not None:
            progress(before + games, total)

    for record in play_tasks(missing, count, report) if missing else ():
        _keep(record, records, journal)
    report(total - before)
    return put_together(tasks, [records[task.number] for task in tasks])


def describe_plan(kind: str, agents: Sequence[str], settled: GameConfig, games: int, seed: int) -> dict[str, Any]:
    """Return what tells any set of matches from others."""
    return {
        "kind": kind,
        "geo_patrol": __version__,
        "agents": list(agents),
        "games": games,
        "seed": seed,
        "config": settled.to_dict(),
    }


def _keep(record: Record, records: dict[int, Record], journal: Journal | None) -> None:
    if journal is None:
        records[record.task] = record
    else:
        journal.append(record)


def check_agents(names: Sequence[str], move_time: float) -> None:
    """Make every agent once, those of the user's own in processes of their own.

    Raises:
        ValueError: there is no such built-in agent, or the user's own cannot be made.
    """
    check_move_time(move_time)
    for name in names:
        if is_own_agent(name):
            GuardedAgent(name, move_time).close()
        else:
            make_agent(name)


def warm_up(names: Sequence[str], config: GameConfig) -> None:
    """Compile what the games need, once, before several processes would at the same time.

    One turn calls all of it, and is soon over even if an agent takes long for a decision.
    """
    for name in names:
        if not is_own_agent(name):
            play_match(name, "random", config=config, overrides=ONE_TURN, games=2, seed=0, on_failure="forfeit")


def choose_seed(seed: int | None, folder: Path | None) -> int:
    """Return the seed that was given, or that of the plan in a folder, so that it can go on, or a fresh one.

    Raises:
        ValueError: what was given is none.
        FolderError: the folder's plan cannot be read.
    """
    if seed is not None:
        return check_seed(seed)
    plan = None if folder is None else read_plan(folder)
    if plan is None:
        return new_seed()
    try:
        return check_seed(plan.get("seed"))
    except ValueError as error:
        raise FolderError(f"{folder} holds a damaged plan: {error}") from None
