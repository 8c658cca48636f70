"""Whose turn it is to order, and when a phase is played. No drawing here."""

from typing import TYPE_CHECKING, Literal, TypeAlias

from geo_patrol.sessions.live import LiveGame
from geo_patrol.sessions.order_entry import OrderDesk
from geo_patrol.sessions.waiting import Wait, wait_idly
from geo_patrol.sides import SIDES, Side

if TYPE_CHECKING:
    from geo_patrol.notation import Order

Stage: TypeAlias = Literal["curtain", "ordering", "waiting", "showing", "over"]
"""A curtain hides one person's orders from the other; somebody orders; agents are waited for; a phase that was played is
shown; the game is over."""


class PlaySession:
    """A game in which one person plays an agent, or two play each other at one screen.

    Orders are kept until both sides have committed; agents are asked for theirs after that.

    Args:
        live: the game; its agents are None where people play.
        wait: waits for the orders of agents.

    Attributes:
        stage: what is going on.
        desk: the orders that are being given, while somebody gives any.
    """

    def __init__(self, live: LiveGame, wait: Wait = wait_idly) -> None:
        self.live = live
        self.people: tuple[Side, ...] = tuple(
            side for side, agent in zip(SIDES, live.agents, strict=True) if agent is None
        )
        self.stage: Stage = "waiting"
        self.desk: OrderDesk | None = None
        self._committed: dict[Side, tuple[Order, ...]] = {}
        self._wait = wait

    def begin_phase(self) -> None:
        """Begin with the phase that the game is in; first of all, and by itself afterwards."""
        self._committed = {}
        self.desk = None
        if self.live.is_over:
            self.stage = "over"
        else:
            self._next_person()

    @property
    def side(self) -> Side | None:
        """The side that is to order; None while nobody is."""
        return self.desk.side if self.desk is not None else None

    def lift_curtain(self) -> None:
        """Let the person whose turn it is see the board."""
        if self.stage == "curtain":
            self.stage = "ordering"

    def commit(self) -> None:
        """Give the orders as they are; when all people have, the phase is played."""
        if self.stage == "ordering" and self.desk is not None:
            self._committed[self.desk.side] = self.desk.orders
            self._next_person()

    def end_showing(self) -> None:
        """Go on when the phase that was played has been shown."""
        if self.stage == "showing":
            self.begin_phase()

    def _next_person(self) -> None:
        """Turn to the next person who has anything to order; if there is none, play the phase."""
        for side in self.people:
            if side not in self._committed:
                desk = OrderDesk(self.live.game, side)
                if desk.has_choice:
                    self.desk = desk
                    self.stage = "curtain" if len(self.people) > 1 else "ordering"
                    return
                self._committed[side] = ()
        self.desk = None
        self.stage = "waiting"
        self.live.play((self._committed.get("alpha", ()), self._committed.get("bravo", ())), self._wait)
        self.stage = "showing"
