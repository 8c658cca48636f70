"""The score sheet: points and costs of a turn, line by line.

Source: NASA, Planetary Probe and Spaceship Commander, scoring; landing, docking and returning, advanced rules.
"""

from typing import Any

from geo_patrol.flight.engine.state import COAST, ENGINES, NOWHERE, Line, Mode
from geo_patrol.jit import jit

EXPLORE_POINTS = 3
LANDING_POINTS = 10
RETURN_POINTS = 5
ENGINES_COST = 2
LAUNCH_COST = 5


@jit
def score_of(flight: Any) -> int:
    """Return the points of a flight."""
    points = 0
    for line in range(len(flight.points)):
        points += flight.points[line]
    return points


@jit
def costs_of(mode: int, order: int) -> tuple[int, int]:
    """Return the points that an order spends on engines, 2, and on launching, 5; the first launch is free."""
    if mode == Mode.ON_PAD or order == COAST:
        return 0, 0
    return ENGINES_COST, LAUNCH_COST if order >= ENGINES else 0


@jit
def score_turn(params: Any, flight: Any, turn: Any, is_lost: bool) -> None:
    """Score the turn that has just been flown, in its entry of the log and in the flight.

    +1 for a turn of a spaceship without engines (microgravity), unless it remains on a planet. Nothing is earned in the
    turn of a crash or of leaving the map, but engines still cost.
    """
    turn.points[:] = 0
    engines, launch = costs_of(turn.mode, turn.order)
    turn.points[Line.FUEL.value], turn.points[Line.LAUNCH.value] = -engines, -launch
    if not is_lost:
        score_well(params, flight, turn)
        score_arrival(params, flight, turn)
        remains_landed = turn.mode == Mode.LANDED and flight.mode == Mode.LANDED
        if turn.order == COAST and not params.is_probe and not remains_landed:
            turn.points[Line.MICROGRAVITY.value] = 1
    for line in range(len(flight.points)):
        flight.points[line] += turn.points[line]


@jit
def score_well(params: Any, flight: Any, turn: Any) -> None:
    """+1 for a turn that ends in the well of another planet than the home one, up to the cap; +3 for the first such turn."""
    planet = turn.well
    if planet == NOWHERE or planet == params.home:  # noqa: PLR1714 - Numba does not compile a tuple of two types
        return
    if flight.survey[planet] == 0:
        turn.points[Line.EXPLORE.value] = EXPLORE_POINTS
    if flight.survey[planet] < params.survey_cap:
        flight.survey[planet] += 1
        turn.points[Line.SURVEY.value] = 1


@jit
def score_arrival(params: Any, flight: Any, turn: Any) -> None:
    """+10 for the first landing on each planet and the first docking at each station; +5 for returning from planets.

    A landing on the home planet is a return from each other planet that was landed on before, from each one once. Only the advanced rules award these points; without them the ship just lands and docks.
    """
    site = flight.site
    if site == NOWHERE:
        return
    if not flight.visited[site]:
        flight.visited[site] = 1
        turn.points[Line.LANDING.value] = LANDING_POINTS * params.advanced
    if site == params.home:
        for planet in range(params.planets):
            if planet != site and flight.visited[planet] and not flight.returned[planet]:
                flight.returned[planet] = 1
                turn.points[Line.RETURN.value] += RETURN_POINTS * params.advanced
