"""Missions: the map, the game and the goals of a flight. ``missions`` reads them from files."""

from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, PlainValidator, StrictBool, model_validator
from pydantic_core import PydanticCustomError

from geo_patrol.config.checks import whole, wrong, wrong_key
from geo_patrol.flight.grid import (
    LAUNCHES,
    MAX_COLUMNS,
    MAX_ROWS,
    MIN_COLUMNS,
    MIN_ROWS,
    STRONG,
    WEAK,
    Point,
    distance,
    point_name,
    read_point,
)

Gravity: TypeAlias = Literal["weak", "strong"]
GameName: TypeAlias = Literal["planetary_probe", "spaceship_commander"]

MAX_PLANETS = 10
MAX_STATIONS = 6
MAX_TURNS = 40
MAX_FUEL_LIMIT = 400
"""More than engines and launches can cost in all turns."""

END_KINDS = ("well", "planet", "station")


def _check_text(max_length: int) -> Callable[[Any], str]:
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


def _check_references(limit: int) -> Callable[[Any], tuple[str, ...]]:
    def check(value: Any) -> tuple[str, ...]:
        if not isinstance(value, (list, tuple)) or len(value) > limit:
            raise wrong(f'a list of at most {limit} grid references, such as ["E16"]')
        references = tuple(_check_reference(item) for item in value)
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
    for key, gravity in value.items():
        try:
            reference = point_name(read_point(key))
        except ValueError as error:
            raise wrong_key(str(key), gravity, str(error)) from None
        if reference in planets:
            raise wrong_key(str(key), gravity, f"each planet once; {reference} is there already")
        if gravity not in ("weak", "strong"):
            raise wrong_key(str(key), gravity, "'weak' or 'strong'")
        planets[reference] = gravity
    return planets


def _check_end(value: Any) -> str:
    expected = 'what is to be reached and where: "well E6", "planet F22" or "station C12"'
    words = value.split() if isinstance(value, str) else []
    if len(words) != 2 or words[0] not in END_KINDS:
        raise wrong(expected)
    try:
        return f"{words[0]} {point_name(read_point(words[1]))}"
    except ValueError:
        raise wrong(expected) from None


Title = Annotated[str, PlainValidator(_check_text(100))]
Description = Annotated[str, PlainValidator(_check_text(1000))]
Reference = Annotated[str, PlainValidator(_check_reference)]
Planets = Annotated[dict[str, Gravity], PlainValidator(_check_planets)]
PlanetReferences = Annotated[tuple[str, ...], PlainValidator(_check_references(MAX_PLANETS))]
StationReferences = Annotated[tuple[str, ...], PlainValidator(_check_references(MAX_STATIONS))]
End = Annotated[str, PlainValidator(_check_end)]
Turns = Annotated[int, PlainValidator(whole(1, MAX_TURNS))]
Columns = Annotated[int, PlainValidator(whole(MIN_COLUMNS, MAX_COLUMNS))]
Rows = Annotated[int, PlainValidator(whole(MIN_ROWS, MAX_ROWS))]
FuelLimit = Annotated[int, PlainValidator(whole(0, MAX_FUEL_LIMIT))]


class Mission(BaseModel):
    """A mission; ``load_mission`` builds one from a name, a file or a mapping.

    Points are grid references such as "E16". Source of the rules: NASA, Planetary Probe and Spaceship Commander.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: Title
    description: Description = ""
    game: GameName = "spaceship_commander"
    turns: Turns
    """Maximum number of turns; the launch is turn 1."""
    columns: Columns = 25
    rows: Rows = 9
    planets: Planets
    """Gravity by grid reference: "weak" or "strong"."""
    stations: StationReferences = ()
    """Points to dock at."""
    home: Reference
    """The planet that the ship is launched from; its gravity is weak."""
    end_at: End | None = None
    """Where the game ends, "well E6", "planet F22" or "station C12"; a winning flight must reach it."""
    survey: PlanetReferences = ()
    """Planets in whose wells a turn of a winning flight must end."""
    land_on: PlanetReferences = ()
    """Planets that a winning flight must land on."""
    fuel_limit: FuelLimit | None = None
    """Maximum points spent on engines and launches, except the first launch."""
    race: StrictBool = False
    """The flight with the fewest turns wins; the score breaks ties."""
    advanced: StrictBool = False
    """The advanced rules: landing on any planet with weak gravity, points for landing, docking and returning."""

    @model_validator(mode="after")
    def _check_all(self) -> Self:
        for check in (_check_map, _check_home, _check_stations, _check_goals, _check_probe):
            for error in check(self):
                raise error
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return the mission as JSON-compatible data."""
        values = self.model_dump(exclude_none=True)
        return {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}

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
        return self.end_at is not None or bool(self.survey) or bool(self.land_on)

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

    def can_land_on(self, reference: str) -> bool:
        """Whether ships can land on a planet: by the advanced rules, or because it is a goal."""
        if self.planets[reference] != "weak" or self.is_probe:
            return False
        return self.advanced or reference in self.land_on or self.end == ("planet", reference)

    def is_on_map(self, point: Point) -> bool:
        """Whether a point is on the map."""
        return 1 <= point[0] <= self.columns and 1 <= point[1] <= self.rows


def _map_text(mission: Mission) -> str:
    corner = point_name((mission.columns, mission.rows))
    return f"a point of the map, A1 to {corner}"


def _check_map(mission: Mission) -> Iterator[PydanticCustomError]:
    """Planets are on the map and their wells do not overlap."""
    seen: list[str] = []
    for reference, gravity in mission.planets.items():
        point = read_point(reference)
        if not mission.is_on_map(point):
            yield wrong_key(f"planets.{reference}", gravity, _map_text(mission))
        for other in seen:
            min_distance = mission.reach(reference) + mission.reach(other) + 1
            grids = distance(point, read_point(other))
            if grids < min_distance:
                expected = f"wells that do not overlap: {reference} is {grids} grids from {other}, give at least {min_distance}"
                yield wrong_key(f"planets.{reference}", gravity, expected)
        seen.append(reference)


def _check_home(mission: Mission) -> Iterator[PydanticCustomError]:
    """The home planet exists, has weak gravity, and a ship can be launched from it."""
    weak = [reference for reference, gravity in mission.planets.items() if gravity == "weak"]
    if mission.home not in weak:
        expected = f"a planet with weak gravity, one of {', '.join(weak)}" if weak else "a planet with weak gravity"
        yield wrong_key("home", mission.home, expected)
        return
    column, row = read_point(mission.home)
    if not any(mission.is_on_map((column + right, row + down)) for right, down in LAUNCHES):
        expected = "a planet with a launch point on the map, three grids away, or give a larger map"
        yield wrong_key("home", mission.home, expected)


def _check_stations(mission: Mission) -> Iterator[PydanticCustomError]:
    for reference in mission.stations:
        if not mission.is_on_map(read_point(reference)):
            yield wrong_key("stations", list(mission.stations), f"{_map_text(mission)}; {reference} is none")
        if reference in mission.planets:
            yield wrong_key("stations", list(mission.stations), f"points without a planet; there is one at {reference}")


def _check_goals(mission: Mission) -> Iterator[PydanticCustomError]:
    for reference in mission.survey:
        if reference not in mission.planets or reference == mission.home:
            others = ", ".join(planet for planet in mission.planets if planet != mission.home) or "none here"
            yield wrong_key("survey", list(mission.survey), f"planets other than the home planet: {others}")
    weak = [reference for reference, gravity in mission.planets.items() if gravity == "weak"]
    for reference in mission.land_on:
        if reference not in weak:
            yield wrong_key("land_on", list(mission.land_on), f"planets with weak gravity: {', '.join(weak)}")
    yield from _check_end_at(mission, weak)
    if mission.race and not mission.has_goals:
        yield wrong_key("race", True, "something to race for with it: end_at, survey or land_on")


def _check_end_at(mission: Mission, weak: list[str]) -> Iterator[PydanticCustomError]:
    if mission.end is None:
        return
    kind, reference = mission.end
    references = {"well": list(mission.planets), "planet": weak, "station": list(mission.stations)}[kind]
    if reference not in references:
        noun = "a planet with weak gravity" if kind == "planet" else "a planet" if kind == "well" else "a station"
        listed = ", ".join(references) or "none here"
        yield wrong_key("end_at", mission.end_at, f"{kind} and the point of {noun}: {listed}")


def _check_probe(mission: Mission) -> Iterator[PydanticCustomError]:
    """Rules about engines, landing and docking are refused: a probe does none of that."""
    if not mission.is_probe:
        return
    expected = 'nothing of the kind in a mission of "planetary_probe": a probe has no engines and lands nowhere'
    for key in ("stations", "land_on", "fuel_limit", "advanced"):
        value = getattr(mission, key)
        if value not in ((), None, False):
            yield wrong_key(key, value, expected)
    if mission.end is not None and mission.end[0] != "well":
        yield wrong_key("end_at", mission.end_at, 'a well, such as "well E6": a probe lands nowhere')
