"""The base class of searching agents: a budget for each decision, and games planned one by one."""

import copy
import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.basic import StatelessPlanner
from geo_patrol.agents.protocol import Agent, compute_actions
from geo_patrol.agents.scripted.seeded import sample_keys
from geo_patrol.agents.search.budget import Search, describe_search, read_budget
from geo_patrol.engine.legal import check_masks
from geo_patrol.engine.state import NOOP
from geo_patrol.game import Game


class Searcher(StatelessPlanner):
    """Evaluates candidate orders within a budget, and chooses the best.

    It plans from copies of the games (``plan``) with randomness of its own, and keeps no state.

    Args:
        search: the budget and other parameters.
    """

    def __init__(self, search: Search) -> None:
        self.search = search
        self.name = describe_search(search)
        self.seconds, self.num_rollouts = read_budget(search)
        self.decisions = 0
        self.rollouts = 0

    def hurried(self) -> Self:
        """Return a copy with the smallest budget, which calls all compiled code that this one calls."""
        other = copy.copy(self)
        other.seconds, other.num_rollouts = 0.0, 1
        return other

    def plan(
        self,
        games: Sequence[Game],
        sides: NDArray[np.int64],
        observations: NDArray[Any],  # noqa: ARG002
        action_masks: NDArray[np.int8],
        generator: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Choose the orders of one decision phase, game by game; the budget is that of each.

        Equal games and an equal generator give equal orders, if the budget is a number of rollouts. ``observations``
        are not used.

        Raises:
            ValueError: the masks have another shape or type.
            AgentError: an agent that proposes or models raised an exception, or returned something else than orders.
        """
        masks = check_masks(action_masks)
        keys = sample_keys(generator, len(masks))
        orders = np.full(masks.shape[:2], NOOP, np.int64)
        for row in np.flatnonzero((masks[:, :, NOOP + 1 :] != 0).any(axis=(1, 2))).tolist():
            orders[row] = self._decide(games[row], int(sides[row]), masks[row], keys[row])
            self.decisions += 1
        return orders

    def _decide(self, game: Game, side: int, mask: NDArray[np.int8], key: np.uint64) -> NDArray[np.int64]:
        """Return the orders of one side in one game, (11,)."""
        raise NotImplementedError


def rounds_for(candidates: int) -> int:
    """Return the number of rounds of sequential halving for so many candidates."""
    return max(math.ceil(math.log2(max(candidates, 2))), 1)


def halve(values: NDArray[np.float64], survivors: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the survivors of a round: the half with the higher mean values. The first candidate always survives.

    This is sequential halving (Karnin, Koren and Somekh 2013; Jamieson and Talwalkar 2016 call it successive halving):
    each round spends the same part of the budget on the remaining candidates and drops half of them.

    Args:
        values: (candidates, rollouts), the value of each rollout.
        survivors: indices of the remaining candidates, the first one in front.
    """
    others = survivors[1:]
    ranked = others[np.argsort(-values[others].mean(axis=1), kind="stable")]
    return np.concatenate([survivors[:1], ranked[: max(len(survivors) // 2 - 1, 1)]])


def choose(values: NDArray[np.float64], survivors: NDArray[np.int64], doubt: float) -> int:
    """Return the best candidate, if it beats the first by so many standard errors; otherwise the first."""
    first = survivors[0]
    best = survivors[np.argmax(values[survivors].mean(axis=1))]
    gains = values[best] - values[first]
    is_sure = gains.mean() > doubt * gains.std() / math.sqrt(len(gains))
    return int(best if is_sure else first)


def sample_actions(
    agent: Agent, game: Game, side: int, num_samples: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Sample an agent's orders of a side in a game a few times, (num_samples, 11)."""
    position = game.as_games()
    observations = np.repeat(position.observe(agent.observation)[:, side], num_samples, axis=0)
    masks = np.repeat(position.action_masks()[:, side], num_samples, axis=0)
    agent.reset(np.ones(num_samples, np.bool_))
    games = [game] * num_samples
    return compute_actions(agent, agent.name, observations, masks, generator, lambda: games, side).clip(0)
