"""The exact table of cheapest paths to a drifting target: computed once for a set of rules, then looked up.

Everything drifts, on each ring at its own but known speed. So the price of a path depends on the sector of
the satellite, the sector of the target, and the number of turns to the arrival alone; what a satellite can afford is a
comparison with its fuel. The table is filled backward in time, from the arrival.
"""

from collections import OrderedDict
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.scripted.pathfinding import (
    MOVE,
    MOVES,
    PRICE,
    UNREACHABLE,
    end_of_sectors,
    first_sector,
    step_back,
    write_goals,
    write_steps,
)
from geo_patrol.board import prograde
from geo_patrol.engine.state import NOOP, SIDES, IntArray, Record
from geo_patrol.jit import jit

IN_SECTOR, NEARBY = 0, 1
"""Where a path ends: in the target's sector; or, if that is cheaper, next to it."""
REACHES = 2
FAR = 32_767
"""The price of what is impossible: more than any fuel."""
NEARBY_PREMIUM = 6
"""Fuel that arriving in the target's sector may cost more than arriving next to it: the odds there are better."""

_MAX_PRICES = 1 << 24
_MAX_BYTES = 1 << 28
_TURNS_PER_RING, _MORE_TURNS = 2, 4


class Paths(NamedTuple):
    """The paths of the satellites of both sides.

    ``prices[side, reach, target, sector, turns]`` is the fuel that it takes from a sector, before a movement phase, to
    arrive at a target after so many drifts and one more movement phase; ``target`` is its sector now.
    """

    prices: NDArray[np.int16]
    moves: NDArray[np.int8]
    """The first move of each path, an order code; of moves at the same price, the lowest."""


class PathCosts(NamedTuple):
    """The parameters of the rules on which paths depend."""

    inner_ring: int
    outer_ring: int
    move_costs: tuple[tuple[int, ...], tuple[int, ...]]
    """Of each side, prograde to radial out."""
    station_keeping_costs: tuple[int, int]


def path_costs_of(rules: Record) -> PathCosts:
    """Return the path costs of a rules record."""
    move_costs, keeping = rules["move_cost"].tolist(), rules["station_keeping_cost"].tolist()
    alpha, bravo = (tuple(costs[NOOP + 1 :]) for costs in move_costs)
    return PathCosts(int(rules["inner_ring"]), int(rules["outer_ring"]), (alpha, bravo), (keeping[0], keeping[1]))


def turns_ahead(inner_ring: int, outer_ring: int) -> int:
    """Return how many turns of arrival a table covers.

    The cheapest path to the other side of a board goes in to its innermost ring and out again. The largest boards (ten
    rings) would take gigabytes; satellites could not pay for paths across them, and their tables look less far ahead.
    """
    turns = _TURNS_PER_RING * (outer_ring - inner_ring + 1) + _MORE_TURNS
    sectors = 1 << (outer_ring + 1)
    return max(min(turns, _MAX_PRICES // (SIDES * REACHES * sectors * sectors)), 1)


@jit
def write_table(
    board: tuple[int, int], costs: IntArray, station_keeping: int, premium: int, prices: IntArray, moves: IntArray
) -> None:
    """Fill the table of one side and reach; ``prices`` and ``moves``: (sectors, sectors, turns)."""
    inner_ring, outer_ring = board
    start, end = first_sector(inner_ring), end_of_sectors(outer_ring)
    steps, after, path = np.zeros((end, MOVES), np.int64), np.zeros(end, np.int64), np.zeros((2, end), np.int64)
    write_steps(inner_ring, outer_ring, steps)
    for turns in range(prices.shape[2]):
        for target in range(start, end):
            if turns == 0:
                write_goals(target, premium, start, end, after)
            else:
                ahead = prograde(target)
                for sector in range(start, end):
                    after[sector] = int(prices[ahead, prograde(sector), turns - 1]) + station_keeping
            step_back(steps, costs, start, end, after, path)
            for sector in range(start, end):
                price = path[PRICE, sector]
                prices[target, sector, turns] = min(price, FAR)
                moves[target, sector, turns] = path[MOVE, sector] if price < FAR else NOOP


def make_table(path_costs: PathCosts) -> Paths:
    """Compute the tables of both sides."""
    board = path_costs.inner_ring, path_costs.outer_ring
    sectors = end_of_sectors(path_costs.outer_ring)
    shape = (SIDES, REACHES, sectors, sectors, turns_ahead(*board))
    paths = Paths(np.full(shape, FAR, np.int16), np.zeros(shape, np.int8))
    for side in range(SIDES):
        costs = np.array((0, *path_costs.move_costs[side]), np.int64)
        keeping = path_costs.station_keeping_costs[side]
        for reach, premium in ((IN_SECTOR, UNREACHABLE), (NEARBY, NEARBY_PREMIUM)):
            write_table(board, costs, keeping, premium, paths.prices[side, reach], paths.moves[side, reach])
    return paths


class _Cache:
    """A least-recently-used cache of tables, limited in bytes and thread-safe."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._tables: OrderedDict[PathCosts, Paths] = OrderedDict()
        self._lock = Lock()

    def find(self, path_costs: PathCosts) -> Paths:
        """Return the tables for path costs, computed if they are not cached."""
        with self._lock:
            if path_costs in self._tables:
                self._tables.move_to_end(path_costs)
                return self._tables[path_costs]
            paths = self._tables[path_costs] = make_table(path_costs)
            self._bytes += _size(paths)
            while self._bytes > self._max_bytes and len(self._tables) > 1:
                self._bytes -= _size(self._tables.popitem(last=False)[1])
            return paths


def _size(paths: Paths) -> int:
    return paths.prices.nbytes + paths.moves.nbytes


find_table = _Cache(_MAX_BYTES).find
