"""Agents that take no interest in the position."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.engine.encodings import Encoding
from geo_patrol.engine.sample import check_masks, sample_by_keys, sample_legal


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

    def act_seeded(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8], keys: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """Draw legal orders, those of each row by its key."""
        masks = check_masks(action_masks)
        orders = np.empty(masks.shape[:2], np.int64)
        sample_by_keys(masks, keys, orders)
        return orders


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

    def act_seeded(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8], keys: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """Return noop for every satellite."""
        return np.zeros(action_masks.shape[:2], np.int64)
