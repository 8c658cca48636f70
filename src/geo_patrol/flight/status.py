"""Read access to a flight, from the engine's record to Python values: position, points, log and outcome."""

from dataclasses import dataclass
from enum import StrEnum
from itertools import compress
from typing import Any

from numpy.typing import NDArray

from geo_patrol.flight.engine.game import new_game
from geo_patrol.flight.engine.state import NOWHERE, EndingCode, Line
from geo_patrol.flight.engine.turn import is_success
from geo_patrol.flight.grid import Point, point_name
from geo_patrol.flight.mission import Mission
from geo_patrol.flight.orders import MODE_NAMES, order_text

LINE_NAMES = tuple(line.name.lower() for line in Line)
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


class FlightStatus:
    """Position, points, log and outcome of a flight."""

    def __init__(self, mission: Mission, games: NDArray[Any] | None = None) -> None:
        self.mission = mission
        self._games = new_game(mission) if games is None else games

    def __repr__(self) -> str:
        where = f"{self.mode} at {self.position_name}"
        return f"<Flight {self.mission.title!r}: turn {self.turn}, {where}, score {self.score}, {self.ending}>"

    @property
    def _record(self) -> Any:
        return self._games["flight"][0]

    # Position

    @property
    def turn(self) -> int:
        """Number of turns flown."""
        return int(self._record["turn"])

    @property
    def position(self) -> Point:
        """The last endpoint as (column, row); the home planet before the launch."""
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
        """Mode of the ship: "on the pad", "flying", "landed" or "docked"."""
        return MODE_NAMES[int(self._record["mode"])]

    @property
    def fuel_left(self) -> int | None:
        """Points that may still be spent on engines and launches; None without a limit."""
        limit = self.mission.fuel_limit
        return None if limit is None else limit - int(self._record["spent"])

    # Points and outcome

    @property
    def score_sheet(self) -> dict[str, int]:
        """Points so far by line of the score sheet."""
        return dict(zip(LINE_NAMES, self._record["points"].tolist(), strict=True))

    @property
    def score(self) -> int:
        """Points so far."""
        return int(self._record["points"].sum())

    @property
    def ending(self) -> Ending:
        """How the flight has ended; "under way" if it has not."""
        return ENDINGS[int(self._record["ending"])]

    @property
    def is_over(self) -> bool:
        """Whether the flight has ended."""
        return bool(self._record["ending"] != EndingCode.UNDER_WAY)

    @property
    def is_success(self) -> bool:
        """Whether the flight has ended and fulfilled its mission."""
        return bool(is_success(self._games["params"][0], self._record))

    @property
    def surveyed(self) -> tuple[str, ...]:
        """Planets other than the home planet in whose wells a turn has ended."""
        return tuple(compress(self.mission.planets, self._record["survey"]))

    @property
    def landed_on(self) -> tuple[str, ...]:
        """Planets that have been landed on."""
        return tuple(compress(self.mission.planets, self._record["visited"]))

    @property
    def docked_at(self) -> tuple[str, ...]:
        """Stations that have been docked at."""
        return tuple(compress(self.mission.stations, self._record["visited"][len(self.mission.planets) :]))

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
            well=None if entry["well"] == NOWHERE else list(self.mission.planets)[entry["well"]],
            points=dict(zip(LINE_NAMES, entry["points"].tolist(), strict=True)),
        )

    @property
    def order_codes(self) -> list[int]:
        """The orders given so far, which ``Flight.from_orders`` accepts."""
        count = min(self.turn, 1) if self.mission.is_probe else self.turn
        codes: list[int] = self._games["log"]["order"][0][:count].tolist()
        return codes
