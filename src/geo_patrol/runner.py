"""Advancing one game phase by phase from order codes: what live games, recorders and replays share."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.config.schema import GameConfig
from geo_patrol.engine.batch import Batch
from geo_patrol.game import Game
from geo_patrol.notation import PHASES, Order, Outcome, PhaseName, read_orders, read_outcomes


@dataclass(frozen=True)
class PlayedPhase:
    """A decision phase that was played.

    Attributes:
        turn: turn number, from 1.
        name: "movement" or "engagement".
        orders: legal orders of alpha and bravo, without noops.
        illegal_orders: number of illegal orders of alpha and bravo.
        outcomes: outcomes of an engagement.
        game: the position after the phase, a copy.
    """

    turn: int
    name: PhaseName
    orders: tuple[tuple[Order, ...], tuple[Order, ...]]
    illegal_orders: tuple[int, int]
    outcomes: tuple[Outcome, ...]
    game: Game


class GameRunner:
    """One game that is advanced by order codes.

    Args:
        config: configuration of the game.
        seed: seed of the game, as for ``Game``.

    Attributes:
        batch: the current state, a batch of one.
    """

    def __init__(self, config: GameConfig, seed: int) -> None:
        self.batch = Batch(config)
        self.reset(seed)

    def reset(self, seed: int) -> None:
        """Set up a new game with a seed of its own."""
        self.batch.seed([seed])
        self.batch.reset()
        self.batch.describe()

    @property
    def game(self) -> Game:
        """The current position, a copy."""
        return Game.from_batch(self.batch)

    @property
    def turn(self) -> int:
        """The current turn, from 1."""
        return int(self.batch.games["turn"][0]) + 1

    @property
    def phase(self) -> PhaseName:
        """The current phase; "drift" when the game is over."""
        return PHASES[int(self.batch.games["phase"][0])]

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return bool(self.batch.games["done"][0])

    def play(self, codes: NDArray[np.integer[Any]]) -> tuple[Outcome, ...]:
        """Play a phase and return its outcomes; quicker than ``step``.

        Args:
            codes: (2, 11) order codes; illegal ones count as noop.
        """
        self.batch.step(codes.astype(np.int64))
        return read_outcomes(self.batch.outcomes, self.batch.outcome_count)

    def step(self, codes: NDArray[np.integer[Any]]) -> PlayedPhase:
        """Play a phase.

        Args:
            codes: (2, 11) order codes; illegal ones count as noop.
        """
        turn, phase, legal_codes = self.turn, self.phase, self.batch.legal_actions(codes)[0]
        self.batch.step(codes.astype(np.int64))
        return self.played(turn, phase, legal_codes, self.batch.outcome_count)

    def played(self, turn: int, phase: PhaseName, codes: NDArray[np.int64], outcome_count: int) -> PlayedPhase:
        """Describe the phase that led to the current state.

        Args:
            turn: turn of the phase, from 1.
            phase: name of the phase.
            codes: (2, 11) codes of the legal orders.
            outcome_count: number of outcomes in ``batch.outcomes``.
        """
        illegal = self.batch.games["illegal_orders"][0].tolist()
        return PlayedPhase(
            turn=turn,
            name=phase,
            orders=(tuple(read_orders(codes[0])), tuple(read_orders(codes[1]))),
            illegal_orders=(illegal[0], illegal[1]),
            outcomes=read_outcomes(self.batch.outcomes, outcome_count),
            game=Game.from_batch(self.batch),
        )


def replay_orders(config: GameConfig, seed: int, orders: Iterable[NDArray[np.integer[Any]]]) -> Iterator[PlayedPhase]:
    """Play a game again from its orders.

    Args:
        config: configuration of the game.
        seed: seed of the game, as in ``MatchResult.seeds``.
        orders: (phases, 2, 11) order codes, as in ``MatchResult.first_game``.

    Yields:
        Every phase in turn.
    """
    runner = GameRunner(config, seed)
    for codes in orders:
        yield runner.step(codes)
