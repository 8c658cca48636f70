"""A person at the terminal who plays one side."""

from geo_patrol.game import Game
from geo_patrol.notation import Order
from geo_patrol.sides import Side
from geo_patrol.textplay.console import Console
from geo_patrol.textplay.dialogue import OrderDialogue
from geo_patrol.textplay.transcript import position_text


class TerminalPlayer:
    """A person at the terminal.

    Args:
        console: input and output.
        side: the person's side.
        shared_screen: whether the other side plays at the same screen and must not see the orders.
    """

    def __init__(self, console: Console, side: Side, *, shared_screen: bool) -> None:
        self._console, self._side, self._shared_screen = console, side, shared_screen

    def order(self, game: Game) -> tuple[Order, ...]:
        """Return the orders that the person enters for the current phase.

        Raises:
            Leave: the person stops the game.
        """
        hides = self._shared_screen and _has_choice(game, self._side)  # what is legal is no secret
        if hides:
            self._console.prompt(f"\n{self._side}, turn {game.turn}, {game.phase}: press Enter when you sit alone. ")
            self._console.write(f"\n{position_text(game)}")
        orders = OrderDialogue(self._console, game, self._side).run()
        if hides:
            self._console.hide_screen()
        return orders


def _has_choice(game: Game, side: Side) -> bool:
    return any(len(orders) > 1 for orders in game.legal_orders(side).values())
