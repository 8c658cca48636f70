"""What a flight can still earn at most, and whether it can still win: bounds for the solver, never too low.

A turn changes the speed by two grids in each direction at most: one by the engines, one by gravity. A stop on the way, on
a planet or at a station, can turn a ship round in less time than that, see ``gained_by_stopping``.
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
from geo_patrol.flight.engine.state import DOCKED, END_PLANET, END_STATION, END_WELL, FLYING, LANDED
from geo_patrol.flight.grid import MAX_COLUMNS
from geo_patrol.flight.mission import MAX_TURNS
from geo_patrol.jit import jit

HOPELESS = -10_000
"""The bound of a flight that cannot win any more."""
_LAUNCH_REACH = 3
_MOST_SPEED = MAX_COLUMNS + 4
_MOST_STOP = _MOST_SPEED // 2
_NO_STOP = 0
_LAUNCH_PRICE = ENGINES_COST + LAUNCH_COST + 1
"""The microgravity point of the turn is gone too."""


@jit
def first_stop(chart: Any, flight: Any) -> int:
    """Return the first turn in which a ship may stop on a planet or at a station, a move of one grid; 0 for never."""
    if not chart.can_stop:
        return _NO_STOP
    return max(1, max(abs(flight.right), abs(flight.down)) // 2)


@jit
def gained_by_stopping(speed: int, turns: int, stop: int) -> int:
    """Return how many grids further a ship may get along an axis by stopping on the way, than by engines and gravity.

    It arrives with a move of one grid whatever way it goes, and is launched with one of three the other way: from -1
    to 3 in a turn. That helps a ship whose ``speed`` in the direction asked for is negative enough.
    """
    if stop == _NO_STOP:
        return 0
    faster = _LAUNCH_REACH - (speed + 2 * (stop + 1))
    return max(faster, 0) * max(turns - stop, 0)


@jit
def turns_to(chart: Any, flight: Any, column: int, row: int, reach: int, most: int) -> int:
    """Return a lower bound of the turns until one ends within ``reach`` of a point; ``most`` + 1 if that is too far."""
    right, down, slack, stop = flight.right, flight.down, 0, first_stop(chart, flight)
    for turns in range(1, most + 1):
        if flight.mode in (FLYING, DOCKED):
            slack = turns * (turns + 1)
        else:
            slack = _LAUNCH_REACH * turns + turns * (turns - 1)
        to_right = column - flight.column - right * turns
        to_down = row - flight.row - down * turns
        more_right = gained_by_stopping(right if to_right > 0 else -right, turns, stop)
        more_down = gained_by_stopping(down if to_down > 0 else -down, turns, stop)
        if abs(to_right) <= reach + slack + more_right and abs(to_down) <= reach + slack + more_down:
            return turns
    return most + 1


def _reaches() -> NDArray[np.int16]:
    """Tabulate how far a ship gets along an axis whose last move is of one grid.

    By the first turn in which it may stop on the way and be launched afresh, by its speed before, and by turns.
    """
    speeds = np.arange(-_MOST_SPEED, _MOST_SPEED + 1)
    table = np.zeros((_MOST_STOP + 1, len(speeds), MAX_TURNS + 1), np.int16)
    for stop in range(_MOST_STOP + 1):
        for turns in range(1, MAX_TURNS + 1):
            for turn in range(1, turns + 1):
                fastest = speeds + 2 * turn
                if stop != _NO_STOP and turn > stop:
                    fastest = np.maximum(fastest, _LAUNCH_REACH + 2 * (turn - stop - 1))
                table[stop, :, turns] += np.minimum(fastest, 1 + 2 * (turns - turn)).astype(np.int16)
    return table


_REACHES = _reaches()


@jit
def reach_of(speed: int, turns: int, stop: int) -> int:
    """Return how far a ship gets along an axis in so many turns, the last of which is a move of one grid at most."""
    return int(_REACHES[stop, speed + _MOST_SPEED, turns])


@jit
def turns_to_stop_at(chart: Any, flight: Any, column: int, row: int, most: int) -> int:
    """Return a lower bound of the turns until a landing or docking at a point; ``most`` + 1 if that is too far."""
    is_landed = flight.mode not in (FLYING, DOCKED)
    to_right, to_down = column - flight.column, row - flight.row
    right, down = flight.right, flight.down
    launch = 1 if is_landed else 0  # a first move of three grids, as if from a speed of one
    stop = first_stop(chart, flight)
    for turns in range(1, most + 1):
        if max(abs(right), abs(down)) - 2 * turns > 1:  # too fast to stop
            continue
        if -reach_of(launch - right, turns, stop) <= to_right <= reach_of(launch + right, turns, stop):
            if -reach_of(launch - down, turns, stop) <= to_down <= reach_of(launch + down, turns, stop):
                return turns
    return most + 1


@jit
def least_cycle(chart: Any) -> int:
    """Return a lower bound of the turns from a landing to one on another planet."""
    least = chart.turns + 1
    for one in range(chart.planets):
        for other in range(one):
            if not chart.can_land[one] or not chart.can_land[other]:
                continue
            apart = max(
                abs(chart.planet[one, 0] - chart.planet[other, 0]), abs(chart.planet[one, 1] - chart.planet[other, 1])
            )
            turns = 1
            while turns < chart.turns and reach_of(1, turns, _NO_STOP) < apart:
                turns += 1
            least = min(least, turns)
    return int(least)


@jit
def can_win(chart: Any, flight: Any, left: int) -> bool:
    """Whether what the mission asks for may still be done in the turns that are left."""
    for planet in range(chart.planets):
        column, row = chart.planet[planet, 0], chart.planet[planet, 1]
        if chart.must_survey[planet] and flight.survey[planet] == 0:
            if turns_to(chart, flight, column, row, chart.reach[planet], left) > left:
                return False
        if chart.must_land[planet] and not flight.landed[planet]:
            if turns_to_stop_at(chart, flight, column, row, left) > left:
                return False
    place = chart.end_place
    if chart.end_kind == END_WELL:
        return turns_to(chart, flight, chart.planet[place, 0], chart.planet[place, 1], chart.reach[place], left) <= left
    if chart.end_kind == END_PLANET:
        return turns_to_stop_at(chart, flight, chart.planet[place, 0], chart.planet[place, 1], left) <= left
    if chart.end_kind == END_STATION:
        return turns_to_stop_at(chart, flight, chart.station[place, 0], chart.station[place, 1], left) <= left
    return True


@jit
def most_still(chart: Any, flight: Any) -> int:
    """Return a bound of the points that a flight under way can still earn; HOPELESS if it cannot win."""
    left = chart.turns - flight.turn
    if not can_win(chart, flight, left):
        return HOPELESS
    points, surveys = 0, 0
    for planet in range(chart.planets):
        room = chart.survey_cap - flight.survey[planet]
        if planet == chart.home or room <= 0:
            continue
        after = (
            left
            + 1
            - turns_to(chart, flight, chart.planet[planet, 0], chart.planet[planet, 1], chart.reach[planet], left)
        )
        if after <= 0:
            continue
        surveys += min(room, after)
        if flight.survey[planet] == 0:
            points += EXPLORE_POINTS
    points += min(surveys, left)
    if not chart.is_probe:
        points += left  # microgravity
    return points + most_arrivals(chart, flight, left) if chart.advanced else points


@jit
def most_arrivals(chart: Any, flight: Any, left: int) -> int:
    """Return a bound of the points for landing, docking and returning, the price of the launches between taken off."""
    points, landings, returns, soonest = 0, 0, 0, left
    for planet in range(chart.planets):
        if not chart.can_land[planet]:
            continue
        turns = turns_to_stop_at(chart, flight, chart.planet[planet, 0], chart.planet[planet, 1], left)
        if turns <= left and not flight.landed[planet]:
            landings += 1
            soonest = min(soonest, turns)
        if planet != chart.home and not flight.returned[planet] and (turns <= left or flight.landed[planet]):
            returns += 1
    for station in range(chart.stations):
        if not flight.docked[station]:
            turns = turns_to_stop_at(chart, flight, chart.station[station, 0], chart.station[station, 1], left)
            points += LANDING_POINTS * (turns <= left)
    first_is_free = flight.mode != LANDED
    landings = min(landings, 1 + (left - soonest) // chart.least_cycle)
    points += LANDING_POINTS * landings - _LAUNCH_PRICE * max(landings - first_is_free, 0)
    home = chart.home
    if (
        chart.can_land[home]
        and turns_to_stop_at(chart, flight, chart.planet[home, 0], chart.planet[home, 1], left) <= left
    ):
        points += RETURN_POINTS * returns
    return points
