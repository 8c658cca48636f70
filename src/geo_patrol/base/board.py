"""The board: rings and sectors, and the steps between them.

Ring r has 2^r sectors. Sector number = 2^r - 1 + azimuth, the azimuth counted counterclockwise from 0. So a sector
number plus one is its node in a binary tree: the parent is the sector one ring further in, the two children are the
sectors one ring further out, and all steps are a shift or an addition. Sector 0 is the Earth.

Every function here also works on whole NumPy integers inside the compiled engine.
"""

import numpy as np

from geo_patrol.base.jit import jitable

EARTH = 0
"""The sector in the middle; no satellite ever enters it. Satellites that a side does not have are kept there."""

MAX_RING = 10
"""The outermost ring that a board may have."""


@jitable
def ring_of(sector: int) -> int:
    """Return the ring of a sector (0 for the Earth)."""
    node = sector + 1
    ring = 0
    while node > 1:
        node >>= 1
        ring += 1
    return ring


RINGS = np.repeat(np.arange(MAX_RING + 1, dtype=np.int8), 2 ** np.arange(MAX_RING + 1))
"""The ring of every sector that a board can have, for loops in which ``ring_of`` would take too long."""


@jitable
def azimuth_of(sector: int) -> int:
    """Return the azimuth of a sector, 0 .. 2^ring - 1, counterclockwise."""
    return sector + 1 - (1 << ring_of(sector))


@jitable
def sector_at(ring: int, azimuth: int) -> int:
    """Return the sector on a ring at an azimuth; the azimuth wraps around."""
    return (1 << ring) - 1 + azimuth % (1 << ring)


@jitable
def prograde(sector: int) -> int:
    """Return the next sector counterclockwise on the same ring."""
    node = sector + 2
    if node & (node - 1) == 0:  # past the ring's last sector stands the first one of the next ring
        node >>= 1
    return node - 1


@jitable
def retrograde(sector: int) -> int:
    """Return the next sector clockwise on the same ring."""
    node = sector + 1
    if node & (node - 1) == 0:
        node <<= 1
    return node - 2


@jitable
def radial_in(sector: int) -> int:
    """Return the sector one ring further in."""
    return ((sector + 1) >> 1) - 1


@jitable
def radial_out(sector: int) -> int:
    """Return the sector one ring further out that a radial move reaches: the retrograde one of the two."""
    return ((sector + 1) << 1) - 1


@jitable
def are_adjacent(sector: int, other: int) -> bool:
    """Tell whether two different sectors touch: prograde, retrograde, radial in, or either radial out."""
    if (sector + 1) >> 1 == other + 1 or (other + 1) >> 1 == sector + 1:
        return True
    return sector != other and (prograde(sector) == other or prograde(other) == sector)


@jitable
def are_within(sector: int, other: int, reach: int, inner_ring: int) -> bool:
    """Tell whether so many steps lead from one sector to another, each to an adjacent one, without going inside of a ring.

    Some shortest way leads inwards to a ring, along it, and outwards again: a step along an outer ring leads less far, or
    exactly as far, as one along the ring inside of it.
    """
    ring, other_ring = int(RINGS[sector]), int(RINGS[other])
    steps, along = abs(ring - other_ring), min(ring, other_ring)
    node, other_node = (sector + 1) >> (ring - along), (other + 1) >> (other_ring - along)
    while steps <= reach:
        apart = abs(node - other_node)
        if steps + min(apart, (1 << along) - apart) <= reach:
            return True
        if along <= inner_ring:
            return False
        node >>= 1
        other_node >>= 1
        along -= 1
        steps += 2
    return False


def adjacent_sectors(sector: int, outer_ring: int = MAX_RING) -> list[int]:
    """List the sectors next to one, in ascending order, without the Earth and within the outer ring."""
    around = {prograde(sector), retrograde(sector), radial_in(sector), radial_out(sector), radial_out(sector) + 1}
    return sorted(s for s in around if s not in (EARTH, sector) and ring_of(s) <= outer_ring)
