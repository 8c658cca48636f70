"""Playing a game again from the orders that were given in it."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geo_patrol.config import GameConfig
from geo_patrol.engine.batch import Batch
from geo_patrol.engine.state import ALPHA, BRAVO, NOOP
from geo_patrol.engine.turn import play_phase
from geo_patrol.game import Game
from geo_patrol.notation import Order, Outcome, read_outcomes


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


def replay(config: GameConfig, seed: int, orders: NDArray[np.int64]) -> Iterator[PlayedPhase]:
    """Play a game again from the orders that were given in it.

    Args:
        config: what was played.
        seed: the game's own, as in ``MatchResult.seeds``.
        orders: (phases, 2, 11) order codes, as in ``MatchResult.first_game``.

    Yields:
        Every phase in turn.
    """
    batch = Batch(config)
    batch.seed([seed])
    batch.reset()
    record, rules = batch.games[0], batch.rules[0]
    for given in orders:
        before = Game.from_batch(batch)
        carried_out = given.copy()
        count = int(play_phase(record, rules, carried_out, batch.outcomes))  # strikes illegal orders
        yield PlayedPhase(
            turn=before.turn,
            name=before.phase,
            orders=(_as_orders(carried_out[ALPHA]), _as_orders(carried_out[BRAVO])),
            illegal_orders=(int(record.illegal_orders[ALPHA]), int(record.illegal_orders[BRAVO])),
            outcomes=read_outcomes(batch.outcomes, count),
            game=Game.from_batch(batch),
        )


def _as_orders(codes: NDArray[np.int64]) -> tuple[Order, ...]:
    return tuple(Order.from_code(number, int(code)) for number, code in enumerate(codes) if code != NOOP)
