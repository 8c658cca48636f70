"""Copies of one position, played on side by side to the end of a turn."""

import numpy as np
from numpy.typing import NDArray

from geo_patrol.engine.batch import Batch
from geo_patrol.engine.drift import winner_of
from geo_patrol.engine.encodings import NO_SLOTS, RULE_FIGURES, TOKEN_SIZE
from geo_patrol.engine.legal_sets import MASK_WORDS, write_legal_sets_of_games
from geo_patrol.engine.observe import write_rule_figures_of_games
from geo_patrol.engine.rng import mix, stream_number
from geo_patrol.engine.state import (
    GAME,
    MAX_OUTCOMES,
    NOBODY,
    ORDERS,
    OUTCOME,
    SATELLITES,
    SIDES,
    Record,
    Records,
    records,
)
from geo_patrol.engine.turn import REPORT, step_games
from geo_patrol.jit import jit


@jit
def outcome_of(game: Record, side: int) -> float:
    """Return the value of a finished game to a side: 1 won, 0 drawn, -1 lost."""
    winner = winner_of(game)
    return 0.0 if winner == NOBODY else 1.0 if winner == side else -1.0


@jit
def copy_position(root: Records, key: np.uint64, first: int, abreast: int, games: Records) -> None:
    """Fill games with copies of a position, (1,): so many abreast, one for each candidate, have the same chance."""
    for place in range(len(games)):
        games[place] = root[0]
        games[place].chance_key = mix(stream_number(key, np.uint64(first + place // abreast)))
        games[place].chance_counter = np.uint64(0)


@jit
def write_outcomes(games: Records, side: int, values: NDArray[np.float64]) -> None:
    """Replace the estimates of finished games, (n,), by their outcomes."""
    for place in range(len(games)):
        if games[place].done:
            values[place] = outcome_of(games[place], side)


class Branches:
    """Copies of one position, played on side by side.

    Args:
        batch: the position, a batch of one; not modified.
        side: the planning side.
        key: the random key of all branches.
    """

    def __init__(self, batch: Batch, side: int, key: np.uint64) -> None:
        self._root, self._rules, self.side, self._key = batch.games, batch.rules, side, key
        root, rules = batch.games, batch.rules
        self._figures = np.empty((1, SIDES, RULE_FIGURES), np.int16)
        write_rule_figures_of_games(rules, NO_SLOTS, self._figures, np.ones(1, np.bool_))
        self._legal_at_root = np.empty((1, SIDES, SATELLITES), np.int32)
        write_legal_sets_of_games(root, rules, self._legal_at_root)
        self._outcomes = records(OUTCOME, MAX_OUTCOMES)
        self.phase = int(root[0].phase)
        """The phase that is played first, MOVEMENT or ENGAGEMENT."""
        self.begin(0, 0, 1)

    def __len__(self) -> int:
        return len(self._games)

    def begin(self, first: int, samples: int, abreast: int) -> None:
        """Take samples * abreast copies; those abreast meet the same chance, which the sample's number gives.

        Args:
            first: the number of the first sample.
            samples: how many of them.
            abreast: copies of each.
        """
        count = samples * abreast
        self._games = records(GAME, count)
        copy_position(self._root, self._key, first, abreast, self._games)
        self._legal = np.repeat(self._legal_at_root, count, axis=0)
        self.observations = np.empty((count, SIDES, TOKEN_SIZE), np.int16)
        """What both sides see in each copy once it was played on, (n, 2, size), in tokens."""
        self._mask_words = np.empty((count, SIDES, SATELLITES, MASK_WORDS), np.int32)
        self._reports = np.empty((count, REPORT), np.int64)
        self._streams, self._no_orders = np.zeros((count, 2), np.uint64), np.empty((0, SIDES, SATELLITES), np.int64)

    @property
    def masks(self) -> NDArray[np.int8]:
        """The legal orders of both sides of each copy, (n, 2, 11, 28), once it was played on."""
        return self._mask_words.view(np.int8).reshape(-1, SIDES, SATELLITES, ORDERS)

    def play(self, orders: NDArray[np.int64]) -> None:
        """Play one phase of all copies with the orders of both sides, (n, 2, 11)."""
        step_games(
            self._games,
            self._rules,
            orders,
            self._outcomes,
            NO_SLOTS,
            self._figures,
            self._legal,
            self._mask_words,
            self.observations,
            self._reports,
            self._streams,
            self._no_orders,
        )

    def put_outcomes(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return estimates, (n,), with what is known of finished games in their place."""
        write_outcomes(self._games, self.side, values)
        return values
