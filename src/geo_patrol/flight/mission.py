"""Missions: the grid of the map, the game and the goals of a flight; loaded by name, from files or mappings."""

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainValidator, StrictBool, model_validator
from pydantic_core import PydanticCustomError

from geo_patrol.base.errors import ConfigError, counted, show
from geo_patrol.config.schema import Check, all_wrong, faults_of, refuse, whole, wrong, wrong_key
from geo_patrol.config.toml_files import (
    MAX_DEPTH,
    Data,
    Layers,
    Overrides,
    mission_names,
    mission_path,
    remove_value,
    set_value,
)

Point: TypeAlias = tuple[int, int]

MIN_COLUMNS, MAX_COLUMNS = 5, 40
MIN_ROWS, MAX_ROWS = 5, 26
ROW_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

WEAK, STRONG = 2, 3
"""Reach of a gravity well, in grids: of planets with weak and with strong gravity."""


def _ring(reach: int) -> tuple[Point, ...]:
    """List the shifts over a distance, clockwise from straight up."""
    steps = range(-reach, reach + 1)
    ring = [(right, down) for right in steps for down in steps if max(abs(right), abs(down)) == reach]
    return tuple(sorted(ring, key=lambda shift: math.atan2(shift[0], -shift[1]) % math.tau))


DIRECTIONS: tuple[Point, ...] = ((0, 0), *_ring(1))
"""Shifts of the engines by order code: none, then clockwise from straight up."""
DIRECTION_NAMES = ("none", "up", "up-right", "right", "down-right", "down", "down-left", "left", "up-left")
LAUNCHES = _ring(3)
"""The 24 launches as endpoint minus planet, clockwise from straight up."""

_REFERENCE = re.compile(r"([A-Za-z])(0?[1-9]|[1-9][0-9])")


def point_name(point: Point) -> str:
    """Return the grid reference of a point, such as "E16"; off the map, its coordinates."""
    column, row = point
    if 1 <= row <= MAX_ROWS and column >= 1:
        return f"{ROW_LETTERS[row - 1]}{column}"
    return f"({column}, {row})"


def read_point(text: str) -> Point:
    """Parse a grid reference.

    Raises:
        ValueError: the text is not a grid reference.
    """
    match = _REFERENCE.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None:
        raise ValueError("a grid reference: the letter of a row and the number of a column, such as E16")
    return int(match[2]), ROW_LETTERS.index(match[1].upper()) + 1


def distance(point: Point, other: Point) -> int:
    """Return the Chebyshev distance of two points."""
    return max(abs(point[0] - other[0]), abs(point[1] - other[1]))


Gravity: TypeAlias = Literal["weak", "strong"]
GameName: TypeAlias = Literal["planetary_probe", "spaceship_commander"]

MAX_PLANETS = 10
MAX_STATIONS = 6
MAX_TURNS = 40
MAX_FUEL_LIMIT = 400
"""More than engines and launches can cost in all turns."""

_Faults: TypeAlias = Iterator[PydanticCustomError]

END_KINDS = ("well", "planet", "station")


def _text(max_length: int) -> Check:
    def check(value: Any) -> str:
        if not isinstance(value, str) or len(value) > max_length or not value.isprintable():
            raise wrong(f"a text in quotes, of at most {max_length} characters that can be printed")
        return value

    return check


def _check_reference(value: Any) -> str:
    try:
        return point_name(read_point(value))
    except ValueError as error:
        raise wrong(str(error)) from None


def _references(limit: int) -> Check:
    def check(value: Any) -> tuple[str, ...]:
        if not isinstance(value, (list, tuple)) or len(value) > limit:
            raise wrong(f'a list of at most {limit} grid references, such as ["E16"]')
        references = tuple(map(_check_reference, value))
        for index, reference in enumerate(references):
            if reference in references[:index]:
                raise wrong(f"a list that names {reference} once")
        return references

    return check


def _check_planets(value: Any) -> dict[str, str]:
    expected = 'a table of grid references with the gravity there, such as E16 = "weak"'
    if not isinstance(value, dict) or not 1 <= len(value) <= MAX_PLANETS:
        raise wrong(f"{expected}, 1 to {MAX_PLANETS} planets")
    planets: dict[str, str] = {}
    faults = []
    for key, gravity in value.items():
        try:
            reference = point_name(read_point(key))
        except ValueError as error:
            faults.append(wrong_key(str(key), gravity, str(error)))
            continue
        if reference in planets:
            faults.append(wrong_key(str(key), gravity, f"each planet once; {reference} is there already"))
        elif gravity not in ("weak", "strong"):
            faults.append(wrong_key(str(key), gravity, "'weak' or 'strong'"))
        planets[reference] = gravity
    if faults:
        raise all_wrong(faults)
    return planets


def _check_end(value: Any) -> str:
    match value.split() if isinstance(value, str) else []:
        case [kind, reference] if kind in END_KINDS:
            try:
                return f"{kind} {point_name(read_point(reference))}"
            except ValueError:
                pass
    raise wrong('what is to be reached and where: "well E6", "planet F22" or "station C12"')


PlanetReferences = Annotated[tuple[str, ...], BeforeValidator(_references(MAX_PLANETS))]


class Mission(BaseModel):
    """A mission; ``load_mission`` builds one from a name, a file or a mapping.

    Points are grid references such as "E16". Source of the rules: NASA, Planetary Probe and Spaceship Commander.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: Annotated[str, PlainValidator(_text(100))]
    description: Annotated[str, PlainValidator(_text(1000))] = ""
    game: GameName = "spaceship_commander"
    turns: Annotated[int, PlainValidator(whole(1, MAX_TURNS))]
    """Maximum number of turns; the launch is turn 1."""
    columns: Annotated[int, PlainValidator(whole(MIN_COLUMNS, MAX_COLUMNS))] = 25
    rows: Annotated[int, PlainValidator(whole(MIN_ROWS, MAX_ROWS))] = 9
    planets: Annotated[dict[str, Gravity], PlainValidator(_check_planets)]
    """Gravity by grid reference: "weak" or "strong"."""
    stations: Annotated[tuple[str, ...], BeforeValidator(_references(MAX_STATIONS))] = ()
    """Points to dock at."""
    home: Annotated[str, PlainValidator(_check_reference)]
    """The planet that the ship is launched from; its gravity is weak."""
    end_at: Annotated[str, PlainValidator(_check_end)] | None = None
    """Where the game ends, "well E6", "planet F22" or "station C12"; a winning flight must reach it."""
    survey: PlanetReferences = ()
    """Planets in whose wells a turn of a winning flight must end."""
    land_on: PlanetReferences = ()
    """Planets that a winning flight must land on."""
    fuel_limit: Annotated[int, PlainValidator(whole(0, MAX_FUEL_LIMIT))] | None = None
    """Maximum points spent on engines and launches, except the first launch."""
    race: StrictBool = False
    """The flight with the fewest turns wins; the score breaks ties."""
    advanced: StrictBool = False
    """The advanced rules: landing on any planet with weak gravity, points for landing, docking and returning."""

    @model_validator(mode="after")
    def _check_all(self) -> Self:
        checks = (_check_map, _check_home, _check_stations, _check_goals, _check_probe)
        if faults := [fault for check in checks for fault in check(self)]:
            raise all_wrong(faults)
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return the mission as JSON-compatible data."""
        return self.model_dump(mode="json", exclude_none=True)

    @property
    def is_probe(self) -> bool:
        """Whether the game is Planetary Probe, in which the launch is the only decision."""
        return self.game == "planetary_probe"

    @property
    def game_title(self) -> str:
        """The game as text."""
        return "Planetary Probe" if self.is_probe else "Spaceship Commander"

    @property
    def has_goals(self) -> bool:
        """Whether there are goals besides points."""
        return bool(self.end_at or self.survey or self.land_on)

    @property
    def weak_planets(self) -> tuple[str, ...]:
        """Planets with weak gravity."""
        return tuple(reference for reference, gravity in self.planets.items() if gravity == "weak")

    @property
    def end(self) -> tuple[str, str] | None:
        """``end_at`` as its kind, "well", "planet" or "station", and its grid reference."""
        if self.end_at is None:
            return None
        kind, reference = self.end_at.split()
        return kind, reference

    def reach(self, reference: str) -> int:
        """Return how far the well of a planet reaches, in grids."""
        return WEAK if self.planets[reference] == "weak" else STRONG

    def well(self, reference: str) -> list[Point]:
        """Return the points of the map that are in the gravity well of a planet, the planet's own among them."""
        (column, row), reach = read_point(reference), self.reach(reference)
        shifts = range(-reach, reach + 1)
        points = [(column + right, row + down) for right in shifts for down in shifts]
        return list(filter(self.is_on_map, points))

    @property
    def launch_points(self) -> list[Point]:
        """The points of the map that the first turn can end on, clockwise from straight up."""
        column, row = read_point(self.home)
        return list(filter(self.is_on_map, ((column + right, row + down) for right, down in LAUNCHES)))

    def can_land_on(self, reference: str) -> bool:
        """Whether ships can land on a planet: by the advanced rules, or because it is a goal."""
        if self.planets[reference] != "weak" or self.is_probe:
            return False
        return self.advanced or reference in self.land_on or self.end == ("planet", reference)

    def is_on_map(self, point: Point) -> bool:
        """Whether a point is on the map."""
        return 1 <= point[0] <= self.columns and 1 <= point[1] <= self.rows


def _map_text(mission: Mission) -> str:
    return f"a point of the map, A1 to {point_name((mission.columns, mission.rows))}"


def _check_map(mission: Mission) -> _Faults:
    """Planets are on the map and their wells do not overlap."""
    seen: list[str] = []
    for reference, gravity in mission.planets.items():
        point = read_point(reference)
        if not mission.is_on_map(point):
            yield wrong_key(f"planets.{reference}", gravity, _map_text(mission))
            continue
        for other in seen:
            min_distance = mission.reach(reference) + mission.reach(other) + 1
            grids = distance(point, read_point(other))
            if grids < min_distance:
                expected = f"wells that do not overlap: {reference} is {counted(grids, 'grid')} from {other}, at least {min_distance} are needed"
                yield wrong_key(f"planets.{reference}", gravity, expected)
        seen.append(reference)


def _check_home(mission: Mission) -> _Faults:
    """The home planet exists, has weak gravity, and a ship can be launched from it."""
    weak = mission.weak_planets
    if mission.home not in weak:
        expected = f"a planet with weak gravity, one of {', '.join(weak)}" if weak else "a planet with weak gravity"
        yield wrong_key("home", mission.home, expected)
        return
    if not mission.launch_points:
        expected = "a planet with a launch point on the map, three grids away, or a larger map"
        yield wrong_key("home", mission.home, expected)


def _check_stations(mission: Mission) -> _Faults:
    for reference in mission.stations:
        if not mission.is_on_map(read_point(reference)):
            yield wrong_key("stations", list(mission.stations), f"{_map_text(mission)}; {reference} is none")
        if reference in mission.planets:
            yield wrong_key("stations", list(mission.stations), f"points without a planet; there is one at {reference}")


def _check_goals(mission: Mission) -> _Faults:
    others = [planet for planet in mission.planets if planet != mission.home]
    if not set(mission.survey) <= set(others):
        expected = f"planets other than the home planet: {', '.join(others) or 'none here'}"
        yield wrong_key("survey", list(mission.survey), expected)
    weak = mission.weak_planets
    if not set(mission.land_on) <= set(weak):
        yield wrong_key("land_on", list(mission.land_on), f"planets with weak gravity: {', '.join(weak)}")
    if mission.end is not None:
        kind, reference = mission.end
        noun, references = {
            "well": ("a planet", tuple(mission.planets)),
            "planet": ("a planet with weak gravity", weak),
            "station": ("a station", mission.stations),
        }[kind]
        if reference not in references:
            expected = f"{kind} and the point of {noun}: {', '.join(references) or 'none here'}"
            yield wrong_key("end_at", mission.end_at, expected)
    if mission.race and not mission.has_goals:
        yield wrong_key("race", True, "something to race for with it: end_at, survey or land_on")


def _check_probe(mission: Mission) -> _Faults:
    """Rules about engines, landing and docking are refused: a probe does none of that."""
    if not mission.is_probe:
        return
    for key in ("stations", "land_on", "fuel_limit", "advanced"):
        value = getattr(mission, key)
        if value not in ((), None, False):
            expected = 'nothing of the kind in a mission of "planetary_probe": a probe has no engines and lands nowhere'
            yield wrong_key(key, value, expected)
    if mission.end is not None and mission.end[0] != "well":
        yield wrong_key("end_at", mission.end_at, 'a well, such as "well E6": a probe lands nowhere')


MissionSource: TypeAlias = str | Path | Mapping[str, Any] | Mission
"""A mission's name, a file's path, the content of such a file, or a ``Mission``."""


def load_mission(source: MissionSource = "sample", overrides: Overrides | None = None) -> Mission:
    """Load a mission.

    Args:
        source: a mission's name, the path of a TOML file, the same content as a mapping, or a ``Mission``.
        overrides: values that replace those of the source, by dotted key: ``{"turns": 20}``, ``["turns=20"]``.

    Raises:
        ConfigError: a file is missing or not TOML, a key is unknown or a value invalid. The message lists every error
            with the key's full path, the value, and what is expected.
    """
    return _LAYERS.load(source, overrides)


def list_changes(before: Mission, after: Mission, overrides: Overrides | None) -> list[str]:
    """Return what overrides have changed in a mission, such as "turns 15 -> 20"."""
    return _LAYERS.list_changes(before, after, overrides)


def _override(data: Data, key: Any, value: Any) -> None:
    if not isinstance(key, str) or key.count(".") > MAX_DEPTH:
        raise ConfigError(f"override must be a dotted key, such as turns, got {show(key)}")
    if value == "none":  # TOML has no null; this removes a goal of the mission that is extended
        remove_value(data, key.split("."))
        return
    set_value(data, key, key.split("."), value)


def _validate(data: Data, origin: str) -> Mission:
    refuse(origin, faults_of(Mission, data))
    return Mission.model_validate(data)


_LAYERS = Layers(
    Mission, ("mission", "mission", "mission file"), mission_names, mission_path, override=_override, build=_validate
)
