"""One game as the single environments play it: a batch of one, with the environments' options and saves."""

import copy
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from geo_patrol.config.presets import ConfigSource, Overrides, load_config
from geo_patrol.engine.batch import Batch, check_seed, fresh_seed
from geo_patrol.engine.encodings import Encoding, check_encoding
from geo_patrol.engine.rng import next_key
from geo_patrol.engine.state import ORDERS, SATELLITES, SIDES
from geo_patrol.envs.arguments import MaskIn, Reward, check_options
from geo_patrol.errors import RecordingError
from geo_patrol.game import Game
from geo_patrol.saving import check_saved, restore_game, save_game

ALPHA, BRAVO = "alpha", "bravo"

_ACTIONS_SHAPE = (SIDES, SATELLITES)

View: TypeAlias = tuple[NDArray[Any], NDArray[np.int8], NDArray[np.void]]
"""Observations (2, size), action masks (2, 11, 28), and results (2,), dtype ``episodes.RESULT``."""

_Stream = Annotated[list[Annotated[int, Field(ge=0, lt=2**64)]], Field(min_length=2, max_length=2)]
_Orders = Annotated[list[Annotated[int, Field(ge=0, lt=ORDERS)]], Field(min_length=SATELLITES, max_length=SATELLITES)]


class _SavedEnvironment(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    format: Literal["geo_patrol environment"]
    version: Annotated[int, Field(ge=1, le=1)]
    game: dict[str, Any]
    sampler: _Stream
    opponent: _Stream
    sampled: Annotated[list[_Orders], Field(min_length=SIDES, max_length=SIDES)] | None
    cycles: Annotated[int, Field(ge=0, lt=2**31)]
    difference: Annotated[int, Field(gt=-(2**31), lt=2**31)]


class SingleGame:
    """One game of an environment.

    Args:
        config: a preset's name, a path, a mapping or a ``GameConfig``.
        overrides: single values of the configuration.
        encoding: of the observations.
        reward: "score" (change of the score difference) or "outcome" (-1, 0 or 1 at the end).
        mask_in: where the environment returns action masks.
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
        check_options(mask_in, reward, max_cycles)
        self.config = load_config(config, overrides)
        self.mask_in = mask_in
        self.batch = Batch(self.config, encoding=encoding, reward=reward, max_cycles=max_cycles)
        self.is_seeded = False
        self._has_sampled = False  # actions are sampled in every step, where it costs little

    def reset(self, seed: int | None) -> View:
        """Start a new game; without a seed, the streams of the game before go on.

        Raises:
            ValueError: the seed is negative or not an integer.
        """
        if seed is not None or not self.is_seeded:
            self.batch.seed([fresh_seed() if seed is None else check_seed(seed)])
            self.is_seeded = True
        self.batch.reset()
        self._has_sampled = False
        return self.view()

    def view(self) -> View:
        """Return observations, masks and results of the game as it is; the arrays are new ones."""
        buffers = self.batch.buffers
        buffers.renew()
        self.batch.describe()
        return buffers.observations, buffers.masks, buffers.results

    def step(self, actions: NDArray[np.int64]) -> View:
        """Play a phase with the actions of both sides, (2, 11), and return what ``view`` does."""
        buffers = self.batch.buffers
        buffers.renew()
        buffers.sampled = np.empty(_ACTIONS_SHAPE, np.int64)
        self.batch.step(actions, samples=True)
        self._has_sampled = True
        return buffers.observations, buffers.masks, buffers.results

    def sample_actions(self) -> NDArray[np.int64]:
        """Sample legal actions for both sides, (2, 11), from a stream of their own: the game's stream is not used."""
        buffers = self.batch.buffers
        if not self._has_sampled:
            self.check_reset()
            buffers.sampled = np.empty(_ACTIONS_SHAPE, np.int64)
            self.batch.sample_actions()
        self._has_sampled = False
        return buffers.sampled

    def game(self) -> Game:
        """Return a copy of the game, with the outcomes of the last engagement.

        Raises:
            RuntimeError: ``reset`` was not called.
        """
        self.check_reset()
        return Game.from_batch(self.batch)

    def check_reset(self) -> None:
        """Raise RuntimeError if ``reset`` was never called."""
        if not self.is_seeded:
            raise RuntimeError("call reset first")

    @property
    def is_terminated(self) -> bool:
        """Whether the game has ended by the rules."""
        return bool(self.batch.games[0].done)

    @property
    def is_over(self) -> bool:
        """Whether the episode is terminated or truncated."""
        return bool(self.batch.episodes[0].is_over)

    def opponent_key(self) -> np.uint64:
        """Return the opponent's random key in this phase: the next number of a stream of its own."""
        return np.uint64(next_key(self.batch.episodes[0].opponent_stream))

    def save(self) -> dict[str, Any]:
        """Return the game and all random streams as plain data that ``json.dumps`` takes.

        Raises:
            RecordingError: ``reset`` was not called.
        """
        if not self.is_seeded:
            raise RecordingError("nothing to save: call reset first")
        episode = self.batch.episodes[0]
        return {
            "format": "geo_patrol environment",
            "version": 1,
            "game": save_game(self.batch),
            "sampler": episode.action_stream.tolist(),
            "opponent": episode.opponent_stream.tolist(),
            "sampled": self.batch.buffers.sampled.tolist() if self._has_sampled else None,
            "cycles": int(episode.length),
            "difference": int(episode.score_difference),
        }

    def restored(self, saved: Mapping[str, Any]) -> "SingleGame":
        """Return a game like this one in a saved state; it must have been saved with the same configuration.

        Raises:
            RecordingError: the data are damaged, or of another configuration.
        """
        data = check_saved(_SavedEnvironment, saved, "saved environment")
        restored = restore_game(data.game)
        if restored.config != self.config:
            raise RecordingError("saved environment: it was saved with another configuration")
        twin = copy.copy(self)
        twin.batch = batch = self.batch.copy()
        batch.games[:], batch.rules[:] = restored.games, restored.rules
        episode = batch.episodes[0]
        episode.legal[:] = restored.episodes[0].legal
        episode.action_stream[:], episode.opponent_stream[:] = data.sampler, data.opponent
        episode.length, episode.score_difference, episode.outcome_count = data.cycles, data.difference, 0
        max_cycles = batch.settings[0].max_cycles
        episode.is_over = data.game["done"] or (0 < max_cycles <= data.cycles)
        if data.sampled is not None:
            batch.buffers.sampled[:] = data.sampled
        twin._has_sampled, twin.is_seeded = data.sampled is not None, True
        return twin
