"""``Flight``: one flight, pleasant to hold."""

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from geo_patrol.errors import OrderError, show
from geo_patrol.flight.engine import state
from geo_patrol.flight.engine.scoring import spent_by
from geo_patrol.flight.engine.state import ENGINES, ORDERS, UNDER_WAY, make_chart, new_flights, new_log
from geo_patrol.flight.engine.turn import (
    fly_one,
    has_won_one,
    plot,
    start_one,
    write_legal_of_one,
    write_staying_of_one,
)
from geo_patrol.flight.grid import Point, distance, point_name
from geo_patrol.flight.mission import Mission
from geo_patrol.flight.missions import MissionSource, Overrides, load_mission
from geo_patrol.flight.orders import MODE_NAMES, ONLY_FROM_PLANETS, order_text, read_order

LINE_NAMES = ("explore", "return", "landing", "survey", "microgravity", "fuel", "launch")
"""Lines of the score sheet, in its order."""


class Ending(StrEnum):
    """How a flight has ended."""

    UNDER_WAY = "under way"
    END_REACHED = "end reached"
    """What the mission ends at has been reached."""
    GOALS_MET = "goals met"
    """A race without a place to end at: everything it asks for is done."""
    LAST_TURN = "last turn"
    LEFT_MAP = "left the map"
    CRASHED = "crashed"
    """A probe's flight; a spaceship may not crash."""
    TRAPPED = "trapped"
    """Every order would have crashed the spaceship, or nothing else could be paid."""


ENDINGS = tuple(Ending)


@dataclass(frozen=True)
class Turn:
    """A line of the flight log. Points are (column, row), shifts are (to the right, down)."""

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
    """Of the ship at the end of the turn: "flying", "landed", "docked"."""
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
    """A flight of a mission, from the pad on.

    >>> flight = Flight("sample")
    >>> flight.fly("launch D13").end
    (13, 4)
    >>> [turn.points["microgravity"] for turn in flight.fly_all(["coast", "coast"])]
    [1, 1]
    >>> flight.position_name, flight.score
    ('C7', 6)

    Args:
        mission: a mission's name, a file's path, a mapping or a ``Mission``.
        overrides: single values of it, such as ``{"turns": 20}``.

    Raises:
        ConfigError: the mission is wrong.
    """

    def __init__(self, mission: MissionSource = "sample", overrides: Overrides | None = None) -> None:
        self.mission: Mission = load_mission(mission, overrides)
        self._charts = make_chart(self.mission)
        self._flights = new_flights()
        self._log = new_log()
        self._room = new_log()
        start_one(self._charts, self._flights)

    @classmethod
    def from_orders(cls, mission: MissionSource, orders: Iterable[str | int]) -> Self:
        """Fly a list of orders.

        Raises:
            ConfigError, OrderError: the mission or an order is wrong.
        """
        flight = cls(mission)
        flight.fly_all(orders)
        return flight

    @classmethod
    def of_records(cls, mission: Mission, flight: NDArray[Any], log: NDArray[Any]) -> Self:
        """Build a flight from records of the engine, which are copied."""
        made = cls(mission)
        made._flights, made._log = flight.copy(), log.copy()
        return made

    def __repr__(self) -> str:
        where = f"{self.mode} at {self.position_name}"
        return f"<Flight {self.mission.title!r}: turn {self.turn}, {where}, score {self.score}, {self.ending}>"

    def __str__(self) -> str:
        from geo_patrol.flight.text import flight_text  # noqa: PLC0415 - the picture knows the flight

        return flight_text(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Flight):
            return NotImplemented
        return self.mission == other.mission and self.order_codes == other.order_codes and self.turns == other.turns

    __hash__ = None  # type: ignore[assignment] # it changes as it flies

    def copy(self) -> Self:
        """Return a flight to try things out on."""
        twin = copy.copy(self)
        twin._flights, twin._log = self._flights.copy(), self._log.copy()  # noqa: SLF001
        return twin

    # Where the ship is

    @property
    def _record(self) -> Any:
        return self._flights[0]

    @property
    def turn(self) -> int:
        """Turns flown."""
        return int(self._record["turn"])

    @property
    def position(self) -> Point:
        """The last endpoint as (column, row), at the beginning the home planet."""
        return int(self._record["column"]), int(self._record["row"])

    @property
    def position_name(self) -> str:
        """The last endpoint as a grid reference."""
        return point_name(self.position)

    @property
    def move(self) -> Point:
        """The move that coasting would repeat, as (to the right, down)."""
        return int(self._record["right"]), int(self._record["down"])

    @property
    def mode(self) -> str:
        """Where the ship is: "on the pad", "flying", "landed" or "docked"."""
        return MODE_NAMES[int(self._record["mode"])]

    @property
    def fuel_left(self) -> int | None:
        """Points that may still be spent on engines and launches; None without a limit."""
        limit = self.mission.fuel_limit
        return None if limit is None else limit - int(self._record["spent"])

    # Points and the end

    @property
    def score_sheet(self) -> dict[str, int]:
        """Points so far by line of the score sheet."""
        return dict(zip(LINE_NAMES, self._record["line"].tolist(), strict=True))

    @property
    def score(self) -> int:
        """Points so far."""
        return int(self._record["line"].sum())

    @property
    def ending(self) -> Ending:
        """How the flight has ended; "under way" if it has not."""
        return ENDINGS[int(self._record["ending"])]

    @property
    def is_over(self) -> bool:
        """Whether the flight has ended."""
        return bool(self._record["ending"] != UNDER_WAY)

    @property
    def is_success(self) -> bool:
        """Whether the flight has ended and fulfilled its mission."""
        return bool(has_won_one(self._charts, self._flights))

    @property
    def surveyed(self) -> tuple[str, ...]:
        """Planets other than the home one in whose wells a turn has ended."""
        return self._planets(self._record["survey"])

    @property
    def landed_on(self) -> tuple[str, ...]:
        """Planets that have been landed on."""
        return self._planets(self._record["landed"])

    @property
    def docked_at(self) -> tuple[str, ...]:
        """Stations that have been docked at."""
        return tuple(name for name, was in zip(self.mission.stations, self._record["docked"], strict=False) if was)

    def _planets(self, marks: NDArray[Any]) -> tuple[str, ...]:
        return tuple(name for name, mark in zip(self.mission.planets, marks, strict=False) if mark)

    @property
    def missing(self) -> tuple[str, ...]:
        """What the mission asks for and the flight has not done, such as "survey E6"."""
        mission = self.mission
        missing = [f"survey {planet}" for planet in mission.survey if planet not in self.surveyed]
        missing += [f"land on {planet}" for planet in mission.land_on if planet not in self.landed_on]
        if mission.end_at is not None and self.ending != Ending.END_REACHED:
            missing.append(f"end at {mission.end_at}")
        return tuple(missing)

    @property
    def reason(self) -> str:
        """Why the mission is fulfilled or not, in words; empty while under way."""
        how = {
            Ending.END_REACHED: f"reached {self.mission.end_at} in turn {self.turn}",
            Ending.GOALS_MET: f"everything done in turn {self.turn}",
            Ending.LAST_TURN: f"flown to the last turn, {self.turn}",
            Ending.LEFT_MAP: f"left the map in turn {self.turn}",
            Ending.CRASHED: f"crashed at {self.position_name} in turn {self.turn}",
            Ending.TRAPPED: f"no order was left after turn {self.turn} that would not crash",
        }.get(self.ending)
        if how is None:
            return ""
        return f"{how}; missing: {', '.join(self.missing)}" if self.missing else how

    # Orders

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The flight log."""
        return tuple(self._read_turn(number) for number in range(self.turn))

    def _read_turn(self, index: int) -> Turn:
        line = self._log[index]
        points: dict[str, Point] = {
            name: (int(line[name][0]), int(line[name][1])) for name in ("start", "coasted", "pull", "engines", "end")
        }
        well = int(line["well"])
        return Turn(
            number=index + 1,
            order=order_text(int(line["order"]), int(line["mode"]), points["start"]),
            start=points["start"],
            coasted=points["coasted"],
            gravity=points["pull"],
            engines=points["engines"],
            end=points["end"],
            mode=MODE_NAMES[line["mode_after"]],
            well=None if well == state.NOWHERE else list(self.mission.planets)[well],
            points=dict(zip(LINE_NAMES, line["line"].tolist(), strict=True)),
        )

    @property
    def order_codes(self) -> list[int]:
        """The orders given so far, which ``from_orders`` flies again."""
        count = min(self.turn, 1) if self.mission.is_probe else self.turn
        codes: list[int] = self._log["order"][:count].tolist()
        return codes

    def action_mask(self) -> NDArray[np.int8]:
        """Return 1 for every legal order, (33,) int8; all 0 when the flight is over."""
        mask = np.zeros(ORDERS, np.int8)
        write_legal_of_one(self._charts, self._flights, self._room, mask)
        return mask

    def staying_mask(self) -> NDArray[np.int8]:
        """Return 1 for every legal order that does not lead off the map, (33,) int8."""
        mask = np.zeros(ORDERS, np.int8)
        write_staying_of_one(self._charts, self._flights, self._room, mask)
        return mask

    def legal_orders(self) -> tuple[str, ...]:
        """Return the legal orders as text."""
        return tuple(self.order_text(int(code)) for code in np.flatnonzero(self.action_mask()))

    def order_text(self, code: int) -> str:
        """Return an order for the next turn as text."""
        return order_text(code, int(self._record["mode"]), self.position)

    def read_order(self, order: str | int) -> int:
        """Return the code of an order for the next turn, legal or not.

        Raises:
            OrderError: it cannot be read.
        """
        return read_order(order, int(self._record["mode"]), self.position)

    def cost_of(self, code: int) -> int:
        """Return the points of fuel and launching that an order would spend."""
        return int(spent_by(int(self._record["mode"]), code))

    def fly(self, order: str | int) -> Turn:
        """Fly a turn; a probe flies on by itself until its flight is over.

        Returns:
            The turn of the order.

        Raises:
            OrderError: the order cannot be read, or is not legal; nothing has changed then.
        """
        if self.is_over:
            raise OrderError(f"order {show(order)}: the flight is over ({self.ending})")
        code = self.read_order(order)
        if not self.action_mask()[code]:
            raise OrderError(f"{self.order_text(code)}: {self.why_illegal(code)}")
        first = self.turn
        fly_one(self._charts, self._flights, self._log, code, self._room)
        return self._read_turn(first)

    def fly_all(self, orders: Iterable[str | int]) -> list[Turn]:
        """Fly a turn for each order.

        Raises:
            OrderError: an order cannot be read or is not legal; those before it have been flown.
        """
        return [self.fly(order) for order in orders]

    def why_illegal(self, code: int) -> str:
        """Say why an order is not legal now."""
        mode = int(self._record["mode"])
        if mode == state.ON_PAD and code < ENGINES:
            return "the ship is on the pad; the first turn is a launch"
        if mode in (state.FLYING, state.DOCKED) and code >= ENGINES:
            return f"the ship is {self.mode}; {ONLY_FROM_PLANETS}"
        if mode == state.LANDED and 0 < code < ENGINES:
            return "the ship is landed; it stays, or is launched"
        left = self.fuel_left
        if left is not None and self.cost_of(code) > left:
            return f"it costs {self.cost_of(code)} points of fuel and launching, {left} are left"
        end = self.end_of(code)
        if code >= ENGINES:
            return f"{point_name(end)} is not on the map"
        return (
            f"the ship would crash on its way from {self.position_name} to {point_name(end)}{self._landing_hint(end)}"
        )

    def end_of(self, code: int) -> Point:
        """Return the endpoint that an order would lead to, legal or not."""
        room = self._room[0]
        plot(self._charts[0], self._record, code, room)
        return int(room["end"][0]), int(room["end"][1])

    def _landing_hint(self, end: Point) -> str:
        name = point_name(end)
        if name not in self.mission.planets:
            return ""
        if not self.mission.can_land_on(name):
            return "; this planet cannot be landed on in this mission"
        return f"; a landing is a move of exactly one grid, this one is {distance(self.position, end)}"
