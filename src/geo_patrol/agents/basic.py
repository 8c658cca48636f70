"""The base classes of stateless agents and of those that plan from games, and agents that ignore the position."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.base.errors import AgentError
from geo_patrol.engine.legal import check_masks, sample_legal, sample_with_keys
from geo_patrol.engine.observe import Encoding
from geo_patrol.engine.state import NOOP


class StatelessAgent:
    """The base class of agents that read observations in tokens and keep nothing between calls."""

    observation: Encoding = "tokens"

    def reset(self, new_games: NDArray[np.bool_]) -> None:
        """Do nothing: the agent is stateless."""


class StatelessPlanner(StatelessAgent):
    """The base class of planners that keep nothing between calls: they have ``plan``, and ``act`` refuses."""

    stateless = True
    name: str

    def act(
        self,
        observations: NDArray[Any],
        action_masks: NDArray[np.int8],
        generator: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Refuse: an observation is not a game that could be played on.

        Raises:
            AgentError: always.
        """
        raise AgentError(f"agent {self.name!r} plans from games, not from observations: call plan, or compute_actions")


class RandomAgent(StatelessAgent):
    """Gives every satellite one of its legal orders, all with equal probabilities."""

    name = "random"

    def act(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Sample legal orders."""
        return sample_legal(action_masks, generator)

    def act_seeded(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8], keys: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """Sample legal orders, those of each row by its key."""
        return sample_with_keys(action_masks, keys)

    def order_probabilities(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8]
    ) -> NDArray[np.floating[Any]]:
        """Return equal probabilities of all legal orders, (n, 11, 28); a satellite without any gives a noop."""
        legal = check_masks(action_masks) != 0
        legal[..., NOOP] |= ~legal.any(axis=2)
        probabilities: NDArray[np.float64] = legal / legal.sum(axis=2, keepdims=True)
        return probabilities


class IdleAgent(StatelessAgent):
    """Gives no orders: everything drifts."""

    name = "idle"

    def act(
        self,
        observations: NDArray[Any],
        action_masks: NDArray[np.int8],
        generator: Any,
    ) -> NDArray[np.int64]:
        """Return noop for every satellite, whatever the source of randomness."""
        return np.zeros(action_masks.shape[:2], np.int64)

    act_seeded = act

    def order_probabilities(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8]
    ) -> NDArray[np.floating[Any]]:
        """Return probability 1 for the noop of every satellite, (n, 11, 28)."""
        probabilities = np.zeros(action_masks.shape)
        probabilities[..., NOOP] = 1
        return probabilities
