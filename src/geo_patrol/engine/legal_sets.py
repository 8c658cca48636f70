"""All legal orders of a game at once, as sets of bits: bit k of a satellite's set is order code k.

The rules are those of ``legality.py``, which asks for one order at a time; the properties in the tests hold the two
together. Here all satellites are written down in a table of the board's sectors first, so that each finds its enemies
in reach with six looks instead of eleven comparisons, and the whole set of a satellite is found with a few shifts.
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
    Records,
)
from geo_patrol.engine.workspace import Scratch, make_scratch
from geo_patrol.jit import jit

NOOP_ALONE = 1 << NOOP
"""The set of absent and inactive satellites, and of all satellites of a finished game."""
MASK_WORDS = ORDERS // 4
"""Words of 32 bits that a satellite's mask, 28 bytes, takes."""
_FLEET = (1 << SATELLITES) - 1


@jit
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


@jit
def adjacent_occupants(occupancy: IntArray, sector: int) -> int:
    """Return who is next to a sector."""
    found = occupancy[prograde(sector)] | occupancy[retrograde(sector)] | occupancy[radial_in(sector)]
    outward = radial_out(sector)
    return int(found | occupancy[outward] | occupancy[outward + 1])


@jit
def look_around(game: Record, scratch: Scratch) -> None:
    """Write who is in the sector of each satellite, and next to it: active satellites alone count."""
    occupancy, around = scratch.occupancy, scratch.around
    for side in range(SIDES):
        for number in range(SATELLITES):
            is_active = game.fuel[side, number] > 0
            occupancy[game.sector[side, number]] |= is_active << (side * SATELLITES + number)
    for side in range(SIDES):
        for number in range(SATELLITES):
            sector = int(game.sector[side, number])
            around[side, number, SAME_SECTOR] = occupancy[sector]
            around[side, number, ADJACENT_SECTOR] = adjacent_occupants(occupancy, sector)
    for side in range(SIDES):
        for number in range(SATELLITES):
            occupancy[game.sector[side, number]] = 0


@jit
def write_attack_sets(game: Record, rules: Record, side: int, around: NDArray[np.int64], legal: IntArray) -> None:
    """Write the shots and collisions of a side, all by the same few shifts: branches would be guessed wrong."""
    first_enemy = (1 - side) * SATELLITES
    shot, near_shot = rules.engagement_cost[side, SHOT, SAME_SECTOR], rules.engagement_cost[side, SHOT, ADJACENT_SECTOR]
    collision = rules.engagement_cost[side, COLLISION, SAME_SECTOR]
    near_collision = rules.engagement_cost[side, COLLISION, ADJACENT_SECTOR]
    for number in range(SATELLITES):
        fuel, has_ammo = int(game.fuel[side, number]), game.ammo[side, number] > 0
        here = (around[side, number, SAME_SECTOR] >> first_enemy) & _FLEET
        near = (around[side, number, ADJACENT_SECTOR] >> first_enemy) & _FLEET
        shots = (here * (shot <= fuel) | near * (near_shot <= fuel)) * has_ammo
        collisions = (here * (collision <= fuel) | near * (near_collision <= fuel)) * (number != HVA)
        legal[side, number] = NOOP_ALONE | ((shots << SHOOT | collisions << COLLIDE) * (fuel > 0))


@jit
def add_guards(game: Record, rules: Record, side: int, same_sector: int, adjacent_sector: int, legal: IntArray) -> None:
    """Add guarding to the sets of a side's Patrols that are in the sector of their threatened HVA, or next to it."""
    for number in range(1, SATELLITES):
        distance = SAME_SECTOR if (same_sector >> number) & 1 else ADJACENT_SECTOR
        if ((same_sector | adjacent_sector) >> number) & 1:
            if rules.engagement_cost[side, GUARDING, distance] <= game.fuel[side, number]:
                legal[side, number] |= 1 << GUARD


@jit
def write_engagement_sets(game: Record, rules: Record, scratch: Scratch, legal: IntArray) -> None:
    """Write the legal engagements of both sides. Active satellites alone attack, are attacked, threaten, and guard."""
    look_around(game, scratch)
    for side in range(SIDES):
        write_attack_sets(game, rules, side, scratch.around, legal)
        here, near = scratch.around[side, HVA, SAME_SECTOR], scratch.around[side, HVA, ADJACENT_SECTOR]
        if (here | near) & (_FLEET << ((1 - side) * SATELLITES)):
            add_guards(game, rules, side, here >> (side * SATELLITES), near >> (side * SATELLITES), legal)


@jit
def write_legal_sets(game: Record, rules: Record, scratch: Scratch, legal: IntArray) -> None:
    """Write the legal orders of both sides, ``legal``: (2, 11) int32, overwritten.

    Noop always is legal; for absent and inactive satellites and in a finished game it is the only one.
    """
    if game.done:
        legal[:] = NOOP_ALONE
    elif game.phase == MOVEMENT:
        write_move_sets(game, rules, legal)
    else:
        write_engagement_sets(game, rules, scratch, legal)


@jit
def legal_sets(game: Record, rules: Record) -> NDArray[np.int32]:
    """Return the legal orders of both sides of one game, (2, 11)."""
    legal = np.empty((SIDES, SATELLITES), np.int32)
    write_legal_sets(game, rules, make_scratch(rules.outer_ring), legal)
    return legal


_BITS_TO_BYTES = 0x00204081
"""Multiplying four bits by it puts each of them at the end of a byte of its own."""


@jit
def write_masks(legal: IntArray, mask_words: IntArray) -> None:
    """Spread the sets of satellites, (rows, 11), into masks.

    ``mask_words``: (rows, 11, 7) int32, the memory of (rows, 11, 28) int8 of 0 and 1, written four at a time.
    """
    for row in range(len(legal)):
        for number in range(SATELLITES):
            orders = int(legal[row, number])
            for word in range(MASK_WORDS):
                mask_words[row, number, word] = (((orders >> (4 * word)) & 0xF) * _BITS_TO_BYTES) & 0x01010101


@jit
def write_legal_sets_of_games(games: Records, rules: Records, legal: IntArray) -> None:
    """Write the legal orders of every game of a batch; ``legal``: (n, 2, 11) int32."""
    scratch = make_scratch(rules[0].outer_ring)
    for place in range(len(games)):
        write_legal_sets(games[place], rules[place if len(rules) > 1 else 0], scratch, legal[place])
