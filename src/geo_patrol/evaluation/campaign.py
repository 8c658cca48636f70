"""Campaigns: many matches in worker processes, resumable. The common part of tournaments, sweeps and sequential tests."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from geo_patrol.agents.isolation.guard import MOVE_TIME, GuardedAgent, check_move_time, is_own_agent
from geo_patrol.agents.registry import make_agent
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine.batch import check_seed
from geo_patrol.evaluation.executors import check_processes, play_tasks
from geo_patrol.evaluation.journal import FolderError, Journal, digest_files, read_plan
from geo_patrol.evaluation.match import Progress, new_seed, play_match
from geo_patrol.evaluation.results import MatchResult
from geo_patrol.evaluation.tasks import PlannedMatch, Record, Task, join_records, split_into_tasks
from geo_patrol.versions import __version__

ONE_TURN = {"turn_limit": 1}
"""Overrides for the shortest games."""


class WorkerOptions(TypedDict, total=False):
    """Keyword arguments of functions that play in worker processes.

    These import the main module anew: a script that calls such a function keeps its own work under
    ``if __name__ == "__main__":``.
    """

    move_time: float
    """Seconds for a decision in one game, for users' own agents, see ``guard.seat_agent``."""
    processes: int | None
    """Number of worker processes; None for one per core. The games do not depend on it."""
    progress: Progress | None
    """Called several times a second with the number of finished games and of all games."""


class CampaignOptions(WorkerOptions, total=False):
    """Keyword arguments of tournaments and sweeps."""

    folder: Path | str | None
    """Stores finished games, so that a campaign that was killed can be resumed; None stores nothing."""


@dataclass(frozen=True)
class Workers:
    """Worker processes; the fields are those of ``WorkerOptions``.

    Raises:
        ValueError: an option is invalid.
    """

    move_time: float = MOVE_TIME
    processes: int | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        check_move_time(self.move_time)
        check_processes(self.processes)

    def play_tasks(self, tasks: Sequence[Task], finished_games: int = 0) -> Generator[Record, None, None]:
        """Play tasks; progress is reported on top of games that were finished before. See ``executors.play_tasks``."""
        total = finished_games + sum(task.games for task in tasks)

        def report(games: int) -> None:
            if self.progress is not None:
                self.progress(finished_games + games, total)

        yield from play_tasks(tasks, check_processes(self.processes), report) if tasks else ()
        report(total - finished_games)


@dataclass(frozen=True)
class Campaign(Workers):
    """A set of matches; the fields are those of ``CampaignOptions``."""

    folder: Path | str | None = None

    def resolve_seed(self, seed: int | None) -> int:
        """Return the given seed; or that of the plan in the folder, to resume it; or a new one.

        Raises:
            ValueError: the seed is invalid.
            FolderError: the folder's plan cannot be read.
        """
        if seed is not None:
            return check_seed(seed)
        plan = None if self.folder is None else read_plan(Path(self.folder))
        if plan is None:
            return new_seed()
        try:
            return check_seed(plan.get("seed"))
        except ValueError as error:
            raise FolderError(f"{self.folder} holds a damaged plan: {error}") from None

    def play(self, matches: Sequence[PlannedMatch], plan: Mapping[str, Any]) -> list[MatchResult]:
        """Play the matches, or those of their games that the folder does not hold yet.

        Agents that fail lose games, which ``MatchResult.failures`` lists.

        Args:
            matches: what to play.
            plan: plain data that identifies this set of matches, without the agents' files and the move time.
        """
        tasks = split_into_tasks(matches, self.move_time)
        names = list(dict.fromkeys(name for match in matches for name in (match.first, match.second)))
        full_plan = {**plan, "move_time": self.move_time, "files": digest_files(names)}
        journal = None if self.folder is None else Journal(Path(self.folder), full_plan, tasks)
        records = {} if journal is None else journal.records
        missing = [task for task in tasks if task.number not in records]
        try:
            if missing:
                warm_up(names, matches[0].config)
            for record in self.play_tasks(missing, sum(task.games for task in tasks if task.number in records)):
                if journal is not None:
                    journal.append(record)
                records[record.task] = record
        finally:
            if journal is not None:
                journal.close()
        return join_records(tasks, [records[task.number] for task in tasks])


def describe_plan(kind: str, agents: Sequence[str], config: GameConfig, games: int, seed: int) -> dict[str, Any]:
    """Return what identifies any set of matches."""
    return {
        "kind": kind,
        "geo_patrol": __version__,
        "agents": list(agents),
        "games": games,
        "seed": seed,
        "config": config.to_dict(),
    }


def check_agents(names: Sequence[str], move_time: float) -> None:
    """Make every agent once, users' own agents in processes of their own.

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

    One turn calls all of it, and is short even if an agent takes long for a decision.
    """
    for name in names:
        if not is_own_agent(name):
            play_match(name, "random", config=config, overrides=ONE_TURN, games=2, seed=0, on_failure="forfeit")
