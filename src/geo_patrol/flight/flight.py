"""``Flight``: a game that is flown order by order."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from geo_patrol.config.toml_files import Overrides
from geo_patrol.errors import OrderError, show
from geo_patrol.flight.engine.game import legal_mask, step
from geo_patrol.flight.engine.scoring import costs_of
from geo_patrol.flight.engine.state import ENGINES, Mode
from geo_patrol.flight.engine.turn import plot
from geo_patrol.flight.grid import Point, distance, point_name
from geo_patrol.flight.mission import Mission, MissionSource, load_mission
from geo_patrol.flight.orders import ONLY_FROM_PLANETS, order_text, read_order
from geo_patrol.flight.status import FlightStatus, Turn
from geo_patrol.flight.text import flight_text


class Flight(FlightStatus):
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
        super().__init__(load_mission(mission, overrides))

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
        FlightStatus.__init__(flight, mission, games.copy())
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

    def action_mask(self) -> NDArray[np.int8]:
        """Return 1 for every legal order, (33,) int8; all 0 when the flight is over."""
        return legal_mask(self._games, False)

    def staying_mask(self) -> NDArray[np.int8]:
        """Return 1 for every legal order that does not lead off the map, (33,) int8."""
        return legal_mask(self._games, True)

    def legal_orders(self) -> tuple[str, ...]:
        """Return the legal orders as text."""
        return tuple(self.order_text(int(code)) for code in np.flatnonzero(self.action_mask()))

    def order_text(self, code: int) -> str:
        """Return an order for the next turn as text."""
        return order_text(code, int(self._record["mode"]), self.position)

    def read_order(self, order: str | int) -> int:
        """Return the code of an order for the next turn, legal or not.

        Raises:
            OrderError: it cannot be parsed.
        """
        return read_order(order, int(self._record["mode"]), self.position)

    def cost_of(self, code: int) -> int:
        """Return the points that an order would spend on engines and launching."""
        return sum(costs_of(self._record["mode"], code))

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
        step(self._games, code)
        return self._read_turn(index)

    def fly_all(self, orders: Iterable[str | int]) -> list[Turn]:
        """Fly a turn for each order.

        Raises:
            OrderError: an order cannot be parsed or is illegal; those before it have been flown.
        """
        return [self.fly(order) for order in orders]

    def why_illegal(self, code: int) -> str:
        """Return why an illegal order is illegal now."""
        mode = int(self._record["mode"])
        if mode == Mode.ON_PAD and code < ENGINES:
            return "the ship is on the pad; the first turn is a launch"
        if mode in (Mode.FLYING, Mode.DOCKED) and code >= ENGINES:
            return f"the ship is {self.mode}; {ONLY_FROM_PLANETS}"
        if mode == Mode.LANDED and 0 < code < ENGINES:
            return "the ship is landed; it stays, or is launched"
        left = self.fuel_left
        if left is not None and self.cost_of(code) > left:
            return f"it costs {self.cost_of(code)} points of fuel and launching, {left} are left"
        end = point_name(self.end_of(code))
        if code >= ENGINES:
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
        plot(game["params"], game["flight"], code, game["workspace"])
        column, row = game["workspace"]["end"].tolist()
        return column, row
