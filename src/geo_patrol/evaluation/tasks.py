"""Matches cut into tasks that a worker process plays by itself, and what it sends back."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace

import numpy as np
from pydantic import BaseModel, ConfigDict

from geo_patrol.agents.isolation.guard import GuardedAgent, is_own_agent
from geo_patrol.agents.protocol import Agent
from geo_patrol.agents.registry import make_agent
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine.state import ALPHA, BRAVO, SATELLITES, SIDES
from geo_patrol.errors import AgentError
from geo_patrol.evaluation.match import CHUNK_PAIRS, chunk_sizes, game_seed, play_chunk, tell_apart
from geo_patrol.evaluation.results import Failure, MatchResult, join_results


@dataclass(frozen=True)
class PlannedMatch:
    """A match that is to be played: agents by name, configuration, number of pairs, seed."""

    first: str
    second: str
    config: GameConfig
    pairs: int
    seed: int

    @property
    def names(self) -> tuple[str, str]:
        """What its agents are called."""
        return tell_apart(self.first, self.second)


@dataclass(frozen=True)
class Task:
    """A chunk of a planned match; what comes of it depends on nothing else."""

    number: int
    place: int  # of the match, among all
    match: PlannedMatch
    chunk: int
    pairs: int
    move_time: float

    @property
    def games(self) -> int:
        """How many games it has."""
        return 2 * self.pairs


class FailureRecord(BaseModel):
    """A ``Failure`` as plain data."""

    model_config = ConfigDict(extra="forbid", strict=True)

    agent: int
    side: int
    games: int
    message: str


class Record(BaseModel):
    """The games of a task as plain data, in order; the columns are those of ``MatchResult``."""

    model_config = ConfigDict(extra="forbid", strict=True)

    task: int
    seconds: float
    scores: list[list[int]]
    turns: list[int]
    reasons: list[int]
    winner: list[int]
    illegal_orders: list[list[int]]
    failures: list[FailureRecord]

    def fits(self, games: int) -> bool:
        """Tell whether it is of so many games."""
        pairs_of_figures = (self.scores, self.illegal_orders)
        columns = (*pairs_of_figures, self.turns, self.reasons, self.winner)
        return (
            all(len(column) == games for column in columns)
            and all(len(row) == SIDES for column in pairs_of_figures for row in column)
            and all(-1 <= winner <= 1 for winner in self.winner)
        )


def cut(matches: Sequence[PlannedMatch], move_time: float) -> list[Task]:
    """Cut matches into tasks, numbered from 0."""
    chunks = [
        (place, match, chunk, size)
        for place, match in enumerate(matches)
        for chunk, size in enumerate(chunk_sizes(match.pairs))
    ]
    return [Task(number, *chunk, move_time) for number, chunk in enumerate(chunks)]


def put_together(tasks: Sequence[Task], records: Sequence[Record]) -> list[MatchResult]:
    """Return the matches of finished tasks, in the order of the tasks."""
    by_match: dict[int, list[MatchResult]] = {}
    for task, record in zip(tasks, records, strict=True):
        by_match.setdefault(task.place, []).append(_read(task, record))
    return [join_results(parts) for parts in by_match.values()]


def _read(task: Task, record: Record) -> MatchResult:
    pairs = range(CHUNK_PAIRS * task.chunk, CHUNK_PAIRS * task.chunk + task.pairs)
    return MatchResult(
        agents=task.match.names,
        config=task.match.config,
        seed=task.match.seed,
        seconds=record.seconds,
        seeds=np.repeat(np.array([game_seed(task.match.seed, pair) for pair in pairs], np.uint64), 2),
        first_side=np.tile(np.array([ALPHA, BRAVO]), task.pairs),
        scores=np.array(record.scores, np.int64),
        turns=np.array(record.turns, np.int64),
        reasons=np.array(record.reasons, np.int64),
        winner=np.array(record.winner, np.int64),
        illegal_orders=np.array(record.illegal_orders, np.int64),
        first_game=np.empty((0, SIDES, SATELLITES), np.int64),  # not kept: a seed plays it again
        failures=tuple(Failure(**failure.model_dump()) for failure in record.failures),
    )


class Seats:
    """The agents of a worker. Built-in ones are made anew for every task, as processes of users' own are kept and renewed."""

    def __init__(self) -> None:
        self._guarded: dict[tuple[int, str], GuardedAgent] = {}

    def take(self, place: int, name: str, move_time: float) -> Agent:
        """Return an agent that remembers nothing."""
        if not is_own_agent(name):
            return make_agent(name)
        key = (place, name)
        if key not in self._guarded:
            self._guarded[key] = GuardedAgent(name, move_time, start=False)
        with suppress(AgentError):  # it will fail again when its games begin, and lose them
            self._guarded[key].renew()
        return self._guarded[key]

    def close(self) -> None:
        """End all processes."""
        for agent in self._guarded.values():
            agent.close()


def play_task(task: Task, seats: Seats, progress: Callable[[int], None] = lambda _: None) -> Record:
    """Play a task; agents that fail lose games, see ``play_match``."""
    start = time.perf_counter()
    first, second = (
        seats.take(place, name, task.move_time) for place, name in enumerate((task.match.first, task.match.second))
    )
    played = play_chunk(
        (first, second),
        task.match.names,
        task.match.config,
        task.match.seed,
        task.chunk,
        task.pairs,
        on_failure="forfeit",
        progress=progress,
    )
    played = replace(played, seconds=time.perf_counter() - start)
    return Record(
        task=task.number,
        seconds=played.seconds,
        scores=played.scores.tolist(),
        turns=played.turns.tolist(),
        reasons=played.reasons.tolist(),
        winner=played.winner.tolist(),
        illegal_orders=played.illegal_orders.tolist(),
        failures=[FailureRecord(**asdict(failure)) for failure in played.failures],
    )
