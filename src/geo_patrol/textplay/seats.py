"""A person at the terminal who plays one side."""

from geo_patrol.game import Game
from geo_patrol.notation import Order
from geo_patrol.sides import Side
from geo_patrol.textplay.console import Console
from geo_patrol.textplay.dialogue import OrderDialogue
from geo_patrol.textplay.transcript import position_text


class Seat:
    """A person's place.

    Args:
        console: where.
        side: which side is played.
        shares_screen: whether the other side sits at the same screen and must not see the orders.
    """

    def __init__(self, console: Console, side: Side, *, shares_screen: bool) -> None:
        self._console, self._side, self._shares_screen = console, side, shares_screen

    def order(self, game: Game) -> tuple[Order, ...]:
        """Ask for the orders of the phase that a position is in.

        Raises:
            Leave: the person wants to stop.
        """
        hides = self._shares_screen and _has_choice(game, self._side)  # what is legal is no secret
        if hides:
            self._console.ask(f"\n{self._side}, turn {game.turn}, {game.phase}: press Enter when you sit alone. ")
            self._console.tell(f"\n{position_text(game)}")
        orders = OrderDialogue(self._console, game, self._side).run()
        if hides:
            self._console.draw_curtain()
        return orders


def _has_choice(game: Game, side: Side) -> bool:
    return any(len(orders) > 1 for orders in game.legal_orders(side).values())
