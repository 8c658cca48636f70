"""What the environments return of a flight: observation and info.

Offsets and moves are in units of ten grids, relative to the ship; flags are 0 or 1. The home planet is planet 0 here,
the others follow in the order of the mission.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from geo_patrol.flight.engine.scoring import score_of
from geo_patrol.flight.engine.state import NO_LIMIT, EndingCode, EndKind, Mode, record_dtype
from geo_patrol.flight.engine.turn import gravity_at, is_on_map
from geo_patrol.flight.grid import WEAK
from geo_patrol.flight.mission import MAX_PLANETS, MAX_STATIONS, MAX_TURNS
from geo_patrol.jit import jit

_OFFSET_SCALE = 10.0
_FUEL_SCALE = _SCORE_SCALE = 100.0
_MAX_OFFSET, _MAX_FUEL, _MAX_SCORE = 8.0, 4.0, 5.0
"""Bounds of the features after scaling."""

_Features: TypeAlias = tuple[tuple[str, str, tuple[float, float]], ...]
"""Field, description, lowest and highest value."""
_FLAG, _OFFSET = (0.0, 1.0), (-_MAX_OFFSET, _MAX_OFFSET)
_GENERAL: _Features = (
    ("turns_flown", "turns flown / 40", _FLAG),
    ("turns_left", "turns left / 40", _FLAG),
    ("left_edge", "grids to the left edge / 10", _OFFSET),
    ("right_edge", "grids to the right edge / 10", _OFFSET),
    ("top_edge", "grids to the top edge / 10", _OFFSET),
    ("bottom_edge", "grids to the bottom edge / 10", _OFFSET),
    ("move_right", "move to the right / 10", _OFFSET),
    ("move_down", "move down / 10", _OFFSET),
    ("gravity_right", "gravity to the right after coasting", (-1.0, 1.0)),
    ("gravity_down", "gravity down after coasting", (-1.0, 1.0)),
    ("coasts_off_map", "coasting leads off the map", _FLAG),
    ("on_pad", "on the pad", _FLAG),
    ("flying", "flying", _FLAG),
    ("landed", "landed", _FLAG),
    ("docked", "docked", _FLAG),
    ("over", "flight is over", _FLAG),
    ("is_probe", "Planetary Probe", _FLAG),
    ("advanced", "advanced rules", _FLAG),
    ("race", "race", _FLAG),
    ("fuel_limited", "fuel is limited", _FLAG),
    ("fuel_left", "fuel left / 100", (0.0, _MAX_FUEL)),
    ("score", "score / 100", (-_MAX_SCORE, _MAX_SCORE)),
)
_PLANET: _Features = (
    ("present", "there is one", _FLAG),
    ("strong", "strong gravity", _FLAG),
    ("right", "to the right / 10", _OFFSET),
    ("down", "down / 10", _OFFSET),
    ("explored", "explored", _FLAG),
    ("surveyed", "part of its survey points", _FLAG),
    ("can_land", "can be landed on", _FLAG),
    ("landed", "landed on before", _FLAG),
    ("returned", "returned from", _FLAG),
    ("must_survey", "must be surveyed", _FLAG),
    ("must_land", "must be landed on", _FLAG),
    ("end_well", "its well ends the game", _FLAG),
    ("end_landing", "landing on it ends the game", _FLAG),
)
_STATION: _Features = (
    ("present", "there is one", _FLAG),
    ("right", "to the right / 10", _OFFSET),
    ("down", "down / 10", _OFFSET),
    ("docked", "docked at before", _FLAG),
    ("end_docking", "docking at it ends the game", _FLAG),
)


def _fields(features: _Features) -> list[Any]:
    return [(field, "f4") for field, _, _ in features]


OBSERVATION = record_dtype(
    [
        *_fields(_GENERAL),
        ("planets", record_dtype(_fields(_PLANET)), (MAX_PLANETS,)),
        ("stations", record_dtype(_fields(_STATION)), (MAX_STATIONS,)),
    ]
)
"""An observation; a vector of 182 float32 in memory."""

INFO = record_dtype([(key, "i8") for key in ("illegal_orders", "score", "turn", "ending", "success")])
"""The numbers of an info; its keys are the names of the fields."""


_FEATURES = [
    *((name, bounds) for _, name, bounds in _GENERAL),
    *((f"planet {index}: {name}", bounds) for index in range(MAX_PLANETS) for _, name, bounds in _PLANET),
    *((f"station {index}: {name}", bounds) for index in range(MAX_STATIONS) for _, name, bounds in _STATION),
]
"""Description and bounds of each feature."""


def observation_names() -> tuple[str, ...]:
    """Return the description of each feature of an observation, (182,).

    Planet 0 is the home planet, the others follow in the order of the mission; offsets are relative to the ship.
    """
    return tuple(name for name, _ in _FEATURES)


def observation_bounds() -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the lowest and the highest value of each feature, (182,) float32 each."""
    low, high = np.array([bounds for _, bounds in _FEATURES], np.float32).T
    return low.copy(), high.copy()


@jit
def scaled(grids: int) -> float:
    """Return an offset as a feature, within the bounds of the observation space."""
    return min(max(grids / _OFFSET_SCALE, -_MAX_OFFSET), _MAX_OFFSET)


@jit
def write_observation(params: Any, flight: Any, observation: Any) -> None:
    """Write the features of a flight into an OBSERVATION; those of planets and stations that do not exist stay 0."""
    _write_general(params, flight, observation)
    for planet in range(params.planets):
        index = 0 if planet == params.home else planet + (planet < params.home)
        _write_planet(params, flight, planet, observation.planets[index])
    for site in range(params.planets, params.sites):
        features = observation.stations[site - params.planets]
        features.present = 1
        features.right = scaled(params.position[site, 0] - flight.column)
        features.down = scaled(params.position[site, 1] - flight.row)
        features.docked = flight.visited[site]
        features.end_docking = params.end_kind == EndKind.SITE and params.end_site == site


@jit
def _write_general(params: Any, flight: Any, features: Any) -> None:
    features.turns_flown = flight.turn / MAX_TURNS
    features.turns_left = (params.turns - flight.turn) / MAX_TURNS
    features.left_edge = scaled(flight.column - 1)
    features.right_edge = scaled(params.columns - flight.column)
    features.top_edge = scaled(flight.row - 1)
    features.bottom_edge = scaled(params.rows - flight.row)
    features.move_right = scaled(flight.right)
    features.move_down = scaled(flight.down)
    features.gravity_right = features.gravity_down = features.coasts_off_map = 0
    if flight.mode in (Mode.FLYING, Mode.DOCKED):
        column, row = flight.column + flight.right, flight.row + flight.down
        features.gravity_right, features.gravity_down = gravity_at(params, column, row)
        features.coasts_off_map = not is_on_map(params, column, row)
    features.on_pad = flight.mode == Mode.ON_PAD
    features.flying = flight.mode == Mode.FLYING
    features.landed = flight.mode == Mode.LANDED
    features.docked = flight.mode == Mode.DOCKED
    features.over = flight.ending != EndingCode.UNDER_WAY
    features.is_probe = params.is_probe
    features.advanced = params.advanced
    features.race = params.race
    if params.fuel_limit != NO_LIMIT:
        features.fuel_limited = 1
        features.fuel_left = (params.fuel_limit - flight.spent) / _FUEL_SCALE
    features.score = min(max(score_of(flight) / _SCORE_SCALE, -_MAX_SCORE), _MAX_SCORE)


@jit
def _write_planet(params: Any, flight: Any, planet: int, features: Any) -> None:
    features.present = 1
    features.strong = params.reach[planet] > WEAK
    features.right = scaled(params.position[planet, 0] - flight.column)
    features.down = scaled(params.position[planet, 1] - flight.row)
    features.explored = flight.survey[planet] > 0
    features.surveyed = flight.survey[planet] / params.survey_cap
    features.can_land = params.can_land[planet]
    features.landed = flight.visited[planet]
    features.returned = flight.returned[planet]
    features.must_survey = params.must_survey[planet]
    features.must_land = params.must_land[planet]
    features.end_well = params.end_kind == EndKind.WELL and params.end_site == planet
    features.end_landing = params.end_kind == EndKind.SITE and params.end_site == planet
