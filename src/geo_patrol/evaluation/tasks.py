"""Matches split into tasks for workers, and the records that these send back."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from pydantic import BaseModel, ConfigDict

from geo_patrol.agents.isolation.guard import GuardedAgent, is_own_agent
from geo_patrol.agents.protocol import Agent
from geo_patrol.agents.registry import make_agent
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine.state import ALPHA, BRAVO, SATELLITES, SIDES
from geo_patrol.errors import AgentError
from geo_patrol.evaluation.chunks import Chunk, chunk_size, count_chunks, distinct_names, play_chunk
from geo_patrol.evaluation.results import FIRST, SECOND, Failure, MatchResult


@dataclass(frozen=True)
class PlannedMatch:
    """A match to be played: agents by name and the configuration."""

    first: str
    second: str
    config: GameConfig


@dataclass(frozen=True)
class Task:
    """A chunk of a planned match; its games depend on nothing else.

    Attributes:
        number: of the task, from 0.
        agents: the agents' names as ``make_agent`` takes them; those of the chunk differ from each other.
        chunk: what to play.
        move_time: seconds for a decision, for users' own agents.
    """

    number: int
    agents: tuple[str, str]
    chunk: Chunk
    move_time: float

    @property
    def games(self) -> int:
        """The number of its games."""
        return 2 * self.chunk.num_pairs


@dataclass(frozen=True)
class Tasks:
    """The tasks of matches with the same number of games each; a task is made when it is asked for.

    Attributes:
        matches: what to play; any sequence, for example one that makes its items when it is asked for them.
        pairs: the number of pairs of games of every match.
        seed: of every match.
        move_time: seconds for a decision, for users' own agents.
    """

    matches: Sequence[PlannedMatch]
    pairs: int
    seed: int
    move_time: float

    @property
    def tasks_per_match(self) -> int:
        """The number of tasks of every match; those of a match follow each other."""
        return count_chunks(self.pairs)

    @property
    def games(self) -> int:
        """The number of all games."""
        return 2 * self.pairs * len(self.matches)

    def __len__(self) -> int:
        """Return the number of tasks."""
        return self.tasks_per_match * len(self.matches)

    def games_of(self, number: int) -> int:
        """Return the number of games of a task."""
        return 2 * chunk_size(self.pairs, number % self.tasks_per_match)

    def __getitem__(self, number: int) -> Task:
        """Return a task by its number."""
        match_index, chunk_index = divmod(number, self.tasks_per_match)
        match = self.matches[match_index]
        names, is_self_play = distinct_names(match.first, match.second), match.first == match.second
        chunk = Chunk(names, is_self_play, match.config, self.seed, chunk_index, chunk_size(self.pairs, chunk_index))
        return Task(number, (match.first, match.second), chunk, self.move_time)

    def __iter__(self) -> Iterator[Task]:
        return map(self.__getitem__, range(len(self)))


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
    failures: list[Failure]

    def fits(self, games: int) -> bool:
        """Return whether the record holds that many games."""
        by_agent = (self.scores, self.illegal_orders)
        columns = (*by_agent, self.turns, self.reasons, self.winner)
        return (
            all(len(column) == games for column in columns)
            and all(len(row) == SIDES for column in by_agent for row in column)
            and all(-1 <= winner <= 1 for winner in self.winner)
        )


_COLUMNS = ("scores", "turns", "reasons", "winner", "illegal_orders")


def to_match_result(task: Task, record: Record) -> MatchResult:
    """Return the games of a task's record."""
    chunk = task.chunk
    return MatchResult(
        agents=chunk.names,
        config=chunk.config,
        seed=chunk.seed,
        seconds=record.seconds,
        seeds=np.array(chunk.seeds, np.uint64).ravel(),
        first_side=np.tile(np.array([ALPHA, BRAVO]), chunk.num_pairs),
        first_game=np.empty((0, SIDES, SATELLITES), np.int64),  # not recorded: the seed plays it again
        failures=tuple(record.failures),
        **{column: np.array(getattr(record, column), np.int64) for column in _COLUMNS},
    )


class AgentCache:
    """The agents of a worker. Built-in ones are new for every task; processes of users' own agents are reused and reset."""

    def __init__(self) -> None:
        self._guarded: dict[tuple[int, str], GuardedAgent] = {}

    def get(self, i: int, name: str, move_time: float) -> Agent:
        """Return agent i (0 or 1) of a match, without any state of earlier games."""
        if not is_own_agent(name):
            return make_agent(name)
        key = (i, name)
        if key not in self._guarded:
            self._guarded[key] = GuardedAgent(name, move_time, start=False)
        with suppress(AgentError):  # it fails again when its games begin, and loses them
            self._guarded[key].renew()
        return self._guarded[key]

    def pair(self, task: Task) -> tuple[Agent, Agent]:
        """Return the agents of a task."""
        first, second = task.agents
        return self.get(FIRST, first, task.move_time), self.get(SECOND, second, task.move_time)

    def close(self) -> None:
        """End all processes."""
        for agent in self._guarded.values():
            agent.close()


def play_task(task: Task, cache: AgentCache, progress: Callable[[int], None] = lambda _: None) -> Record:
    """Play a task; agents that fail lose games, see ``play_match``."""
    start = time.perf_counter()
    result = play_chunk(cache.pair(task), task.chunk, on_failure="forfeit", progress=progress)
    return Record(
        task=task.number,
        seconds=time.perf_counter() - start,
        failures=list(result.failures),
        **{column: getattr(result, column).tolist() for column in _COLUMNS},
    )
