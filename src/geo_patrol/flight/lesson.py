"""The guided first flight: a lesson about Spaceship Commander, each step a flight to go on with."""

from typing import Any

from geo_patrol.config.lesson import Card, Lesson, LessonTable, Step
from geo_patrol.config.toml_files import config_path, read_toml
from geo_patrol.flight.flight import Flight, Turn, move_words, points_text, shift_text
from geo_patrol.flight.mission import Point, distance, load_mission, point_name, read_point
from geo_patrol.flight.rules import COAST, ENGINES_COST, SURVEY_CAP


class FlightStep(Step):
    """A step of a lesson about a flight game.

    Attributes:
        flown: the orders of the flight so far.
        look: the points of the map that the text speaks of.
    """

    flown: tuple[str, ...] = ()
    look: tuple[str, ...] = ()


class _FlightLessonData(LessonTable):
    title: str
    mission: str
    steps: tuple[FlightStep, ...]


class FlightLesson(Lesson[FlightStep]):
    """The guided first flight, a lesson about Spaceship Commander."""

    def __init__(self) -> None:
        data = _FlightLessonData.model_validate(read_toml(config_path("lessons/spaceship_commander")))
        super().__init__(data.title, data.steps)
        self.mission = load_mission(data.mission)

    def begin(self) -> Flight:
        """Return the flight that the current step goes on with."""
        return Flight.from_orders(self.mission, self.step.flown)

    @property
    def target(self) -> Point:
        """Where the order leads that the step requires."""
        flight = self.begin()
        (order,) = self.step.orders
        return flight.end_of(flight.read_order(order))

    @property
    def sights(self) -> tuple[Point, ...]:
        """The points of the map that the text speaks of."""
        return tuple(map(read_point, self.step.look))

    def fly(self, flight: Flight, code: int) -> bool:
        """Return whether an order for the next turn is the one that the step requires; if not, its hint is shown."""
        return self.attempt([flight.order_text(code)])

    def card_of(self, flight: Flight) -> Card:
        """Return what the player reads now, of the flight as it is."""
        return self.card(self._values(flight))

    def _values(self, flight: Flight) -> dict[str, Any]:
        start = self.begin()
        (order,) = self.step.orders
        target = self.target
        after = Flight.from_orders(self.mission, [*self.step.flown, order]).turns[-1]
        return {
            "home": self.mission.home,
            "turns": self.mission.turns,
            "launches": len(Flight(self.mission).legal_orders()),
            "reach": distance(start.position, target),
            "position": start.position_name,
            "move": move_words(start.move),
            "coasted": point_name(after.coasted),
            "drift": "" if start.mode == "on the pad" else point_name(start.end_of(COAST)),
            "target": point_name(target),
            "engines_cost": ENGINES_COST,
            "survey_cap": SURVEY_CAP,
            "turn": _turn_values(after),
            "sheet": flight.score_sheet,
            "score": flight.score,
        }


def turn_story(turn: Turn) -> list[str]:
    """Return what happened in a turn of a ship in flight: the launch, or coast, gravity and engines; at last its points."""
    start, coasted, end = map(point_name, (turn.start, turn.coasted, turn.end))
    points = f"Points: {points_text(turn) or 'none'}."
    if turn.is_launch:
        return [f"Launch: {move_words(turn.move)}, from {start} to {end}.", points]
    pulled = point_name((turn.coasted[0] + turn.gravity[0], turn.coasted[1] + turn.gravity[1]))
    gravity = (
        f"pulls one grid {shift_text(turn.gravity)}, from {coasted} to {pulled}" if any(turn.gravity) else "none here"
    )
    engines = f"one grid {shift_text(turn.engines)}, from {pulled} to {end}" if any(turn.engines) else "off"
    return [
        f"Coast: the last move again, from {start} to {coasted}.",
        f"Gravity: {gravity}.",
        f"Engines: {engines}.",
        points,
    ]


def _turn_values(turn: Turn) -> dict[str, Any]:
    return {
        "end": point_name(turn.end),
        "coasted": point_name(turn.coasted),
        "gravity": shift_text(turn.gravity),
        "move": move_words(turn.move),
        "points": turn.points,
    }
