"""The note for the person who plays: a hint, or danger to the own HVA, or why the own score changed in the last turn."""

from typing import TYPE_CHECKING, Literal, NamedTuple

from geo_patrol.sessions.advice import Hint, Threat, hva_choices, hva_threat, score_changes
from geo_patrol.sessions.game_pages import danger_tab
from geo_patrol.sessions.pages import Tab
from geo_patrol.sessions.play_session import PlaySession
from geo_patrol.sides import SIDES, Side

if TYPE_CHECKING:
    from geo_patrol.notation import Order


class Note(NamedTuple):
    """A note, in fewer and fewer words."""

    kind: Literal["hint", "danger", "score"]
    texts: tuple[str, ...]


class PlayNotes:
    """Notes about a game in progress; what was computed is kept until the position or the orders change.

    Args:
        session: the game.
    """

    def __init__(self, session: PlaySession) -> None:
        self._session = session
        self._hint: tuple[tuple[int, Side | None], Hint] | None = None
        self._known: tuple[tuple[int, Side, tuple[Order, ...]], Threat | None] | None = None

    @property
    def hint(self) -> Hint | None:
        """The hint for the side that orders; None in another position than the one it was found for."""
        return None if self._hint is None or self._hint[0] != self._position else self._hint[1]

    @hint.setter
    def hint(self, hint: Hint) -> None:
        self._hint = self._position, hint

    @property
    def _position(self) -> tuple[int, Side | None]:
        return len(self._session.live.timeline), self._session.side

    @property
    def threat(self) -> Threat | None:
        """How the HVA of the side that orders can be attacked next, with the orders entered so far."""
        entry, live = self._session.entry, self._session.live
        if entry is None:
            return None
        key = len(live.timeline), entry.side, entry.orders
        if self._known is None or self._known[0] != key:
            self._known = key, hva_threat(live.timeline[-1], entry.side, entry.orders)
        return self._known[1]

    @property
    def danger(self) -> Tab:
        """The threat as a page, with what the HVA can do about it."""
        entry, game = self._session.entry, self._session.live.timeline[-1]
        moves = () if entry is None or game.phase != "movement" else hva_choices(game, entry.side, entry.orders)
        return danger_tab(self.threat, moves)

    def note(self, index: int) -> Note | None:
        """Return what to say; None if there is nothing.

        Args:
            index: index of the position of the timeline that is shown.
        """
        session = self._session
        if session.stage == "ordering" and self.hint is not None:
            return Note("hint", self.hint.texts)
        if session.stage == "ordering" and self.threat is not None:
            return Note("danger", self.threat.texts)
        engagement = session.live.timeline.last_engagement(index)
        if engagement is None:
            return None
        side = session.side or (session.people or SIDES)[0]
        change = score_changes(engagement)[SIDES.index(side)]
        return Note("score", (str(change), f"{side} {change.total:+}"))
