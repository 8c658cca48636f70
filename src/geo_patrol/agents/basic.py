"""Agents that take no interest in the position."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.engine.observe import Encoding
from geo_patrol.engine.sample import sample_legal


class RandomAgent:
    """Gives every satellite one of its legal orders, all with equal chances."""

    name = "random"
    observation: Encoding = "tokens"

    def reset(self, new_games: NDArray[np.bool_]) -> None:
        """Do nothing: it remembers nothing."""

    def act(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Draw legal orders."""
        return sample_legal(action_masks, generator)


class IdleAgent:
    """Gives no orders: everything drifts."""

    name = "idle"
    observation: Encoding = "tokens"

    def reset(self, new_games: NDArray[np.bool_]) -> None:
        """Do nothing: it remembers nothing."""

    def act(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Return noop for every satellite."""
        return np.zeros(action_masks.shape[:2], np.int64)
