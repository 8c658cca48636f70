"""One flight: its position, log and score, flying it order by order (``Flight``), and all of it as text.

Orders are texts ("launch D13", "coast", "stay", "engines down-right") or codes of the action space.
"""

import operator
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import compress
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from geo_patrol.base.errors import OrderError, show
from geo_patrol.config.toml_files import Overrides
from geo_patrol.flight import rules
from geo_patrol.flight.best import BestKnown
from geo_patrol.flight.mission import (
    DIRECTION_NAMES,
    DIRECTIONS,
    LAUNCHES,
    ROW_LETTERS,
    Mission,
    MissionSource,
    Point,
    distance,
    load_mission,
    point_name,
    read_point,
)

MODE_NAMES = ("on the pad", "flying", "landed", "docked")
ONLY_FROM_PLANETS = "only a ship on a planet is launched"
ENGINE_KEYS = "swedcxzaq"
"""The key of each direction of the engines by order code: around S, keys lie in the directions of the engines."""
_FORMS: dict[int, str] = {
    rules.Mode.ON_PAD: '"launch D13"',
    rules.Mode.FLYING: '"coast", or "engines" with up, up-right, right, down-right, down, down-left, left or up-left',
    rules.Mode.LANDED: '"stay", or "launch D13"',
    rules.Mode.DOCKED: '"stay", or "engines" with a direction',
}


def order_text(order: int, mode: int, position: Point) -> str:
    """Return an order as text, which depends on the mode of the ship and, for launches, on its position."""
    if order >= rules.ENGINES:
        right, down = LAUNCHES[order - rules.ENGINES]
        return f"launch {point_name((position[0] + right, position[1] + down))}"
    if order == rules.COAST:
        return "coast" if mode == rules.Mode.FLYING else "stay"
    return f"engines {DIRECTION_NAMES[order]}"


def read_order(text: Any, mode: int, position: Point) -> int:
    """Return the code of an order.

    Args:
        text: the order in the form of ``order_text``, "none", the name of a direction, or an order code.
        mode: mode of the ship.
        position: position of the ship, from which launches start.

    Raises:
        OrderError: the order cannot be parsed.
    """
    if not isinstance(text, str):
        code = parse_code(text, rules.ORDERS)
        if code is None:
            raise OrderError(f"order must be {_FORMS[mode]}, or a code from 0 to {rules.ORDERS - 1}, got {show(text)}")
        return code
    match text.lower().split():
        case ["coast"] | ["stay"] | ["none"] | ["engines", "none"]:
            return rules.COAST
        case ["engines", direction] | [direction] if direction in DIRECTION_NAMES:
            return DIRECTION_NAMES.index(direction)
        case ["launch", _, *_] if mode in (rules.Mode.FLYING, rules.Mode.DOCKED):
            raise OrderError(f"order {show(text)}: the ship is {MODE_NAMES[mode]}; {ONLY_FROM_PLANETS}")
        case ["launch", _, *_] as words:
            return _read_launch(text, "".join(words[1:]), position)
    raise OrderError(f"order must be {_FORMS[mode]}, got {show(text)}")


def parse_code(value: Any, num_codes: int) -> int | None:
    """Return an integer of any type as an int; None if it is not one from 0 to ``num_codes`` - 1."""
    if isinstance(value, (bool, np.bool_)) or getattr(value, "dtype", None) == np.bool_:
        return None
    try:
        code = operator.index(value)
    except TypeError:
        return None
    return code if 0 <= code < num_codes else None


def _read_launch(text: str, reference: str, position: Point) -> int:
    try:
        column, row = read_point(reference)
    except ValueError as error:
        raise OrderError(f"order must be {error}, got {show(text)}") from None
    move = column - position[0], row - position[1]
    if move not in LAUNCHES:
        start = point_name(position)
        raise OrderError(f"order must name a point at a distance of exactly three grids from {start}, got {show(text)}")
    return rules.ENGINES + LAUNCHES.index(move)


LINE_NAMES = tuple(line.name.lower() for line in rules.ScoreLine)
"""Lines of the score sheet, in its order."""


class Ending(StrEnum):
    """How a flight has ended."""

    UNDER_WAY = "under way"
    END_REACHED = "end reached"
    """The end of the mission (``end_at``) has been reached."""
    GOALS_MET = "goals met"
    """A race without ``end_at``: all its goals are met."""
    LAST_TURN = "last turn"
    LEFT_MAP = "left the map"
    CRASHED = "crashed"
    """Only a probe can crash; such orders are illegal for a spaceship."""
    TRAPPED = "trapped"
    """Every order that the ship could pay would have crashed it."""


ENDINGS = tuple(Ending)


@dataclass(frozen=True)
class Turn:
    """An entry of the flight log. Points are (column, row), shifts are (to the right, down)."""

    number: int
    order: str
    start: Point
    coasted: Point
    gravity: Point
    """Shift by gravity."""
    engines: Point
    """Shift by the engines; of a launch, the whole move."""
    end: Point
    mode: str
    """Mode of the ship at the end of the turn: "flying", "landed", "docked"."""
    well: str | None
    """The planet in whose well the turn ended."""
    points: dict[str, int]
    """Points of the turn by line of the score sheet."""

    @property
    def move(self) -> Point:
        """Endpoint minus start."""
        return self.end[0] - self.start[0], self.end[1] - self.start[1]

    @property
    def score(self) -> int:
        """Points of the turn."""
        return sum(self.points.values())

    @property
    def is_launch(self) -> bool:
        """Whether the ship was launched in this turn."""
        return self.order.startswith("launch")


class Flight:
    """A flight of a mission, starting on the pad.

    >>> flight = Flight("sample")
    >>> flight.fly("launch D13").end
    (13, 4)
    >>> [turn.points["microgravity"] for turn in flight.fly_all(["coast", "coast"])]
    [1, 1]
    >>> flight.position_name, flight.score
    ('C7', 6)

    Args:
        mission: a mission's name, a file's path, a mapping or a ``Mission``.
        overrides: values that replace those of the mission, such as ``{"turns": 20}``.

    Raises:
        ConfigError: the mission is invalid.
    """

    def __init__(self, mission: MissionSource = "sample", overrides: Overrides | None = None) -> None:
        self.mission = load_mission(mission, overrides)
        self._games = rules.new_game(self.mission)

    @classmethod
    def from_orders(cls, mission: MissionSource, orders: Iterable[str | int]) -> Self:
        """Fly a list of orders.

        Raises:
            ConfigError, OrderError: the mission or an order is invalid.
        """
        flight = cls(mission)
        flight.fly_all(orders)
        return flight

    @classmethod
    def from_game(cls, mission: Mission, games: NDArray[Any]) -> Self:
        """Build a flight from an array of one GAME record, which is copied."""
        flight = cls.__new__(cls)
        flight.mission, flight._games = mission, games.copy()  # noqa: SLF001 - its own
        return flight

    def to_game(self) -> NDArray[Any]:
        """Return a copy of its array of one GAME record."""
        return self._games.copy()

    def __str__(self) -> str:
        return flight_text(self)

    def svg(self) -> str:
        """Return map, path and score sheet as an SVG document."""
        from geo_patrol.flight.pictures.scene import flight_svg  # noqa: PLC0415 - drawing is above the game

        return flight_svg(self)

    def _repr_svg_(self) -> str:
        """Show the flight in notebooks."""
        return self.svg()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Flight):
            return NotImplemented
        return self.mission == other.mission and self.order_codes == other.order_codes and self.turns == other.turns

    __hash__ = None  # type: ignore[assignment] # mutable

    def copy(self) -> Self:
        """Return an independent copy."""
        return self.from_game(self.mission, self._games)

    def __repr__(self) -> str:
        where = f"{self.mode} at {self.position_name}"
        return f"<Flight {self.mission.title!r}: turn {self.turn}, {where}, score {self.score}, {self.ending}>"

    @property
    def record(self) -> Any:
        """The flight as a record of ``geo_patrol.flight.rules``, not a copy."""
        return self._games["flight"][0]

    @property
    def params(self) -> Any:
        """The mission as a record of ``geo_patrol.flight.rules``, not a copy."""
        return self._games["params"][0]

    # Position

    @property
    def turn(self) -> int:
        """Number of turns flown."""
        return int(self.record["turn"])

    @property
    def position(self) -> Point:
        """The last endpoint as (column, row); the home planet before the launch."""
        return int(self.record["column"]), int(self.record["row"])

    @property
    def position_name(self) -> str:
        """The last endpoint as a grid reference."""
        return point_name(self.position)

    @property
    def move(self) -> Point:
        """The move that coasting would repeat, as (to the right, down)."""
        return int(self.record["right"]), int(self.record["down"])

    @property
    def mode(self) -> str:
        """Mode of the ship: "on the pad", "flying", "landed" or "docked"."""
        return MODE_NAMES[int(self.record["mode"])]

    @property
    def fuel_left(self) -> int | None:
        """Points that may still be spent on engines and launches; None without a limit."""
        limit = self.mission.fuel_limit
        return None if limit is None else limit - int(self.record["spent"])

    # Points and outcome

    @property
    def score_sheet(self) -> dict[str, int]:
        """Points so far by line of the score sheet."""
        return dict(zip(LINE_NAMES, self.record["points"].tolist(), strict=True))

    @property
    def score(self) -> int:
        """Points so far."""
        return int(self.record["points"].sum())

    @property
    def ending(self) -> Ending:
        """How the flight has ended; "under way" if it has not."""
        return ENDINGS[int(self.record["ending"])]

    @property
    def is_over(self) -> bool:
        """Whether the flight has ended."""
        return bool(self.record["ending"] != rules.EndingCode.UNDER_WAY)

    @property
    def is_success(self) -> bool:
        """Whether the flight has ended and fulfilled its mission."""
        return bool(rules.is_success(self.params, self.record))

    @property
    def is_lost(self) -> bool:
        """Whether it has left the map: lost in space, also where the mission was fulfilled before."""
        return self.ending == Ending.LEFT_MAP

    @property
    def surveyed(self) -> tuple[str, ...]:
        """Planets other than the home planet in whose wells a turn has ended."""
        return tuple(compress(self.mission.planets, self.record["survey"]))

    @property
    def landed_on(self) -> tuple[str, ...]:
        """Planets that have been landed on."""
        return tuple(compress(self.mission.planets, self.record["visited"]))

    @property
    def docked_at(self) -> tuple[str, ...]:
        """Stations that have been docked at."""
        return tuple(compress(self.mission.stations, self.record["visited"][len(self.mission.planets) :]))

    @property
    def missing(self) -> tuple[str, ...]:
        """Goals of the mission that the flight has not met, such as "survey E6"."""
        mission = self.mission
        missing = [f"survey {planet}" for planet in mission.survey if planet not in self.surveyed]
        missing += [f"land on {planet}" for planet in mission.land_on if planet not in self.landed_on]
        if mission.end_at is not None and self.ending != Ending.END_REACHED:
            missing.append(f"end at {mission.end_at}")
        return tuple(missing)

    @property
    def reason(self) -> str:
        """Why the mission is fulfilled or not, in words; empty while under way."""
        outcome = {
            Ending.END_REACHED: f"reached {self.mission.end_at} in turn {self.turn}",
            Ending.GOALS_MET: f"everything done in turn {self.turn}",
            Ending.LAST_TURN: f"flown to the last turn, {self.turn}",
            Ending.LEFT_MAP: f"left the map in turn {self.turn}",
            Ending.CRASHED: f"crashed at {self.position_name} in turn {self.turn}",
            Ending.TRAPPED: f"no order was left after turn {self.turn} that would not crash",
        }.get(self.ending)
        if outcome is None:
            return ""
        return f"{outcome}; missing: {', '.join(self.missing)}" if self.missing else outcome

    # Log

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The flight log."""
        return tuple(self._read_turn(index) for index in range(self.turn))

    def _read_turn(self, index: int) -> Turn:
        entry = self._games["log"][0, index]
        positions = {field: tuple(entry[field].tolist()) for field in ("start", "coasted", "gravity", "engines", "end")}
        return Turn(
            **positions,
            number=index + 1,
            order=order_text(int(entry["order"]), int(entry["mode"]), positions["start"]),
            mode=MODE_NAMES[entry["mode_after"]],
            well=None if entry["well"] == rules.NOWHERE else list(self.mission.planets)[entry["well"]],
            points=dict(zip(LINE_NAMES, entry["points"].tolist(), strict=True)),
        )

    @property
    def order_codes(self) -> list[int]:
        """The orders given so far, which ``Flight.from_orders`` accepts."""
        count = min(self.turn, 1) if self.mission.is_probe else self.turn
        codes: list[int] = self._games["log"]["order"][0][:count].tolist()
        return codes

    # Orders

    def action_mask(self) -> NDArray[np.int8]:
        """Return 1 for every legal order, (33,) int8; all 0 when the flight is over."""
        return rules.legal_mask(self._games, False)

    def staying_mask(self) -> NDArray[np.int8]:
        """Return 1 for every legal order that does not lead off the map, (33,) int8."""
        return rules.legal_mask(self._games, True)

    def legal_orders(self) -> tuple[str, ...]:
        """Return the legal orders as text."""
        return tuple(self.order_text(int(code)) for code in np.flatnonzero(self.action_mask()))

    def order_text(self, code: int) -> str:
        """Return an order for the next turn as text."""
        return order_text(code, int(self.record["mode"]), self.position)

    def read_order(self, order: str | int) -> int:
        """Return the code of an order for the next turn, legal or not.

        Raises:
            OrderError: it cannot be parsed.
        """
        return read_order(order, int(self.record["mode"]), self.position)

    def cost_of(self, code: int) -> int:
        """Return the points that an order would spend on engines and launching."""
        return sum(rules.costs_of(self.record["mode"], code))

    def fly(self, order: str | int) -> Turn:
        """Fly a turn; a probe coasts until its flight is over.

        Returns:
            The turn of the order.

        Raises:
            OrderError: the order cannot be parsed or is illegal; the flight is unchanged.
        """
        if self.is_over:
            raise OrderError(f"order {show(order)}: the flight is over ({self.ending})")
        code = self.read_order(order)
        if not self.action_mask()[code]:
            raise OrderError(f"{self.order_text(code)}: {self.why_illegal(code)}")
        index = self.turn
        rules.step(self._games, code)
        return self._read_turn(index)

    def fly_all(self, orders: Iterable[str | int]) -> list[Turn]:
        """Fly a turn for each order.

        Raises:
            OrderError: an order cannot be parsed or is illegal; those before it have been flown.
        """
        return [self.fly(order) for order in orders]

    def why_illegal(self, code: int) -> str:
        """Return why an illegal order is illegal now."""
        mode = int(self.record["mode"])
        if mode == rules.Mode.ON_PAD and code < rules.ENGINES:
            return "the ship is on the pad; the first turn is a launch"
        if mode in (rules.Mode.FLYING, rules.Mode.DOCKED) and code >= rules.ENGINES:
            return f"the ship is {self.mode}; {ONLY_FROM_PLANETS}"
        if mode == rules.Mode.LANDED and 0 < code < rules.ENGINES:
            return "the ship is landed; it stays, or is launched"
        left = self.fuel_left
        if left is not None and self.cost_of(code) > left:
            return f"it costs {self.cost_of(code)} points of fuel and launching, {left} are left"
        end = point_name(self.end_of(code))
        if code >= rules.ENGINES:
            return f"{end} is not on the map"
        reason = f"the ship would crash on its way from {self.position_name} to {end}"
        if end not in self.mission.planets:
            return reason
        if not self.mission.can_land_on(end):
            return f"{reason}; this planet cannot be landed on in this mission"
        grids = distance(self.position, self.end_of(code))
        return f"{reason}; a landing is a move of exactly one grid, this one is {grids}"

    def end_of(self, code: int) -> Point:
        """Return the endpoint of an order, legal or not."""
        game = self._games[0]
        rules.plot(game["params"], game["flight"], code, game["workspace"])
        column, row = game["workspace"]["end"].tolist()
        return column, row


_TURN_MARKS = "123456789abcdefghijklmnopqrstuvwxyzABCDE"
"""The mark of each of forty turns on the map."""


def flight_text(flight: Flight) -> str:
    """Return heading, goals, map, log, score sheet and outcome of a flight."""
    sections = [heading_text(flight), map_text(flight), log_text(flight), score_text(flight)]
    if flight.is_over:
        sections.append(result_text(flight))
    return "\n\n".join(filter(None, sections))


def heading_text(flight: Flight) -> str:
    """Return title, turn, position and score in a line, and the goals of the mission below it."""
    mission = flight.mission
    where = f"{flight.mode} at {flight.position_name}"
    lines = [
        f"{mission.title} | {mission.game_title} | turn {flight.turn} of {mission.turns}, {where} | score {flight.score}"
    ]
    goals = goals_text(mission)
    if goals:
        lines.append(goals)
    if flight.fuel_left is not None:
        lines.append(f"Fuel and launches: {flight.fuel_left} of {mission.fuel_limit} points left")
    return "\n".join(lines)


def goals_text(mission: Mission) -> str:
    """Return the goals and optional rules of a mission in a line; empty for the basic game."""
    goals = [*goals_of(mission), *(["advanced rules"] if mission.advanced else [])]
    return f"Mission: {'; '.join(goals)}" if goals else ""


def goals_of(mission: Mission) -> list[str]:
    """Return the goals of a mission in words, without its optional rules."""
    goals = [f"survey {', '.join(mission.survey)}"] if mission.survey else []
    if mission.land_on:
        goals.append(f"land on {', '.join(mission.land_on)}")
    if mission.end is not None:
        kind, reference = mission.end
        where = {"well": "in the well of", "planet": "on the planet", "station": "at the station"}[kind]
        goals.append(f"end {where} {reference}")
    if mission.fuel_limit is not None:
        goals.append(f"at most {mission.fuel_limit} points of fuel and launches")
    if mission.race:
        goals.append("fewest turns win")
    return goals


def map_text(flight: Flight) -> str:
    """Return the map.

    "O" is a planet with weak gravity, "@" one with strong gravity, "H" the home planet; "+" a point of a gravity well,
    "S" a station, "." an empty point. A turn's endpoint is marked by its number, from turn 10 on by letters.
    """
    mission = flight.mission
    signs = {point: "+" for reference in mission.planets for point in mission.well(reference)}
    signs |= {turn.end: _TURN_MARKS[turn.number - 1] for turn in flight.turns}
    signs |= {read_point(planet): "O" if gravity == "weak" else "@" for planet, gravity in mission.planets.items()}
    signs |= {read_point(station): "S" for station in mission.stations} | {read_point(mission.home): "H"}
    columns = range(1, mission.columns + 1)
    heading = "".join(f"{column:>3}" for column in columns)
    lines = [f"  {heading}"]
    for row in range(1, mission.rows + 1):
        points = "".join(f"{signs.get((column, row), '.'):>3}" for column in columns)
        lines.append(f"{ROW_LETTERS[row - 1]} {points}")
    legend = "O weak gravity  @ strong gravity  H home  + gravity well"
    lines.append(f"  {legend}{'  S station' if mission.stations else ''}  1-9, a-z: turns")
    return "\n".join(lines)


def shift_text(shift: Point) -> str:
    """Return the direction of a shift of one grid, "-" for none."""
    return "-" if shift == (0, 0) else DIRECTION_NAMES[DIRECTIONS.index(shift)]


def move_text(move: Point) -> str:
    """Return a move in the notation of the paper log: grids right or left, then up or down, such as "R3 U1"."""
    right, down = move
    words = [f"{'R' if right > 0 else 'L'}{abs(right)}"] if right else []
    if down:
        words.append(f"{'D' if down > 0 else 'U'}{abs(down)}")
    return " ".join(words) or "0"


def move_words(move: Point) -> str:
    """Return a move in words, such as "3 left, 1 up"."""
    right, down = move
    words = [f"{abs(right)} {'right' if right > 0 else 'left'}"] if right else []
    if down:
        words.append(f"{abs(down)} {'down' if down > 0 else 'up'}")
    return ", ".join(words) or "no move"


def log_text(flight: Flight) -> str:
    """Return the flight log, a line for each turn: coast, gravity, engines, endpoint and points."""
    if not flight.turn:
        return ""
    heading = f"{'turn':>4}  {'from':<5}{'coast to':<10}{'gravity':<12}{'engines':<12}{'end':<5}{'move':<8}points"
    return "\n".join([heading, *(_log_line(flight, turn) for turn in flight.turns)])


def _log_line(flight: Flight, turn: Turn) -> str:
    coast, gravity = point_name(turn.coasted), shift_text(turn.gravity)
    if turn.is_launch:
        coast, gravity, engines = "-", "-", "launch"
    elif turn.order == "stay" and turn.start == turn.end:
        coast, engines = "stays", "-"
    else:
        engines = shift_text(turn.engines)
    points, notes = points_text(turn), turn_notes(flight, turn)
    end = point_name(turn.end)
    line = f"{turn.number:>4}  {point_name(turn.start):<5}{coast:<10}{gravity:<12}{engines:<12}{end:<5}"
    return f"{line}{move_text(turn.move):<8}{points}{f'  ({notes})' if notes else ''}".rstrip()


def points_text(turn: Turn) -> str:
    """Return the points of a turn by line of the score sheet, such as "explore +3, fuel -1"."""
    return ", ".join(f"{name} {points:+d}" for name, points in turn.points.items() if points)


def turn_notes(flight: Flight, turn: Turn) -> str:
    """Return what a turn has led to: "off the map", "crash", "landed", "docked", or nothing."""
    is_last = flight.is_over and turn.number == flight.turn
    if is_last and flight.is_lost:
        return "off the map"
    if is_last and flight.ending == Ending.CRASHED:
        return "crash"
    return turn.mode if turn.mode != "flying" else ""


def score_text(flight: Flight) -> str:
    """Return the score sheet: its lines by turn, and their totals."""
    turns = flight.turns
    if not turns:
        return ""
    heading = "".join(f"{turn.number:>3}" for turn in turns)
    lines = [f"{'':<13}{heading}  total"]
    for name in LINE_NAMES:
        points = "".join(f"{turn.points[name] or '.':>3}" for turn in turns)
        lines.append(f"{name:<13}{points}{flight.score_sheet[name]:>7}")
    sums = "".join(f"{turn.score or '.':>3}" for turn in turns)
    lines.append(f"{'total':<13}{sums}{flight.score:>7}")
    return "\n".join(lines)


def result_text(flight: Flight, best: BestKnown | None = None) -> str:
    """Return what became of a flight, its score, and how it ended.

    Args:
        flight: a flight that has ended.
        best: the best flight that is known of the mission.
    """
    points = f"{flight.score} points" if best is None else f"{flight.score} of {best.score} points"
    if flight.mission.race and flight.is_success:
        known = "" if best is None else f" (best known: {best.turns})"
        points = f"{flight.turn} turns{known}, {flight.score} points"
    return f"{_verdict(flight)}: {points}; {flight.reason}."


def _verdict(flight: Flight) -> str:
    """Return what became of a flight that has ended. A mission without goals is fulfilled by flying, however it ends."""
    if flight.is_lost:
        return "Lost in space"
    if not flight.is_success:
        return "Mission failed"
    if goals_text(flight.mission):
        return "Mission accomplished"
    return "Crashed" if flight.ending == Ending.CRASHED else "Flight complete"
