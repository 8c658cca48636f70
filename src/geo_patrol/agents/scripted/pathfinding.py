"""Exact path finding over the rings: the cost for a satellite to reach a target on a certain turn.

Everything drifts, on each ring at its own speed, so a plan is a path through sectors and turns. The search runs backward
from the turn of arrival, over all sectors of the board at once, and so answers for every satellite of a side.
"""

import numpy as np

from geo_patrol.board import (
    EARTH,
    MAX_RING,
    azimuth_of,
    prograde,
    radial_in,
    radial_out,
    retrograde,
    ring_of,
    sector_at,
)
from geo_patrol.engine.state import NOOP, RADIAL_IN, RADIAL_OUT, IntArray, Record
from geo_patrol.engine.turn import destination
from geo_patrol.jit import jitable_call

UNREACHABLE = 1 << 30
"""The price of what is impossible, or must be avoided at any cost."""

MOVES = RADIAL_OUT + 1
"""Number of order codes of the movement phase."""
PRICE, MOVE = 0, 1
"""Rows of the table of a turn of arrival."""


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


@jitable_call
def drift_back(station_keeping: int, start: int, end: int, path: IntArray, before: IntArray) -> None:
    """Go back over a drift phase: from the prices after it to the prices ``before`` it."""
    for sector in range(start, end):
        before[sector] = min(path[PRICE, prograde(sector)] + station_keeping, UNREACHABLE)


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
            drift_back(keeping, start, end, path, workspace)
            step_back(steps, costs, start, end, workspace, path)


@jitable_call
def can_step(rules: Record, sector: int, order: int) -> bool:
    """Tell whether a move from a sector stays on the board."""
    ring = ring_of(sector) + (order == RADIAL_OUT) - (order == RADIAL_IN)
    return bool(rules.inner_ring <= ring <= rules.outer_ring)
