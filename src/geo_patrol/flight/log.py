"""The flight log: turns, lines of the score sheet, endings."""

from dataclasses import dataclass
from enum import StrEnum

from geo_patrol.flight.grid import Point

LINE_NAMES = ("explore", "return", "landing", "survey", "microgravity", "fuel", "launch")
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
