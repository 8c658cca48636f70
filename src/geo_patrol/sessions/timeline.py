"""The history of one game, live or recorded.

A ``Timeline`` is a sequence of ``Moment``s, each a position, its orders and their outcomes. A ``Snapshot`` is what one
picture of it shows: a position, what led there, and the score so far.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, overload

from geo_patrol.game import Game
from geo_patrol.notation import Order, Outcome, SatelliteId

BothOrders: TypeAlias = tuple[tuple[Order, ...], tuple[Order, ...]]
"""Orders of alpha and of bravo, without noops."""

NO_ORDERS: BothOrders = ((), ())


@dataclass(frozen=True)
class Moment:
    """A position and what was done in it.

    Attributes:
        game: the game as it stood before the orders, a copy of its own; not to be played on.
        orders: what alpha and bravo ordered; empty in the last moment of a timeline.
        outcomes: what became of them, if this was an engagement.
    """

    game: Game
    orders: BothOrders = NO_ORDERS
    outcomes: tuple[Outcome, ...] = ()


@dataclass(frozen=True)
class ScorePoint:
    """The score after a number of completed turns."""

    turns: int
    alpha: int
    bravo: int


@dataclass(frozen=True)
class Snapshot:
    """What a picture shows.

    Attributes:
        game: the position.
        before: the moment that led to it, from which the picture glides; None stands still.
        scores: the score at the start and after every turn up to here.
        outcomes: of the last engagement that was played, in this turn or the one before.
        outcomes_turn: the turn of that engagement; 0 before the first one.
        names: who plays alpha and bravo; empty names are not shown.
    """

    game: Game
    before: Moment | None = None
    scores: tuple[ScorePoint, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    outcomes_turn: int = 0
    names: tuple[str, str] = ("", "")

    @classmethod
    def of(cls, game: Game) -> "Snapshot":
        """Return the snapshot of a bare position: its past is not known but for its last outcomes."""
        turn = turns_played(game) if game.outcomes or game.phase == "movement" else 0
        return cls(game, scores=(score_point(game),), outcomes=game.outcomes, outcomes_turn=turn)


def turns_played(game: Game) -> int:
    """Return how many turns of a game have been scored."""
    return game.turn if game.is_over else game.turn - 1


class Timeline(Sequence[Moment]):
    """The moments of one game: it grows while the game is played and is complete for a recording.

    Args:
        game: the position to begin with; a copy is kept.
        names: who plays alpha and bravo.
    """

    def __init__(self, game: Game, names: tuple[str, str] = ("", "")) -> None:
        self.names = names
        self._moments = [Moment(game.copy())]
        self._scores = [score_point(game)]
        self._scores_until = [1]  # how many of the scores belong to each moment and those before it

    def append(self, orders: BothOrders, after: Game) -> Moment:
        """Complete the last moment with the orders given in it, and add the position that followed.

        Args:
            orders: of alpha and of bravo, without noops.
            after: the position after them, whose ``outcomes`` are those of these orders; a copy is kept.

        Returns:
            The moment that is complete now.
        """
        complete = replace(self._moments[-1], orders=orders, outcomes=after.outcomes)
        self._moments[-1] = complete
        self._moments.append(Moment(after.copy()))
        add_score(self._scores, after)
        self._scores_until.append(len(self._scores))
        return complete

    def __len__(self) -> int:
        return len(self._moments)

    @overload
    def __getitem__(self, index: int) -> Moment: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Moment]: ...

    def __getitem__(self, index: int | slice) -> Moment | Sequence[Moment]:
        """Return a moment, or several."""
        return self._moments[index]

    def __iter__(self) -> Iterator[Moment]:
        return iter(self._moments)

    @property
    def is_complete(self) -> bool:
        """Whether the last moment is the end of the game."""
        return self._moments[-1].game.is_over

    def snapshot(self, index: int) -> Snapshot:
        """Return what a picture of a moment shows: its position, reached from the moment before it.

        Args:
            index: of the moment, 0 the start; negative ones count from the end.

        Raises:
            IndexError: there is no such moment.
        """
        i = range(len(self))[index]
        last = self.last_engagement(i)
        return Snapshot(
            game=self._moments[i].game,
            before=self._moments[i - 1] if i else None,
            scores=tuple(self._scores[: self._scores_until[i]]),
            outcomes=last[0].outcomes if last else (),
            outcomes_turn=last[0].game.turn if last else 0,
            names=self.names,
        )

    def last_engagement(self, index: int) -> tuple[Moment, Game] | None:
        """Return the last engagement phase before a moment, and the position that followed; None before the first."""
        played = range(index - 1, max(index - 3, -1), -1)  # a turn has two phases
        found = next((i for i in played if self._moments[i].game.phase == "engagement"), None)
        return None if found is None else (self._moments[found], self._moments[found + 1].game)

    def next_engagement(self, index: int) -> int | None:
        """Return the index of the next moment after ``index`` that an engagement led to; None if there is none."""
        return next((i for i in range(index + 1, len(self)) if self._moments[i - 1].outcomes), None)

    def previous_engagement(self, index: int) -> int | None:
        """Return the index of the last moment before ``index`` that an engagement led to; None if there is none."""
        return next((i for i in range(index - 1, 0, -1) if self._moments[i - 1].outcomes), None)


def add_score(scores: list[ScorePoint], game: Game) -> None:
    """Add a position's score to those of the turns before it, if it was counted anew."""
    point = score_point(game)
    if point.turns > scores[-1].turns:
        scores.append(point)
    elif game.is_over:
        scores[-1] = point  # a forfeit counts at once


def score_point(game: Game) -> ScorePoint:
    """Return the score as it was last counted."""
    return ScorePoint(turns_played(game), game.scores["alpha"], game.scores["bravo"])


def intercepted_attacks(outcomes: Iterable[Outcome]) -> dict[SatelliteId, SatelliteId]:
    """Return the HVA that each attacker was aimed at before a guard took its attack."""
    return {one.attacker: one.target for one in outcomes if one.action == "guard" and one.success and one.attacker}
