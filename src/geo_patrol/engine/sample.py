"""Random legal orders."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.engine.rng import mix, stream_number
from geo_patrol.engine.state import NOOP, ORDERS, SATELLITES, SIDES, IntArray
from geo_patrol.jit import jit

_SHIFT_32 = np.uint64(32)
_ONE = np.uint64(1)
_BITS_0101, _BITS_0011, _BITS_00001111 = 0x55555555, 0x33333333, 0x0F0F0F0F
_ONE_A_BYTE = 0x01010101
_BYTE = 0xFF
_NTH_BIT_OF_BYTE = np.array(
    [[*(bit for bit in range(8) if byte >> bit & 1), *[0] * (8 - byte.bit_count())] for byte in range(256)], np.int8
)


@jit
def count_up_to_bytes(legal: int) -> int:
    """Count the orders of a set, which has fewer than 32 bits: byte k of the result counts those of its bytes 0 to k."""
    pairs = legal - ((legal >> 1) & _BITS_0101)
    fours = (pairs & _BITS_0011) + ((pairs >> 2) & _BITS_0011)
    return ((fours + (fours >> 4)) & _BITS_00001111) * _ONE_A_BYTE


@jit
def count_legal(legal: int) -> int:
    """Count the orders in a satellite's set."""
    return (count_up_to_bytes(legal) >> 24) & _BYTE


@jit
def nth_legal(legal: int, nth: int) -> int:
    """Return the order code of the n-th order (from 0) in a satellite's set, without a branch to guess wrong."""
    counts = count_up_to_bytes(legal)
    byte = (nth >= counts & _BYTE) + (nth >= (counts >> 8) & _BYTE) + (nth >= (counts >> 16) & _BYTE)
    before = ((counts << 8) >> (8 * byte)) & _BYTE
    return 8 * byte + _NTH_BIT_OF_BYTE[(legal >> (8 * byte)) & _BYTE, nth - before]


@jit
def draw_order(legal: int, bits: np.uint64) -> int:
    """Choose one order of a satellite's set by 32 random bits, all with equal chances."""
    return nth_legal(legal, int((bits * np.uint64(count_legal(legal))) >> _SHIFT_32))


@jit
def draw_bits(key: np.uint64, row: int, draws: NDArray[np.uint64]) -> None:
    """Draw 32 random bits for each satellite of a row, in a loop of its own, which the processor does side by side."""
    row_key = mix(key ^ np.uint64(row))
    for number in range(SATELLITES):
        draws[number] = stream_number(row_key, np.uint64(number)) >> _SHIFT_32


@jit
def next_key(stream: NDArray[np.uint64]) -> np.uint64:
    """Return the next number of a stream (key, counter)."""
    number = stream_number(stream[0], stream[1])
    stream[1] += _ONE
    return number


@jit
def sample_next_orders(
    legal: IntArray, stream: NDArray[np.uint64], draws: NDArray[np.uint64], orders: IntArray
) -> None:
    """Draw orders of both sides, (2, 11), from their sets, (2, 11), with the next number of a stream."""
    key = next_key(stream)
    for side in range(SIDES):
        draw_bits(key, side, draws[side])
    for side in range(SIDES):
        for number in range(SATELLITES):
            orders[side, number] = draw_order(int(legal[side, number]), draws[side, number])


@jit
def sample_orders_of_games(legal: IntArray, streams: NDArray[np.uint64], orders: IntArray) -> None:
    """Draw legal orders for both sides of every game of a batch.

    Args:
        legal: (n, 2, 11) sets.
        streams: (n, 2), key and counter of a stream of its own for each game; the counters go up by one.
        orders: (n, 2, 11), overwritten.
    """
    draws = np.empty((SIDES, SATELLITES), np.uint64)
    for place in range(len(legal)):
        sample_next_orders(legal[place], streams[place], draws, orders[place])


@jit
def read_mask(mask: IntArray) -> int:
    """Return one satellite's mask, (28,), as a set."""
    legal = 0
    for order in range(ORDERS):
        legal |= (mask[order] != 0) << order
    return legal


@jit
def sample_orders(masks: IntArray, key: np.uint64, orders: IntArray) -> None:
    """Draw, for each satellite by itself, one of its legal orders with equal chances; none counts as a noop.

    ``masks``: (n, 11, 28) of any integer type, ``orders``: (n, 11), overwritten. The same key gives the same orders;
    row i of a batch does not depend on the rows around it.
    """
    draws = np.empty(SATELLITES, np.uint64)
    for row in range(len(masks)):
        draw_bits(key, row, draws)
        for number in range(SATELLITES):
            legal = read_mask(masks[row, number])
            orders[row, number] = draw_order(legal, draws[number]) if legal != 0 else NOOP


@jit
def sample_by_keys(masks: IntArray, keys: NDArray[np.uint64], orders: IntArray) -> None:
    """Draw legal orders for masks (n, 11, 28), those of each row by its own key; ``orders``: (n, 11), overwritten."""
    for row in range(len(masks)):
        sample_orders(masks[row : row + 1], keys[row], orders[row : row + 1])


def check_masks(masks: Any) -> NDArray[np.int8]:
    """Return action masks, (n, 11, 28), in the one type and layout that the engine is compiled for.

    Raises:
        ValueError: another shape, or no whole numbers.
    """
    array = np.asarray(masks)
    if array.ndim != 3 or array.shape[1:] != (SATELLITES, ORDERS) or array.dtype.kind not in "biu":
        raise ValueError(f"masks of shape {array.shape}, {array.dtype}: give (n, {SATELLITES}, {ORDERS}) of 0 and 1")
    return np.require(array, np.int8, ["C", "W"])


def sample_legal(masks: NDArray[Any], generator: np.random.Generator) -> NDArray[np.int64]:
    """Draw random legal orders, (n, 11) int64, for masks (n, 11, 28).

    Raises:
        ValueError: the masks have another shape or type.
    """
    checked = check_masks(masks)
    orders = np.empty(checked.shape[:2], np.int64)
    sample_orders(checked, np.uint64(generator.integers(1 << 63)), orders)
    return orders
