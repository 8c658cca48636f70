"""Order entry: the orders that a person is giving for one side in one phase."""

from collections.abc import Iterable
from dataclasses import dataclass

from geo_patrol.base.board import prograde, radial_in, radial_out, retrograde
from geo_patrol.base.sides import Side, enemy_of
from geo_patrol.game.game import Game
from geo_patrol.game.notation import MOVES, Order, SatelliteId

_STEPS = {"prograde": prograde, "retrograde": retrograde, "radial_in": radial_in, "radial_out": radial_out}


@dataclass(frozen=True)
class Option:
    """A legal order.

    Attributes:
        order: the order.
        cost: fuel that it costs.
        probability: that an engagement succeeds; None for a move.
        sector: destination of a move; None for an engagement.
        target: the attacked satellite, or the guarded HVA; None for a move.
    """

    order: Order
    cost: int
    probability: float | None
    sector: int | None
    target: SatelliteId | None


class OrderEntry:
    """Orders of one side in a phase, until they are committed.

    Args:
        game: the position; it is not changed.
        side: the side that orders.

    Attributes:
        pending: the order of each satellite that has one.
        selected: the satellite whose order is being entered.
    """

    def __init__(self, game: Game, side: Side) -> None:
        self.side = side
        self.pending: dict[int, Order] = {}
        self.selected: int | None = None
        # A move costs the same for every satellite of a side: asking the game for each takes most of the time.
        sectors = [one.sector for one in game.satellites(side)]
        costs: dict[str, int] = {}

        def option_of(order: Order) -> Option:
            if order.action not in MOVES:
                return describe(game, side, order)
            cost = costs.get(order.action)
            if cost is None:
                cost = costs[order.action] = game.cost(side, order)
            return Option(order, cost, None, int(_STEPS[order.action](sectors[order.satellite])), None)

        self._options = {
            number: tuple(option_of(order) for order in orders if order.action != "noop")
            for number, orders in game.legal_orders(side).items()
        }

    @property
    def has_choice(self) -> bool:
        """Whether any satellite has an option besides holding."""
        return any(self._options.values())

    @property
    def orders(self) -> tuple[Order, ...]:
        """The pending orders, sorted by satellite."""
        return tuple(self.pending[number] for number in sorted(self.pending))

    def options(self, number: int) -> tuple[Option, ...]:
        """Return the options of a satellite."""
        return self._options[number]

    def option_for(self, order: Order) -> Option:
        """Return the option of a legal order."""
        return next(option for option in self._options[order.satellite] if option.order == order)

    def select(self, number: int | None) -> None:
        """Select a satellite; None selects none."""
        self.selected = number

    def give(self, order: Order) -> None:
        """Set the order of its satellite, and select none."""
        self.pending[order.satellite] = order
        self.selected = None

    def give_all(self, orders: Iterable[Order]) -> None:
        """Replace all orders by some legal ones, and select none."""
        self.pending = {order.satellite: order for order in orders}
        self.selected = None


def describe(game: Game, side: Side, order: Order) -> Option:
    """Return a legal order with what it costs, where it leads, and how likely it is to succeed."""
    cost = game.cost(side, order)
    if order.action in MOVES:
        start = game.satellite(side, order.satellite).sector
        return Option(order, cost, None, int(_STEPS[order.action](start)), None)
    enemy = enemy_of(side)
    target = SatelliteId(side, 0) if order.target is None else SatelliteId(enemy, order.target)
    return Option(order, cost, game.probability(side, order), None, target)
