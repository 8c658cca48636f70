"""Record layouts: the parameters of a mission, a flight, a turn of its log; and the codes used in them.

Layouts have a fixed size, whatever the mission: sixteen sites, the planets (at most ten) before the stations. A copy of a FLIGHT is a snapshot of it.
"""

from enum import IntEnum
from typing import Any

import numpy as np

from geo_patrol.flight.grid import DIRECTIONS, LAUNCHES, MAX_COLUMNS, MAX_ROWS, read_point
from geo_patrol.flight.mission import MAX_PLANETS, MAX_STATIONS, MAX_TURNS, Mission

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


class Line(IntEnum):
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
        ("points", "i2", (len(Line),)),  # so far, by line of the score sheet
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
        ("points", "i8", (len(Line),)),  # of this turn
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
