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
  state from one batch to the next;
- a chunk in which sides are not swapped has the first games of the same pairs (studies ask who wins as alpha).
"""

import hashlib
import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from geo_patrol.agents.isolation.agent import MOVE_TIME
from geo_patrol.agents.playing import AgentPair, SeatedAgent
from geo_patrol.agents.protocol import Agent, agent_name, unique_name
from geo_patrol.base.errors import AgentError
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine.rng import mix, stream_number
from geo_patrol.engine.state import ENGAGEMENT, FORFEIT, NUM_SIDES, SATELLITES
from geo_patrol.evaluation.results import DRAW, FIRST, GAME_RESULT, SECOND, Failure, MatchResult
from geo_patrol.game.game import Games

CHUNK_PAIRS = 128
"""Pairs of a chunk. The agents' random streams depend on it, so it is not an option."""
SEATINGS = ((FIRST, SECOND), (SECOND, FIRST))
"""The agents that play alpha and bravo, in the first and in the second batch of a chunk."""

_SWAPPED = 1 << 32
"""Added to the pair's number where the second game of a pair has a seed of its own."""
_SPARE_BITS = 11  # of 64: readers that parse JSON numbers as floats get the other 53 right

OnFailure: TypeAlias = Literal["raise", "forfeit"]
"""What a match does when an agent fails."""


@dataclass(frozen=True, eq=False)
class PlannedMatch:
    """A match to be played, of any number of games.

    Attributes:
        agents: each by name, as ``make_agent`` takes it, or itself; those only play in this process.
        config: configuration of the games.
        seed: seed of the match.
        move_time: seconds for a decision of a user-defined agent in a process of its own.
        names: how the agents are called in results, by default as in ``agents``; their random streams depend on it.
        swaps: whether the games with the sides swapped are played too.
        files: digests of the files that the agents' names mention, by path, where they tell games apart.
    """

    agents: tuple[str | Agent, str | Agent]
    config: GameConfig
    seed: int
    move_time: float = MOVE_TIME
    names: tuple[str, str] | None = None
    swaps: bool = True
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_self_play(self) -> bool:
        """Whether both agents were given by the same name.

        The games of a pair then have a seed each: with the same seed and sides swapped they would be near duplicates.
        ``players`` do not tell: there the second one is called "scripted (2)", and so may be another agent.
        """
        first, second = self.names or map(agent_name, self.agents)
        return first == second

    @property
    def players(self) -> tuple[str, str]:
        """Two different names of the agents."""
        first, second = self.names or map(agent_name, self.agents)
        return first, unique_name(second, (first,))

    @property
    def seatings(self) -> tuple[tuple[int, int], ...]:
        """The agents that play alpha and bravo in each batch of a chunk."""
        return SEATINGS if self.swaps else SEATINGS[:1]

    @cached_property
    def digest(self) -> str:
        """A digest of all that its games depend on, but for the move time and the version of the package."""
        agents = [agent_name(agent) for agent in self.agents]
        data = [agents, self.players, self.is_self_play, self.swaps, dict(self.files), self.seed, self.config.to_dict()]
        return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()

    def chunks(self, pairs: int) -> "list[Chunk]":
        """Return the chunks of its first pairs of games, or of single games if it does not swap sides."""
        return [
            Chunk(self, start // CHUNK_PAIRS, min(CHUNK_PAIRS, pairs - start)) for start in range(0, pairs, CHUNK_PAIRS)
        ]


@dataclass(frozen=True, eq=False, slots=True)
class Chunk:
    """Consecutive pairs of a match: the unit of work, which a worker plays, and a line of a journal.

    Attributes:
        match: the match.
        index: index of the chunk in its match; its first pair is number ``CHUNK_PAIRS * index``.
        num_pairs: at most ``CHUNK_PAIRS``.
    """

    match: PlannedMatch
    index: int
    num_pairs: int

    @property
    def key(self) -> str:
        """A digest of what its games depend on, by which they are stored."""
        data = f"{self.match.digest} {self.index} {self.num_pairs}"
        return hashlib.sha256(data.encode()).hexdigest()[:24]

    @property
    def games(self) -> int:
        """The number of its games."""
        return len(self.match.seatings) * self.num_pairs

    def make_games(self) -> NDArray[np.void]:
        """Return records of layout ``GAME_RESULT`` with the seeds and the sides of the games, and else zeros."""
        match, games, batches = self.match, np.zeros(self.games, GAME_RESULT), len(self.match.seatings)
        pairs = range(CHUNK_PAIRS * self.index, CHUNK_PAIRS * self.index + self.num_pairs)
        for number, seating in enumerate(match.seatings):
            offset = _SWAPPED * number if match.is_self_play else 0
            games["seeds"][number::batches] = [game_seed(match.seed, pair + offset) for pair in pairs]
            games["first_side"][number::batches] = seating[FIRST]
        return games


class PlayedChunk(NamedTuple):
    """A chunk that was played."""

    result: MatchResult
    orders: list[list[NDArray[np.int8]]]
    """The orders of each batch, for each phase (pairs, 2, 11); empty if they are not kept."""
    curve: NDArray[np.int64]
    """(turns, 5), sums over the games after every turn, see ``CURVE``; a game that is over keeps its last values."""


CURVE = ("running", "alpha_score", "bravo_score", "alpha_patrols", "bravo_patrols")
"""What a chunk counts after every turn: games that go on, the points of each side, and its Patrols with fuel."""


def join_curves(curves: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Add the curves of several batches or chunks; the last row of a shorter one stands for all later turns."""
    turns = max(map(len, curves), default=0)
    joined = np.zeros((turns, len(CURVE)), np.int64)
    for curve in curves:
        joined += np.pad(curve, [(0, turns - len(curve)), (0, 0)], mode="edge") if len(curve) else 0
    return joined


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
        agents: the first and the second one; one object for both must be stateless.
        chunk: what to play.
        on_failure: see ``play_match``.
        progress: called after every phase with the number of the chunk's finished games.
        keeps_orders: whether to return the orders of all games.

    Returns:
        The games of this chunk, of which ``results.join_results`` makes a match, and their orders.
    """
    games = chunk.make_games()
    batches: list[_Batch] = []
    match = chunk.match
    for number, seating in enumerate(match.seatings):
        batch = _Batch(agents, chunk, seating, games[number :: len(match.seatings)], keeps_orders=keeps_orders)
        batch.play(on_failure, partial(add_progress, progress, chunk.num_pairs * number))
        batches.append(batch)
    first_game = np.array(batches[0].first_game, np.int64).reshape(-1, NUM_SIDES, SATELLITES)  # perhaps without a phase
    failures = tuple(failure for batch in batches for failure in batch.failures)
    result = MatchResult(match.players, match.config, match.seed, games, first_game, failures)
    return PlayedChunk(result, [batch.orders for batch in batches], join_curves([batch.curve for batch in batches]))


def add_progress(progress: Callable[[int], None], before: int, games: int) -> None:
    """Report a number of finished games beside those that were finished before."""
    progress(before + games)


class _Batch:
    """Games of two agents on the same sides, played side by side; finished ones stay as they are, so that rows do not move.

    Args:
        agents: the first and the second one.
        chunk: what the games belong to.
        seating: the agents that play alpha and bravo. As they are two, it also says on which sides the first and the second
            agent play.
        results: (n,) records of layout ``GAME_RESULT`` with the seeds of the games; the rest is written when they are over.
        keeps_orders: whether to keep the orders of all games.

    Attributes:
        orders: for each phase (n, 2, 11), illegal orders included; empty if they are not kept.
        first_game: for each phase of the first game its orders, (2, 11).
        failures: failures of the agents.
        curve: see ``PlayedChunk``.
    """

    def __init__(
        self,
        agents: tuple[Agent, Agent],
        chunk: Chunk,
        seating: tuple[int, int],
        results: NDArray[np.void],
        *,
        keeps_orders: bool,
    ) -> None:
        self._seating, self._results, self._keeps_orders = seating, results, keeps_orders
        match, names = chunk.match, chunk.match.players
        self._games = Games(match.config, len(results), seed=results["seeds"])
        players = [
            SeatedAgent(agents[i], names[i], side, agent_generator(match.seed, chunk.index, side, names[i]))
            for side, i in enumerate(seating)
        ]
        self._players = AgentPair(self._games, players)
        self.orders: list[NDArray[np.int8]] = []
        self.first_game: list[NDArray[np.int8]] = []
        self.failures: list[Failure] = []
        self._turns: list[NDArray[np.int64]] = []

    @property
    def curve(self) -> NDArray[np.int64]:
        return np.array(self._turns, np.int64).reshape(-1, len(CURVE))

    def play(self, on_failure: OnFailure, progress: Callable[[int], None]) -> None:
        """Play all games to the end."""
        games, results, seating = self._games, self._results, list(self._seating)
        running = np.ones(len(games), np.bool_)
        errors = self._players.reset()
        while running.any():
            if not errors:
                orders, errors = self._players.compute_orders()
            if errors:
                break
            if self._keeps_orders:
                self.orders.append(orders.astype(np.int8))
            if running[0]:
                self.first_game.append(orders[0].astype(np.int8))
            games.step(orders)
            results["illegal_orders"] += games.state.games["illegal_orders"][:, seating] * running[:, None]
            running = ~games.is_over
            if not (running & (games.phase == ENGAGEMENT)).any():  # a turn is over; all running games are in one phase
                self._count_turn(int(running.sum()))
            progress(len(games) - int(running.sum()))
        if errors and on_failure == "raise":
            raise next(iter(errors.values()))
        results["scores"] = games.scores[:, seating]
        results["turns"] = games.turn
        results["reasons"] = games.reasons
        results["winner"] = np.where(games.winner == DRAW, DRAW, games.winner ^ results["first_side"])
        if errors:
            self._forfeit(running, errors)
            progress(len(games))

    def _count_turn(self, running: int) -> None:
        active = (self._games.fuel[:, :, 1:] > 0).sum(axis=(0, 2))
        self._turns.append(np.array([running, *self._games.scores.sum(axis=0), *active], np.int64))

    def _forfeit(self, running: NDArray[np.bool_], errors: dict[int, AgentError]) -> None:
        """End the running games against the sides whose agents failed: they lose all their points, and the game.

        If both failed, the games are drawn.
        """
        losers = [self._seating[side] for side in errors]
        self._results["reasons"][running] = sum(FORFEIT << side for side in errors)
        self._results["winner"][running] = 1 - losers[0] if len(losers) == 1 else DRAW
        for side, error in errors.items():
            self._results["scores"][running, self._seating[side]] = 0
            self.failures.append(Failure(self._seating[side], side, int(running.sum()), str(error)))


class ChunkRecord(BaseModel):
    """The games of a chunk as plain data: a line of a journal.

    Its columns are fields of ``GAME_RESULT``; the seeds and the sides follow from the chunk.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    chunk: str
    failures: list[Failure]
    scores: list[list[int]]
    turns: list[int]
    reasons: list[int]
    winner: list[int]
    illegal_orders: list[list[int]]
    curve: list[list[int]]

    @classmethod
    def of(cls, chunk: Chunk, played: PlayedChunk) -> Self:
        """Return the record of a chunk that was played."""
        columns = {name: played.result.games[name].tolist() for name in STORED_GAME.names or ()}
        return cls(chunk=chunk.key, failures=list(played.result.failures), curve=played.curve.tolist(), **columns)

    def read(self) -> "StoredChunk | None":
        """Return what is stored; None if it is not that of games."""
        games = np.zeros(len(self.winner), STORED_GAME)
        try:
            for name in STORED_GAME.names or ():
                column = np.array(getattr(self, name), games.dtype[name].base)
                if column.shape != games[name].shape:
                    return None
                games[name] = column
            curve = np.array(self.curve, np.int32).reshape(-1, len(CURVE))
        except (ValueError, OverflowError):  # rows of different lengths, numbers that are too large
            return None
        if not np.isin(games["winner"], (DRAW, FIRST, SECOND)).all():
            return None
        return StoredChunk(games, curve, tuple(self.failures))


STORED_GAME = np.dtype(
    [
        (name, (np.int32, dtype.shape))
        for name, (dtype, *_) in (GAME_RESULT.fields or {}).items()
        if name not in ("seeds", "first_side")
    ]
)
"""What a journal has of a game: the fields of ``GAME_RESULT`` that do not follow from the chunk, in half the memory."""


class StoredChunk(NamedTuple):
    """The games of a chunk, without what follows from the chunk."""

    games: NDArray[np.void]
    curve: NDArray[np.int32]
    failures: tuple[Failure, ...]

    def restore(self, chunk: Chunk) -> PlayedChunk:
        """Return the games of their chunk; orders were not stored, the seeds play them again."""
        match, games = chunk.match, chunk.make_games()
        for name in STORED_GAME.names or ():
            games[name] = self.games[name]
        first_game = np.empty((0, NUM_SIDES, SATELLITES), np.int64)
        result = MatchResult(match.players, match.config, match.seed, games, first_game, self.failures)
        return PlayedChunk(result, [], self.curve.astype(np.int64))
