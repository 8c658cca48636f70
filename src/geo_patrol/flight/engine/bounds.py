"""What a flight can still earn at most, and whether it can still win: bounds for the solver, never too low.

A turn changes the speed by two grids in each direction at most: one by the engines, one by gravity.
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
_LAUNCH_PRICE = ENGINES_COST + LAUNCH_COST + 1
"""The microgravity point of the turn is gone too."""


@jit
def turns_to(flight: Any, column: int, row: int, reach: int, most: int) -> int:
    """Return a lower bound of the turns until one ends within ``reach`` of a point; ``most`` + 1 if that is too far."""
    right, down, slack = flight.right, flight.down, 0
    for turns in range(1, most + 1):
        if flight.mode in (FLYING, DOCKED):
            slack = turns * (turns + 1)
        else:
            slack = _LAUNCH_REACH * turns + turns * (turns - 1)
        to_right = abs(column - flight.column - right * turns)
        to_down = abs(row - flight.row - down * turns)
        if to_right <= reach + slack and to_down <= reach + slack:
            return turns
    return most + 1


def _reaches() -> NDArray[np.int16]:
    """Tabulate how far a ship gets along an axis, by its speed before and by turns; the last move is of one grid."""
    speeds = np.arange(-_MOST_SPEED, _MOST_SPEED + 1)
    table = np.zeros((len(speeds), MAX_TURNS + 1), np.int16)
    for turns in range(1, MAX_TURNS + 1):
        for turn in range(1, turns + 1):
            table[:, turns] += np.minimum(speeds + 2 * turn, 1 + 2 * (turns - turn)).astype(np.int16)
    return table


_REACHES = _reaches()


@jit
def reach_of(speed: int, turns: int) -> int:
    """Return how far a ship gets along an axis in so many turns, the last of which is a move of one grid at most."""
    return int(_REACHES[speed + _MOST_SPEED, turns])


@jit
def turns_to_stop_at(flight: Any, column: int, row: int, most: int) -> int:
    """Return a lower bound of the turns until a landing or docking at a point; ``most`` + 1 if that is too far."""
    is_landed = flight.mode not in (FLYING, DOCKED)
    to_right, to_down = column - flight.column, row - flight.row
    right, down = flight.right, flight.down
    launch = 1 if is_landed else 0  # a first move of three grids, as if from a speed of one
    for turns in range(1, most + 1):
        if max(abs(right), abs(down)) - 2 * turns > 1:  # too fast to stop
            continue
        if -reach_of(launch - right, turns) <= to_right <= reach_of(launch + right, turns):
            if -reach_of(launch - down, turns) <= to_down <= reach_of(launch + down, turns):
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
            while turns < chart.turns and reach_of(1, turns) < apart:
                turns += 1
            least = min(least, turns)
    return int(least)


@jit
def can_win(chart: Any, flight: Any, left: int) -> bool:
    """Whether what the mission asks for may still be done in the turns that are left."""
    for planet in range(chart.planets):
        column, row = chart.planet[planet, 0], chart.planet[planet, 1]
        if chart.must_survey[planet] and flight.survey[planet] == 0:
            if turns_to(flight, column, row, chart.reach[planet], left) > left:
                return False
        if chart.must_land[planet] and not flight.landed[planet]:
            if turns_to_stop_at(flight, column, row, left) > left:
                return False
    place = chart.end_place
    if chart.end_kind == END_WELL:
        return turns_to(flight, chart.planet[place, 0], chart.planet[place, 1], chart.reach[place], left) <= left
    if chart.end_kind == END_PLANET:
        return turns_to_stop_at(flight, chart.planet[place, 0], chart.planet[place, 1], left) <= left
    if chart.end_kind == END_STATION:
        return turns_to_stop_at(flight, chart.station[place, 0], chart.station[place, 1], left) <= left
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
        after = left + 1 - turns_to(flight, chart.planet[planet, 0], chart.planet[planet, 1], chart.reach[planet], left)
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
        turns = turns_to_stop_at(flight, chart.planet[planet, 0], chart.planet[planet, 1], left)
        if turns <= left and not flight.landed[planet]:
            landings += 1
            soonest = min(soonest, turns)
        if planet != chart.home and not flight.returned[planet] and (turns <= left or flight.landed[planet]):
            returns += 1
    for station in range(chart.stations):
        if not flight.docked[station]:
            turns = turns_to_stop_at(flight, chart.station[station, 0], chart.station[station, 1], left)
            points += LANDING_POINTS * (turns <= left)
    first_is_free = flight.mode != LANDED
    landings = min(landings, 1 + (left - soonest) // chart.least_cycle)
    points += LANDING_POINTS * landings - _LAUNCH_PRICE * max(landings - first_is_free, 0)
    home = chart.home
    if chart.can_land[home] and turns_to_stop_at(flight, chart.planet[home, 0], chart.planet[home, 1], left) <= left:
        points += RETURN_POINTS * returns
    return points
