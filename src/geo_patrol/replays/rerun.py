"""Playing a game again from its seed and the orders that were given in it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.config.schema import GameConfig
from geo_patrol.engine.batch import Batch
from geo_patrol.engine.state import ALPHA, BRAVO, NOOP
from geo_patrol.engine.turn import play_phase
from geo_patrol.game import Game
from geo_patrol.notation import Order, Outcome, read_outcomes
from geo_patrol.verify.games import play_given


@dataclass(frozen=True)
class PlayedPhase:
    """A decision phase of a replayed game.

    Attributes:
        turn: its turn, from 1.
        name: "movement" or "engagement".
        orders: what alpha and bravo ordered, without noops and illegal orders.
        illegal_orders: how many of alpha's and bravo's orders were illegal.
        outcomes: what became of an engagement.
        game: the position after it, a copy.
    """

    turn: int
    name: str
    orders: tuple[tuple[Order, ...], tuple[Order, ...]]
    illegal_orders: tuple[int, int]
    outcomes: tuple[Outcome, ...]
    game: Game


class Rerun:
    """A game that is played again, phase by phase.

    Args:
        config: what was played.
        seed: the game's own, as ``Game`` takes it.

    Attributes:
        batch: the game as it stands, a batch of one.
    """

    def __init__(self, config: GameConfig, seed: int) -> None:
        self.batch = Batch(config)
        self.begin(seed)

    def begin(self, seed: int) -> None:
        """Set the game up, as often as you like."""
        self.batch.seed([seed])
        self.batch.reset()

    @property
    def game(self) -> Game:
        """The game as it stands, a copy."""
        return Game.from_batch(self.batch)

    def play(self, codes: NDArray[np.integer[Any]]) -> tuple[Outcome, ...]:
        """Play a phase with (2, 11) order codes; illegal ones count as noop. Return the outcomes."""
        return read_outcomes(self.batch.outcomes, self._play(codes.astype(np.int64)))

    def show(self, codes: NDArray[np.integer[Any]], outcomes: Sequence[Outcome] | None = None) -> PlayedPhase:
        """Play a phase, and tell all about it.

        Args:
            codes: (2, 11) order codes; illegal ones count as noop.
            outcomes: what became of an engagement; None draws it from the game's chance.

        Raises:
            Difference: outcomes are given that cannot have come from the orders.
        """
        before, carried_out = self.game, codes.astype(np.int64)
        if outcomes is None:
            count = self._play(carried_out)
        else:
            play_given(self.batch, carried_out, outcomes)
            count = len(outcomes)
        illegal = self.batch.games[0].illegal_orders
        return PlayedPhase(
            turn=before.turn,
            name=before.phase,
            orders=(as_orders(carried_out[ALPHA]), as_orders(carried_out[BRAVO])),
            illegal_orders=(int(illegal[ALPHA]), int(illegal[BRAVO])),
            outcomes=read_outcomes(self.batch.outcomes, count),
            game=Game.from_batch(self.batch, count),
        )

    def _play(self, codes: NDArray[np.int64]) -> int:
        """Play a phase, and strike what is illegal from its orders."""
        return int(play_phase(self.batch.games[0], self.batch.rules[0], codes, self.batch.outcomes))


def replay(config: GameConfig, seed: int, orders: Iterable[NDArray[np.integer[Any]]]) -> Iterator[PlayedPhase]:
    """Play a game again from the orders that were given in it.

    Args:
        config: what was played.
        seed: the game's own, as in ``MatchResult.seeds``.
        orders: (phases, 2, 11) order codes, as in ``MatchResult.first_game``.

    Yields:
        Every phase in turn.
    """
    rerun = Rerun(config, seed)
    for codes in orders:
        yield rerun.show(codes)


def as_orders(codes: NDArray[np.int64]) -> tuple[Order, ...]:
    """Return one side's order codes as orders, without noops."""
    return tuple(Order.from_code(number, int(code)) for number, code in enumerate(codes) if code != NOOP)
