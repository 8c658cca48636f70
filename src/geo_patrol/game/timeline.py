"""What was played of a game: its positions and the phases between them (``Timeline``).

A ``Snapshot`` is what one picture of it shows: a position, the phase that led there, and the score so far.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, overload

from geo_patrol.base.sides import Side
from geo_patrol.game.game import Game, Phase
from geo_patrol.game.notation import EndReason, Order, Outcome, Result

BothOrders: TypeAlias = tuple[tuple[Order, ...], tuple[Order, ...]]
"""Orders of alpha and of bravo, without noops."""

NO_ORDERS: BothOrders = ((), ())


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
        last_phase: the phase that led to it, through which the picture glides; None stands still.
        scores: the score at the start and after every turn up to here.
        outcomes: outcomes of the last engagement that was played, in this turn or the one before.
        outcomes_turn: the turn of that engagement; 0 before the first one.
        outcomes_orders: the orders of that engagement, where they are known.
        names: who plays alpha and bravo; empty names are not shown.
        result: how the game ended there; None if it goes on.
    """

    game: Game
    last_phase: Phase | None = None
    scores: tuple[ScorePoint, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    outcomes_turn: int = 0
    outcomes_orders: BothOrders = NO_ORDERS
    names: tuple[str, str] = ("", "")
    result: Result | None = None

    @classmethod
    def of(cls, game: Game) -> "Snapshot":
        """Return the snapshot of a bare position: its past is not known but for its last outcomes."""
        turn = turns_played(game) if game.outcomes or game.phase == "movement" else 0
        return cls(game, scores=(score_point(game),), outcomes=game.outcomes, outcomes_turn=turn, result=game.result)


def turns_played(game: Game) -> int:
    """Return how many turns of a game have been scored."""
    return game.turn if game.is_over else game.turn - 1


class Timeline(Sequence[Game]):
    """The positions of one game, the first one before any order: it grows while the game is played.

    Args:
        game: the position to begin with; a copy is kept.
        names: who plays alpha and bravo.

    Attributes:
        phases: the phases that were played; ``phases[i]`` led from position i to position i + 1.
        settled: why the game was ended that the rules would let go on: somebody resigned, for instance. None otherwise.
    """

    def __init__(self, game: Game, names: tuple[str, str] = ("", "")) -> None:
        self.names = names
        self.phases: list[Phase] = []
        self.settled: EndReason | None = None
        self._games = [game.copy()]
        self._scores = [score_point(game)]
        self._scores_until = [1]  # how many of the scores belong to each position and those before it

    def append(self, phase: Phase) -> None:
        """Add a phase that was played, and the position that followed."""
        self.phases.append(phase)
        self._games.append(phase.after)
        add_score(self._scores, phase.after)
        self._scores_until.append(len(self._scores))

    def seen_by(self, side: Side) -> "Timeline":
        """Return the timeline as a side knows it; it does not grow with this one."""
        seen = Timeline(self[0].seen_by(side), self.names)
        for phase in self.phases:
            seen.append(phase.seen_by(side))
        return seen

    def __len__(self) -> int:
        return len(self._games)

    @overload
    def __getitem__(self, index: int) -> Game: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Game]: ...

    def __getitem__(self, index: int | slice) -> Game | Sequence[Game]:
        """Return a position, or several."""
        return self._games[index]

    def __iter__(self) -> Iterator[Game]:
        return iter(self._games)

    @property
    def is_complete(self) -> bool:
        """Whether the last position is the end of the game."""
        return self._games[-1].is_over or self.settled is not None

    @property
    def result(self) -> Result | None:
        """How the game ended; None while it goes on."""
        return self._games[-1].result if self.settled is None else self.settled.result

    @property
    def winner(self) -> Side | None:
        """Who won; None for a draw, and while the game goes on."""
        return None if self.result is None else self.result.winner

    @property
    def reasons(self) -> tuple[EndReason, ...]:
        """Why the game ended; empty while it goes on."""
        return () if self.result is None else self.result.reasons

    def snapshot(self, index: int) -> Snapshot:
        """Return what a picture of a position shows, reached by the phase before it.

        Args:
            index: index of the position, 0 the start; negative ones count from the end.

        Raises:
            IndexError: there is no such position.
        """
        i = range(len(self))[index]
        last = self.last_engagement(i)
        return Snapshot(
            game=self._games[i],
            last_phase=self.phases[i - 1] if i else None,
            scores=tuple(self._scores[: self._scores_until[i]]),
            outcomes=last.outcomes if last else (),
            outcomes_turn=last.turn if last else 0,
            outcomes_orders=last.orders if last else NO_ORDERS,
            names=self.names,
            result=self.result if i == len(self) - 1 else None,
        )

    def last_engagement(self, index: int) -> Phase | None:
        """Return the last engagement phase before a position; None before the first."""
        played = self.phases[max(index - 2, 0) : index]  # a turn has two phases
        return next((phase for phase in reversed(played) if phase.name == "engagement"), None)

    def next_engagement(self, index: int) -> int | None:
        """Return the index of the next position after ``index`` that an engagement led to; None if there is none."""
        return next((i for i in range(index + 1, len(self)) if self.phases[i - 1].outcomes), None)

    def previous_engagement(self, index: int) -> int | None:
        """Return the index of the last position before ``index`` that an engagement led to; None if there is none."""
        return next((i for i in range(index - 1, 0, -1) if self.phases[i - 1].outcomes), None)


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
