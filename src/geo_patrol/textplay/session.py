"""A text game from its first phase to its last."""

import numpy as np

from geo_patrol.game import Game
from geo_patrol.notation import Order
from geo_patrol.runner import PlayedPhase
from geo_patrol.sessions.live import LiveGame
from geo_patrol.sides import SIDES, Side
from geo_patrol.textplay.console import Console
from geo_patrol.textplay.seats import Seat
from geo_patrol.textplay.transcript import phase_text, position_text, result_text


def play_text(live: LiveGame, console: Console | None = None) -> None:
    """Play a game at the terminal, to its end.

    Args:
        live: the game, begun or somewhere on its way; people order where it has no agents. Who wants to keep it adds an
            observer that records every phase.
        console: where people sit; the terminal of this process by default.

    Raises:
        Leave: a player wants to stop.
        AgentError: an agent failed.
    """
    console = console or Console()
    people: list[Side] = [side for side, agent in zip(SIDES, live.agents, strict=True) if agent is None]
    shared = len(people) > 1
    seats = {side: Seat(console, side, shares_screen=shared) for side in people}
    while not live.is_over:
        game = live.game
        if not shared:  # who shares a screen sees it behind the curtain
            console.tell(f"\n{position_text(game)}")
        alpha, bravo = (_orders(seats.get(side), game) for side in SIDES)
        live.play((alpha, bravo))
        console.tell(f"\n{phase_text(_last_phase(live))}")
    console.tell(f"\n{position_text(live.game)}\n\n{result_text(live.game, *live.timeline.names)}")


def _orders(seat: Seat | None, game: Game) -> tuple[Order, ...]:
    return () if seat is None else seat.order(game)


def _last_phase(live: LiveGame) -> PlayedPhase:
    moment = live.timeline[-2]
    given = np.count_nonzero(live.given, axis=1)
    return PlayedPhase(
        turn=moment.game.turn,
        name=moment.game.phase,
        orders=moment.orders,
        illegal_orders=(int(given[0]) - len(moment.orders[0]), int(given[1]) - len(moment.orders[1])),
        outcomes=moment.outcomes,
        game=live.timeline[-1].game,
    )
