"""``Table``: one game as the environments play it, with what they share: options, actions, infos, saves."""

import copy
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from geo_patrol.config.presets import ConfigSource, Overrides, load_config
from geo_patrol.engine import state
from geo_patrol.engine.batch import Batch, check_seed, fresh_seed
from geo_patrol.engine.encodings import Encoding, check_encoding, observation_size, observation_type, sector_slots
from geo_patrol.engine.episodes import seed_opponent, seed_sampler
from geo_patrol.engine.sample import next_key, sample_orders_of_games
from geo_patrol.engine.state import ORDERS, SATELLITES, SIDES
from geo_patrol.engine.turn import ALPHA_SCORE, BRAVO_SCORE, OUTCOMES, REPORT, WINNER, describe_games, step_games
from geo_patrol.errors import RecordingError
from geo_patrol.game import Game
from geo_patrol.saving import check_saved, restore_game, save_game

Reward: TypeAlias = Literal["score", "outcome"]
MaskIn: TypeAlias = Literal["obs", "info", "none"]
ALPHA, BRAVO = "alpha", "bravo"

_MASKS_SHAPE = (1, SIDES, SATELLITES, ORDERS)
_MASK_TYPE = np.dtype(np.int8)
_MASK_WORD = np.dtype(np.int32)
_ORDERS_SHAPE = (1, SIDES, SATELLITES)
_ORDER_TYPE = np.dtype(np.int64)

View: TypeAlias = tuple[NDArray[Any], NDArray[np.int8], list[int]]
"""Observations (1, 2, size), action masks (1, 2, 11, 28), and the report that ``write_report`` writes."""


_Stream = Annotated[list[Annotated[int, Field(ge=0, lt=2**64)]], Field(min_length=2, max_length=2)]
_Orders = Annotated[list[Annotated[int, Field(ge=0, lt=ORDERS)]], Field(min_length=SATELLITES, max_length=SATELLITES)]


_OUTCOME_OF_WINNER = {state.ALPHA: 1.0, state.BRAVO: -1.0, state.NOBODY: 0.0}


class _SavedTable(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    format: Literal["geo_patrol environment"]
    version: Annotated[int, Field(ge=1, le=1)]
    game: dict[str, Any]
    sampler: _Stream
    opponent: _Stream
    sampled: Annotated[list[_Orders], Field(min_length=SIDES, max_length=SIDES)] | None
    cycles: Annotated[int, Field(ge=0, lt=2**31)]
    difference: Annotated[int, Field(gt=-(2**31), lt=2**31)]


class Table:
    """One game, its observations and rewards.

    Args:
        config: a preset's name, a path, a mapping or a ``GameConfig``.
        overrides: single values of the configuration.
        encoding: of the observations.
        reward: "score" (change of the score difference) or "outcome" (-1, 0 or 1 at the end).
        mask_in: where the environment hands out action masks.
        max_cycles: phases after which an unfinished game is truncated; None never does.

    Raises:
        ConfigError, ValueError: an argument is wrong.
    """

    def __init__(
        self,
        config: ConfigSource,
        overrides: Overrides | None,
        encoding: Encoding,
        reward: Reward,
        mask_in: MaskIn,
        max_cycles: int | None,
    ) -> None:
        check_encoding(encoding)
        check_choice("reward", reward, get_args(Reward))
        check_choice("mask_in", mask_in, get_args(MaskIn))
        check_max_cycles(max_cycles)
        self.config = load_config(config, overrides)
        self.batch = Batch(self.config)
        self.encoding, self.reward, self.mask_in, self.max_cycles = encoding, reward, mask_in, max_cycles
        outer_ring = self.config.board.outer_ring
        self._slots = sector_slots(encoding, outer_ring)
        self._observation_shape = (1, SIDES, observation_size(encoding, outer_ring))
        self._observation_type = np.dtype(observation_type(encoding))
        self._report = np.empty((1, REPORT), np.int64)
        self.is_seeded = False
        self.cycles = 0
        self._difference = 0
        self._outcome_count = 0
        self._sampler = np.zeros((1, 2), np.uint64)  # key, counter
        self._opponent = np.zeros(2, np.uint64)  # key, counter
        self._sampled: NDArray[np.int64] | None = None  # drawn in the last step already, as it costs little there

    def reset(self, seed: int | None) -> View:
        """Begin a new game; without a seed, the stream of the game before goes on.

        Raises:
            ValueError: the seed is negative or not a whole number.
        """
        if seed is not None or not self.is_seeded:
            seed = fresh_seed() if seed is None else check_seed(seed)
            self.batch.seed([seed])
            seed_sampler(self._sampler[0], np.uint64(seed % 2**64))
            seed_opponent(self._opponent, np.uint64(seed % 2**64))
            self.is_seeded = True
        self.batch.reset()
        self._sampled = None
        self._outcome_count = 0
        self.cycles = 0
        self._difference = 0
        return self.view()

    def view(self) -> View:
        """Return observations (1, 2, size), masks (1, 2, 11, 28) and the report of the game as it stands."""
        observations = np.empty(self._observation_shape, self._observation_type)
        masks = np.empty(_MASKS_SHAPE, _MASK_TYPE)
        batch = self.batch
        figures = batch.rule_figures(self.encoding)
        described = (masks.view(_MASK_WORD), observations, self._report)
        describe_games(batch.games, batch.rules, self._slots, figures, batch.legal, *described)
        return observations, masks, self._report[0].tolist()

    def step(self, orders: NDArray[np.int64]) -> View:
        """Play a phase with orders (1, 2, 11), and return what ``view`` does; the arrays are new ones."""
        observations = np.empty(self._observation_shape, self._observation_type)
        masks = np.empty(_MASKS_SHAPE, _MASK_TYPE)
        self._sampled = sampled = np.empty(_ORDERS_SHAPE, _ORDER_TYPE)
        batch, report = self.batch, self._report
        step_games(
            batch.games,
            batch.rules,
            orders,
            batch.outcomes,
            self._slots,
            batch.rule_figures(self.encoding),
            batch.legal,
            masks.view(_MASK_WORD),
            observations,
            report,
            self._sampler,
            sampled,
        )
        self.cycles += 1
        described = report[0].tolist()
        self._outcome_count = described[OUTCOMES]
        return observations, masks, described

    def game(self) -> Game:
        """Return a copy of the game, with the outcomes of the last engagement.

        Raises:
            RuntimeError: no game has begun.
        """
        self.check_begun()
        return Game.from_batch(self.batch, self._outcome_count)

    def check_begun(self) -> None:
        """Raise RuntimeError if ``reset`` was never called."""
        if not self.is_seeded:
            raise RuntimeError("call reset first")

    @property
    def is_out_of_cycles(self) -> bool:
        """Whether as many phases have been played as there may be."""
        return self.max_cycles is not None and self.cycles >= self.max_cycles

    @property
    def is_terminated(self) -> bool:
        """Whether the game has ended by the rules."""
        return bool(self.batch.games[0].done)

    @property
    def is_over(self) -> bool:
        """Whether nothing more can be played, by the rules or for lack of cycles."""
        return self.is_terminated or self.is_out_of_cycles

    def rewards(self, report: list[int]) -> tuple[float, float]:
        """Return the zero-sum rewards of the phase just played."""
        if self.reward == "outcome":
            alpha = _OUTCOME_OF_WINNER[report[WINNER]]
        else:
            difference = report[ALPHA_SCORE] - report[BRAVO_SCORE]
            alpha = float(difference - self._difference)
            self._difference = difference
        return alpha, -alpha if alpha else 0.0

    def sample_orders(self) -> NDArray[np.int64]:
        """Draw legal orders for both sides, (1, 2, 11), from a stream of their own: the game's chance is left alone."""
        orders = self._sampled
        if orders is None:
            self.check_begun()
            orders = np.empty(_ORDERS_SHAPE, _ORDER_TYPE)
            sample_orders_of_games(self.batch.legal, self._sampler, orders)
        self._sampled = None
        return orders

    def opponent_key(self) -> np.uint64:
        """Return where an opponent's chance comes from in this phase: the next number of a stream of its own."""
        return np.uint64(next_key(self._opponent))

    def save(self) -> dict[str, Any]:
        """Return the game, its chance and the sampler's as plain data that ``json.dumps`` takes.

        Raises:
            RecordingError: no game has begun.
        """
        if not self.is_seeded:
            raise RecordingError("nothing to save: call reset first")
        return {
            "format": "geo_patrol environment",
            "version": 1,
            "game": save_game(self.batch),
            "sampler": self._sampler[0].tolist(),
            "opponent": self._opponent.tolist(),
            "sampled": None if self._sampled is None else self._sampled[0].tolist(),
            "cycles": self.cycles,
            "difference": self._difference,
        }

    def restored(self, saved: Mapping[str, Any]) -> "Table":
        """Return a table like this one with a saved game on it; it must have been saved with the same configuration.

        Raises:
            RecordingError: the data are none, damaged, or of another configuration.
        """
        data = check_saved(_SavedTable, saved, "saved environment")
        batch = restore_game(data.game)
        if batch.config != self.config:
            raise RecordingError("saved environment: it was saved with another configuration")
        table = copy.copy(self)
        table.batch = batch
        table._sampler = np.array([data.sampler], np.uint64)
        table._opponent = np.array(data.opponent, np.uint64)
        table._sampled = None if data.sampled is None else np.array([data.sampled], _ORDER_TYPE)
        table._outcome_count = 0
        table.cycles, table._difference, table.is_seeded = data.cycles, data.difference, True
        return table


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise ValueError for a value that is none of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} = {value!r}: give {' or '.join(map(repr, choices))}")


def check_max_cycles(max_cycles: Any) -> None:
    """Raise ValueError for what is neither None nor a positive whole number."""
    if max_cycles is not None and (isinstance(max_cycles, bool) or not isinstance(max_cycles, int) or max_cycles < 1):
        raise ValueError(f"max_cycles = {max_cycles!r}: give a whole number from 1, or None")


def check_orders(actions: Any, agent: str) -> NDArray[Any]:
    """Return one side's orders as eleven whole numbers; which codes are legal is the engine's business.

    Raises:
        ValueError: another shape, or not whole numbers.
    """
    orders = np.asarray(actions)
    if orders.shape != (SATELLITES,):
        raise ValueError(f"action of {agent} has shape {orders.shape}: give {SATELLITES} order codes, one a satellite")
    if orders.dtype.kind == "f" and np.isfinite(orders).all() and (orders == np.floor(orders)).all():
        orders = np.clip(orders, -1, ORDERS)
    elif orders.dtype.kind == "u":
        orders = np.minimum(orders, ORDERS)
    elif orders.dtype.kind != "i":
        raise ValueError(f"action of {agent} = {str(actions)[:80]}: give whole numbers, not {orders.dtype}")
    return orders.astype(np.int64)
