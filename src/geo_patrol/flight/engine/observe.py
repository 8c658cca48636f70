"""What the environments show of a flight: a vector of figures, an action mask, a report; and a whole step of theirs.

Offsets and moves are in units of ten grids, seen from the ship; flags are 0 or 1. The home planet is planet 0 here,
the others follow in the order of the mission.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.flight.engine.physics import gravity_at, is_on_map
from geo_patrol.flight.engine.search import score_of
from geo_patrol.flight.engine.state import (
    COAST,
    DOCKED,
    END_PLANET,
    END_STATION,
    END_WELL,
    FLYING,
    LANDED,
    NO_LIMIT,
    ON_PAD,
    ORDERS,
    UNDER_WAY,
)
from geo_patrol.flight.engine.turn import fly_one, is_legal, is_success, start_one, write_legal
from geo_patrol.flight.mission import MAX_PLANETS, MAX_STATIONS, MAX_TURNS
from geo_patrol.jit import jit

GRIDS = 10.0
TURNS = float(MAX_TURNS)
FUEL_SCALE = 100.0
POINTS_SCALE = 100.0
_MOST_GRIDS = 8.0
_MOST_FUEL = 4.0
_MOST_POINTS = 5.0

_FLAG, _OFFSET = (0.0, 1.0), (-_MOST_GRIDS, _MOST_GRIDS)
_GENERAL = (
    ("turns flown / 40", _FLAG),
    ("turns left / 40", _FLAG),
    ("grids to the left edge / 10", _OFFSET),
    ("grids to the right edge / 10", _OFFSET),
    ("grids to the top edge / 10", _OFFSET),
    ("grids to the bottom edge / 10", _OFFSET),
    ("move to the right / 10", _OFFSET),
    ("move down / 10", _OFFSET),
    ("gravity to the right after coasting", (-1.0, 1.0)),
    ("gravity down after coasting", (-1.0, 1.0)),
    ("coasting leads off the map", _FLAG),
    ("on the pad", _FLAG),
    ("flying", _FLAG),
    ("landed", _FLAG),
    ("docked", _FLAG),
    ("flight is over", _FLAG),
    ("Planetary Probe", _FLAG),
    ("advanced rules", _FLAG),
    ("race", _FLAG),
    ("fuel is limited", _FLAG),
    ("fuel left / 100", (0.0, _MOST_FUEL)),
    ("score / 100", (-_MOST_POINTS, _MOST_POINTS)),
)
_PLANET = (
    ("there is one", _FLAG),
    ("strong gravity", _FLAG),
    ("to the right / 10", _OFFSET),
    ("down / 10", _OFFSET),
    ("explored", _FLAG),
    ("part of its survey points", _FLAG),
    ("can be landed on", _FLAG),
    ("landed on before", _FLAG),
    ("returned from", _FLAG),
    ("must be surveyed", _FLAG),
    ("must be landed on", _FLAG),
    ("its well ends the game", _FLAG),
    ("landing on it ends the game", _FLAG),
)
_STATION = (
    ("there is one", _FLAG),
    ("to the right / 10", _OFFSET),
    ("down / 10", _OFFSET),
    ("docked at before", _FLAG),
    ("docking at it ends the game", _FLAG),
)
GENERAL, PER_PLANET, PER_STATION = len(_GENERAL), len(_PLANET), len(_STATION)
OBSERVATIONS = GENERAL + MAX_PLANETS * PER_PLANET + MAX_STATIONS * PER_STATION

SCORE, ENDING, SUCCESS, TURN_NUMBER, ILLEGAL, LEGAL = range(6)
"""Entries of a report."""
REPORT = LEGAL + 1 + ORDERS
"""LEGAL is how many legal orders there are; they follow it."""


def _entries() -> list[tuple[str, tuple[float, float]]]:
    planets = [(f"planet {number}: {name}", bounds) for number in range(MAX_PLANETS) for name, bounds in _PLANET]
    stations = [(f"station {number}: {name}", bounds) for number in range(MAX_STATIONS) for name, bounds in _STATION]
    return [*_GENERAL, *planets, *stations]


def observation_names() -> tuple[str, ...]:
    """Return what stands at every index of an observation, (182,) of them.

    Planet 0 is the home planet, the others follow in the order of the mission; offsets are from the ship.
    """
    return tuple(name for name, _ in _entries())


def observation_bounds() -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the lowest and the highest value at every index, (182,) float32 each."""
    low, high = np.array([bounds for _, bounds in _entries()], np.float32).T
    return low.copy(), high.copy()


@jit
def bounded(value: float, most: float) -> float:
    """Return a value that is not beyond a bound on either side."""
    return min(max(value, -most), most)


@jit
def write_observation(chart: Any, flight: Any, observation: Any) -> None:
    """Write a flight as a vector (182,) float32."""
    observation[:] = 0
    _write_motion(chart, flight, observation)
    _write_state(chart, flight, observation)
    for planet in range(chart.planets):
        slot = 0 if planet == chart.home else planet + (planet < chart.home)
        _write_planet(chart, flight, planet, observation[GENERAL + slot * PER_PLANET :])
    for station in range(chart.stations):
        place = GENERAL + MAX_PLANETS * PER_PLANET + station * PER_STATION
        _write_station(chart, flight, station, observation[place:])


@jit
def _write_motion(chart: Any, flight: Any, entries: Any) -> None:
    entries[0] = flight.turn / TURNS
    entries[1] = (chart.turns - flight.turn) / TURNS
    entries[2] = bounded((flight.column - 1) / GRIDS, _MOST_GRIDS)
    entries[3] = bounded((chart.columns - flight.column) / GRIDS, _MOST_GRIDS)
    entries[4] = bounded((flight.row - 1) / GRIDS, _MOST_GRIDS)
    entries[5] = bounded((chart.rows - flight.row) / GRIDS, _MOST_GRIDS)
    entries[6] = bounded(flight.right / GRIDS, _MOST_GRIDS)
    entries[7] = bounded(flight.down / GRIDS, _MOST_GRIDS)
    if flight.mode in (FLYING, DOCKED):
        column, row = flight.column + flight.right, flight.row + flight.down
        entries[8], entries[9] = gravity_at(chart, column, row)
        entries[10] = not is_on_map(chart, column, row)


@jit
def _write_state(chart: Any, flight: Any, entries: Any) -> None:
    entries[11] = flight.mode == ON_PAD
    entries[12] = flight.mode == FLYING
    entries[13] = flight.mode == LANDED
    entries[14] = flight.mode == DOCKED
    entries[15] = flight.ending != UNDER_WAY
    entries[16] = chart.is_probe
    entries[17] = chart.advanced
    entries[18] = chart.race
    if chart.fuel_limit != NO_LIMIT:
        entries[19] = 1
        entries[20] = (chart.fuel_limit - flight.spent) / FUEL_SCALE
    entries[21] = bounded(score_of(flight) / POINTS_SCALE, _MOST_POINTS)


@jit
def _write_planet(chart: Any, flight: Any, planet: int, entries: Any) -> None:
    entries[0] = 1
    entries[1] = chart.reach[planet] > 2
    entries[2] = bounded((chart.planet[planet, 0] - flight.column) / GRIDS, _MOST_GRIDS)
    entries[3] = bounded((chart.planet[planet, 1] - flight.row) / GRIDS, _MOST_GRIDS)
    entries[4] = flight.survey[planet] > 0
    entries[5] = flight.survey[planet] / chart.survey_cap
    entries[6] = chart.can_land[planet]
    entries[7] = flight.landed[planet]
    entries[8] = flight.returned[planet]
    entries[9] = chart.must_survey[planet]
    entries[10] = chart.must_land[planet]
    entries[11] = chart.end_kind == END_WELL and chart.end_place == planet
    entries[12] = chart.end_kind == END_PLANET and chart.end_place == planet


@jit
def _write_station(chart: Any, flight: Any, station: int, entries: Any) -> None:
    entries[0] = 1
    entries[1] = bounded((chart.station[station, 0] - flight.column) / GRIDS, _MOST_GRIDS)
    entries[2] = bounded((chart.station[station, 1] - flight.row) / GRIDS, _MOST_GRIDS)
    entries[3] = flight.docked[station]
    entries[4] = chart.end_kind == END_STATION and chart.end_place == station


@jit
def write_view(chart: Any, flight: Any, room: Any, mask: Any, observation: Any, report: Any) -> None:
    """Write action mask, observation and report; a flight that is over may only coast."""
    if write_legal(chart, flight, room, mask) == 0:
        mask[COAST] = 1
    count = 0
    for order in range(ORDERS):
        if mask[order]:
            count += 1
            report[LEGAL + count] = order
    report[LEGAL] = count
    write_observation(chart, flight, observation)
    report[SCORE] = score_of(flight)
    report[ENDING] = flight.ending
    report[SUCCESS] = is_success(chart, flight)
    report[TURN_NUMBER] = flight.turn


@jit
def settle_order(chart: Any, flight: Any, order: int, room: Any) -> int:
    """Return an order that is legal: the one given, or else coasting or staying, or else the first legal one."""
    if is_legal(chart, flight, order, room):
        return order
    for other in range(ORDERS):
        if is_legal(chart, flight, other, room):
            return other
    return COAST


@jit
def begin(charts: Any, flights: Any, room: Any, mask: Any, observation: Any, report: Any) -> None:
    """Put the ship on the pad, and write the view of it. Arrays of one record are quicker to hand over than records."""
    start_one(charts, flights)
    report[ILLEGAL] = 0
    write_view(charts[0], flights[0], room[0], mask, observation, report)


@jit
def step(charts: Any, flights: Any, log: Any, order: int, room: Any, mask: Any, observation: Any, report: Any) -> None:
    """Fly a step of the environments: a turn of a spaceship, the whole flight of a probe; and write the view of it."""
    chart, flight = charts[0], flights[0]
    settled = settle_order(chart, flight, order, room[0])
    report[ILLEGAL] = settled != order
    fly_one(charts, flights, log, settled, room)
    write_view(chart, flight, room[0], mask, observation, report)
