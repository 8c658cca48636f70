"""The score sheet: points and costs of a turn, line by line.

Source: NASA, Planetary Probe and Spaceship Commander, scoring; landing, docking and returning, advanced rules.
"""

from typing import Any

from geo_patrol.flight.engine.state import (
    COAST,
    DOCKED,
    ENGINES,
    EXPLORE,
    FUEL,
    LANDED,
    LANDING,
    LAUNCH,
    LINES,
    MICROGRAVITY,
    NOWHERE,
    ON_PAD,
    RETURN,
    SURVEY,
)
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
    for line in range(LINES):
        points += flight.points[line]
    return points


@jit
def spent_by(mode: int, order: int) -> int:
    """Return the points that an order spends on engines and on launching; the first launch is free."""
    if mode == ON_PAD or order == COAST:
        return 0
    return ENGINES_COST + LAUNCH_COST if order >= ENGINES else ENGINES_COST


@jit
def score_turn(params: Any, flight: Any, turn: Any, is_lost: bool) -> None:
    """Score the turn that has just been flown, in its entry of the log and in the flight.

    Nothing is earned in the turn of a crash or of leaving the map, but engines still cost.
    """
    turn.points[:] = 0
    score_costs(turn)
    if not is_lost:
        score_well(params, flight, turn)
        score_arrival(params, flight, turn)
        if not params.is_probe:
            score_microgravity(flight, turn)
    for line in range(LINES):
        flight.points[line] += turn.points[line]


@jit
def score_costs(turn: Any) -> None:
    """-2 for a turn with engines, -5 more for launching again."""
    if turn.order == COAST or turn.mode == ON_PAD:
        return
    turn.points[FUEL] = -ENGINES_COST
    if turn.order >= ENGINES:
        turn.points[LAUNCH] = -LAUNCH_COST


@jit
def score_well(params: Any, flight: Any, turn: Any) -> None:
    """+1 for a turn that ends in the well of another planet than the home one, up to the cap; +3 for the first such turn."""
    planet = turn.well
    if planet == NOWHERE or planet == params.home:  # noqa: PLR1714 - Numba does not compile a tuple of two types
        return
    if flight.survey[planet] == 0:
        turn.points[EXPLORE] = EXPLORE_POINTS
    if flight.survey[planet] < params.survey_cap:
        flight.survey[planet] += 1
        turn.points[SURVEY] = 1


@jit
def score_arrival(params: Any, flight: Any, turn: Any) -> None:
    """+10 for the first landing on each planet and the first docking at each station; +5 for returning from planets.

    Only the advanced rules award these points; without them the ship just lands and docks.
    """
    site = flight.site
    if flight.mode == LANDED:
        if not flight.landed[site]:
            flight.landed[site] = 1
            turn.points[LANDING] = LANDING_POINTS * params.advanced
        if site == params.home:
            score_return(params, flight, turn)
    elif flight.mode == DOCKED and not flight.docked[site]:
        flight.docked[site] = 1
        turn.points[LANDING] = LANDING_POINTS * params.advanced


@jit
def score_return(params: Any, flight: Any, turn: Any) -> None:
    """+5 for each other planet landed on before this landing on the home planet, each planet once."""
    for planet in range(params.planets):
        if planet != params.home and flight.landed[planet] and not flight.returned[planet]:
            flight.returned[planet] = 1
            turn.points[RETURN] += RETURN_POINTS * params.advanced


@jit
def score_microgravity(flight: Any, turn: Any) -> None:
    """+1 for a turn without engines, unless the ship remains on a planet."""
    remains_landed = turn.mode == LANDED and flight.mode == LANDED
    if turn.order == COAST and not remains_landed:
        turn.points[MICROGRAVITY] = 1
