"""The score sheet: what a turn earns and costs, line by line.

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
def spent_by(mode: int, order: int) -> int:
    """Return the points that an order spends on engines and on launching; the first launch is free."""
    if mode == ON_PAD or order == COAST:
        return 0
    return ENGINES_COST + LAUNCH_COST if order >= ENGINES else ENGINES_COST


@jit
def score_turn(chart: Any, flight: Any, turn: Any, is_lost: bool) -> None:
    """Score the turn that has just been flown, in its line of the log and in the flight.

    Nothing is earned in the turn of a crash or of leaving the map, but what the engines cost stays spent.
    """
    turn.line[:] = 0
    score_costs(turn)
    if not is_lost:
        score_well(chart, flight, turn)
        score_arrival(chart, flight, turn)
        if not chart.is_probe:
            score_microgravity(flight, turn)
    for line in range(LINES):
        flight.line[line] += turn.line[line]


@jit
def score_costs(turn: Any) -> None:
    """-2 for a turn with engines, -5 more for launching again."""
    if turn.order == COAST or turn.mode == ON_PAD:
        return
    turn.line[FUEL] = -ENGINES_COST
    if turn.order >= ENGINES:
        turn.line[LAUNCH] = -LAUNCH_COST


@jit
def score_well(chart: Any, flight: Any, turn: Any) -> None:
    """+1 for a turn that ends in the well of another planet than the home one, up to the cap; +3 for the first."""
    planet = turn.well
    if planet == NOWHERE or planet == chart.home:  # noqa: PLR1714 - a tuple of two types does not compile
        return
    if flight.survey[planet] == 0:
        turn.line[EXPLORE] = EXPLORE_POINTS
    if flight.survey[planet] < chart.survey_cap:
        flight.survey[planet] += 1
        turn.line[SURVEY] = 1


@jit
def score_arrival(chart: Any, flight: Any, turn: Any) -> None:
    """+10 for the first landing on each planet and the first docking at each station; +5 for returning from planets.

    These points belong to the advanced rules; without them the ship only lands and docks.
    """
    place = flight.place
    if flight.mode == LANDED:
        if not flight.landed[place]:
            flight.landed[place] = 1
            turn.line[LANDING] = LANDING_POINTS * chart.advanced
        if place == chart.home:
            score_return(chart, flight, turn)
    elif flight.mode == DOCKED and not flight.docked[place]:
        flight.docked[place] = 1
        turn.line[LANDING] = LANDING_POINTS * chart.advanced


@jit
def score_return(chart: Any, flight: Any, turn: Any) -> None:
    """+5 for each other planet landed on before this landing on the home planet, each planet once."""
    for planet in range(chart.planets):
        if planet != chart.home and flight.landed[planet] and not flight.returned[planet]:
            flight.returned[planet] = 1
            turn.line[RETURN] += RETURN_POINTS * chart.advanced


@jit
def score_microgravity(flight: Any, turn: Any) -> None:
    """+1 for a turn without engines, unless the ship remains on a planet."""
    remains_landed = turn.mode == LANDED and flight.mode == LANDED
    if turn.order == COAST and not remains_landed:
        turn.line[MICROGRAVITY] = 1
