"""Spaces of actions and observations."""

from copy import deepcopy
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from geo_patrol.config.schema import GameConfig
from geo_patrol.engine.legal import check_flags, sample_legal
from geo_patrol.engine.observe import Encoding, observation_bounds
from geo_patrol.engine.own import Observation
from geo_patrol.engine.state import ORDERS, SATELLITES

MASK_SHAPE = (SATELLITES, ORDERS)
FLAT_MASK_SHAPE = (SATELLITES * ORDERS,)


class _Orders(spaces.MultiDiscrete):
    """Orders of one side or of many."""

    def sample(self, mask: Any = None, probability: Any = None) -> NDArray[np.int64]:
        """Sample orders: for each satellite one of the allowed ones, all with equal probabilities.

        Args:
            mask: (11, 28) or (308,) for one side, 1 where an order is allowed, or with an axis of environments before it;
                None allows all. For one side a tuple of eleven arrays, as ``MultiDiscrete`` takes, is accepted too. A
                satellite without an allowed order gets a noop.
            probability: as in ``MultiDiscrete``.

        Raises:
            ValueError: the mask has another shape, or values that are neither 0 nor 1.
        """
        if probability is not None:
            return super().sample(mask=mask, probability=probability)
        if mask is None:
            return self.np_random.integers(ORDERS, size=self.shape)
        masks, sides = np.asarray(mask), self.shape[:-1]
        if masks.shape not in ((*sides, *MASK_SHAPE), (*sides, *FLAT_MASK_SHAPE)):
            raise ValueError(f"mask must have shape {(*sides, *MASK_SHAPE)}, got {masks.shape}")
        if masks.dtype.kind not in "biuf":
            raise ValueError(f"mask must be 0 or 1, got an array of {masks.dtype}")
        flags = check_flags("mask", masks).astype(np.int8)
        return sample_legal(flags.reshape(-1, *MASK_SHAPE), self.np_random).reshape(self.shape)


class OrderSpace(_Orders):
    """Orders of one side: an order code, 0 to 27, for each of eleven satellites, as int64.

    ``sample`` accepts the action mask of an observation, an (11, 28) array.
    """

    def __init__(self, seed: int | np.random.Generator | None = None) -> None:
        super().__init__([ORDERS] * SATELLITES, dtype=np.int64, seed=seed)


class BatchedOrderSpace(_Orders):
    """Orders of many environments, (num_envs, 11) int64: the batched ``OrderSpace`` of Gymnasium's ``batch_space``."""

    def __init__(self, num_envs: int, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(np.full((num_envs, SATELLITES), ORDERS), dtype=np.int64, seed=seed)


@batch_space.register(OrderSpace)
def _batch_orders(space: OrderSpace, n: int = 1) -> BatchedOrderSpace:
    return BatchedOrderSpace(n, seed=deepcopy(space.np_random))


def box(config: GameConfig, encoding: Encoding | Observation, *, whole: bool = False) -> spaces.Box:
    """Return the space of observation vectors: 1-D, with bounds for every index, from 0 in the encodings.

    Args:
        config: the configuration.
        encoding: the encoding of the observations, or an own one.
        whole: whether they show everything, even if the configuration hides enemies.
    """
    if isinstance(encoding, Observation):
        return spaces.Box(encoding.low, encoding.high, dtype=encoding.dtype.type)
    features = {"hides_enemies": config.hides_enemies and not whole, "counts_patrols": config.counts_patrols}
    high = observation_bounds(encoding, config.board.outer_ring, **features)
    return spaces.Box(np.zeros_like(high), high, dtype=high.dtype.type)


def masked(observation: spaces.Space[Any], mask_shape: tuple[int, ...] = MASK_SHAPE) -> spaces.Dict:
    """Return the space of observations together with their action mask."""
    mask = spaces.Box(0, 1, mask_shape, np.int8)
    return spaces.Dict({"observation": observation, "action_mask": mask})
