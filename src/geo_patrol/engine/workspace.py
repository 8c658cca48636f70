"""Room to calculate in, made once for a loop over games and used for one game after the other."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from geo_patrol.engine.state import SATELLITES, SIDES
from geo_patrol.jit import jit


class Scratch(NamedTuple):
    """Arrays that functions of one game find empty, or overwrite, and leave so."""

    occupancy: NDArray[np.int32]
    """(sectors,), zero: who is in each sector."""
    around: NDArray[np.int64]
    """(2, 11, 2), overwritten: who is in the sector of each satellite, and next to it."""
    nearness: NDArray[np.int8]
    """(sectors,), zero: which sectors are an HVA's or next to it."""
    places: NDArray[np.int64]
    """(2, 11, 3), overwritten: what observations need to know of each satellite's place."""
    draws: NDArray[np.uint64]
    """(2, 11), overwritten: random bits for each satellite."""


@jit
def make_scratch(outer_ring: int) -> Scratch:
    """Return room for games on a board of so many rings."""
    sectors = 1 << (outer_ring + 2)  # two rings more than there are: a look outward needs no test
    return Scratch(
        np.zeros(sectors, np.int32),
        np.empty((SIDES, SATELLITES, 2), np.int64),
        np.zeros(sectors, np.int8),
        np.empty((SIDES, SATELLITES, 3), np.int64),
        np.empty((SIDES, SATELLITES), np.uint64),
    )
