"""A game that people play at one screen: who enters orders, and when a phase is played."""

from typing import TYPE_CHECKING, Literal, TypeAlias

from geo_patrol.sessions.live import LiveGame, Wait, wait_blocking
from geo_patrol.sessions.order_entry import OrderEntry
from geo_patrol.sides import SIDES, Side

if TYPE_CHECKING:
    from geo_patrol.notation import Order

Stage: TypeAlias = Literal["curtain", "ordering", "waiting", "showing", "paused", "over"]
"""A curtain hides one person's orders from the other; orders are entered; agents are waited for; a phase that was played
is shown; nothing more is played, because a lesson's step is done; the game is over."""


class PlaySession:
    """A game in which one person plays an agent, or two play each other at one screen.

    Orders are hidden until all people have committed; only then do agents choose theirs.

    Args:
        live: the game; its agents are None where people play.
        wait: waits for the orders of agents.

    Attributes:
        stage: the current stage.
        entry: the orders that are being entered, if any are.
    """

    def __init__(self, live: LiveGame, wait: Wait = wait_blocking) -> None:
        self.live = live
        self.people: tuple[Side, ...] = tuple(
            side for side, agent in zip(SIDES, live.agents, strict=True) if agent is None
        )
        self.stage: Stage = "waiting"
        self.entry: OrderEntry | None = None
        self._committed: dict[Side, tuple[Order, ...]] = {}
        self._wait = wait

    def begin_phase(self) -> None:
        """Begin the current phase; called once, then by the session itself."""
        self._committed = {}
        self.entry = None
        if self.live.is_over:
            self.stage = "over"
        else:
            self._next_person()

    @property
    def side(self) -> Side | None:
        """The side whose orders are being entered; None if none are."""
        return self.entry.side if self.entry is not None else None

    def lift_curtain(self) -> None:
        """Show the board to the person whose turn it is."""
        if self.stage == "curtain":
            self.stage = "ordering"

    def commit(self) -> None:
        """Commit the orders of one person; after those of all people the phase is played."""
        if self.stage == "ordering" and self.entry is not None:
            self._committed[self.entry.side] = self.entry.orders
            self._next_person()

    def end_showing(self) -> None:
        """Go on after the phase that was played has been shown."""
        if self.stage == "showing":
            self.begin_phase()

    def _next_person(self) -> None:
        """Turn to the next person with any option; if there is none, play the phase."""
        for side in self.people:
            if side not in self._committed:
                entry = OrderEntry(self.live.game, side)
                if entry.has_choice:
                    self.entry = entry
                    self.stage = "curtain" if len(self.people) > 1 else "ordering"
                    return
                self._committed[side] = ()
        self.entry = None
        self.stage = "waiting"
        self.live.play((self._committed.get("alpha", ()), self._committed.get("bravo", ())), self._wait)
        self.stage = "showing"

    @property
    def prompt(self) -> str:
        """What people have to do now, in a line."""
        entry = self.entry
        if self.stage == "over":
            return "The game is over."
        if self.stage == "waiting":
            return "Waiting for the other side's orders."
        if entry is None:
            return "Click to go on at once."
        who = f"{entry.side.capitalize()}: " if len(self.people) > 1 else ""
        if entry.selected is None:
            hold = "" if entry.pending else "; the others hold"
            return f"{who}click a satellite, then Commit{hold}"
        phase = self.live.timeline[-1].phase
        return who + ("click where it should go, or an order" if phase == "movement" else "click a target or an order")
