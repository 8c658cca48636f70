"""Temporary arrays of the engine, allocated once for a loop over games and reused for one game after the other."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from geo_patrol.engine.state import SATELLITES, SIDES, IntArray
from geo_patrol.jit import jitable

_ALL = SIDES * SATELLITES


class Workspace(NamedTuple):
    """Arrays that functions of one game find empty, or overwrite, and leave so."""

    occupancy: NDArray[np.int32]
    """(sectors,), zero: the satellites in each sector, as bits."""
    neighbours: NDArray[np.int64]
    """(2, 11, 2), overwritten: the satellites in the sector of each satellite, and in those adjacent to it, as bits."""
    nearness: NDArray[np.int8]
    """(sectors,), zero: flags of the sectors that hold an HVA or are adjacent to one."""
    positions: NDArray[np.int64]
    """(2, 11, 3), overwritten: relative sectors and nearness flags of each satellite, see ``observe``."""
    random_bits: NDArray[np.uint64]
    """(2, 11), overwritten."""
    orders: NDArray[np.int64]
    """(2, 11), overwritten: the orders of both sides of one game."""


@jitable
def make_workspace(outer_ring: int) -> Workspace:
    """Allocate the arrays for games on a board with so many rings."""
    sectors = 1 << (outer_ring + 2)  # two rings more than there are: reads beyond the outer ring need no test
    return Workspace(
        np.zeros(sectors, np.int32),
        np.empty((SIDES, SATELLITES, 2), np.int64),
        np.zeros(sectors, np.int8),
        np.empty((SIDES, SATELLITES, 3), np.int64),
        np.empty((SIDES, SATELLITES), np.uint64),
        np.empty((SIDES, SATELLITES), np.int64),
    )


class Engagement(NamedTuple):
    """An engagement being resolved. Satellites of both sides are numbered consecutively: 11 * side + number."""

    aim: IntArray
    """(22,): the number of the enemy that each attack is aimed at now, or NOBODY."""
    destroyed: IntArray
    """(22,): 1 where a satellite has been hit."""
    guards: IntArray
    """(22,): the satellites that guard, at the front; shooters and colliders likewise."""
    shooters: IntArray
    colliders: IntArray
    attackers: IntArray
    """(22,): the attackers of one HVA, at the front."""


@jitable
def make_engagement() -> Engagement:
    """Allocate the arrays of an engagement, in one piece."""
    arrays = np.zeros((6, _ALL), np.int64)
    return Engagement(arrays[0], arrays[1], arrays[2], arrays[3], arrays[4], arrays[5])
