"""The possible results of all engagements of a game as arrays: each pattern of orders and ranges is worked out once."""

import functools
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from geo_patrol.engine.distribution import Effect, engagement_effects
from geo_patrol.engine.engagement import kind_of, range_of, target_of
from geo_patrol.engine.state import GUARD, NOOP, ORDERS, SATELLITES, SIDES, IntArray, Record
from geo_patrol.jit import jitable
from geo_patrol.solving.codes import Codec

_DIGIT = 2 * ORDERS  # an order and a range


class Effects(NamedTuple):
    """The results of the patterns; those of pattern p are ``starts[p]`` to ``starts[p + 1]`` - 1."""

    patterns: NDArray[np.int64]
    """(p,), ascending: see ``pattern_of``."""
    starts: NDArray[np.int64]
    """(p + 1,)."""
    probability: NDArray[np.float64]
    """(n,)."""
    destroyed: NDArray[np.int64]
    """(n,), satellites as bits."""
    origin: NDArray[np.int8]
    """(n, 22), the satellite in whose former sector each satellite ends: itself if it does not move."""


@jitable
def pattern_of(game: Record, codec: Codec, orders: IntArray) -> int:
    """Return orders that have been paid for, (2, 11), and the range of each as one number."""
    pattern = 0
    for side in range(SIDES):
        for number in range(codec.fleets[side]):
            order, distance = orders[side, number], 0
            if order != NOOP:
                target_side = side if order == GUARD else 1 - side
                distance = range_of(game.sector[side, number], game.sector[target_side, target_of(order)])
            pattern = pattern * _DIGIT + 2 * order + distance
    return pattern


def make_effects(patterns: Iterable[int], codec: Codec, rules: Record) -> Effects:
    """Work out the results of patterns."""
    ordered = sorted(patterns)
    starts, probability, destroyed, origin = [0], [], [], []
    for pattern in ordered:
        for effect in _find_effects(*_read_pattern(pattern, codec, rules)):
            probability.append(effect.probability)
            destroyed.append(effect.destroyed)
            origin.append(list(range(SIDES * SATELLITES)))
            for satellite, other in effect.moved:
                origin[-1][satellite] = other
        starts.append(len(probability))
    return Effects(
        np.array(ordered, np.int64),
        np.array(starts, np.int64),
        np.array(probability),
        np.array(destroyed, np.int64),
        np.array(origin, np.int8).reshape(-1, SIDES * SATELLITES),
    )


@functools.lru_cache(100_000)
def _find_effects(orders: tuple[int, ...], odds: tuple[tuple[int, float], ...]) -> list[Effect]:
    return engagement_effects(list(orders), dict(odds))


def _read_pattern(pattern: int, codec: Codec, rules: Record) -> tuple[tuple[int, ...], tuple[tuple[int, float], ...]]:
    """Return the orders of a pattern, (22,), and each satellite that has one with its odds."""
    orders, odds = [NOOP] * (SIDES * SATELLITES), {}
    for side in reversed(range(SIDES)):
        for number in reversed(range(int(codec.fleets[side]))):
            pattern, digit = divmod(pattern, _DIGIT)
            order, distance = divmod(digit, 2)
            if order != NOOP:
                satellite = side * SATELLITES + number
                orders[satellite] = order
                odds[satellite] = float(rules.engagement_odds[side, kind_of(order), distance])
    return tuple(orders), tuple(odds.items())
