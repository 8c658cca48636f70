"""Admissible bounds for the solver: the points a flight can still earn at most, and whether it can still win.

A turn changes the speed by at most two grids in each direction: one by the engines, one by gravity. A stop on a planet or
at a station can turn a ship round in less time than that, see ``gained_by_stopping``. No bound is ever too low.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.flight.engine.scoring import (
    ENGINES_COST,
    EXPLORE_POINTS,
    LANDING_POINTS,
    LAUNCH_COST,
    RETURN_POINTS,
)
from geo_patrol.flight.engine.state import EndKind, Mode
from geo_patrol.flight.grid import MAX_COLUMNS
from geo_patrol.flight.mission import MAX_TURNS
from geo_patrol.jit import jit

HOPELESS = -10_000
"""The bound of a flight that cannot win any more."""
_LAUNCH_REACH = 3
_MAX_SPEED = MAX_COLUMNS + 4
_MAX_STOP = _MAX_SPEED // 2
_NO_STOP = 0
_LAUNCH_PRICE = ENGINES_COST + LAUNCH_COST + 1
"""What a launch costs, with the microgravity point that the turn does not earn."""


@jit
def first_stop(params: Any, flight: Any) -> int:
    """Return the first turn in which a ship may stop on a planet or at a station, a move of one grid; 0 for never."""
    if not params.can_stop:
        return _NO_STOP
    return max(1, max(abs(flight.right), abs(flight.down)) // 2)


@jit
def gained_by_stopping(speed: int, turns: int, stop: int) -> int:
    """Return how many grids further along an axis a ship may get by stopping on the way than by engines and gravity.

    It arrives with a move of one grid in any direction and is launched with one of three the other way: from -1 to 3
    in a turn. That helps a ship that is moving away from its target fast enough: ``speed`` is negative.
    """
    if stop == _NO_STOP:
        return 0
    faster = _LAUNCH_REACH - (speed + 2 * (stop + 1))
    return max(faster, 0) * max(turns - stop, 0)


@jit
def min_turns_to_well(params: Any, flight: Any, planet: int, max_turns: int) -> int:
    """Return a lower bound of the turns until one ends in the well of a planet; ``max_turns`` + 1 beyond them."""
    column, row, reach = params.position[planet, 0], params.position[planet, 1], params.reach[planet]
    right, down, slack, stop = flight.right, flight.down, 0, first_stop(params, flight)
    for turns in range(1, max_turns + 1):
        if flight.mode in (Mode.FLYING, Mode.DOCKED):
            slack = turns * (turns + 1)
        else:
            slack = _LAUNCH_REACH * turns + turns * (turns - 1)
        to_right = column - flight.column - right * turns
        to_down = row - flight.row - down * turns
        more_right = gained_by_stopping(right if to_right > 0 else -right, turns, stop)
        more_down = gained_by_stopping(down if to_down > 0 else -down, turns, stop)
        if abs(to_right) <= reach + slack + more_right and abs(to_down) <= reach + slack + more_down:
            return turns
    return max_turns + 1


def _tabulate_max_travel() -> NDArray[np.int16]:
    """Tabulate how far a ship can get along an axis if its last move is of one grid at most.

    Indexed by the first turn in which it may stop on the way and be launched again, by turns, and by its speed before.
    """
    speeds = np.arange(-_MAX_SPEED, _MAX_SPEED + 1)
    table = np.zeros((_MAX_STOP + 1, MAX_TURNS + 1, len(speeds)), np.int16)
    for stop in range(_MAX_STOP + 1):
        for turns in range(1, MAX_TURNS + 1):
            for turn in range(1, turns + 1):
                fastest = speeds + 2 * turn
                if stop != _NO_STOP and turn > stop:
                    fastest = np.maximum(fastest, _LAUNCH_REACH + 2 * (turn - stop - 1))
                table[stop, turns] += np.minimum(fastest, 1 + 2 * (turns - turn)).astype(np.int16)
    return table


_MAX_TRAVEL = _tabulate_max_travel()


@jit
def min_turns_to_stop_at(params: Any, flight: Any, site: int, max_turns: int) -> int:
    """Return a lower bound of the turns until a landing or docking at a site; ``max_turns`` + 1 beyond them."""
    to_right, to_down = params.position[site, 0] - flight.column, params.position[site, 1] - flight.row
    right, down = flight.right, flight.down
    middle = _MAX_SPEED
    if flight.mode not in (Mode.FLYING, Mode.DOCKED):
        middle += 1  # the first move is of three grids, as if from a speed of one
    stop = first_stop(params, flight)
    for turns in range(1, max_turns + 1):
        if max(abs(right), abs(down)) - 2 * turns > 1:  # too fast to stop
            continue
        travel = _MAX_TRAVEL[stop, turns]
        if -travel[middle - right] <= to_right <= travel[middle + right]:
            if -travel[middle - down] <= to_down <= travel[middle + down]:
                return turns
    return max_turns + 1


def min_landing_interval(params: Any) -> int:
    """Return a lower bound of the turns from a landing to one on another planet."""
    points = params["position"][np.flatnonzero(params["can_land"])].astype(int)
    intervals = [int(params["turns"]) + 1]
    for index, point in enumerate(points):
        for other in points[:index]:
            distance = np.abs(point - other).max()
            intervals.append(int(np.searchsorted(_MAX_TRAVEL[_NO_STOP, :, _MAX_SPEED + 1], distance)))
    return max(min(intervals), 1)


@jit
def can_win(params: Any, flight: Any, turns_left: int) -> bool:
    """Whether the mission may still be fulfilled in the turns that are left."""
    for planet in range(params.planets):
        if params.must_survey[planet] and flight.survey[planet] == 0:
            if min_turns_to_well(params, flight, planet, turns_left) > turns_left:
                return False
        if params.must_land[planet] and not flight.visited[planet]:
            if min_turns_to_stop_at(params, flight, planet, turns_left) > turns_left:
                return False
    if params.end_kind == EndKind.WELL:
        return min_turns_to_well(params, flight, params.end_site, turns_left) <= turns_left
    if params.end_kind == EndKind.SITE:
        return min_turns_to_stop_at(params, flight, params.end_site, turns_left) <= turns_left
    return True


@jit
def max_remaining_points(params: Any, flight: Any) -> int:
    """Return an upper bound of the points that a flight under way can still earn; HOPELESS if it cannot win."""
    turns_left = int(params.turns - flight.turn)
    if not can_win(params, flight, turns_left):
        return HOPELESS
    points, surveys = 0, 0
    for planet in range(params.planets):
        uncounted = params.survey_cap - flight.survey[planet]
        if planet == params.home or uncounted <= 0:
            continue
        turns_in_well = turns_left + 1 - min_turns_to_well(params, flight, planet, turns_left)
        if turns_in_well <= 0:
            continue
        surveys += min(uncounted, turns_in_well)
        if flight.survey[planet] == 0:
            points += EXPLORE_POINTS
    points += min(surveys, turns_left)
    if not params.is_probe:
        points += turns_left  # microgravity
    return points + max_arrival_points(params, flight, turns_left) if params.advanced else points


@jit
def max_arrival_points(params: Any, flight: Any, turns_left: int) -> int:
    """Return an upper bound of the points for landing, docking and returning, less the cost of the launches between."""
    points, landings, returns, soonest = 0, 0, 0, turns_left
    for planet in range(params.planets):
        if not params.can_land[planet]:
            continue
        turns = min_turns_to_stop_at(params, flight, planet, turns_left)
        if turns <= turns_left and not flight.visited[planet]:
            landings += 1
            soonest = min(soonest, turns)
        if planet != params.home and not flight.returned[planet] and (turns <= turns_left or flight.visited[planet]):
            returns += 1
    for station in range(params.planets, params.sites):
        if not flight.visited[station]:
            points += LANDING_POINTS * (min_turns_to_stop_at(params, flight, station, turns_left) <= turns_left)
    first_is_free = flight.mode != Mode.LANDED
    landings = min(landings, 1 + (turns_left - soonest) // params.min_landing_interval)
    points += LANDING_POINTS * landings - _LAUNCH_PRICE * max(landings - first_is_free, 0)
    home = params.home
    if params.can_land[home] and min_turns_to_stop_at(params, flight, home, turns_left) <= turns_left:
        points += RETURN_POINTS * returns
    return points
