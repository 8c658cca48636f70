"""Many matches on all cores, resumable: what tournaments and sweeps have in common."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from geo_patrol.agents.guard import GuardedAgent, check_move_time, is_own_agent
from geo_patrol.agents.match import play_match
from geo_patrol.agents.registry import make_agent
from geo_patrol.agents.results import MatchResult
from geo_patrol.config import GameConfig
from geo_patrol.tournament.journal import Journal, digest_agents, read_plan
from geo_patrol.tournament.pool import check_processes, play_tasks
from geo_patrol.tournament.tasks import PlannedMatch, Record, cut, put_together

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
    full_plan = {**plan, "move_time": move_time, "files": digest_agents(names)}
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
    """Compile what the games need, once, before several processes would at the same time."""
    for name in names:
        if not is_own_agent(name):
            play_match(name, "random", config=config, games=2, seed=0, on_failure="forfeit")


def seed_of(folder: Path | None) -> int | None:
    """Return the seed of the plan in a folder, so that a run with a fresh one can go on."""
    plan = None if folder is None else read_plan(folder)
    seed = None if plan is None else plan.get("seed")
    return seed if isinstance(seed, int) and not isinstance(seed, bool) and seed >= 0 else None
