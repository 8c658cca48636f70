"""A batch of games with their rules: what ``Game`` and the environments hold, one game or many."""

import copy
import operator
import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.config.schema import GameConfig
from geo_patrol.engine.encodings import (
    RULE_FIGURES,
    Encoding,
    check_encoding,
    observation_size,
    observation_type,
    sector_slots,
)
from geo_patrol.engine.legal_sets import write_legal_sets_of_games, write_masks
from geo_patrol.engine.observe import observe_games, write_rule_figures_of_games
from geo_patrol.engine.setup import (
    Scenario,
    Slots,
    as_slots,
    compile_scenario,
    reset_games,
    seed_games,
    set_up_games,
)
from geo_patrol.engine.state import GAME, MAX_OUTCOMES, ORDERS, OUTCOME, RULES, SATELLITES, SIDES, records


def fresh_seed() -> int:
    """Return a seed from the operating system's randomness."""
    return secrets.randbits(63)


def check_seed(seed: Any) -> int:
    """Return a seed as a whole number.

    Raises:
        ValueError: it is negative or not whole.
    """
    try:
        number = operator.index(seed)
    except TypeError:
        number = -1
    if isinstance(seed, (bool, np.bool_)) or number < 0:
        raise ValueError(f"seed = {seed!r}: give a whole number from 0 on")
    return number


class Batch:
    """Games side by side. Game i with a seed is, bit for bit, the game that a batch of one plays with it."""

    def __init__(self, config: GameConfig, count: int = 1) -> None:
        self.config = config
        self.scenario: Scenario = compile_scenario(config)
        self.games = records(GAME, count)
        self.rules = records(RULES, count if config.is_randomized else 1)
        self.outcomes = records(OUTCOME, MAX_OUTCOMES)
        self.legal = np.zeros((count, SIDES, SATELLITES), np.int32)
        """The sets of legal orders as the games stand: resets and steps keep them, ``find_legal`` does after the rest."""
        self._rule_figures: dict[Encoding, NDArray[Any]] = {}
        self._all = np.ones(count, np.bool_)

    def __len__(self) -> int:
        return len(self.games)

    @property
    def slots(self) -> Slots:
        """The rules as rows of slots, the same memory."""
        return as_slots(self.rules)

    def copy(self) -> "Batch":
        """Return an independent copy, random streams included."""
        twin = copy.copy(self)
        twin.games = self.games.copy()
        twin.rules = self.rules.copy()
        twin.outcomes = self.outcomes.copy()
        twin.legal = self.legal.copy()
        twin._rule_figures = {encoding: figures.copy() for encoding, figures in self._rule_figures.items()}
        return twin

    def single(self, place: int) -> "Batch":
        """Return one game as an independent batch of one."""
        twin = Batch(self.config)
        twin.games[:] = self.games[place : place + 1]
        twin.rules[:] = self.rules[place : place + 1] if len(self.rules) > 1 else self.rules
        twin.find_legal()
        return twin

    def seed(self, seeds: Sequence[int]) -> None:
        """Start the random stream of every game afresh, each from its own seed."""
        self.seed_marked(np.array([seed % 2**64 for seed in seeds], np.uint64), self._all)

    def seed_marked(self, seeds: NDArray[np.uint64], which: NDArray[np.bool_]) -> None:
        """Start the random streams of the games that ``which``, (n,), marks, each from its own seed, (n,)."""
        seed_games(self.games, seeds, which)

    def reset(self, which: NDArray[np.bool_] | None = None) -> None:
        """Set up anew the games that ``which``, (n,), marks, or all; their random streams go on."""
        which = self._all if which is None else which
        reset_games(self.games, self.scenario, self.rules, self.slots, which)
        self.write_rule_figures(which)
        self.find_legal()

    def set_up_again(self) -> None:
        """Set all games up as their setup keys say, as for a saved game that goes on."""
        set_up_games(self.games, self.scenario, self.rules, self.slots)
        self.write_rule_figures(self._all)

    def write_rule_figures(self, which: NDArray[np.bool_]) -> None:
        """Write what observations tell of the rules, for the games that ``which``, (n,), marks."""
        for encoding, figures in self._rule_figures.items():
            slots = sector_slots(encoding, self.config.board.outer_ring)
            write_rule_figures_of_games(self.rules, slots, figures, which)

    def rule_figures(self, encoding: Encoding) -> NDArray[Any]:
        """Return what observations tell of the rules, (n or 1, 2, RULE_FIGURES); it is kept up at every reset."""
        if encoding not in self._rule_figures:
            figures = np.empty((len(self.rules), SIDES, RULE_FIGURES), observation_type(encoding))
            slots = sector_slots(encoding, self.config.board.outer_ring)
            write_rule_figures_of_games(self.rules, slots, figures, self._all)
            self._rule_figures[encoding] = figures
        return self._rule_figures[encoding]

    def find_legal(self) -> None:
        """Write the sets of legal orders, ``legal``, for the games as they stand."""
        write_legal_sets_of_games(self.games, self.rules, self.legal)

    def masks(self) -> NDArray[np.int8]:
        """Return the legal orders of both sides of every game: (n, 2, 11, 28), 1 where legal."""
        legal = np.empty((len(self) * SIDES, SATELLITES), np.int32)
        masks = np.empty((len(self) * SIDES, SATELLITES, ORDERS), np.int8)
        write_legal_sets_of_games(self.games, self.rules, legal.reshape(len(self), SIDES, SATELLITES))
        write_masks(legal, masks.view(np.int32))
        return masks.reshape(len(self), SIDES, SATELLITES, ORDERS)

    def observe(self, encoding: Encoding) -> NDArray[Any]:
        """Return what both sides of every game see: (n, 2, size), float32 ("onehot") or int16 ("tokens").

        Raises:
            ValueError: there is no such encoding.
        """
        check_encoding(encoding)
        outer_ring = self.config.board.outer_ring
        shape = (len(self), SIDES, observation_size(encoding, outer_ring))
        observations = np.empty(shape, observation_type(encoding))
        slots, rule_figures = sector_slots(encoding, outer_ring), self.rule_figures(encoding)
        observe_games(self.games, self.rules, slots, rule_figures, observations)
        return observations
