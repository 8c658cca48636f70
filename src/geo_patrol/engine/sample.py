"""Random legal orders."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.engine.chance import mix, stream_number
from geo_patrol.engine.legality import write_legal_orders
from geo_patrol.engine.state import NOOP, ORDERS, SATELLITES, IntArray, Records
from geo_patrol.jit import jit

_SHIFT_32 = np.uint64(32)
_ONE = np.uint64(1)


@jit
def nth_legal(mask: IntArray, nth: int) -> int:
    """Return the order code of the n-th legal order (from 0) of one satellite's mask."""
    for order in range(ORDERS):
        if mask[order]:
            if nth == 0:
                return order
            nth -= 1
    return NOOP


@jit
def sample_orders(masks: IntArray, key: np.uint64, orders: IntArray) -> None:
    """Draw, for each satellite by itself, one of its legal orders with equal chances.

    ``masks``: (n, 11, 28) of any integer type, ``orders``: (n, 11), overwritten. The same key gives the same orders;
    row i of a batch does not depend on the rows around it.
    """
    for row in range(len(masks)):
        row_key = mix(key ^ np.uint64(row))
        for number in range(SATELLITES):
            mask = masks[row, number]
            legal = 0
            for order in range(ORDERS):
                legal += mask[order] != 0
            if legal <= 1:
                orders[row, number] = nth_legal(mask, 0)
            else:
                bits = stream_number(row_key, np.uint64(number))
                orders[row, number] = nth_legal(mask, int(((bits >> _SHIFT_32) * np.uint64(legal)) >> _SHIFT_32))


@jit
def sample_next_orders(masks: IntArray, stream: NDArray[np.uint64], orders: IntArray) -> None:
    """Draw orders, (2, 11), for the masks of both sides, (2, 11, 28), with the next number of a stream (key, counter)."""
    sample_orders(masks, stream_number(stream[0], stream[1]), orders)
    stream[1] += _ONE


@jit
def sample_orders_of_games(
    games: Records, rules: Records, streams: NDArray[np.uint64], masks: IntArray, orders: IntArray
) -> None:
    """Draw legal orders for both sides of every game of a batch.

    Args:
        games: (n,), left alone: their own random streams are not touched.
        rules: (n,) or (1,) for all.
        streams: (n, 2), key and counter of a stream of its own for each game; the counters go up by one.
        masks: (2, 11, 28) int8, room for the legal orders of one game.
        orders: (n, 2, 11), overwritten.
    """
    for place in range(len(games)):
        write_legal_orders(games[place], rules[place if len(rules) > 1 else 0], masks)
        sample_next_orders(masks, streams[place], orders[place])


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
