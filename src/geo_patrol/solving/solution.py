"""The exact solution of a game: the value of every position, from which the strategies follow."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from geo_patrol.config.schema import GameConfig
from geo_patrol.engine.state import ALPHA, BRAVO, MOVEMENT, SIDES, Record, records
from geo_patrol.errors import SolvingError
from geo_patrol.solving.codes import encode_side
from geo_patrol.solving.effects import make_effects
from geo_patrol.solving.estimates import estimate
from geo_patrol.solving.layers import Limits, Positions, go_back, list_turns
from geo_patrol.solving.matrices import Floats, solve_matrix
from geo_patrol.solving.transitions import TRANSITION, find_patterns, joint_moves, list_moves, list_outcomes
from geo_patrol.solving.values import SOLVING

Reward: TypeAlias = Literal["score", "outcome"]
REWARDS: tuple[Reward, ...] = get_args(Reward)


class Strategy(NamedTuple):
    """How a side plays a position: joint orders, each chosen with its probability."""

    orders: NDArray[np.int64]
    """(n, 11) order codes."""
    probabilities: Floats
    """(n,); they sum to 1."""


@dataclass(frozen=True, eq=False)
class Phase:
    """The positions of one phase of one turn, with their values."""

    positions: Positions
    values: Floats
    """(n, 2), from alpha's view: what the score difference will still change to, see ``Solution``; and the outcome."""

    @cached_property
    def _numbers(self) -> NDArray[np.int64]:
        """(n,), each position as one number, ascending."""
        indices = self.positions.indices.astype(np.int64)
        return indices[:, 0] * len(self.positions.codes[1]) + indices[:, 1]

    def find(self, alpha: NDArray[np.int64], bravo: NDArray[np.int64]) -> Floats:
        """Return the values of positions by the codes of both sides, (.., 2).

        Raises:
            SolvingError: one of them cannot be reached.
        """
        indices = []
        for codes, known in zip((alpha, bravo), self.positions.codes, strict=True):
            index = np.minimum(np.searchsorted(known, codes), len(known) - 1)
            if not np.array_equal(known[index], codes):
                raise SolvingError("the position cannot be reached from the start of the solved game")
            indices.append(index)
        numbers = indices[0] * len(self.positions.codes[1]) + indices[1]
        found = np.minimum(np.searchsorted(self._numbers, numbers), len(self._numbers) - 1)
        if not np.array_equal(self._numbers[found], numbers):
            raise SolvingError("the position cannot be reached from the start of the solved game")
        values: Floats = self.values[found]
        return values


@dataclass(frozen=True, eq=False)
class Solution:
    """The solution of a game.

    Attributes:
        config: the game.
        phases: movement and engagement phase of each turn, in the order in which they are played.
        certified_gap: the largest duality gap of all matrix games: what both sides together could gain in one decision.
    """

    config: GameConfig
    phases: tuple[Phase, ...]
    certified_gap: float

    @property
    def num_positions(self) -> int:
        """How many positions, decision phases included, can be reached."""
        return sum(len(phase.values) for phase in self.phases)

    @property
    def value(self) -> dict[Reward, float]:
        """The value of the game from alpha's view, by reward.

        "score" is the expected score difference at the end, "outcome" the probability that alpha wins minus that of bravo.
        """
        return dict(zip(REWARDS, self.phases[0].values[0].tolist(), strict=True))

    def strategy(self, game: Record, side: int, reward: Reward) -> Strategy:
        """Return an equilibrium strategy of a side in one position.

        Args:
            game: a record of the layout ``GAME``, of a game of the same configuration that is not over.
            side: 0 alpha, 1 bravo.
            reward: which value the side maximizes.

        Raises:
            SolvingError: the position cannot be reached from the start of the game.
        """
        number = 2 * int(game.turn) + (game.phase != MOVEMENT)
        if game.done or not 0 <= number < len(self.phases):
            raise SolvingError("the position cannot be reached from the start of the solved game")
        phase = self.phases[number]
        codec = phase.positions.board.codec
        codes = np.array([encode_side(game, codec, each) for each in range(SIDES)])
        phase.find(codes[:1], codes[1:])
        make_matrix = self._movement_matrix if game.phase == MOVEMENT else self._engagement_matrix
        joints, matrix = make_matrix(number, codes, REWARDS.index(reward))
        strategies = np.empty(len(joints[ALPHA])), np.empty(len(joints[BRAVO]))
        solve_matrix(matrix, *strategies)
        return Strategy(joints[side], strategies[side])

    def _movement_matrix(
        self, number: int, codes: NDArray[np.int64], payoff: int
    ) -> tuple[tuple[NDArray[np.int64], ...], Floats]:
        """Return the joint orders of both sides in a movement phase, and the matrix of values."""
        board = self.phases[number].positions.board
        ends = [list_moves(board, side, codes[side : side + 1])[1] for side in range(SIDES)]
        alpha, bravo = np.meshgrid(*ends, indexing="ij")
        values = self.phases[number + 1].find(alpha, bravo)
        return joint_moves(board, codes), np.ascontiguousarray(values[..., payoff])

    def _engagement_matrix(
        self, number: int, codes: NDArray[np.int64], payoff: int
    ) -> tuple[tuple[NDArray[np.int64], ...], Floats]:
        """Return the joint orders of both sides in an engagement phase, and the matrix of values."""
        board = self.phases[number].positions.board
        patterns = find_patterns(board, codes[None])
        board = board._replace(effects=make_effects(patterns.tolist(), board.codec, board.rules[0]))
        *joints, transitions = list_outcomes(board, codes, records(TRANSITION, 64))
        values = transitions["payoff"][:, payoff].copy()
        goes_on = transitions["done"] == 0
        if goes_on.any():
            ends = transitions["code"][goes_on]
            values[goes_on] += self.phases[number + 1].find(ends[:, ALPHA], ends[:, BRAVO])[:, payoff]
        matrix = np.zeros((len(joints[ALPHA]), len(joints[BRAVO])))
        np.add.at(matrix, (transitions["row"], transitions["column"]), transitions["probability"] * values)
        return tuple(joints), matrix


def solve(config: GameConfig, limits: Limits | None = None) -> Solution:
    """Solve a game exactly, for both rewards.

    Every decision phase is a zero-sum matrix game over the joint orders of both sides. Its value depends on the values of
    what follows, so the last turn is solved first.

    Args:
        config: the game.
        limits: what it may take.

    Raises:
        SolvingError: the game is too large, or its values are sampled at each reset.
    """
    limits = limits or Limits()
    expected = estimate(config)
    if expected.positions > limits.max_positions:
        raise SolvingError(
            f"{config.title}: {expected}; {limits.max_positions:,} positions are the limit: give less fuel, fewer turns, "
            "fewer Patrols or a smaller board"
        )
    phases: list[Phase] = []
    largest = 0.0
    for turn, movement, engagement, gap in go_back(list_turns(config, limits), SOLVING, limits):
        phases += [Phase(turn.engagement, engagement), Phase(turn.movement, movement)]
        largest = max(largest, gap)
    return Solution(config, tuple(reversed(phases)), largest)
