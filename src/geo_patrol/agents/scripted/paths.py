"""Exact path finding over the rings: the cost for a satellite to reach a target on a certain turn.

Everything drifts, on each ring at its own speed, so a plan is a path through sectors and turns. The search runs backward
from the turn of arrival, over all sectors of the board at once, and so answers for every satellite of a side.
"""

from collections import OrderedDict
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from geo_patrol.base.board import (
    EARTH,
    MAX_RING,
    are_adjacent,
    azimuth_of,
    prograde,
    radial_in,
    radial_out,
    retrograde,
    ring_of,
    sector_at,
)
from geo_patrol.base.jit import jit, jitable, jitable_call
from geo_patrol.engine.state import (
    ADJACENT_SECTOR,
    NOOP,
    NUM_SIDES,
    RADIAL_IN,
    RADIAL_OUT,
    SAME_SECTOR,
    IntArray,
    Record,
)
from geo_patrol.engine.turn import destination

UNREACHABLE = 1 << 30
"""The price of what is impossible, or must be avoided at any cost."""

MOVES = RADIAL_OUT + 1
"""Number of order codes of the movement phase."""
PRICE, MOVE = 0, 1
"""Rows of the table of a turn of arrival."""

OUT_OF_RANGE = 2
"""What ``range_between`` returns beside SAME_SECTOR and ADJACENT_SECTOR."""


@jitable
def range_between(sector: int, other: int) -> int:
    """Return the range of an engagement between two sectors, OUT_OF_RANGE if there can be none."""
    if sector == other:
        return SAME_SECTOR
    return ADJACENT_SECTOR if are_adjacent(sector, other) else OUT_OF_RANGE


@jitable_call
def first_sector(inner_ring: int) -> int:
    """Return the first sector of a board."""
    return (1 << inner_ring) - 1


@jitable_call
def end_of_sectors(outer_ring: int) -> int:
    """Return one past the last sector of a board."""
    return (1 << (outer_ring + 1)) - 1


@jitable_call
def write_steps(inner_ring: int, outer_ring: int, steps: IntArray) -> None:
    """Write where each move leads from each sector of a board: ``steps[sector, order]``, the Earth where off the board."""
    for sector in range(first_sector(inner_ring), end_of_sectors(outer_ring)):
        for order in range(MOVES):
            ahead = destination(sector, order)
            steps[sector, order] = ahead if inner_ring <= ring_of(ahead) <= outer_ring else EARTH


@jitable_call
def write_goals(target: int, adjacent_premium: int, start: int, end: int, prices: IntArray) -> None:
    """Price every sector by its range to the target: in it, adjacent to it, or out of range."""
    for sector in range(start, end):
        prices[sector] = UNREACHABLE
    beyond = radial_out(target)
    for sector in (prograde(target), retrograde(target), radial_in(target), beyond, beyond + 1):
        if start <= sector < end:
            prices[sector] = adjacent_premium
    prices[target] = 0


@jitable_call
def step_back(steps: IntArray, costs: IntArray, start: int, end: int, after: IntArray, path: IntArray) -> None:
    """Go back over a movement phase: from the prices after it to the prices before it, and the moves to make."""
    for sector in range(start, end):
        best, move = after[sector], NOOP
        for order in range(NOOP + 1, MOVES):
            ahead = steps[sector, order]
            if ahead != EARTH and after[ahead] + costs[order] < best:
                best, move = after[ahead] + costs[order], order
        path[PRICE, sector] = best
        path[MOVE, sector] = move


def make_paths(turns: int) -> IntArray:
    """Allocate the paths to ``turns`` turns of arrival on the largest board."""
    return np.zeros((turns, 2, end_of_sectors(MAX_RING)), np.int64)


@jitable_call
def find_paths(
    rules: Record, side: int, target: int, adjacent_premium: int, steps: IntArray, workspace: IntArray, paths: IntArray
) -> None:
    """Find the cheapest paths of a side's satellites to a target that drifts along.

    ``paths``: (turns, 2, sectors), overwritten. ``paths[t, PRICE, sector]`` is the fuel that it takes from a sector to be
    in range of the target after t drifts and one more movement phase, premium included, and ``paths[t, MOVE, sector]``
    the first move on that path. ``adjacent_premium``: the price of arriving next to the target, not in its sector.
    """
    start, end = first_sector(rules.inner_ring), end_of_sectors(rules.outer_ring)
    ring, azimuth = ring_of(target), azimuth_of(target)
    keeping, costs = rules.station_keeping_cost[side], rules.move_cost[side]
    for turns in range(len(paths)):
        path = paths[turns]
        write_goals(sector_at(ring, azimuth + turns), adjacent_premium, start, end, workspace)
        step_back(steps, costs, start, end, workspace, path)
        for _ in range(turns):
            for sector in range(start, end):  # back over a drift phase
                workspace[sector] = min(path[PRICE, prograde(sector)] + keeping, UNREACHABLE)
            step_back(steps, costs, start, end, workspace, path)


@jitable_call
def can_step(rules: Record, sector: int, order: int) -> bool:
    """Tell whether a move from a sector stays on the board."""
    ring = ring_of(sector) + (order == RADIAL_OUT) - (order == RADIAL_IN)
    return bool(rules.inner_ring <= ring <= rules.outer_ring)


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
    """Fuel of each move of each side, prograde to radial out."""
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
    return max(min(turns, _MAX_PRICES // (NUM_SIDES * REACHES * sectors * sectors)), 1)


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
    shape = (NUM_SIDES, REACHES, sectors, sectors, turns_ahead(*board))
    paths = Paths(np.full(shape, FAR, np.int16), np.zeros(shape, np.int8))
    for side in range(NUM_SIDES):
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
