"""Matches split into tasks for worker processes, and the records that these send back."""

import time
from collections.abc import Callable, Sequence
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
from geo_patrol.evaluation.chunks import Chunk, distinct_names, play_chunk, split_into_chunks
from geo_patrol.evaluation.results import Failure, MatchResult, join_results


@dataclass(frozen=True)
class PlannedMatch:
    """A match to be played: agents by name, configuration, number of pairs, seed."""

    first: str
    second: str
    config: GameConfig
    pairs: int
    seed: int

    def chunks(self) -> list[Chunk]:
        """Return the chunks of the match."""
        return split_into_chunks(distinct_names(self.first, self.second), self.config, self.seed, self.pairs)


@dataclass(frozen=True)
class Task:
    """A chunk of a planned match; its games depend on nothing else.

    Attributes:
        number: of the task, from 0.
        match_index: of its match among all planned ones.
        agents: the agents' names as ``make_agent`` takes them; those of the chunk differ from each other.
        chunk: what to play.
        move_time: seconds for a decision, for users' own agents.
    """

    number: int
    match_index: int
    agents: tuple[str, str]
    chunk: Chunk
    move_time: float

    @property
    def games(self) -> int:
        """The number of its games."""
        return 2 * self.chunk.num_pairs


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


def split_into_tasks(matches: Sequence[PlannedMatch], move_time: float) -> list[Task]:
    """Split matches into tasks, numbered from 0."""
    chunks = [(i, match, chunk) for i, match in enumerate(matches) for chunk in match.chunks()]
    return [
        Task(number, i, (match.first, match.second), chunk, move_time)
        for number, (i, match, chunk) in enumerate(chunks)
    ]


def join_records(tasks: Sequence[Task], records: Sequence[Record]) -> list[MatchResult]:
    """Return the matches of finished tasks, in the order of the tasks."""
    by_match: dict[int, list[MatchResult]] = {}
    for task, record in zip(tasks, records, strict=True):
        by_match.setdefault(task.match_index, []).append(_to_match_result(task.chunk, record))
    return [join_results(results) for results in by_match.values()]


def _to_match_result(chunk: Chunk, record: Record) -> MatchResult:
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

    def close(self) -> None:
        """End all processes."""
        for agent in self._guarded.values():
            agent.close()


def play_task(task: Task, cache: AgentCache, progress: Callable[[int], None] = lambda _: None) -> Record:
    """Play a task; agents that fail lose games, see ``play_match``."""
    start = time.perf_counter()
    first, second = (cache.get(i, name, task.move_time) for i, name in enumerate(task.agents))
    result = play_chunk((first, second), task.chunk, on_failure="forfeit", progress=progress)
    return Record(
        task=task.number,
        seconds=time.perf_counter() - start,
        failures=list(result.failures),
        **{column: getattr(result, column).tolist() for column in _COLUMNS},
    )
