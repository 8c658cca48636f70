"""The native vector environment: many games, one call into the engine."""

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np
from gymnasium import spaces
from gymnasium.utils import EzPickle
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from geo_patrol.config.presets import ConfigSource, load_config
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine.batch import Batch, fresh_seed
from geo_patrol.engine.buffers import Buffers
from geo_patrol.engine.encodings import check_encoding
from geo_patrol.engine.state import SIDES
from geo_patrol.envs.arguments import (
    MAX_GAMES,
    MAX_THREADS,
    check_actions,
    check_count,
    check_names,
    check_options,
    check_seats,
    read_autoreset,
    read_reset_mask,
    read_seeds,
)
from geo_patrol.envs.opponents import Mixture, OpponentTable, VectorOptions
from geo_patrol.envs.spaces import FLAT_MASK_SHAPE, OrderSpace, box, masked
from geo_patrol.envs.threads import WorkerPool, split
from geo_patrol.envs.vector_outputs import Packer
from geo_patrol.errors import show
from geo_patrol.game import Game

_FIRST_SEAT = {"both": 0, "alpha": 0, "bravo": 1, "alternate": 0}


class VectorGeoPatrol(VectorEnv[Any, NDArray[np.int64], NDArray[Any]], EzPickle):
    """Many games at once, with both sides of each as environments, or one side against opponents.

    With ``seats="both"``, environments 2i and 2i + 1 are alpha and bravo of game i. Otherwise environment i is one side
    of game i, and an opponent plays the other. Game i plays, bit for bit, what a single environment with its seed plays.

    The spaces of an environment are those of ``geo_patrol.envs.parallel.ParallelGeoPatrol``. Rewards are float64.
    ``reset`` and ``step`` return new arrays; with ``copy=False`` they return the same arrays every time, which the next
    step overwrites. That is faster, and much faster where observations take more than about 30 MB.

    Infos: arrays, with the same keys in every step, each with a mask of the environments it is valid for (``_score``
    and so on, as in Gymnasium):

    - ``illegal_orders``, ``score``, ``enemy_score``, ``turn`` (completed turns), ``phase`` (0 movement, 1 engagement,
      2 over), ``reasons`` (bits, see ``geo_patrol.notation.read_reasons``), ``seat`` (0 alpha, 1 bravo), ``opponent``
      (its index in ``opponent_names``, -1 for none): (num_envs,) int64.
    - ``action_mask`` with ``mask_in="info"``: (num_envs, 11, 28) int8.
    - ``finished_episode``: of the episodes that finished in this step, ``return`` (float64), ``length``, ``score``,
      ``enemy_score``, ``reasons``, ``outcome`` (1 won, 0 drawn, -1 lost), ``illegal_orders``, ``seat`` and
      ``opponent`` (int64); 0 in other rows.
    - ``final_obs``, ``final_info`` in mode SAME_STEP: the last observations and infos of the finished episodes; 0 in other
      rows.

    Args:
        config: a preset's name, the path of a TOML file, its content as a mapping, or a ``GameConfig``.
        num_games: how many games, 1 to 1,048,576.
        overrides: single values of the configuration, such as ``{"bravo.patrols.ammo": 3}``.
        opponent: an agent's name, an ``Agent``, or a mixture of them with weights (a mapping, or pairs), from which
            each episode chooses one; None for self-play.
        seats: "both", "alpha", "bravo", or "alternate" (every second game, and every second episode, is bravo's). By
            default "both" without an opponent, "alpha" with one.
        threads: how many threads play; fewer are used where a thread would have less than 32 games.
        autoreset: "next_step", "same_step" or "disabled", or Gymnasium's ``AutoresetMode``.
        mask_in: "info", "obs" or "none".
        observation: "onehot" (float32) or "tokens" (int16).
        reward: "score" or "outcome".
        max_cycles: steps after which an unfinished game is truncated; None never does.
        copy: whether every step returns new arrays.

    Raises:
        ConfigError: the configuration is invalid.
        ValueError: another argument is invalid.

    A pickled or copied environment is one that has not been reset.

    Version history: v0, first release.
    """

    _returns_final = True
    """Whether infos in mode SAME_STEP have ``final_obs`` and ``final_info``, which take a fifth of a step's time."""

    def __init__(
        self, config: ConfigSource = "geo_patrol", num_games: int = 1, **options: Unpack[VectorOptions]
    ) -> None:
        self.closed = True  # until it is complete: Gymnasium closes incomplete environments as well
        EzPickle.__init__(self, config, num_games, **options)
        check_names(options, VectorOptions)
        observation, opponent = options.get("observation", "onehot"), options.get("opponent")
        reward, max_cycles = options.get("reward", "score"), options.get("max_cycles")
        mask_in, self._copy = options.get("mask_in", "info"), options.get("copy", True)
        check_encoding(observation)
        check_options(mask_in, reward, max_cycles)
        self.num_games = check_count("num_games", num_games, MAX_GAMES)
        self._mode = read_autoreset(options.get("autoreset", AutoresetMode.NEXT_STEP))
        seats = check_seats(options.get("seats"), has_opponent=opponent is not None)
        self._config = load_config(config, options.get("overrides"))
        self._opponents = OpponentTable()
        if opponent is not None:
            self._opponents.set(opponent)
        self._batch = Batch(
            self._config,
            self.num_games,
            encoding=observation,
            sides=SIDES if seats == "both" else 1,
            reward=reward,
            max_cycles=max_cycles,
            first_seat=_FIRST_SEAT[seats],
            alternates=seats == "alternate",
        )
        self._sides = SIDES if seats == "both" else 1
        self.num_envs = self._batch.num_envs
        self.metadata = {"autoreset_mode": self._mode, "render_modes": [], "name": "geo_patrol_v0"}
        vector = box(self._config, observation)
        self.single_observation_space = masked(vector) if mask_in == "obs" else vector
        self.single_action_space = OrderSpace()
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._observation_space: spaces.Space[Any] | None = None
        shards = split(self.num_games, check_count("threads", options.get("threads", 1), MAX_THREADS))
        self._shards = [self._batch.shard(start, stop) for start, stop in shards]
        self._shard_rows = [np.arange(start, stop) for start, stop in shards]
        self._pool = WorkerPool(len(shards))
        has_final = self._returns_final and self._mode is AutoresetMode.SAME_STEP
        self._packer = Packer(self._batch, mask_in, has_final=has_final, copy=self._copy)
        self._is_started = False
        self._is_seeded = np.zeros(self.num_games, np.bool_)
        self._new_games = np.zeros(self.num_games, np.bool_)  # that the opponents have not been notified of
        self._num_over = 0
        self._samples = False  # whether actions were asked for since the last step
        self._has_sampled = False
        self.closed = False

    @property
    def config(self) -> GameConfig:
        """The configuration, with the ranges that resets sample from."""
        return self._config

    @property
    def opponent_names(self) -> tuple[str, ...]:
        """The names of all opponents so far, by the indices that infos return."""
        return self._opponents.names

    @property
    def observation_space(self) -> spaces.Space[Any]:  # type: ignore[override]
        """The space of a batch of observations, created on first use: its bounds are as large as a batch."""
        if self._observation_space is None:
            self._observation_space = batch_space(self.single_observation_space, self.num_envs)
        return self._observation_space

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal orders of every environment, flat: (num_envs, 308) bool."""
        return self._current.masks.reshape(self.num_envs, *FLAT_MASK_SHAPE).view(np.bool_)

    def sample_actions(self) -> NDArray[np.int64]:
        """Sample random legal orders for every environment, (num_envs, 11) int64, from streams of their own.

        If they are sampled after every step, the step itself samples them, which is cheapest.
        """
        buffers = self._current
        self._samples = True
        if not self._has_sampled:
            buffers.sampled = np.empty_like(buffers.sampled)
            self._batch.sample_actions()
        self._has_sampled = False
        return buffers.sampled

    def game(self, index: int) -> Game:
        """Return a copy of one game, to inspect, or to plan with after ``fork``.

        Raises:
            ValueError: there is no such game.
            RuntimeError: ``reset`` was not called.
        """
        if isinstance(index, bool) or not isinstance(index, (int, np.integer)) or not 0 <= index < self.num_games:
            raise ValueError(f"game {index!r}: give a whole number from 0 to {self.num_games - 1}")
        self._check_started()
        return Game.from_batch(self._batch.single(int(index)))

    def _check_started(self) -> None:
        if not self._is_started:
            raise RuntimeError("the environment is closed" if self.closed else "no games are being played: call reset")

    @property
    def _current(self) -> Buffers:
        self._check_started()
        return self._batch.buffers

    def set_opponents(self, opponent: Mixture) -> None:
        """Let episodes that start from now on choose their opponents from another mixture; games in progress go on.

        Raises:
            ValueError: an opponent or a weight is wrong, or both sides are played; nothing has changed then.
        """
        if self._sides == SIDES:
            raise ValueError("both sides are played: there are no opponents to set")
        self._opponents.set(opponent)
        self._ezpickle_kwargs["opponent"] = opponent

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start new episodes of all games, or of those that ``options["reset_mask"]`` selects.

        Args:
            seed: an integer s (game i gets s + i), or one for each game (None leaves a game's streams as they are);
                None goes on with all streams.
            options: ``reset_mask``: (num_envs,) bool, the same for both sides of a game. Other options are ignored.

        Raises:
            ValueError: a seed or the mask is wrong; nothing has changed then.
        """
        if self.closed:
            raise RuntimeError("the environment is closed")
        if options is not None and not isinstance(options, Mapping):
            raise ValueError(f"options = {show(options)}: give a dict, such as {{'reset_mask': ..}}")
        mask = read_reset_mask((options or {}).get("reset_mask"), self.num_games, self._sides)
        was_started, resets_all = self._is_started, bool(mask.all())
        if not was_started and not resets_all:
            raise ValueError("reset_mask: the first reset starts all games: select every environment")
        seeds = read_seeds(seed, self.num_games)
        self._is_started = False  # until all is done: if it is interrupted, some games have been reset, others have not
        self._pool.wait()
        self._seed_games(seeds, mask)
        first_seed = next((number for number in seeds if number is not None), None)
        if first_seed is not None:
            super().reset(seed=first_seed % 2**63)
        self._new_games |= mask
        self._batch.reset(np.flatnonzero(mask), self._opponents.choices)
        self._num_over = int(np.count_nonzero(self._batch.episodes["is_over"]))
        before, buffers = self._batch.buffers, self._new_buffers()
        buffers.clear()
        self._batch.describe(buffers)
        self._has_sampled = self._samples and (resets_all or self._has_sampled)
        if self._has_sampled:
            buffers.sampled[:] = before.sampled  # of games that go on
            self._batch.sample_actions(mask)
        self._is_started = True
        return self._packer.observations(buffers), self._packer.infos(buffers)

    def _new_buffers(self) -> Buffers:
        """Return the buffers that the next step writes to: new arrays, or with ``copy=False`` the same ones."""
        if self._copy:
            self._batch.buffers = self._batch.make_buffers()
        return self._batch.buffers

    def _seed_games(self, seeds: list[int | None], mask: NDArray[np.bool_]) -> None:
        """Restart the streams of selected games that have a seed, and of those that never had one."""
        has_seed = np.array([seed is not None for seed in seeds])
        rows = np.flatnonzero(mask & (has_seed | ~self._is_seeded))
        numbers = [seeds[row] for row in rows]
        self._batch.seed([fresh_seed() if number is None else number for number in numbers], rows)
        self._is_seeded[rows] = True

    def step(
        self, actions: NDArray[Any]
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Play one decision phase of every game.

        Args:
            actions: (num_envs, 11) order codes; illegal ones become noop and are counted in the infos. Those of
                episodes that are reset in this step are ignored.

        Returns:
            Observations, rewards (num_envs,) float64, terminations and truncations (num_envs,) bool, infos.

        Raises:
            ValueError: the actions have another shape or are not integers.
            RuntimeError: ``reset`` was never called, the environment is closed, or (mode DISABLED) an episode is over.
            AgentError: an opponent raised an exception, or returned something other than orders.
        """
        self._check_started()
        orders = check_actions(actions, self.num_envs)
        self._samples &= not self._has_sampled  # those of the last step were not used
        if self._mode is AutoresetMode.DISABLED and self._num_over:
            over = np.flatnonzero(self._batch.episodes["is_over"])
            raise RuntimeError(f"{len(over)} games are over, the first is game {over[0]}: reset them with reset_mask")
        if self._sides == 1:
            self._opponents.reset(self._batch, self._new_games)
            self._opponents.act(self._batch, self._shard_rows, self._pool, self.np_random)
        self._is_started = False  # until all is done: if it is interrupted, only some games have been played
        buffers = self._new_buffers()
        self._play(orders, buffers)
        infos = self._packer.infos(buffers)
        if self._mode is AutoresetMode.SAME_STEP and self._num_over:  # after the infos, which copy the final ones
            self._batch.describe(buffers, samples=self._samples, selected=self._reset_over(is_new=False))
            self._num_over = 0
        self._is_started, self._has_sampled, results = True, self._samples, buffers.results
        observations = self._packer.observations(buffers)
        return observations, results["reward"], results["terminated"], results["truncated"], infos

    def _play(self, orders: NDArray[np.int64], buffers: Buffers) -> None:
        """Reset the games that wait for it, and play the others, on all threads."""
        if self._num_over:
            self._reset_over(is_new=True)
        counts = [0] * len(self._shards)

        def step_shard(shard: int) -> None:
            counts[shard] = self._batch.step(orders, buffers, samples=self._samples, shard=self._shards[shard])

        self._pool.run(step_shard)
        self._num_over = sum(counts)

    def _reset_over(self, *, is_new: bool) -> NDArray[np.bool_]:
        """Reset the games whose episodes are over, and return a mask of them; new ones are not played in this step."""
        over: NDArray[np.bool_] = self._batch.episodes["is_over"] != 0
        self._batch.reset(np.flatnonzero(over), self._opponents.choices)
        self._batch.episodes["is_new"][over] = is_new
        self._new_games |= over
        return over

    def close_extras(self, **_: Any) -> None:
        """End the threads."""
        self._pool.shut_down()
        self._is_started = False

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._config.title!r}: {self.num_games} games, {self.num_envs} environments>"


def make_vec(
    config: ConfigSource = "geo_patrol", num_games: int = 1, **options: Unpack[VectorOptions]
) -> VectorGeoPatrol:
    """Create a vector environment.

    Args:
        config: a preset's name, the path of a TOML file, its content as a mapping, or a ``GameConfig``.
        num_games: how many games, 1 to 1,048,576.
        **options: the other arguments of ``VectorGeoPatrol``: ``overrides``, ``opponent``, ``seats``, ``threads``,
            ``autoreset``, ``mask_in``, ``observation``, ``reward``, ``max_cycles``, ``copy``.

    Raises:
        ConfigError: the configuration is invalid.
        ValueError: another argument is invalid.

    >>> envs = make_vec("case1", 256, observation="tokens")
    >>> observations, infos = envs.reset(seed=0)
    >>> observations.shape, infos["action_mask"].shape
    ((512, 249), (512, 11, 28))
    """
    return VectorGeoPatrol(config, num_games, **options)
