"""Random legal orders: each satellite by itself, one of its legal orders with equal probabilities."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.engine.rng import mix, stream_number
from geo_patrol.engine.state import NOOP, ORDERS, SATELLITES, SIDES, IntArray
from geo_patrol.jit import jit, jitable

_SHIFT_32 = np.uint64(32)
_BITS_0101, _BITS_0011, _BITS_00001111 = 0x55555555, 0x33333333, 0x0F0F0F0F
_ONE_PER_BYTE = 0x01010101
_BYTE = 0xFF
_NTH_BIT_OF_BYTE = np.array(
    [[*(bit for bit in range(8) if byte >> bit & 1), *[0] * (8 - byte.bit_count())] for byte in range(256)], np.int8
)


@jitable
def count_up_to_bytes(legal: int) -> int:
    """Count the orders of a set, which has fewer than 32 bits: byte k of the result counts those of its bytes 0 to k."""
    pairs = legal - ((legal >> 1) & _BITS_0101)
    fours = (pairs & _BITS_0011) + ((pairs >> 2) & _BITS_0011)
    return ((fours + (fours >> 4)) & _BITS_00001111) * _ONE_PER_BYTE


@jitable
def count_legal(legal: int) -> int:
    """Count the orders in a satellite's set."""
    return (count_up_to_bytes(legal) >> 24) & _BYTE


@jitable
def nth_legal(legal: int, nth: int) -> int:
    """Return the code of the n-th order (from 0) in a satellite's set, without branches."""
    counts = count_up_to_bytes(legal)
    byte = (nth >= counts & _BYTE) + (nth >= (counts >> 8) & _BYTE) + (nth >= (counts >> 16) & _BYTE)
    before = ((counts << 8) >> (8 * byte)) & _BYTE
    return 8 * byte + _NTH_BIT_OF_BYTE[(legal >> (8 * byte)) & _BYTE, nth - before]


@jitable
def sample_order(legal: int, bits: np.uint64) -> int:
    """Choose one order of a satellite's set by 32 random bits, all with equal probabilities."""
    return nth_legal(legal, int((bits * np.uint64(count_legal(legal))) >> _SHIFT_32))


@jitable
def fill_random_bits(key: np.uint64, row: int, random_bits: NDArray[np.uint64]) -> None:
    """Write 32 random bits for each satellite, (11,); a loop of its own, so that it is vectorized."""
    row_key = mix(key ^ np.uint64(row))
    for number in range(SATELLITES):
        random_bits[number] = stream_number(row_key, np.uint64(number)) >> _SHIFT_32


@jitable
def sample_side(legal: IntArray, key: np.uint64, row: int, random_bits: NDArray[np.uint64], orders: IntArray) -> None:
    """Sample orders for one side, (11,), from its sets of legal orders, (11,)."""
    fill_random_bits(key, row, random_bits)
    for number in range(SATELLITES):
        orders[number] = sample_order(int(legal[number]), random_bits[number])


@jitable
def sample_sides(legal: IntArray, key: np.uint64, random_bits: NDArray[np.uint64], orders: IntArray, row: int) -> None:
    """Sample orders for both sides from their sets, (2, 11), into two rows of ``orders``."""
    for side in range(SIDES):
        fill_random_bits(key, side, random_bits[side])
    for side in range(SIDES):
        for number in range(SATELLITES):
            orders[row + side, number] = sample_order(int(legal[side, number]), random_bits[side, number])


@jitable
def read_mask(mask: IntArray) -> int:
    """Return one satellite's action mask, (28,), as a set."""
    legal = 0
    for order in range(ORDERS):
        legal |= (mask[order] != 0) << order
    return legal


@jit
def sample_orders(masks: IntArray, keys: NDArray[np.uint64], orders: IntArray) -> None:
    """Sample a legal order for each satellite; a mask without any gives a noop.

    Args:
        masks: (n, 11, 28), int8.
        keys: (n,) random keys, one a row; or (1,) for all rows, which then differ by their index.
        orders: (n, 11), overwritten.
    """
    random_bits = np.empty(SATELLITES, np.uint64)
    for i in range(len(masks)):
        if len(keys) > 1:
            fill_random_bits(keys[i], 0, random_bits)
        else:
            fill_random_bits(keys[0], i, random_bits)
        for number in range(SATELLITES):
            legal = read_mask(masks[i, number])
            orders[i, number] = sample_order(legal, random_bits[number]) if legal != 0 else NOOP


def check_masks(masks: Any) -> NDArray[np.int8]:
    """Return action masks, (n, 11, 28), with the dtype and layout that the engine is compiled for.

    Raises:
        ValueError: another shape, or not integers.
    """
    array = np.asarray(masks)
    if array.ndim != 3 or array.shape[1:] != (SATELLITES, ORDERS) or array.dtype.kind not in "biu":
        raise ValueError(f"masks of shape {array.shape}, {array.dtype}: give (n, {SATELLITES}, {ORDERS}) of 0 and 1")
    return np.require(array, np.int8, ["C", "W"])


def sample_legal(masks: NDArray[Any], generator: np.random.Generator) -> NDArray[np.int64]:
    """Sample legal orders, (n, 11) int64, for masks, (n, 11, 28).

    Raises:
        ValueError: the masks have another shape or dtype.
    """
    return sample_with_keys(masks, np.array([generator.integers(1 << 63)], np.uint64))


def sample_with_keys(masks: NDArray[Any], keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Sample legal orders, (n, 11) int64, for masks, (n, 11, 28), with a random key for each row, or one for all.

    Raises:
        ValueError: the masks have another shape or dtype.
    """
    checked = check_masks(masks)
    orders = np.empty(checked.shape[:2], np.int64)
    sample_orders(checked, keys, orders)
    return orders
