"""The rules of the flight games as compiled functions over structured records.

From top to bottom: the records, the score sheet, a turn (gravity and crashes, legal orders, where they lead, how a flight
ends), what the environments return, and a game in one record with the functions that Python code calls.
"""

from enum import IntEnum
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from geo_patrol.base.jit import jit
from geo_patrol.flight.mission import (
    DIRECTIONS,
    LAUNCHES,
    MAX_COLUMNS,
    MAX_PLANETS,
    MAX_ROWS,
    MAX_STATIONS,
    MAX_TURNS,
    WEAK,
    Mission,
    read_point,
)

COAST = 0
"""Order without engines; of a landed ship: stay."""
ENGINES = len(DIRECTIONS)
"""Orders below this one are engine choices: 0 none, 1-8 the directions clockwise from straight up."""
ORDERS = ENGINES + len(LAUNCHES)
"""Number of order codes: 0 coast or stay, 1-8 engines, 9-32 the launches clockwise from straight up."""

MAX_SITES = MAX_PLANETS + MAX_STATIONS
NOWHERE = -1
"""Index of no site."""
NO_LIMIT = -1
SURVEY_CAP = 5
"""Survey points of a well in Spaceship Commander; a probe's have no cap."""


class Mode(IntEnum):
    """Modes of a ship. ON_PAD is the home planet before the first launch."""

    ON_PAD, FLYING, LANDED, DOCKED = range(4)


class ScoreLine(IntEnum):
    """Lines of the score sheet, in its order."""

    EXPLORE, RETURN, LANDING, SURVEY, MICROGRAVITY, FUEL, LAUNCH = range(7)


class EndingCode(IntEnum):
    """Endings of a flight."""

    UNDER_WAY, END_REACHED, GOALS_MET, LAST_TURN, LEFT_MAP, CRASHED, TRAPPED = range(7)


class EndKind(IntEnum):
    """What ends a mission (``end_at``): a turn that ends in a well, or a landing or docking at a site."""

    NONE, WELL, SITE = range(3)


def record_dtype(fields: list[Any]) -> np.dtype[Any]:
    """Return a structured dtype whose fields are attributes in compiled and in plain Python code alike."""
    return np.dtype((np.record, np.dtype(fields, align=True)))


PARAMS = record_dtype(
    [
        ("columns", "i8"),
        ("rows", "i8"),
        ("turns", "i8"),
        ("home", "i8"),  # index of the home planet
        ("planets", "i8"),  # number of planets
        ("sites", "i8"),  # number of planets and stations, which follow the planets
        ("is_probe", "i8"),
        ("advanced", "i8"),
        ("race", "i8"),
        ("fuel_limit", "i8"),
        ("survey_cap", "i8"),
        ("can_stop", "i8"),  # whether there is a station or a planet to land on; for the solver's bounds
        ("min_landing_interval", "i8"),  # turns from a landing to one on another planet; for the solver's bounds
        ("end_kind", "i8"),
        ("end_site", "i8"),
        ("position", "i8", (MAX_SITES, 2)),  # column, row of a site
        ("reach", "i8", (MAX_PLANETS,)),  # of its well
        ("can_land", "i8", (MAX_PLANETS,)),
        ("must_survey", "i8", (MAX_PLANETS,)),
        ("must_land", "i8", (MAX_SITES,)),  # 0 of stations
        ("shift", "i8", (ORDERS, 2)),  # by the engines or a launch
        ("well", "i1", (MAX_COLUMNS + 1, MAX_ROWS + 1)),  # index of the planet whose well covers [column, row]
    ]
)
"""The parameters of a mission."""

FLIGHT = record_dtype(
    [
        ("turn", "i2"),  # turns flown
        ("column", "i2"),
        ("row", "i2"),
        ("right", "i2"),  # the last move, which coasting repeats; 0 of a ship that is landed or docked
        ("down", "i2"),
        ("mode", "i2"),
        ("site", "i2"),  # that the ship is on
        ("ending", "i2"),
        ("spent", "i2"),  # points spent on engines and launches, except the first launch
        ("points", "i2", (len(ScoreLine),)),  # so far, by line of the score sheet
        ("survey", "i1", (MAX_PLANETS,)),  # survey points of each well so far
        ("returned", "i1", (MAX_PLANETS,)),  # counted for returning
        ("visited", "i1", (MAX_SITES,)),  # landed on or docked at before
    ],
)
"""The state of a flight."""

TURN = record_dtype(
    [
        ("order", "i8"),
        ("mode", "i8"),  # before the turn
        ("start", "i8", (2,)),
        ("coasted", "i8", (2,)),
        ("gravity", "i8", (2,)),  # shift by gravity
        ("engines", "i8", (2,)),  # shift by the engines; of a launch, the whole move
        ("end", "i8", (2,)),
        ("mode_after", "i8"),
        ("well", "i8"),  # index of the planet whose well the endpoint is in
        ("points", "i8", (len(ScoreLine),)),  # of this turn
    ],
)
"""A turn of the flight log."""


def make_params(mission: Mission) -> Any:
    """Return the PARAMS record of a mission."""
    params = np.zeros(1, PARAMS)[0]
    sites = [*mission.planets, *mission.stations]
    params["columns"], params["rows"], params["turns"] = mission.columns, mission.rows, mission.turns
    params["home"], params["planets"], params["sites"] = sites.index(mission.home), len(mission.planets), len(sites)
    params["position"][: len(sites)] = [read_point(reference) for reference in sites]
    params["is_probe"], params["advanced"], params["race"] = mission.is_probe, mission.advanced, mission.race
    params["fuel_limit"] = NO_LIMIT if mission.fuel_limit is None else mission.fuel_limit
    params["survey_cap"] = MAX_TURNS if mission.is_probe else SURVEY_CAP
    params["well"] = NOWHERE
    for index, reference in enumerate(mission.planets):
        column, row = params["position"][index]
        reach = params["reach"][index] = mission.reach(reference)
        params["well"][max(column - reach, 1) : column + reach + 1, max(row - reach, 1) : row + reach + 1] = index
        params["can_land"][index] = mission.can_land_on(reference)
        params["must_survey"][index] = reference in mission.survey
        params["must_land"][index] = reference in mission.land_on
    params["can_stop"] = bool(mission.stations) or params["can_land"].any()
    params["end_site"] = NOWHERE
    if mission.end is not None:
        kind, reference = mission.end
        params["end_kind"] = EndKind.WELL if kind == "well" else EndKind.SITE
        params["end_site"] = sites.index(reference)
    params["shift"] = [*DIRECTIONS, *LAUNCHES]
    return params


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
    turn.points[ScoreLine.FUEL.value], turn.points[ScoreLine.LAUNCH.value] = -engines, -launch
    if not is_lost:
        score_well(params, flight, turn)
        score_arrival(params, flight, turn)
        remains_landed = turn.mode == Mode.LANDED and flight.mode == Mode.LANDED
        if turn.order == COAST and not params.is_probe and not remains_landed:
            turn.points[ScoreLine.MICROGRAVITY.value] = 1
    for line in range(len(flight.points)):
        flight.points[line] += turn.points[line]


@jit
def score_well(params: Any, flight: Any, turn: Any) -> None:
    """+1 for a turn that ends in the well of another planet than the home one, up to the cap; +3 for the first such turn."""
    planet = turn.well
    if planet == NOWHERE or planet == params.home:  # noqa: PLR1714 - Numba does not compile a tuple of two types
        return
    if flight.survey[planet] == 0:
        turn.points[ScoreLine.EXPLORE.value] = EXPLORE_POINTS
    if flight.survey[planet] < params.survey_cap:
        flight.survey[planet] += 1
        turn.points[ScoreLine.SURVEY.value] = 1


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
        turn.points[ScoreLine.LANDING.value] = LANDING_POINTS * params.advanced
    if site == params.home:
        for planet in range(params.planets):
            if planet != site and flight.visited[planet] and not flight.returned[planet]:
                flight.returned[planet] = 1
                turn.points[ScoreLine.RETURN.value] += RETURN_POINTS * params.advanced


@jit
def is_on_map(params: Any, column: int, row: int) -> bool:
    """Whether a point is on the map."""
    return 1 <= column <= params.columns and 1 <= row <= params.rows


@jit
def well_at(params: Any, column: int, row: int) -> int:
    """Return the index of the planet in whose gravity well a point is; off the map there are no wells."""
    if not is_on_map(params, column, row):
        return NOWHERE
    return int(params.well[column, row])


@jit
def shift_toward(right: int, down: int) -> tuple[int, int]:
    """Return a shift of one grid along the longer of two offsets, diagonally where they are equal."""
    along_row, along_column = abs(right) >= abs(down), abs(down) >= abs(right)
    return int(np.sign(right)) if along_row else 0, int(np.sign(down)) if along_column else 0


@jit
def gravity_at(params: Any, column: int, row: int) -> tuple[int, int]:
    """Return the shift by gravity of a ship that has coasted to a point: one grid toward the planet, or none."""
    planet = well_at(params, column, row)
    if planet == NOWHERE:
        return 0, 0
    return shift_toward(params.position[planet, 0] - column, params.position[planet, 1] - row)


@jit
def site_at(params: Any, column: int, row: int) -> int:
    """Return the index of the planet or station at a point, or NOWHERE."""
    for site in range(params.sites):
        if params.position[site, 0] == column and params.position[site, 1] == row:
            return site
    return NOWHERE


@jit
def passes_planet(params: Any, column: int, row: int, right: int, down: int) -> bool:
    """Whether the straight path of a move passes exactly through a planet's point, the two ends not counted."""
    length = right * right + down * down
    for planet in range(params.planets):
        to_right, to_down = params.position[planet, 0] - column, params.position[planet, 1] - row
        along = to_right * right + to_down * down
        if to_right * down == to_down * right and 0 < along < length:
            return True
    return False


@jit
def is_crash(params: Any, turn: Any) -> bool:
    """Whether the move of a TURN crashes: through a planet, or onto one without landing.

    A landing is a move of exactly one grid onto a planet that can be landed on; a landed ship may stay.
    """
    if turn.mode == Mode.LANDED and turn.order == COAST:
        return False
    right, down = turn.end[0] - turn.start[0], turn.end[1] - turn.start[1]
    site = site_at(params, turn.end[0], turn.end[1])
    if 0 <= site < params.planets:
        return not (params.can_land[site] and max(abs(right), abs(down)) == 1)
    return passes_planet(params, turn.start[0], turn.start[1], right, down)


@jit
def plot(params: Any, flight: Any, order: int, turn: Any) -> None:
    """Write the steps of an order into a TURN: coast, gravity, engines, and the endpoint.

    A landed ship neither coasts nor is shifted by gravity; it stays or is launched. A docked one does not coast.
    """
    column, row = flight.column, flight.row
    turn.order, turn.mode = order, flight.mode
    turn.start[0], turn.start[1] = column, row
    turn.gravity[0] = turn.gravity[1] = 0
    if flight.mode in (Mode.FLYING, Mode.DOCKED):
        column += flight.right
        row += flight.down
        turn.gravity[0], turn.gravity[1] = gravity_at(params, column, row)
    turn.coasted[0], turn.coasted[1] = column, row
    turn.engines[0], turn.engines[1] = params.shift[order, 0], params.shift[order, 1]
    turn.end[0] = column + turn.gravity[0] + turn.engines[0]
    turn.end[1] = row + turn.gravity[1] + turn.engines[1]


@jit
def is_order_of_mode(params: Any, mode: int, order: int) -> bool:
    """Whether an order makes sense for a ship on the pad, flying, landed or docked."""
    if mode == Mode.ON_PAD:
        return order >= ENGINES
    if mode == Mode.LANDED:
        return order == COAST or order >= ENGINES
    return order == COAST or (order < ENGINES and not params.is_probe)


@jit
def is_legal(params: Any, flight: Any, order: int, workspace: Any) -> bool:
    """Whether an order is legal; ``workspace`` is a TURN that is overwritten.

    A probe's only order is its launch; what follows happens by itself, a crash too.
    """
    mode = flight.mode
    if flight.ending != EndingCode.UNDER_WAY or not 0 <= order < ORDERS or not is_order_of_mode(params, mode, order):
        return False
    if params.fuel_limit != NO_LIMIT and flight.spent + sum(costs_of(mode, order)) > params.fuel_limit:
        return False
    plot(params, flight, order, workspace)
    if order >= ENGINES and not is_on_map(params, workspace.end[0], workspace.end[1]):
        return False
    return params.is_probe or not is_crash(params, workspace)


@jit
def write_legal(params: Any, flight: Any, workspace: Any, mask: Any) -> int:
    """Write 1 for every legal order, 0 for the others; return the number of legal orders."""
    count = 0
    for order in range(ORDERS):
        mask[order] = is_legal(params, flight, order, workspace)
        count += mask[order]
    return count


@jit
def has_legal_order(params: Any, flight: Any, workspace: Any) -> bool:
    """Whether there is a legal order."""
    for order in range(ORDERS):  # noqa: SIM110 - Numba does not compile generators
        if is_legal(params, flight, order, workspace):
            return True
    return False


@jit
def fly_turn(params: Any, flight: Any, order: int, turn: Any, workspace: Any) -> None:
    """Fly a turn with a legal order.

    Args:
        params: a PARAMS record.
        flight: a FLIGHT record, changed in place.
        order: a legal order code.
        turn: a TURN record, written: the turn's entry in the log.
        workspace: another TURN record, overwritten.
    """
    plot(params, flight, order, turn)
    flight.turn += 1
    flight.spent += sum(costs_of(flight.mode, order))
    column, row = turn.end[0], turn.end[1]
    turn.well = well_at(params, column, row)
    crashes = is_crash(params, turn)
    if not crashes:
        move_to(params, flight, column, row)
    turn.mode_after = flight.mode
    score_turn(params, flight, turn, is_lost=crashes or not is_on_map(params, column, row))
    if crashes:
        flight.column, flight.row, flight.ending = column, row, EndingCode.CRASHED
    else:
        flight.ending = ending_of(params, flight, turn.well)
        if flight.ending == EndingCode.UNDER_WAY and not has_legal_order(params, flight, workspace):
            flight.ending = EndingCode.TRAPPED


@jit
def move_to(params: Any, flight: Any, column: int, row: int) -> None:
    """Move the ship to the endpoint of its turn, where it may land, dock, stay docked or fly on."""
    right, down = column - flight.column, row - flight.row
    length = max(abs(right), abs(down))
    flight.column, flight.row = column, row
    if length == 0 and flight.mode != Mode.FLYING:  # it stays landed or docked
        return
    flight.mode, flight.site, flight.right, flight.down = Mode.FLYING, NOWHERE, right, down
    site = site_at(params, column, row)
    if length == 1 and site != NOWHERE:
        flight.mode = Mode.LANDED if site < params.planets else Mode.DOCKED
        flight.site, flight.right, flight.down = site, 0, 0


@jit
def are_goals_met(params: Any, flight: Any) -> bool:
    """Whether all planets to survey and to land on have been; not whether the end of the mission is reached."""
    for planet in range(params.planets):
        if params.must_survey[planet] and flight.survey[planet] == 0:
            return False
        if params.must_land[planet] and not flight.visited[planet]:
            return False
    return True


@jit
def ending_of(params: Any, flight: Any, well: int) -> int:
    """Return how the flight has ended with a turn that was no crash; UNDER_WAY if it has not.

    A race without ``end_at`` is over when all its goals are met.
    """
    if not is_on_map(params, flight.column, flight.row):
        return EndingCode.LEFT_MAP
    end = well if params.end_kind == EndKind.WELL else flight.site
    if params.end_kind != EndKind.NONE and end == params.end_site:
        return EndingCode.END_REACHED
    if params.race and params.end_kind == EndKind.NONE and are_goals_met(params, flight):
        return EndingCode.GOALS_MET
    return EndingCode.LAST_TURN if flight.turn >= params.turns else EndingCode.UNDER_WAY


@jit
def is_success(params: Any, flight: Any) -> bool:
    """Whether an ended flight has fulfilled its mission."""
    if flight.ending in (EndingCode.UNDER_WAY, EndingCode.TRAPPED):
        return False
    if params.end_kind != EndKind.NONE and flight.ending != EndingCode.END_REACHED:
        return False
    return are_goals_met(params, flight)


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


GAME = record_dtype(
    [  # in the order of their alignment, which nested records do not keep
        ("log", TURN, (MAX_TURNS,)),
        ("workspace", TURN),  # overwritten by every call
        ("info", INFO),
        ("num_legal", "i8"),
        ("legal_orders", "i8", (ORDERS,)),  # the first num_legal entries
        ("params", PARAMS),
        ("observation", OBSERVATION),
        ("flight", FLIGHT),
        ("mask", "i1", (ORDERS,)),
    ]
)
"""A mission, the state of a flight, its log, and output buffers."""


def new_game(mission: Mission) -> NDArray[Any]:
    """Return an array of one GAME, with the ship on the pad of its home planet."""
    games = np.zeros(1, GAME)
    games["params"] = params = make_params(mission)
    flight = games[0]["flight"]
    flight["column"], flight["row"] = params["position"][params["home"]]
    flight["mode"], flight["site"], flight["ending"] = Mode.ON_PAD, params["home"], EndingCode.UNDER_WAY
    return games


@jit
def step(games: Any, order: int) -> None:
    """Fly a turn of a spaceship, or the whole flight of a probe, after its mask has been written.

    An order that the mask excludes is replaced: by coasting or staying where that is legal, else by the first legal one.
    """
    game = games[0]
    params, flight = game.params, game.flight
    game.info.illegal_orders = not game.mask[order]
    if not game.mask[order]:
        order = game.legal_orders[0]
    while True:
        fly_turn(params, flight, order, game.log[flight.turn], game.workspace)
        if not params.is_probe or flight.ending != EndingCode.UNDER_WAY:
            return
        order = COAST


@jit
def legal_mask(games: Any, staying: bool) -> NDArray[np.int8]:
    """Write and return the mask of the legal orders; ``staying``: only of those that do not lead off the map."""
    game = games[0]
    write_legal(game.params, game.flight, game.workspace, game.mask)
    for order in range(ORDERS):
        if staying and game.mask[order]:
            plot(game.params, game.flight, order, game.workspace)
            game.mask[order] = is_on_map(game.params, game.workspace.end[0], game.workspace.end[1])
    return game.mask.copy()


@jit
def write_outputs(games: Any) -> None:
    """Write action mask, legal orders, observation and info; a flight that is over may only coast."""
    game = games[0]
    params, flight = game.params, game.flight
    if write_legal(params, flight, game.workspace, game.mask) == 0:
        game.mask[COAST] = 1
    count = 0
    for order in range(ORDERS):
        if game.mask[order]:
            game.legal_orders[count] = order
            count += 1
    game.num_legal = count
    write_observation(params, flight, game.observation)
    info = game.info
    info.score, info.turn = score_of(flight), flight.turn
    info.ending, info.success = flight.ending, is_success(params, flight)
