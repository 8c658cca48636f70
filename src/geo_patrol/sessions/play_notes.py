"""The note for the person who plays: danger to the own HVA, or else why the own score changed in the last turn."""

from typing import TYPE_CHECKING

from geo_patrol.sessions.game_pages import danger_tab
from geo_patrol.sessions.pages import Tab
from geo_patrol.sessions.play_session import PlaySession
from geo_patrol.sessions.score_changes import score_changes
from geo_patrol.sessions.threats import Threat, hva_threat
from geo_patrol.sides import SIDES, Side

if TYPE_CHECKING:
    from geo_patrol.notation import Order


class PlayNotes:
    """Notes about a game in progress; what was computed is kept until the position or the orders change.

    Args:
        session: the game.
    """

    def __init__(self, session: PlaySession) -> None:
        self._session = session
        self._known: tuple[tuple[int, Side, tuple[Order, ...]], Threat | None] | None = None

    @property
    def threat(self) -> Threat | None:
        """How the HVA of the side that orders can be attacked next, with the orders entered so far."""
        entry, live = self._session.entry, self._session.live
        if entry is None:
            return None
        key = len(live.timeline), entry.side, entry.orders
        if self._known is None or self._known[0] != key:
            self._known = key, hva_threat(live.timeline[-1].game, entry.side, entry.orders)
        return self._known[1]

    @property
    def danger(self) -> Tab:
        """The threat as a page."""
        return danger_tab(self.threat)

    def texts(self, index: int) -> tuple[str, ...]:
        """Return the note, in fewer and fewer words; none if there is nothing to say.

        Args:
            index: of the moment of the timeline that is shown.
        """
        if self._session.stage == "ordering" and self.threat is not None:
            return self.threat.texts
        turn = self._session.live.timeline.last_engagement(index)
        if turn is None:
            return ()
        side = self._session.side or (self._session.people or SIDES)[0]
        change = score_changes(*turn)[SIDES.index(side)]
        return str(change), f"{side} {change.total:+}"
