"""Order entry: the orders that a person is giving for one side in one phase."""

from collections.abc import Iterable
from dataclasses import dataclass

from geo_patrol.board import prograde, radial_in, radial_out, retrograde
from geo_patrol.game import Game
from geo_patrol.notation import MOVES, Order, SatelliteId, short_name
from geo_patrol.sides import Side, enemy_of

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

    @property
    def cost_text(self) -> str:
        """Odds and cost, in short."""
        odds = "" if self.probability is None else f"{self.probability:.0%}  "
        return f"{odds}-{self.cost} fuel"

    @property
    def brief(self) -> str:
        """The order in a word or two, without its satellite."""
        if self.sector is not None:
            return f"to {self.sector}"
        return self.order.action + ("" if self.order.target is None else f" {short_name(self.order.target)}")

    @property
    def text(self) -> str:
        """The order in words, without its satellite."""
        if self.sector is not None:
            return f"{self.order.action.replace('_', ' ')} to {self.sector}"
        if self.order.target is None:
            return "guard the HVA"
        return f"{self.order.action} {short_name(self.order.target)}"


class OrderEntry:
    """Pending orders of one side, until they are committed.

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
        self._past: list[dict[int, Order]] = []
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
    def can_guard(self) -> bool:
        """Whether any satellite can guard."""
        return any(self._guard_of(number) for number in self._options)

    @property
    def can_undo(self) -> bool:
        """Whether a change can be undone."""
        return bool(self._past)

    @property
    def orders(self) -> tuple[Order, ...]:
        """The pending orders, sorted by satellite."""
        return tuple(self.pending[number] for number in sorted(self.pending))

    def options(self, number: int | None) -> tuple[Option, ...]:
        """Return the options of a satellite; none for None."""
        return () if number is None else self._options[number]

    def option_of(self, number: int) -> Option | None:
        """Return the pending option of a satellite; None if it holds."""
        order = self.pending.get(number)
        return None if order is None else self.option_for(order)

    def option_for(self, order: Order) -> Option:
        """Return the option of a legal order."""
        return next(option for option in self._options[order.satellite] if option.order == order)

    def options_at(self, satellite: SatelliteId | None, sector: int | None) -> list[Option]:
        """Return the selected satellite's options that a click on a satellite, or on a sector, may mean."""
        options = self.options(self.selected)
        targeted = [option for option in options if option.target is not None and option.target == satellite]
        if targeted or (satellite is not None and satellite.side == self.side and self.options(satellite.number)):
            return targeted  # none: it selects that satellite, even where the selected one could move to its sector
        return [option for option in options if option.sector is not None and option.sector == sector]

    def select(self, number: int | None) -> None:
        """Select a satellite; None selects none."""
        self.selected = number

    def select_next(self) -> None:
        """Select the next satellite that has options and no order."""
        free = [number for number, options in self._options.items() if options and number not in self.pending]
        if free:
            after = -1 if self.selected is None else self.selected
            self.selected = next((number for number in free if number > after), free[0])

    def give(self, order: Order) -> None:
        """Set the order of its satellite, and select none."""
        self._change({**self.pending, order.satellite: order})

    def hold(self, number: int) -> None:
        """Remove a satellite's order."""
        self._change({one: order for one, order in self.pending.items() if one != number})

    def hold_all(self) -> None:
        """Remove all orders."""
        self._change({})

    def guard_all(self) -> None:
        """Let every satellite guard that can."""
        guards = {number: guard for number in self._options if (guard := self._guard_of(number))}
        self._change({**self.pending, **guards})

    def give_all(self, orders: Iterable[Order]) -> None:
        """Replace all orders by some legal ones."""
        self._change({order.satellite: order for order in orders})

    def undo(self) -> None:
        """Undo the last change of orders."""
        if self._past:
            self.pending = self._past.pop()

    def _change(self, orders: dict[int, Order]) -> None:
        """Replace the pending orders, and select none."""
        self.selected = None
        if orders != self.pending:
            self._past.append(self.pending)
            self.pending = orders

    def _guard_of(self, number: int) -> Order | None:
        return next((option.order for option in self._options[number] if option.order.action == "guard"), None)


def describe(game: Game, side: Side, order: Order) -> Option:
    """Return a legal order with what it costs, where it leads, and how likely it is to succeed."""
    cost = game.cost(side, order)
    if order.action in MOVES:
        start = game.satellite(side, order.satellite).sector
        return Option(order, cost, None, int(_STEPS[order.action](start)), None)
    enemy = enemy_of(side)
    target = SatelliteId(side, 0) if order.target is None else SatelliteId(enemy, order.target)
    return Option(order, cost, game.probability(side, order), None, target)
