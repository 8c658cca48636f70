"""Chunks: the pieces of a match that are played independently of each other.

Games come in pairs that share a seed: in game 2 k the first agent is alpha, in game 2 k + 1 it is bravo. The seed of
pair k, ``game_seed(seed, k)``, depends on the match's seed and k alone: ``Game(config, seed=...)`` starts the same game
with the same random stream. The two games of an agent against itself would be nearly the same game twice, so there each
game has a seed of its own.

A chunk, the unit of work, has ``CHUNK_PAIRS`` pairs. The games in which the first agent is alpha are played as one batch,
then those in which it is bravo. In each batch an agent draws from a generator that is seeded from the match's seed, the
chunk, the agent's side and its name (``agent_generator``). Hence

- the same arguments give the same games;
- a chunk does not depend on how many others there are;
- exchanging the two agents exchanges the two games of each pair and changes nothing else, as long as the agents keep no
  state from one batch to the next.
"""

import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from geo_patrol.agents.playing import SeatedAgent, Table
from geo_patrol.agents.protocol import Agent
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine.rng import mix, stream_number
from geo_patrol.engine.state import ALPHA, BRAVO, FORFEIT, NUM_SIDES, SATELLITES
from geo_patrol.errors import AgentError
from geo_patrol.evaluation.results import DRAW, FIRST, SECOND, Failure, MatchResult
from geo_patrol.games import Games

CHUNK_PAIRS = 128
"""Pairs of a chunk. The agents' random streams depend on it, so it is not an option."""
SEATINGS = ((FIRST, SECOND), (SECOND, FIRST))
"""The agents that play alpha and bravo, in the first and in the second batch of a chunk."""

_SWAPPED = 1 << 32
"""Added to the pair's number where the second game of a pair has a seed of its own."""
_SPARE_BITS = 11  # of 64: readers that parse JSON numbers as floats get the other 53 right

OnFailure: TypeAlias = Literal["raise", "forfeit"]
"""What a match does when an agent fails."""


@dataclass(frozen=True)
class PlannedMatch:
    """A match to be played.

    Attributes:
        agents: the two agents, by name as ``make_agent`` takes them; or themselves, which only play in this process.
        config: configuration of the games.
        names: how the agents are called in results; by default as in ``agents``.
    """

    agents: tuple[str, str] | tuple[Agent, Agent]
    config: GameConfig
    names: tuple[str, str] | None = None


@dataclass(frozen=True)
class Chunk:
    """Consecutive pairs of a match: the unit of work, which a worker plays, and a line of a journal.

    Attributes:
        number: number of the chunk among all that are played together, from 0.
        agents: as in ``PlannedMatch``.
        names: two different names of the agents; their random streams depend on them.
        is_self_play: whether both are the same agent. The games of a pair then have a seed each: with the same seed and
            sides swapped they would be near duplicates. Names do not tell, anybody may be called "scripted (2)".
        config: configuration of the games.
        seed: seed of the match.
        index: index of the chunk in its match; its first pair is number ``CHUNK_PAIRS * index``.
        num_pairs: at most ``CHUNK_PAIRS``.
        move_time: seconds for a decision of a user-defined agent in a process of its own.
    """

    number: int
    agents: tuple[str, str] | tuple[Agent, Agent]
    names: tuple[str, str]
    is_self_play: bool
    config: GameConfig
    seed: int
    index: int
    num_pairs: int
    move_time: float

    @property
    def games(self) -> int:
        """The number of its games."""
        return 2 * self.num_pairs

    @property
    def seeds(self) -> list[tuple[int, int]]:
        """The seeds of both games of each pair."""
        first = CHUNK_PAIRS * self.index
        swapped = _SWAPPED if self.is_self_play else 0
        return [
            (game_seed(self.seed, pair), game_seed(self.seed, pair + swapped))
            for pair in range(first, first + self.num_pairs)
        ]


@dataclass(frozen=True)
class Chunks(Sequence[Chunk]):
    """The chunks of matches with the same number of games each; a chunk is made when it is asked for.

    Attributes:
        matches: what to play; any sequence, for example one that makes its items when it is asked for them.
        pairs: the number of pairs of games of every match.
        seed: seed of every match.
        move_time: seconds for a decision, for user-defined agents.
    """

    matches: Sequence[PlannedMatch]
    pairs: int
    seed: int
    move_time: float

    @property
    def chunks_per_match(self) -> int:
        """The number of chunks of every match; those of a match follow each other."""
        return -(-self.pairs // CHUNK_PAIRS)

    @property
    def games(self) -> int:
        """The number of all games."""
        return 2 * self.pairs * len(self.matches)

    def __len__(self) -> int:
        """Return the number of chunks."""
        return self.chunks_per_match * len(self.matches)

    def games_of(self, number: int) -> int:
        """Return the number of games of a chunk."""
        return 2 * min(CHUNK_PAIRS, self.pairs - CHUNK_PAIRS * (number % self.chunks_per_match))

    def __getitem__(self, number: int) -> Chunk:  # type: ignore[override]  # slices are not needed
        """Return a chunk by its number."""
        if not 0 <= number < len(self):
            raise IndexError(f"chunk {number} of {len(self)}")
        match_index, index = divmod(number, self.chunks_per_match)
        match = self.matches[match_index]
        first, second = match.names or map(str, match.agents)
        return Chunk(
            number=number,
            agents=match.agents,
            names=(first, second if second != first else f"{second} (2)"),
            is_self_play=first == second,
            config=match.config,
            seed=self.seed,
            index=index,
            num_pairs=self.games_of(number) // 2,
            move_time=self.move_time,
        )


class PlayedChunk(NamedTuple):
    """A chunk that was played."""

    result: MatchResult
    orders: list[list[NDArray[np.int8]]]
    """The orders of both batches, for each phase (pairs, 2, 11); empty if they are not kept."""


def game_seed(seed: int, pair: int) -> int:
    """Return the seed of the games of a pair, below 2^53.

    Args:
        seed: seed of the match.
        pair: the pair's number, from 0.
    """
    key = mix(np.uint64(seed % 2**64))
    return int(stream_number(np.uint64(key), np.uint64(pair))) >> _SPARE_BITS


def agent_generator(seed: int, chunk: int, side: int, name: str) -> np.random.Generator:
    """Return the random generator of an agent that plays one side of a chunk's games."""
    return np.random.default_rng([seed % 2**64, chunk, side, zlib.crc32(name.encode())])


def play_chunk(
    agents: tuple[Agent, Agent],
    chunk: Chunk,
    on_failure: OnFailure = "raise",
    progress: Callable[[int], None] = lambda _: None,
    *,
    keeps_orders: bool = False,
) -> PlayedChunk:
    """Play one chunk of a match.

    Args:
        agents: two different objects.
        chunk: what to play.
        on_failure: see ``play_match``.
        progress: called after every phase with the number of the chunk's finished games.
        keeps_orders: whether to return the orders of all games.

    Returns:
        The games of this chunk, of which ``results.join_results`` makes a match, and their orders.
    """
    start = time.perf_counter()
    results: list[_BatchResult] = []

    def report(finished: int) -> None:
        progress(chunk.num_pairs * len(results) + finished)

    for seeds, seating in zip(zip(*chunk.seeds, strict=True), SEATINGS, strict=True):
        players = [
            SeatedAgent(agents[i], chunk.names[i], side, agent_generator(chunk.seed, chunk.index, side, chunk.names[i]))
            for side, i in enumerate(seating)
        ]
        games = Games(chunk.config, len(seeds), seed=seeds)
        results.append(_play_batch(games, players, on_failure, report, keeps_orders=keeps_orders))
    orders = [result.orders for result in results] if keeps_orders else []
    return PlayedChunk(_to_match_result(chunk, time.perf_counter() - start, results), orders)


@dataclass
class _BatchResult:
    """A batch of finished games, by side."""

    scores: NDArray[np.int64]
    """(n, 2), final points."""
    turns: NDArray[np.int64]
    """(n,), turns played, the last one included."""
    reasons: NDArray[np.int64]
    """(n,), bits for ``notation.read_reasons``."""
    winner: NDArray[np.int64]
    """(n,), 0 alpha, 1 bravo, -1 a draw."""
    illegal_orders: NDArray[np.int64]
    """(n, 2), in the whole game."""
    orders: list[NDArray[np.int8]]
    """For each phase, (n, 2, 11), illegal orders included: of all games, or of game 0 while it runs."""
    first_game: NDArray[np.int64]
    """(phases, 2, 11), the orders of game 0."""
    failures: dict[int, tuple[int, str]] = field(default_factory=dict)
    """By side: the number of running games, and the message."""

    def forfeit(self, running: NDArray[np.bool_], errors: dict[int, AgentError]) -> None:
        """End the running games against the sides whose agents failed: they lose all their points, and the game.

        If both failed, the games are drawn.
        """
        self.failures = {side: (int(running.sum()), str(error)) for side, error in errors.items()}
        sides = list(errors)
        self.reasons[running] = sum(FORFEIT << side for side in sides)
        self.winner[running] = 1 - sides[0] if len(sides) == 1 else DRAW
        for side in sides:
            self.scores[running, side] = 0


def _play_batch(
    games: Games,
    players: Sequence[SeatedAgent],
    on_failure: OnFailure,
    progress: Callable[[int], None],
    *,
    keeps_orders: bool,
) -> _BatchResult:
    """Play games side by side to their end."""
    table, count, first_game_phases = Table(games, players), len(games), 0
    running, illegal_orders = np.ones(count, np.bool_), np.zeros((count, NUM_SIDES), np.int64)
    log: list[NDArray[np.int8]] = []
    errors = table.reset_agents()
    while running.any():
        if not errors:
            orders, errors = table.compute_orders()
        if errors:
            break
        first_game_phases += bool(running[0])
        if keeps_orders or running[0]:
            log.append((orders if keeps_orders else orders[:1]).astype(np.int8))
        games.step(orders)
        illegal_orders += games.state.games["illegal_orders"] * running[:, None]
        running = ~games.is_over
        progress(count - int(running.sum()))
    if errors and on_failure == "raise":
        raise next(iter(errors.values()))
    first_game = np.array([orders[0] for orders in log[:first_game_phases]], np.int64)
    result = _BatchResult(
        scores=games.scores.astype(np.int64),
        turns=games.turn.astype(np.int64),
        reasons=games.reasons.astype(np.int64),
        winner=games.winner,
        illegal_orders=illegal_orders,
        orders=log,
        first_game=first_game.reshape(-1, NUM_SIDES, SATELLITES),  # without a phase if an agent fails at once
    )
    if errors:
        result.forfeit(running, errors)
        progress(count)
    return result


def _to_match_result(chunk: Chunk, seconds: float, batches: list[_BatchResult]) -> MatchResult:
    """Put the games of both batches in the order of the match, and the values by side in the order of the agents."""
    first_side = np.tile(np.array([ALPHA, BRAVO]), chunk.num_pairs)
    by_agent = np.stack([first_side, 1 - first_side], axis=1)  # (games, 2): the side of each agent
    winner = _interleave([batch.winner for batch in batches])
    scores = _interleave([batch.scores for batch in batches])
    illegal_orders = _interleave([batch.illegal_orders for batch in batches])
    return MatchResult(
        agents=chunk.names,
        config=chunk.config,
        seed=chunk.seed,
        seconds=seconds,
        seeds=np.array(chunk.seeds, np.uint64).ravel(),
        first_side=first_side,
        scores=np.take_along_axis(scores, by_agent, axis=1),
        turns=_interleave([batch.turns for batch in batches]),
        reasons=_interleave([batch.reasons for batch in batches]),
        winner=np.where(winner == DRAW, DRAW, winner ^ first_side),
        illegal_orders=np.take_along_axis(illegal_orders, by_agent, axis=1),
        first_game=batches[0].first_game,
        failures=tuple(
            Failure(seating[side], side, games, message)
            for seating, batch in zip(SEATINGS, batches, strict=True)
            for side, (games, message) in batch.failures.items()
        ),
    )


def _interleave(batches: list[NDArray[Any]]) -> NDArray[Any]:
    """Join the rows of two batches alternately."""
    return np.stack(batches, axis=1).reshape(-1, *batches[0].shape[1:])


_COLUMNS = ("scores", "turns", "reasons", "winner", "illegal_orders")


class ChunkRecord(BaseModel):
    """The games of a chunk as plain data, in order; the columns are those of ``MatchResult``."""

    model_config = ConfigDict(extra="forbid", strict=True, populate_by_name=True, serialize_by_alias=True)

    chunk: int = Field(alias="task")
    seconds: float
    scores: list[list[int]]
    turns: list[int]
    reasons: list[int]
    winner: list[int]
    illegal_orders: list[list[int]]
    failures: list[Failure]

    @classmethod
    def of(cls, chunk: Chunk, result: MatchResult) -> Self:
        """Return the record of a chunk that was played."""
        columns = {column: getattr(result, column).tolist() for column in _COLUMNS}
        return cls(chunk=chunk.number, seconds=result.seconds, failures=list(result.failures), **columns)

    def fits(self, games: int) -> bool:
        """Return whether the record holds that many games."""
        by_agent = (self.scores, self.illegal_orders)
        columns = (*by_agent, self.turns, self.reasons, self.winner)
        return (
            all(len(column) == games for column in columns)
            and all(len(row) == NUM_SIDES for column in by_agent for row in column)
            and all(-1 <= winner <= 1 for winner in self.winner)
        )

    def to_result(self, chunk: Chunk) -> MatchResult:
        """Return the games of the chunk with this record."""
        return MatchResult(
            agents=chunk.names,
            config=chunk.config,
            seed=chunk.seed,
            seconds=self.seconds,
            seeds=np.array(chunk.seeds, np.uint64).ravel(),
            first_side=np.tile(np.array([ALPHA, BRAVO]), chunk.num_pairs),
            first_game=np.empty((0, NUM_SIDES, SATELLITES), np.int64),  # not recorded: the seed plays it again
            failures=tuple(self.failures),
            **{column: np.array(getattr(self, column), np.int64) for column in _COLUMNS},
        )
