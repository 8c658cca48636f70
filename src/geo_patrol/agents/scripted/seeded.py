"""The base class of stateless scripts, whose orders depend on an observation and a random key alone."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.basic import StatelessAgent
from geo_patrol.engine.rng import mix, stream_number
from geo_patrol.engine.state import ORDERS
from geo_patrol.jit import jit, jitable

_SHIFT_11 = np.uint64(11)
_UNIT = 1.0 / (1 << 53)


@jitable
def uniform(key: np.uint64, number: int) -> float:
    """Return the n-th uniform random number in [0, 1) of a key."""
    return np.int64(stream_number(key, np.uint64(number)) >> _SHIFT_11) * _UNIT


@jit
def write_keys(key: np.uint64, keys: NDArray[np.uint64]) -> None:
    """Derive a random key for each row of a batch from one key."""
    for row in range(len(keys)):
        keys[row] = mix(key ^ np.uint64(row))


def sample_keys(generator: np.random.Generator, num_rows: int) -> NDArray[np.uint64]:
    """Sample a random key for each row of a batch."""
    keys = np.empty(num_rows, np.uint64)
    write_keys(np.uint64(generator.integers(1 << 63)), keys)
    return keys


class SeededScript(StatelessAgent):
    """A stateless agent whose orders in a game depend on its observation and a random key alone."""

    def act(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Choose the orders of one decision phase.

        Equal observations and an equal generator give equal orders.

        Raises:
            ValueError: observations or masks have another shape or type, or describe no board.
        """
        return self.act_seeded(observations, action_masks, sample_keys(generator, len(action_masks)))

    def act_seeded(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8], keys: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """Choose the orders of one decision phase; equal observations and equal keys give equal orders.

        Raises:
            ValueError: observations or masks have another shape or type, or describe no board.
        """
        raise NotImplementedError


class DeterministicScript(SeededScript):
    """A script that leaves nothing to chance: its orders depend on the observation alone."""

    def order_probabilities(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8]
    ) -> NDArray[np.floating[Any]]:
        """Return probability 1 for each satellite's order, (n, 11, 28).

        Raises:
            ValueError: observations or masks have another shape or type, or describe no board.
        """
        orders = self.act_seeded(observations, action_masks, np.zeros(len(action_masks), np.uint64))
        return np.eye(ORDERS)[orders]
