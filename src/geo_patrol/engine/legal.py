"""Legal orders, and random ones (rule book, Movement Phase and Engagement Phase).

The legal orders of a satellite are a set of bits: bit k of an integer is order code k, so bit 0 is noop, bits 1 to 4 are
the moves, 5 to 15 the shots at enemies 0 to 10, 16 to 26 the collisions with them, and bit 27 is guarding. A set of
satellites is an integer as well: bit n is satellite n of alpha, bit 11 + n satellite n of bravo.

With sets, a rule about "all enemies in range" is one shift instead of eleven comparisons: an occupancy table says which
satellites are in each sector, six reads of it (the satellite's own sector and the five adjacent ones) say which are in
range, and this set of enemies, shifted by ``SHOOT`` or ``COLLIDE``, is the set of the orders against them. Conditions
are multiplied (``set * (cost <= fuel)``) rather than tested, because random play makes branches unpredictable.

An order that the satellite cannot pay is not legal (rule book, Fuel).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.base.board import prograde, radial_in, radial_out, retrograde
from geo_patrol.base.jit import jit, jitable, jitable_call
from geo_patrol.engine import state
from geo_patrol.engine.rng import mix, stream_number

NOOP_ALONE = 1 << state.NOOP
"""The set of absent and inactive satellites, and of all satellites of a finished game."""
_FLEET = (1 << state.SATELLITES) - 1
"""All satellites of one side."""


# The rules


@jitable
def write_moves(game: state.Record, rules: state.Record, legal: state.IntArray) -> None:
    """Write the legal orders of both sides in the movement phase.

    Every active satellite may go prograde and retrograde, radial in unless it is on the inner ring of the board, and
    radial out unless it is on the outer ring.
    """
    # Sectors are numbered ring by ring, so a comparison of sector numbers is one of rings.
    beyond_inner_ring = (1 << (rules.inner_ring + 1)) - 1  # the first sector further out than the inner ring
    outer_ring = (1 << rules.outer_ring) - 1  # its first sector
    for side in range(state.NUM_SIDES):
        prograde_cost, retrograde_cost = rules.move_cost[side, state.PROGRADE], rules.move_cost[side, state.RETROGRADE]
        in_cost, out_cost = rules.move_cost[side, state.RADIAL_IN], rules.move_cost[side, state.RADIAL_OUT]
        for number in range(state.SATELLITES):
            fuel, sector = int(game.fuel[side, number]), int(game.sector[side, number])
            moves = (prograde_cost <= fuel) << state.PROGRADE
            moves |= (retrograde_cost <= fuel) << state.RETROGRADE
            moves |= ((in_cost <= fuel) & (sector >= beyond_inner_ring)) << state.RADIAL_IN
            moves |= ((out_cost <= fuel) & (sector < outer_ring)) << state.RADIAL_OUT
            legal[side, number] = NOOP_ALONE | moves if fuel > 0 else NOOP_ALONE


@jitable
def adjacent_occupants(occupancy: state.IntArray, sector: int) -> int:
    """Return the set of satellites in the sectors adjacent to a sector.

    On the inner and outer ring this reads sectors that are not on the board; nothing ever is in them.
    """
    adjacent = occupancy[prograde(sector)] | occupancy[retrograde(sector)] | occupancy[radial_in(sector)]
    outward = radial_out(sector)
    return int(adjacent | occupancy[outward] | occupancy[outward + 1])


@jitable
def find_neighbours(game: state.Record, workspace: state.Workspace) -> None:
    """Write the sets of active satellites in the sector of each satellite, and in the sectors adjacent to it."""
    occupancy, neighbours = workspace.occupancy, workspace.neighbours
    for side in range(state.NUM_SIDES):
        for number in range(state.SATELLITES):
            is_active = game.fuel[side, number] > 0
            occupancy[game.sector[side, number]] |= is_active << (side * state.SATELLITES + number)
    for side in range(state.NUM_SIDES):
        for number in range(state.SATELLITES):
            sector = int(game.sector[side, number])
            neighbours[side, number, state.SAME_SECTOR] = occupancy[sector]
            neighbours[side, number, state.ADJACENT_SECTOR] = adjacent_occupants(occupancy, sector)
    for side in range(state.NUM_SIDES):  # clears the table by what was written, which is less than the whole of it
        for number in range(state.SATELLITES):
            occupancy[game.sector[side, number]] = 0


@jitable
def write_attacks(
    game: state.Record, rules: state.Record, side: int, neighbours: NDArray[np.int64], legal: state.IntArray
) -> None:
    """Write the legal shots and collisions of a side.

    An active satellite attacks active enemies in the same or an adjacent sector. A shot needs ammo; an HVA cannot
    collide.
    """
    first_enemy = (1 - side) * state.SATELLITES
    shot = rules.engagement_cost[side, state.SHOT, state.SAME_SECTOR]
    near_shot = rules.engagement_cost[side, state.SHOT, state.ADJACENT_SECTOR]
    collision = rules.engagement_cost[side, state.COLLISION, state.SAME_SECTOR]
    near_collision = rules.engagement_cost[side, state.COLLISION, state.ADJACENT_SECTOR]
    for number in range(state.SATELLITES):
        fuel, has_ammo = int(game.fuel[side, number]), game.ammo[side, number] > 0
        here = (neighbours[side, number, state.SAME_SECTOR] >> first_enemy) & _FLEET
        near = (neighbours[side, number, state.ADJACENT_SECTOR] >> first_enemy) & _FLEET
        shots = (here * (shot <= fuel) | near * (near_shot <= fuel)) * has_ammo
        collisions = (here * (collision <= fuel) | near * (near_collision <= fuel)) * (number != state.HVA)
        legal[side, number] = NOOP_ALONE | ((shots << state.SHOOT | collisions << state.COLLIDE) * (fuel > 0))


@jitable
def add_guards(game: state.Record, rules: state.Record, side: int, here: int, near: int, legal: state.IntArray) -> None:
    """Add guarding to the legal orders of a side whose HVA is threatened.

    Active Patrols in the sector of their HVA, or in an adjacent one, may guard it.

    Args:
        game: the game.
        rules: its rules.
        side: index of the side.
        here: the side's active satellites in the sector of its HVA, as bits.
        near: those in the adjacent sectors.
        legal: (2, 11), modified in place.
    """
    for number in range(1, state.SATELLITES):
        distance = state.SAME_SECTOR if (here >> number) & 1 else state.ADJACENT_SECTOR
        if ((here | near) >> number) & 1:
            if rules.engagement_cost[side, state.GUARDING, distance] <= game.fuel[side, number]:
                legal[side, number] |= 1 << state.GUARD


@jitable
def write_engagements(
    game: state.Record, rules: state.Record, workspace: state.Workspace, legal: state.IntArray
) -> None:
    """Write the legal orders of both sides in the engagement phase."""
    find_neighbours(game, workspace)
    for side in range(state.NUM_SIDES):
        write_attacks(game, rules, side, workspace.neighbours, legal)
        here = workspace.neighbours[side, state.HVA, state.SAME_SECTOR]
        near = workspace.neighbours[side, state.HVA, state.ADJACENT_SECTOR]
        enemies = _FLEET << ((1 - side) * state.SATELLITES)
        if (here | near) & enemies:  # an active enemy threatens the HVA; otherwise nobody may guard
            add_guards(game, rules, side, here >> (side * state.SATELLITES), near >> (side * state.SATELLITES), legal)


@jitable_call
def write_legal_orders(
    game: state.Record, rules: state.Record, workspace: state.Workspace, legal: state.IntArray
) -> None:
    """Write the legal orders of both sides of a game.

    Noop always is legal. For absent and inactive satellites, and in a finished game, it is the only legal order.

    Args:
        game: the game.
        rules: its rules.
        workspace: temporary arrays.
        legal: (2, 11) int32, overwritten with a set of order codes for each satellite.
    """
    if game.done:
        legal[:] = NOOP_ALONE
    elif game.phase == state.MOVEMENT:
        write_moves(game, rules, legal)
    else:
        write_engagements(game, rules, workspace, legal)


# Action masks: a set of bits as 28 bytes of 0 and 1

MASK_WORDS = state.ORDERS // 4
"""Number of 32-bit words that the mask of a satellite takes."""

_BYTES_OF_BITS = np.array([sum((byte >> bit & 1) << (8 * bit) for bit in range(8)) for byte in range(256)], np.uint64)
"""(256,): the eight bits of a byte as eight bytes of 0 and 1."""
_HALF = np.uint64(32)
_FOUR_BYTES = np.uint64(0x01010101)


@jitable
def write_mask(legal: state.IntArray, words: state.IntArray) -> None:
    """Write the action mask of one side.

    A mask of 28 bytes is no multiple of eight, so that eight bytes are written as two words, which the compiler joins.

    Args:
        legal: (11,) sets of legal orders.
        words: (11, 7) int32, the memory of an (11, 28) int8 mask; overwritten.
    """
    for number in range(state.SATELLITES):
        orders = int(legal[number])
        for byte in range(MASK_WORDS // 2):
            eight = _BYTES_OF_BITS[(orders >> (8 * byte)) & 0xFF]
            words[number, 2 * byte] = eight & _FOUR_BYTES
            words[number, 2 * byte + 1] = eight >> _HALF
        words[number, MASK_WORDS - 1] = _BYTES_OF_BITS[(orders >> 24) & 0xFF]


def to_masks(legal: NDArray[np.int32]) -> NDArray[np.int8]:
    """Return sets of legal orders, (.., 11), as action masks, (.., 11, 28) int8: 1 where an order is legal."""
    masks: NDArray[np.int8] = (legal[..., None] >> np.arange(state.ORDERS, dtype=np.int32) & 1).astype(np.int8)
    return masks


# Random legal orders: for each satellite independently one of its legal orders, all with equal probabilities.
#
# 32 random bits r choose number floor(r * count / 2^32) of the count bits that are set. The position of the n-th set bit
# is found in two steps and without branches: sums of the bits by bytes say in which byte it is, a table where in it.

_SHIFT_32 = np.uint64(32)
_BITS_0101, _BITS_0011, _BITS_00001111 = 0x55555555, 0x33333333, 0x0F0F0F0F
_ONE_PER_BYTE = 0x01010101
_BYTE = 0xFF
_NTH_BIT_OF_BYTE = np.array(
    [[*(bit for bit in range(8) if byte >> bit & 1), *[0] * (8 - byte.bit_count())] for byte in range(256)], np.int8
)
"""(256, 8): the positions of the bits that are set in a byte, lowest first."""


@jitable
def count_up_to_bytes(legal: int) -> int:
    """Count the orders of a set: byte k of the result is the number of orders in the bytes 0 to k of the set.

    The usual parallel population count (Warren, Hacker's Delight, 5-1): sums of neighbouring bits, of pairs, of fours.
    The last multiplication adds each byte to all higher ones.
    """
    pairs = legal - ((legal >> 1) & _BITS_0101)
    fours = (pairs & _BITS_0011) + ((pairs >> 2) & _BITS_0011)
    return ((fours + (fours >> 4)) & _BITS_00001111) * _ONE_PER_BYTE


@jitable
def count_legal(legal: int) -> int:
    """Return the number of orders in the set of a satellite."""
    return (count_up_to_bytes(legal) >> 24) & _BYTE


@jitable
def nth_legal(legal: int, nth: int) -> int:
    """Return the code of the n-th order, counted from 0, in the set of a satellite."""
    counts = count_up_to_bytes(legal)
    byte = (nth >= counts & _BYTE) + (nth >= (counts >> 8) & _BYTE) + (nth >= (counts >> 16) & _BYTE)
    before = ((counts << 8) >> (8 * byte)) & _BYTE  # orders in the bytes before it
    return 8 * byte + _NTH_BIT_OF_BYTE[(legal >> (8 * byte)) & _BYTE, nth - before]


@jitable
def sample_order(legal: int, bits: np.uint64) -> int:
    """Return one order of a satellite's set, chosen by 32 random bits."""
    return nth_legal(legal, int((bits * np.uint64(count_legal(legal))) >> _SHIFT_32))


@jitable
def fill_random_bits(key: np.uint64, row: int, random_bits: NDArray[np.uint64]) -> None:
    """Write 32 random bits for each satellite, (11,); a loop of its own, so that it is vectorized."""
    row_key = mix(key ^ np.uint64(row))
    for number in range(state.SATELLITES):
        random_bits[number] = stream_number(row_key, np.uint64(number)) >> _SHIFT_32


@jitable
def sample_side(
    legal: state.IntArray, key: np.uint64, row: int, random_bits: NDArray[np.uint64], orders: state.IntArray
) -> None:
    """Sample the orders of one side, (11,), from its sets of legal orders, (11,)."""
    fill_random_bits(key, row, random_bits)
    for number in range(state.SATELLITES):
        orders[number] = sample_order(int(legal[number]), random_bits[number])


@jitable
def sample_sides(
    legal: state.IntArray, key: np.uint64, random_bits: NDArray[np.uint64], orders: state.IntArray, row: int
) -> None:
    """Sample the orders of both sides from their sets, (2, 11), into two rows of ``orders``."""
    for side in range(state.NUM_SIDES):
        fill_random_bits(key, side, random_bits[side])
    for side in range(state.NUM_SIDES):
        for number in range(state.SATELLITES):
            orders[row + side, number] = sample_order(int(legal[side, number]), random_bits[side, number])


@jitable
def read_mask(mask: state.IntArray) -> int:
    """Return the action mask of a satellite, (28,), as a set."""
    legal = 0
    for order in range(state.ORDERS):
        legal |= int(mask[order] != 0) << order  # in plain Python, sums of NumPy's booleans would be booleans
    return legal


@jit
def sample_orders(masks: state.IntArray, keys: NDArray[np.uint64], orders: state.IntArray) -> None:
    """Sample a legal order for each satellite; a mask without any gives a noop.

    Args:
        masks: (n, 11, 28) int8.
        keys: (n,) random keys, one for each row; or (1,) for all rows, which then differ by their index.
        orders: (n, 11), overwritten.
    """
    random_bits = np.empty(state.SATELLITES, np.uint64)
    for i in range(len(masks)):
        if len(keys) > 1:
            fill_random_bits(keys[i], 0, random_bits)
        else:
            fill_random_bits(keys[0], i, random_bits)
        for number in range(state.SATELLITES):
            legal = read_mask(masks[i, number])
            orders[i, number] = sample_order(legal, random_bits[number]) if legal != 0 else state.NOOP


def check_masks(masks: Any) -> NDArray[np.int8]:
    """Return action masks, (n, 11, 28), with the dtype and layout that the engine is compiled for.

    Raises:
        ValueError: another shape, not integers, or values that are neither 0 nor 1.
    """
    array = np.asarray(masks)
    if array.ndim != 3 or array.shape[1:] != (state.SATELLITES, state.ORDERS) or array.dtype.kind not in "biu":
        raise ValueError(
            f"masks must be an integer array of shape (n, {state.SATELLITES}, {state.ORDERS}), got {array.shape} of {array.dtype}"
        )
    return np.require(check_flags("masks", array), np.int8, ["C", "W"])


def check_flags(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Return an array whose values are 0 or 1.

    Raises:
        ValueError: there are others, which a conversion to int8 would round or wrap around.
    """
    if array.dtype != np.bool_:
        wrong = array.view(np.uint8) > 1 if array.dtype == np.int8 else (array != 0) & (array != 1)
        if wrong.any():
            raise ValueError(f"{name} must be 0 or 1, got {array[wrong][0].item()!r}")
    return array


def check_keys(keys: Any, rows: int) -> NDArray[np.uint64]:
    """Return random keys, one for each row, with the dtype and layout that the engine is compiled for.

    Raises:
        ValueError: another shape or type.
    """
    array = np.asarray(keys)
    if array.shape != (rows,) or array.dtype != np.uint64:
        raise ValueError(f"keys must be uint64 of shape ({rows},), got {array.shape} of {array.dtype}")
    return np.require(array, np.uint64, ["C", "W"])


def sample_legal(masks: NDArray[Any], generator: np.random.Generator) -> NDArray[np.int64]:
    """Sample legal orders, (n, 11) int64, for masks, (n, 11, 28).

    Raises:
        ValueError: the masks have another shape or dtype.
    """
    return _sample(check_masks(masks), np.array([generator.integers(1 << 63)], np.uint64))


def sample_with_keys(masks: NDArray[Any], keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Sample legal orders, (n, 11) int64, for masks, (n, 11, 28), with a random key for each row.

    Raises:
        ValueError: masks or keys have another shape or dtype.
    """
    checked = check_masks(masks)
    return _sample(checked, check_keys(keys, len(checked)))


def _sample(masks: NDArray[np.int8], keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    orders = np.empty(masks.shape[:2], np.int64)
    sample_orders(masks, keys, orders)
    return orders
