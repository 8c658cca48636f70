"""What a flight can still earn at most, and whether it can still win: bounds for the solver, never too low.

A turn changes the speed by two grids in each direction at most: one by the engines, one by gravity.
"""

from typing import Any

from geo_patrol.flight.engine.scoring import (
    ENGINES_COST,
    EXPLORE_POINTS,
    LANDING_POINTS,
    LAUNCH_COST,
    RETURN_POINTS,
)
from geo_patrol.flight.engine.state import DOCKED, END_PLANET, END_STATION, END_WELL, FLYING, LANDED, NOWHERE
from geo_patrol.jit import jit

HOPELESS = -10_000
"""The bound of a flight that cannot win any more."""
_LAUNCH_REACH = 3
_LEAST_CYCLE = 3
"""From a launch to the next landing: three turns, for a move of three grids must shrink to one."""
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


@jit
def can_win(chart: Any, flight: Any, left: int) -> bool:
    """Whether what the mission asks for may still be done in the turns that are left."""
    for planet in range(chart.planets):
        column, row = chart.planet[planet, 0], chart.planet[planet, 1]
        if chart.must_survey[planet] and flight.survey[planet] == 0:
            if turns_to(flight, column, row, chart.reach[planet], left) > left:
                return False
        if chart.must_land[planet] and not flight.landed[planet] and turns_to(flight, column, row, 0, left) > left:
            return False
    if chart.end_kind in (END_WELL, END_PLANET):
        place = chart.end_place
        reach = chart.reach[place] if chart.end_kind == END_WELL else 0
        return turns_to(flight, chart.planet[place, 0], chart.planet[place, 1], reach, left) <= left
    if chart.end_kind == END_STATION:
        place = chart.end_place
        return turns_to(flight, chart.station[place, 0], chart.station[place, 1], 0, left) <= left
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
    points, landings, returns = 0, 0, 0
    for planet in range(chart.planets):
        if not chart.can_land[planet]:
            continue
        near = turns_to(flight, chart.planet[planet, 0], chart.planet[planet, 1], 0, left) <= left
        landings += near and not flight.landed[planet]
        if planet != chart.home and not flight.returned[planet] and (near or flight.landed[planet]):
            returns += 1
    for station in range(chart.stations):
        if flight.docked[station]:
            continue
        if turns_to(flight, chart.station[station, 0], chart.station[station, 1], 0, left) <= left:
            points += LANDING_POINTS
    first_is_free = flight.mode != LANDED
    landings = min(landings, first_is_free + left // _LEAST_CYCLE)
    points += LANDING_POINTS * landings - _LAUNCH_PRICE * max(landings - first_is_free, 0)
    home = chart.home
    reach_home = turns_to(flight, chart.planet[home, 0], chart.planet[home, 1], 0, left) <= left
    at_home = flight.place != NOWHERE and flight.mode == LANDED and flight.place == home
    if chart.can_land[home] and (reach_home or at_home):
        points += RETURN_POINTS * returns
    return points
