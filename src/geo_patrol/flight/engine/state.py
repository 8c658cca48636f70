"""Record layouts: a chart (the mission as figures), a flight, a line of its log; and the codes that stand in them.

Layouts are fixed in size, whatever the mission: places for ten planets and six stations. One record is one flight, so
a copy of a record is a snapshot.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.flight.grid import DIRECTIONS, LAUNCHES, MAX_COLUMNS, MAX_ROWS, read_point
from geo_patrol.flight.mission import END_KINDS, MAX_PLANETS, MAX_STATIONS, MAX_TURNS, Mission

COAST = 0
"""Order without engines; of a landed ship: stay."""
ENGINES = len(DIRECTIONS)
"""Orders below this one are engine choices: 0 none, 1-8 the directions clockwise from straight up."""
ORDERS = ENGINES + len(LAUNCHES)
"""Order codes: 0 coast or stay, 1-8 engines, 9-32 the launches clockwise from straight up."""

ON_PAD, FLYING, LANDED, DOCKED = range(4)
"""Modes of a ship. ON_PAD is the home planet before the first launch."""

EXPLORE, RETURN, LANDING, SURVEY, MICROGRAVITY, FUEL, LAUNCH = range(7)
"""Lines of the score sheet."""
LINES = 7

UNDER_WAY, END_REACHED, GOALS_MET, LAST_TURN, LEFT_MAP, CRASHED, TRAPPED = range(7)
"""Endings of a flight."""

NO_END, END_WELL, END_PLANET, END_STATION = range(4)
NOWHERE = -1
"""No planet, no station."""
NO_LIMIT = -1
SURVEY_CAP = 5
"""Survey points of a well in Spaceship Commander; a probe's have no cap."""


def _record(fields: list[Any]) -> np.dtype[Any]:
    """Make a layout whose fields are attributes in compiled and in plain Python code alike."""
    return np.dtype((np.record, np.dtype(fields, align=True)))


CHART = _record(
    [
        ("columns", "i2"),
        ("rows", "i2"),
        ("turns", "i2"),
        ("home", "i2"),  # its number
        ("planets", "i2"),  # how many there are
        ("stations", "i2"),
        ("is_probe", "i2"),
        ("advanced", "i2"),
        ("race", "i2"),
        ("fuel_limit", "i2"),
        ("survey_cap", "i2"),
        ("can_stop", "i2"),  # whether there is a planet to land on or a station; for the solver
        ("least_cycle", "i2"),  # turns from a landing to one on another planet, at least; for the solver
        ("end_kind", "i2"),
        ("end_place", "i2"),  # number of the planet or station
        ("planet", "i2", (MAX_PLANETS, 2)),  # column, row
        ("reach", "i2", (MAX_PLANETS,)),  # of its well
        ("can_land", "i2", (MAX_PLANETS,)),
        ("must_survey", "i2", (MAX_PLANETS,)),
        ("must_land", "i2", (MAX_PLANETS,)),
        ("station", "i2", (MAX_STATIONS, 2)),
        ("well", "i1", (MAX_COLUMNS + 1, MAX_ROWS + 1)),  # whose well a point of the map is in
        ("shift", "i2", (ORDERS, 2)),  # of the engines, of a launch
    ],
)
"""A mission as figures."""

FLIGHT = _record(
    [
        ("turn", "i2"),  # turns flown
        ("column", "i2"),
        ("row", "i2"),
        ("right", "i2"),  # the last move, which coasting repeats; none of a ship that is landed or docked
        ("down", "i2"),
        ("mode", "i2"),
        ("place", "i2"),  # number of the planet or station that the ship is on
        ("ending", "i2"),
        ("spent", "i2"),  # points spent on engines and launches, the first launch aside
        ("line", "i2", (LINES,)),  # points so far
        ("survey", "i1", (MAX_PLANETS,)),  # survey points of each well so far
        ("landed", "i1", (MAX_PLANETS,)),  # landed on before
        ("returned", "i1", (MAX_PLANETS,)),  # counted for returning
        ("docked", "i1", (MAX_STATIONS,)),  # docked at before
    ],
)
"""A flight somewhere on its way."""

TURN = _record(
    [
        ("order", "i2"),
        ("mode", "i2"),  # before the turn
        ("start", "i2", (2,)),
        ("coasted", "i2", (2,)),
        ("pull", "i2", (2,)),  # the gravity's shift
        ("engines", "i2", (2,)),  # the engines' shift; of a launch, the whole move
        ("end", "i2", (2,)),
        ("mode_after", "i2"),
        ("place_after", "i2"),
        ("well", "i2"),  # whose well the endpoint is in
        ("line", "i2", (LINES,)),  # points of this turn
    ],
)
"""A turn of the flight log."""


def new_flights(count: int = 1) -> NDArray[Any]:
    """Return records of ships on the pad, which ``turn.start`` puts there, (count,)."""
    return np.zeros(count, FLIGHT)


def new_log() -> NDArray[Any]:
    """Return an empty log, (MAX_TURNS,)."""
    return np.zeros(MAX_TURNS, TURN)


def make_chart(mission: Mission) -> NDArray[Any]:
    """Return a mission as figures, an array of one CHART record."""
    charts = np.zeros(1, CHART)
    chart = charts[0]
    points = {reference: read_point(reference) for reference in (*mission.planets, *mission.stations)}
    numbers = {reference: number for number, reference in enumerate(mission.planets)}
    chart["columns"], chart["rows"], chart["turns"] = mission.columns, mission.rows, mission.turns
    chart["home"] = numbers[mission.home]
    chart["planets"], chart["stations"] = len(mission.planets), len(mission.stations)
    chart["is_probe"], chart["advanced"], chart["race"] = mission.is_probe, mission.advanced, mission.race
    chart["fuel_limit"] = NO_LIMIT if mission.fuel_limit is None else mission.fuel_limit
    chart["survey_cap"] = MAX_TURNS if mission.is_probe else SURVEY_CAP
    chart["well"] = NOWHERE
    for reference, number in numbers.items():
        column, row = chart["planet"][number] = points[reference]
        reach = chart["reach"][number] = mission.reach(reference)
        chart["well"][max(column - reach, 1) : column + reach + 1, max(row - reach, 1) : row + reach + 1] = number
        chart["can_land"][number] = mission.can_land_on(reference)
        chart["must_survey"][number] = reference in mission.survey
        chart["must_land"][number] = reference in mission.land_on
    chart["can_stop"] = bool(mission.stations) or chart["can_land"].any()
    for number, reference in enumerate(mission.stations):
        chart["station"][number] = points[reference]
    chart["end_place"] = NOWHERE
    if mission.end is not None:
        kind, reference = mission.end
        chart["end_kind"] = 1 + END_KINDS.index(kind)
        chart["end_place"] = mission.stations.index(reference) if kind == "station" else numbers[reference]
    chart["shift"] = [*DIRECTIONS, *LAUNCHES]
    return charts
