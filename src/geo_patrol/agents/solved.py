"""The agent ``solved:FILE``: plays an equilibrium of a game that ``geo-patrol solve`` has solved."""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.basic import StatelessPlanner
from geo_patrol.base.errors import AgentError, SolvingError
from geo_patrol.base.files import expand_user
from geo_patrol.engine.state import NOOP, SATELLITES
from geo_patrol.game.game import Game
from geo_patrol.solving import REWARDS, GameSolution, Reward, Strategy, read_solution

SCORE = ",score"
"""Ends the names of agents that maximize the score difference instead of the probability to win."""
_CACHE = 100_000  # strategies


class SolvedAgent(StatelessPlanner):
    """Plays an equilibrium: whatever the other side does, it receives at least the value of the game on average.

    The orders of a side's satellites depend on each other, so it has no ``order_probabilities``; ``strategy`` gives the
    probabilities of joint orders.

    Args:
        solution: solution of the game to play.
        reward: what it maximizes.
        name: its name in tables.
    """

    def __init__(self, solution: GameSolution, reward: Reward = "outcome", name: str = "solved") -> None:
        if reward not in REWARDS:
            raise ValueError(f"reward must be {' or '.join(map(repr, REWARDS))}, got {reward!r}")
        self.solution, self.reward, self.name = solution, reward, name
        self._known_config: Any = None
        self._strategy = functools.lru_cache(_CACHE)(self._find_strategy)

    def strategy(self, game: Game, side: int) -> Strategy:
        """Return the probabilities of a side's joint orders.

        Args:
            game: game of the solved configuration, not over.
            side: 0 alpha, 1 bravo.

        Raises:
            AgentError: it is another game than the solved one.
            SolvingError: the position cannot be reached from the start of the game.
        """
        if game.config is not self._known_config:
            if game.config.to_dict() != self.solution.config.to_dict():
                raise AgentError(
                    f"agent {self.name!r} knows {self.solution.config.title!r} alone, with its exact values"
                )
            self._known_config = game.config
        record = game.as_games().copy().state.games
        for field in ("rng_key", "rng_counter", "illegal_orders", "outcome_count"):
            record[field] = 0
        return self._strategy(record.tobytes(), side)

    def _find_strategy(self, record: bytes, side: int) -> Strategy:
        game = np.frombuffer(record, self.solution.phases[0].positions.board.template.dtype)
        return self.solution.strategy(game[0], side, self.reward)

    def plan(
        self,
        games: Sequence[Game],
        sides: NDArray[np.int64],
        observations: NDArray[Any],  # noqa: ARG002
        action_masks: NDArray[np.int8],  # noqa: ARG002
        generator: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Sample joint orders from the equilibrium strategies."""
        orders = np.full((len(games), SATELLITES), NOOP, np.int64)
        for i, (game, side) in enumerate(zip(games, sides.tolist(), strict=True)):
            if not game.is_over:
                strategy = self.strategy(game, side)
                orders[i] = strategy.orders[generator.choice(len(strategy.orders), p=strategy.probabilities)]
        return orders


def read_solved(text: str = "") -> SolvedAgent:
    """Make an agent as its name says after the colon: ``FILE``, or ``FILE,score``.

    Raises:
        SolvingError: there is no file, or it is no solution.
    """
    path = text.removesuffix(SCORE)
    if not path:
        raise SolvingError("agent 'solved' needs the file that geo-patrol solve has written: 'solved:FILE'")
    return SolvedAgent(
        read_solution(expand_user(path)), "score" if text.endswith(SCORE) else "outcome", f"solved:{text}"
    )
