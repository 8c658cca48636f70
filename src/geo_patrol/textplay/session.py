"""A text game from its first phase to its last."""

from geo_patrol.game import Game
from geo_patrol.notation import Order
from geo_patrol.sessions.live import LiveGame
from geo_patrol.sides import SIDES, Side
from geo_patrol.textplay.console import Console
from geo_patrol.textplay.dialogue import OrderDialogue
from geo_patrol.textplay.transcript import phase_text, position_text, result_text


def play_text(live: LiveGame, console: Console | None = None) -> None:
    """Play a game at the terminal, to its end.

    Args:
        live: the game, new or in progress; people give the orders of sides without an agent. To save the game, add an
            observer that records every phase.
        console: input and output; the terminal of this process by default.

    Raises:
        Leave: a player stops the game.
        AgentError: an agent failed.
    """
    console = console or Console()
    people: list[Side] = [side for side, agent in zip(SIDES, live.agents, strict=True) if agent is None]
    shared = len(people) > 1
    while not live.is_over:
        game = live.game
        if not shared:  # otherwise shown to each person in turn
            console.write(f"\n{position_text(game)}")
        alpha, bravo = (_enter_orders(console, game, side, shared) if side in people else () for side in SIDES)
        live.play((alpha, bravo))
        console.write(f"\n{phase_text(live.last_phase)}")
    console.write(f"\n{position_text(live.game)}\n\n{result_text(live.game, *live.timeline.names)}")


def _enter_orders(console: Console, game: Game, side: Side, shared: bool) -> tuple[Order, ...]:
    """Return the orders that a person enters; on a shared screen, the other side does not see them."""
    hides = shared and any(len(orders) > 1 for orders in game.legal_orders(side).values())  # what is legal is no secret
    if hides:
        console.prompt(f"\n{side}, turn {game.turn}, {game.phase}: press Enter when you sit alone. ")
        console.write(f"\n{position_text(game)}")
    orders = OrderDialogue(console, game, side).run()
    if hides:
        console.hide_screen()
    return orders
