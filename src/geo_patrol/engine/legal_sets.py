"""All legal orders of a game at once, as sets of bits: bit k of a satellite's set is order code k.

The rules are those of ``legality.py``, which judges one order at a time; property tests compare the two. Here an
occupancy table of the sectors is filled first, so that each satellite finds its enemies in range with six reads instead
of eleven comparisons, and its whole set with a few shifts.
"""

import numpy as np
from numpy.typing import NDArray

from geo_patrol.board import prograde, radial_in, radial_out, retrograde
from geo_patrol.engine.state import (
    ADJACENT_SECTOR,
    COLLIDE,
    COLLISION,
    GUARD,
    GUARDING,
    HVA,
    MOVEMENT,
    NOOP,
    ORDERS,
    PROGRADE,
    RADIAL_IN,
    RADIAL_OUT,
    RETROGRADE,
    SAME_SECTOR,
    SATELLITES,
    SHOOT,
    SHOT,
    SIDES,
    IntArray,
    Record,
)
from geo_patrol.engine.workspace import Workspace
from geo_patrol.jit import jitable

NOOP_ALONE = 1 << NOOP
"""The set of absent and inactive satellites, and of all satellites of a finished game."""
MASK_WORDS = ORDERS // 4
"""Words of 32 bits that a satellite's mask, 28 bytes, takes."""
_FLEET = (1 << SATELLITES) - 1


@jitable
def write_move_sets(game: Record, rules: Record, legal: IntArray) -> None:
    """Write the legal moves of both sides."""
    beyond_inner_ring = (1 << (rules.inner_ring + 1)) - 1  # the first sector further out than the inner ring
    outer_ring = (1 << rules.outer_ring) - 1  # its first sector
    for side in range(SIDES):
        prograde_cost, retrograde_cost = rules.move_cost[side, PROGRADE], rules.move_cost[side, RETROGRADE]
        in_cost, out_cost = rules.move_cost[side, RADIAL_IN], rules.move_cost[side, RADIAL_OUT]
        for number in range(SATELLITES):
            fuel, sector = int(game.fuel[side, number]), int(game.sector[side, number])
            moves = (prograde_cost <= fuel) << PROGRADE
            moves |= (retrograde_cost <= fuel) << RETROGRADE
            moves |= ((in_cost <= fuel) & (sector >= beyond_inner_ring)) << RADIAL_IN
            moves |= ((out_cost <= fuel) & (sector < outer_ring)) << RADIAL_OUT
            legal[side, number] = NOOP_ALONE | moves if fuel > 0 else NOOP_ALONE


@jitable
def adjacent_occupants(occupancy: IntArray, sector: int) -> int:
    """Return the satellites in the sectors adjacent to a sector, as bits."""
    adjacent = occupancy[prograde(sector)] | occupancy[retrograde(sector)] | occupancy[radial_in(sector)]
    outward = radial_out(sector)
    return int(adjacent | occupancy[outward] | occupancy[outward + 1])


@jitable
def find_neighbours(game: Record, workspace: Workspace) -> None:
    """Write which active satellites are in the sector of each satellite, and in those adjacent to it."""
    occupancy, neighbours = workspace.occupancy, workspace.neighbours
    for side in range(SIDES):
        for number in range(SATELLITES):
            is_active = game.fuel[side, number] > 0
            occupancy[game.sector[side, number]] |= is_active << (side * SATELLITES + number)
    for side in range(SIDES):
        for number in range(SATELLITES):
            sector = int(game.sector[side, number])
            neighbours[side, number, SAME_SECTOR] = occupancy[sector]
            neighbours[side, number, ADJACENT_SECTOR] = adjacent_occupants(occupancy, sector)
    for side in range(SIDES):
        for number in range(SATELLITES):
            occupancy[game.sector[side, number]] = 0


@jitable
def write_attack_sets(game: Record, rules: Record, side: int, neighbours: NDArray[np.int64], legal: IntArray) -> None:
    """Write the shots and collisions of a side by shifts alone, without branches to mispredict."""
    first_enemy = (1 - side) * SATELLITES
    shot, near_shot = rules.engagement_cost[side, SHOT, SAME_SECTOR], rules.engagement_cost[side, SHOT, ADJACENT_SECTOR]
    collision = rules.engagement_cost[side, COLLISION, SAME_SECTOR]
    near_collision = rules.engagement_cost[side, COLLISION, ADJACENT_SECTOR]
    for number in range(SATELLITES):
        fuel, has_ammo = int(game.fuel[side, number]), game.ammo[side, number] > 0
        here = (neighbours[side, number, SAME_SECTOR] >> first_enemy) & _FLEET
        near = (neighbours[side, number, ADJACENT_SECTOR] >> first_enemy) & _FLEET
        shots = (here * (shot <= fuel) | near * (near_shot <= fuel)) * has_ammo
        collisions = (here * (collision <= fuel) | near * (near_collision <= fuel)) * (number != HVA)
        legal[side, number] = NOOP_ALONE | ((shots << SHOOT | collisions << COLLIDE) * (fuel > 0))


@jitable
def add_guards(game: Record, rules: Record, side: int, same_sector: int, adjacent_sector: int, legal: IntArray) -> None:
    """Add guarding to the sets of a side's Patrols in the sector of their threatened HVA, or adjacent to it."""
    for number in range(1, SATELLITES):
        distance = SAME_SECTOR if (same_sector >> number) & 1 else ADJACENT_SECTOR
        if ((same_sector | adjacent_sector) >> number) & 1:
            if rules.engagement_cost[side, GUARDING, distance] <= game.fuel[side, number]:
                legal[side, number] |= 1 << GUARD


@jitable
def write_engagement_sets(game: Record, rules: Record, workspace: Workspace, legal: IntArray) -> None:
    """Write the legal engagements of both sides. Only active satellites attack, are attacked, threaten and guard."""
    find_neighbours(game, workspace)
    for side in range(SIDES):
        write_attack_sets(game, rules, side, workspace.neighbours, legal)
        here, near = workspace.neighbours[side, HVA, SAME_SECTOR], workspace.neighbours[side, HVA, ADJACENT_SECTOR]
        if (here | near) & (_FLEET << ((1 - side) * SATELLITES)):
            add_guards(game, rules, side, here >> (side * SATELLITES), near >> (side * SATELLITES), legal)


@jitable
def write_legal_sets(game: Record, rules: Record, workspace: Workspace, legal: IntArray) -> None:
    """Write the legal orders of both sides, ``legal``: (2, 11) int32, overwritten.

    Noop always is legal; for absent and inactive satellites, and in a finished game, it is the only legal order.
    """
    if game.done:
        legal[:] = NOOP_ALONE
    elif game.phase == MOVEMENT:
        write_move_sets(game, rules, legal)
    else:
        write_engagement_sets(game, rules, workspace, legal)


_BITS_TO_BYTES = 0x00204081
"""Multiplying four bits by it moves each of them to the lowest bit of a byte of its own."""
_BYTES_OF_BITS = np.array([sum((byte >> bit & 1) << (8 * bit) for bit in range(8)) for byte in range(256)], np.uint64)
"""Eight bits as eight bytes of 0 and 1."""


@jitable
def write_mask(legal: IntArray, words: IntArray) -> None:
    """Expand one side's sets of legal orders, (11,), into its action mask.

    ``words``: (11, 7) int32, the memory of (11, 28) int8 of 0 and 1, written four at a time.
    """
    for number in range(SATELLITES):
        orders = int(legal[number])
        for word in range(MASK_WORDS):
            words[number, word] = (((orders >> (4 * word)) & 0xF) * _BITS_TO_BYTES) & 0x01010101


@jitable
def write_masks(legal: IntArray, words: NDArray[np.uint64]) -> None:
    """Expand both sides' sets of legal orders, (2, 11), into their action masks, in half the time of ``write_mask``.

    ``words``: (77,), the memory of (2, 11, 28) int8: two satellites, 56 bits, fill seven words of eight bytes.
    """
    for pair in range(SATELLITES):
        first, second = 2 * pair, 2 * pair + 1
        orders = int(legal[first // SATELLITES, first % SATELLITES])
        orders |= int(legal[second // SATELLITES, second % SATELLITES]) << ORDERS
        for word in range(MASK_WORDS):
            words[MASK_WORDS * pair + word] = _BYTES_OF_BITS[(orders >> (8 * word)) & 0xFF]


def sets_to_masks(legal: NDArray[np.int32]) -> NDArray[np.int8]:
    """Return sets of legal orders, (.., 11), as action masks, (.., 11, 28) int8."""
    masks: NDArray[np.int8] = (legal[..., None] >> np.arange(ORDERS, dtype=np.int32) & 1).astype(np.int8)
    return masks
