"""The output buffers of a batch: the arrays that a step writes."""

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.engine.encodings import Encoding, observation_size
from geo_patrol.engine.episodes import RESULT, STATISTICS
from geo_patrol.engine.state import ORDERS, SATELLITES

_RESULT, _STATISTICS = np.dtype((np.record, RESULT)), np.dtype((np.record, STATISTICS))
# NumPy finds types given as objects faster than by their classes.
_MASK_TYPE, _TOKEN_TYPE, _ONEHOT_TYPE = np.dtype(np.int8), np.dtype(np.int16), np.dtype(np.float32)
_NO_MASKS = np.empty((0, SATELLITES, ORDERS), _MASK_TYPE)
_NO_ONEHOT, _NO_TOKENS = np.empty((0, 0), _ONEHOT_TYPE), np.empty((0, 0), _TOKEN_TYPE)


class Buffers:
    """The arrays that a step of a batch writes; n environments, that is games or sides of games.

    Args:
        num_envs: how many environments.
        encoding: of the observations; None for no observations.
        outer_ring: of the board, which observations depend on.
        masks: whether action masks are written.
        zeros: whether all arrays are zero at first; otherwise observations, masks and actions are uninitialized.
    """

    def __init__(
        self, num_envs: int, encoding: Encoding | None, outer_ring: int, *, masks: bool = True, zeros: bool = False
    ) -> None:
        self.results = np.zeros(num_envs, _RESULT)
        """(n,), dtype ``episodes.RESULT``."""
        self.statistics = np.zeros(num_envs, _STATISTICS)
        """(n,), dtype ``episodes.STATISTICS``: of episodes that ended in the step, zero elsewhere."""
        empty = np.zeros if zeros else np.empty
        self.sampled = empty((num_envs, SATELLITES), np.int64)
        """(n, 11), random legal actions, if they were asked for."""
        self.masks = empty((num_envs if masks else 0, SATELLITES, ORDERS), np.int8)
        """(n, 11, 28), 1 where an order is legal."""
        rows = {name: num_envs if name == encoding else 0 for name in ("onehot", "tokens")}
        self.onehot = empty((rows["onehot"], observation_size("onehot", outer_ring)), np.float32)
        self.tokens = empty((rows["tokens"], observation_size("tokens", outer_ring)), np.int16)

    @property
    def observations(self) -> NDArray[Any]:
        """(n, size), in the encoding; (0, size) without one."""
        return self.tokens if len(self.tokens) > 0 else self.onehot

    def renew(self) -> None:
        """Replace masks and observations by new arrays: those that were returned belong to the caller."""
        self.masks = np.empty(self.masks.shape, _MASK_TYPE)
        if len(self.tokens) > 0:
            self.tokens = np.empty(self.tokens.shape, _TOKEN_TYPE)
        else:
            self.onehot = np.empty(self.onehot.shape, _ONEHOT_TYPE)

    def copy(self) -> "Buffers":
        """Return an independent copy."""
        twin = copy.copy(self)
        for name, array in vars(self).items():
            setattr(twin, name, array.copy())
        return twin

    def without_arrays(self) -> "Buffers":
        """Return a view of the results, statistics and sampled actions, without masks and observations."""
        view = object.__new__(Buffers)
        view.results, view.statistics, view.sampled = self.results, self.statistics, self.sampled
        view.masks, view.onehot, view.tokens = _NO_MASKS, _NO_ONEHOT, _NO_TOKENS
        return view

    def clear(self) -> None:
        """Set results and statistics to zero, as after a reset."""
        self.results.view(np.uint8)[:] = 0
        self.statistics.view(np.uint8)[:] = 0
