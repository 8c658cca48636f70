"""Campaigns: many matches on an executor, resumable. The common part of tournaments, sweeps and sequential tests."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import Executor
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from geo_patrol.agents.isolation.guard import MOVE_TIME, check_move_time, is_own_agent, try_agent
from geo_patrol.config.schema import GameConfig
from geo_patrol.evaluation.executors import ProcessExecutor, check_processes, play_tasks
from geo_patrol.evaluation.journal import FolderError, Journal, digest_files, read_plan
from geo_patrol.evaluation.match import Progress, new_seed, play_match
from geo_patrol.evaluation.results import MatchResult, join_results
from geo_patrol.evaluation.tasks import PlannedMatch, Record, Task, Tasks, to_match_result
from geo_patrol.evaluation.workers import play_in_worker
from geo_patrol.games import check_seed
from geo_patrol.versions import __version__

ONE_TURN = {"turn_limit": 1}
"""Overrides for the shortest games."""


class WorkerOptions(TypedDict, total=False):
    """Keyword arguments of functions that play on an executor, by default in worker processes.

    These import the main module anew: a script that calls such a function keeps its own work under
    ``if __name__ == "__main__":``.
    """

    move_time: float
    """Seconds for a decision in one game, for users' own agents, see ``guard.seat_agent``."""
    processes: int | None
    """Number of worker processes; None for one per core. The games do not depend on it."""
    executor: Executor | None
    """Plays the games instead of new processes, for example on a cluster; it is not shut down. The games do not depend on
    it either, if its workers have the same version of the package, and the files of users' own agents."""
    progress: Progress | None
    """Called several times a second with the number of finished games and of all games."""


class CampaignOptions(WorkerOptions, total=False):
    """Keyword arguments of tournaments and sweeps."""

    folder: Path | str | None
    """Stores finished games, so that a campaign that was killed can be resumed; None stores nothing."""


@dataclass(frozen=True)
class Workers:
    """Workers of an executor; the fields are those of ``WorkerOptions``.

    Raises:
        ValueError: an option is invalid.
    """

    move_time: float = MOVE_TIME
    processes: int | None = None
    executor: Executor | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        check_move_time(self.move_time)
        check_processes(self.processes)
        if self.processes is not None and self.executor is not None:
            raise ValueError(f"processes = {self.processes}: an executor has its own number of workers, leave it out")

    def play_tasks(
        self, tasks: Tasks, finished: AbstractSet[int] = frozenset()
    ) -> Generator[tuple[Task, Record], None, None]:
        """Play all tasks but the finished ones, whose games count as progress. See ``executors.play_tasks``."""
        finished_games = sum(map(tasks.games_of, finished))

        def report(games: int) -> None:
            if self.progress is not None:
                self.progress(finished_games + games, tasks.games)

        if len(finished) < len(tasks):
            missing = (tasks[number] for number in range(len(tasks)) if number not in finished)
            with self._open_executor() as executor:
                yield from play_tasks(missing, executor, report, play_in_worker)
        report(tasks.games - finished_games)

    def _open_executor(self) -> AbstractContextManager[Executor]:
        """Return a context of the given executor, or of new processes that end with it."""
        return ProcessExecutor(check_processes(self.processes)) if self.executor is None else nullcontext(self.executor)


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

    def play(
        self, matches: Sequence[PlannedMatch], pairs: int, seed: int, plan: Mapping[str, Any]
    ) -> Iterator[tuple[int, MatchResult]]:
        """Play matches, or those of their games that the folder does not hold yet.

        Agents that fail lose games, which ``MatchResult.failures`` lists.

        Args:
            matches: what to play, between the same agents in the same configurations whenever an item is asked for.
            pairs: number of pairs of games of every match.
            seed: of every match.
            plan: plain data that identifies this set of matches, without the agents' files and the move time.

        Yields:
            The index and the result of every match as it is finished; only unfinished matches are kept.
        """
        tasks = Tasks(matches, pairs, seed, self.move_time)
        names: list[str] = plan["agents"]
        full_plan = {**plan, "move_time": self.move_time, "files": digest_files(names)}
        journal = None if self.folder is None else Journal(Path(self.folder), full_plan, tasks)
        unfinished = _UnfinishedMatches(tasks.tasks_per_match)
        finished: set[int] = set()
        try:
            for record in () if journal is None else journal.read():
                finished.add(record.task)
                yield from unfinished.add(tasks[record.task], record)
            if len(finished) < len(tasks):
                warm_up(names, matches[0].config)
            with closing(self.play_tasks(tasks, finished)) as played:
                for task, record in played:
                    if journal is not None:
                        journal.append(record)
                    yield from unfinished.add(task, record)
        finally:
            if journal is not None:
                journal.close()


class _UnfinishedMatches:
    """Records of matches until the last of a match comes."""

    def __init__(self, tasks_per_match: int) -> None:
        self._tasks_per_match = tasks_per_match
        self._results: dict[int, dict[int, MatchResult]] = {}

    def add(self, task: Task, record: Record) -> Iterator[tuple[int, MatchResult]]:
        """Add a record; yield the index and the result of its match if that was the last one."""
        match_index = task.number // self._tasks_per_match
        results = self._results.setdefault(match_index, {})
        results[task.number] = to_match_result(task, record)
        if len(results) == self._tasks_per_match:
            del self._results[match_index]
            yield match_index, join_results([results[number] for number in sorted(results)])


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
        try_agent(name, move_time)


def warm_up(names: Sequence[str], config: GameConfig) -> None:
    """Compile what the games need, once, before several processes would at the same time.

    One turn calls all of it, and is short even if an agent takes long for a decision.
    """
    for name in names:
        if not is_own_agent(name):
            play_match(name, "random", config=config, overrides=ONE_TURN, games=2, seed=0, on_failure="forfeit")
