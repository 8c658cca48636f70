"""Copies of one position, played in parallel to the end of a turn."""

import numpy as np
from numpy.typing import NDArray

from geo_patrol.engine.batch import Batch
from geo_patrol.engine.rng import mix, stream_number
from geo_patrol.engine.state import NOBODY, ORDERS, SATELLITES, SIDES


class Branches:
    """Copies of one position, played in parallel.

    Args:
        batch: the position, a batch of one; not modified.
        side: the planning side.
        key: the random key of all branches.
    """

    def __init__(self, batch: Batch, side: int, key: np.uint64) -> None:
        self._root, self.side, self._key = batch, side, key
        self.phase = int(batch.games["phase"][0])
        """The phase that is played first, MOVEMENT or ENGAGEMENT."""
        self.begin(0, 0, 1)

    def __len__(self) -> int:
        return len(self._batch)

    def begin(self, first: int, samples: int, copies: int) -> None:
        """Take samples * copies copies of the position; the copies of one sample have the same random stream.

        Args:
            first: the number of the first sample.
            samples: how many samples.
            copies: copies of each.
        """
        self._batch = self._root.repeat(samples * copies, "tokens")
        keys = [mix(np.uint64(stream_number(self._key, np.uint64(first + i)))) for i in range(samples)]
        self._batch.games["rng_key"] = np.repeat(np.array(keys, np.uint64), copies)
        self._batch.games["rng_counter"] = 0

    @property
    def observations(self) -> NDArray[np.int16]:
        """The observations of both sides of each copy after the last phase, (n, 2, size), in tokens."""
        return self._batch.buffers.tokens.reshape(len(self), SIDES, -1)

    @property
    def masks(self) -> NDArray[np.int8]:
        """The legal orders of both sides of each copy after the last phase, (n, 2, 11, 28)."""
        return self._batch.buffers.masks.reshape(len(self), SIDES, SATELLITES, ORDERS)

    def play(self, orders: NDArray[np.int64]) -> None:
        """Play one phase of all copies with the orders of both sides, (n, 2, 11)."""
        self._batch.step(orders.reshape(-1, SATELLITES))

    def put_outcomes(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return estimates, (n,), replaced by 1 (won), 0 (drawn) or -1 (lost) where the game is over."""
        winner = self._batch.episodes["winner"]
        outcomes = np.where(winner == NOBODY, 0.0, np.where(winner == self.side, 1.0, -1.0))
        values[:] = np.where(self._batch.games["done"] != 0, outcomes, values)
        return values
