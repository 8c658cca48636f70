"""What a single satellite sees, from what its side sees: for environments and networks where each satellite is an agent."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.engine.observe import NUM_GAME_FEATURES, OBSERVED_SATELLITES
from geo_patrol.engine.state import SATELLITES


def own_features(observations: NDArray[Any]) -> NDArray[Any]:
    """Return the part of sides' observations that describes their own satellites, (n, 11, features): a view."""
    # Where enemies are hidden, there are features of sight as well: fewer than satellites, so the quotient is the same.
    width = (observations.shape[1] - NUM_GAME_FEATURES) // OBSERVED_SATELLITES
    return observations[:, : SATELLITES * width].reshape(len(observations), SATELLITES, width)


def satellite_observations(observations: NDArray[Any]) -> NDArray[Any]:
    """Return what each satellite of sides sees, (n, 11, size): its number, its own features, and all that its side sees.

    Args:
        observations: of sides, (n, size). In "tokens", which are integers, the number is one too; otherwise it is one-hot.
    """
    kind = observations.dtype
    numbers = np.arange(SATELLITES, dtype=kind)[:, None] if kind.kind == "i" else np.eye(SATELLITES, dtype=kind)
    own = own_features(observations)
    start, stop = numbers.shape[1], numbers.shape[1] + own.shape[2]
    vectors = np.empty((len(observations), SATELLITES, stop + observations.shape[1]), kind)
    vectors[..., :start] = numbers
    vectors[..., start:stop] = own
    vectors[..., stop:] = observations[:, None]
    return vectors
