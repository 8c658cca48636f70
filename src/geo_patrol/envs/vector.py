"""The native vector environment: many games, one call into the engine."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, Unpack

import numpy as np
from gymnasium import spaces
from gymnasium.utils import EzPickle
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from geo_patrol.agents.registry import absolute_name
from geo_patrol.agents.satellites import own_features
from geo_patrol.base.arguments import check_count, check_names, fresh_seed, read_options, read_seeds
from geo_patrol.base.errors import RecordingError, show
from geo_patrol.base.sides import SIDES, Side
from geo_patrol.config.presets import ConfigSource, load_config
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine import steps
from geo_patrol.engine.observe import check_encoding, check_observation
from geo_patrol.engine.state import NUM_SIDES, SATELLITES
from geo_patrol.engine.steps import Outputs
from geo_patrol.envs.arguments import (
    MAX_THREADS,
    MaskIn,
    check_actions,
    check_options,
    check_seats,
    check_start,
    copy_options,
    read_autoreset,
    read_reset_mask,
    refuse_own,
)
from geo_patrol.envs.display import RENDER_FPS, RENDER_SIZE, Display
from geo_patrol.envs.episodes import Episodes, SavedEnvironment
from geo_patrol.envs.opponents import Mixture, OpponentTable, VectorOptions, for_copies, read_mixture
from geo_patrol.envs.satellites import ViewOptions, living_satellites, satellite_box, take_view
from geo_patrol.envs.spaces import FLAT_MASK_SHAPE, OrderSpace, box, masked
from geo_patrol.envs.threads import WorkerPool, split
from geo_patrol.game.game import MAX_GAMES, Game, Games
from geo_patrol.game.position import SavedGenerator, check_saved

Agents: TypeAlias = Literal["sides", "satellites"]


class _SavedVector(SavedEnvironment):
    opponents: list[str]
    generator: SavedGenerator


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
      2 over), ``reasons`` (bits, see ``geo_patrol.game.notation.read_reasons``), ``seat`` (0 alpha, 1 bravo), ``opponent``
      (its index in ``opponent_names``, -1 for none), ``variant`` (its index in ``config.variants``, -1 for none): (num_envs,)
      int64.
    - ``shots``, ``hits`` (shots that destroyed their target), ``losses`` (satellites destroyed), ``enemy_shots``,
      ``enemy_hits`` and ``enemy_losses`` of the phase just played, with ``count_events``: (num_envs,) int64.
    - ``action_mask`` with ``mask_in="info"``: (num_envs, 11, 28) int8.
    - ``sampled``, where resets sample values: these by key, such as "alpha.patrols.fuel", (num_envs,) int64 or float64; of
      a formation, its index among the choices. These arrays are read-only.
    - ``finished_episode``: of the episodes that finished in this step, ``return`` (float64), ``length``, ``score``,
      ``enemy_score``, ``reasons``, ``outcome`` (1 won, 0 drawn, -1 lost), ``illegal_orders``, ``seat``, ``opponent``,
      ``variant`` (int64) and ``sampled``; 0 in other rows.
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
        threads: how many threads play; fewer are used where a thread would have less than 256 games.
        autoreset: "next_step", "same_step" or "disabled", or Gymnasium's ``AutoresetMode``.
        mask_in: "info", "obs" or "none".
        observation: "onehot" (float32), "tokens" (int16), or a ``geo_patrol.Observation``.
        reward: "score", "outcome", or a ``geo_patrol.Reward``.
        max_cycles: steps after which an unfinished game is truncated; None never does.
        count_events: whether infos count shots, hits and losses.
        copy: whether every step returns new arrays.
        render_mode: "rgb_array" (``render`` returns a picture of each environment) or None.
        render_size: width and height of pictures in pixels.

    Raises:
        ConfigError: the configuration is invalid.
        ValueError: another argument is invalid.

    A pickled or deep-copied environment is one of the same configuration that has not been reset; ``save`` and ``restore``
    carry the games over.

    Version history: v0, first release.
    """

    _new_episodes: Callable[..., Episodes] = Episodes
    _returns_final = True
    """Whether infos in mode SAME_STEP have ``final_obs`` and ``final_info``, which take a fifth of a step's time."""

    def __init__(
        self, config: ConfigSource = "geo_patrol", num_games: int = 1, **options: Unpack[VectorOptions]
    ) -> None:
        self.closed = True  # until it is complete: Gymnasium closes incomplete environments as well
        check_names(options, VectorOptions, "config", "num_games")
        observation, given = options.get("observation", "onehot"), options.pop("opponent", None)
        reward, max_cycles = options.get("reward", "score"), options.get("max_cycles")
        mask_in, self._copy = options.get("mask_in", "info"), options.get("copy", True)
        counts_events = options.get("count_events", False)
        check_observation(observation)
        max_cycles, counts_events = check_options(mask_in, reward, max_cycles, counts_events)
        if not isinstance(self._copy, (bool, np.bool_)):
            raise ValueError(f"copy must be True or False, got {show(self._copy)}")
        self.render_mode = options.get("render_mode")
        if self.render_mode not in (None, "rgb_array"):
            raise ValueError(f"render_mode must be 'rgb_array' or None, got {self.render_mode!r}")
        self._display = Display(self.render_mode, options.get("render_size", RENDER_SIZE))
        self.num_games = check_count("num_games", num_games, MAX_GAMES)
        self._mode = read_autoreset(options.get("autoreset", AutoresetMode.NEXT_STEP))
        seats = check_seats(options.get("seats"), has_opponent=given is not None)
        self._config = load_config(config, options.get("overrides"))
        self._opponents = OpponentTable()
        opponent = None if given is None else read_mixture(given)
        if opponent is not None:
            self._opponents.set(opponent)
        copied = None if opponent is None else for_copies(opponent)
        EzPickle.__init__(self, self._config, num_games, opponent=copied, **copy_options(options))
        self._episodes = self._new_episodes(
            self._config,
            self.num_games,
            observation,
            sides=NUM_SIDES if seats == "both" else 1,
            reward=reward,
            max_cycles=max_cycles,
            counts_events=counts_events,
            first_seat=int(seats == "bravo"),
            alternates=seats == "alternate",
        )
        self._sides = NUM_SIDES if seats == "both" else 1
        self.num_envs = self._episodes.num_envs
        self.metadata = {
            "autoreset_mode": self._mode,
            "render_modes": ["rgb_array"],
            "render_fps": RENDER_FPS,
            "name": "geo_patrol_v0",
        }
        vector = box(self._config, observation)
        self.single_observation_space = masked(vector) if mask_in == "obs" else vector
        self.single_action_space = OrderSpace()
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._observation_space: spaces.Space[Any] | None = None
        shards = split(self.num_games, check_count("threads", options.get("threads", 1), MAX_THREADS))
        self._shards = [self._episodes.shard(start, stop) for start, stop in shards]
        self._shard_rows = [np.arange(start, stop) for start, stop in shards]
        self._pool = WorkerPool(len(shards))
        has_final = self._returns_final and self._mode is AutoresetMode.SAME_STEP
        self._packer = _Packer(self._episodes, mask_in, has_final=has_final, copy=self._copy)
        self._is_started = False
        self._is_seeded = np.zeros(self.num_games, np.bool_)
        self._new_games = np.zeros(self.num_games, np.bool_)  # that the opponents have not been notified of
        self._num_over = 0
        self._samples = False  # whether actions were asked for since the last step
        self._sampled: NDArray[np.int64] | None = None  # actions for the next step, if it sampled them
        self._sampled_array = np.empty((self.num_envs, SATELLITES), np.int64)
        self._kept = self._episodes.outputs
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
        """The space of a batch of observations, created on first use, as its bounds are as large as a batch."""
        if self._observation_space is None:
            self._observation_space = batch_space(self.single_observation_space, self.num_envs)
        return self._observation_space

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal orders of every environment, flat: (num_envs, 308) bool."""
        self._check_started()
        return self._episodes.outputs.masks.reshape(self.num_envs, *FLAT_MASK_SHAPE).view(np.bool_)

    def sample_actions(self) -> NDArray[np.int64]:
        """Sample random legal orders for every environment, (num_envs, 11) int64, from streams of their own.

        If they are sampled after every step, the step itself samples them, which is cheapest.
        """
        self._check_started()
        self._samples = True
        sampled, self._sampled = self._sampled, None
        return self._episodes.sample_actions() if sampled is None else sampled

    def game(self, index: int) -> Game:
        """Return a copy of one game, to inspect, or to plan with after ``fork``.

        The copy has the random stream of the game, so what happens in it foretells what will happen here, and none of its
        ``outcomes``, which are not kept of many games.

        Raises:
            ValueError: there is no such game.
            RuntimeError: ``reset`` was not called.
        """
        if isinstance(index, bool) or not isinstance(index, (int, np.integer)) or not 0 <= index < self.num_games:
            raise ValueError(f"game must be an integer from 0 to {self.num_games - 1}, got {index!r}")
        self._check_started()
        return self._episodes.games[int(index)]

    def games(self) -> Games:
        """Return copies of all games, with their random streams.

        Raises:
            RuntimeError: ``reset`` was not called.
        """
        self._check_started()
        return self._episodes.games.copy()

    def _check_started(self) -> None:
        if not self._is_started:
            raise RuntimeError("the environment is closed" if self.closed else "no games are being played: call reset")

    def set_opponents(self, opponent: Mixture) -> None:
        """Let episodes that start from now on choose their opponents from another mixture; games in progress go on.

        Raises:
            ValueError: an opponent or a weight is wrong, or both sides are played; nothing has changed then.
        """
        if self._sides == NUM_SIDES:
            raise ValueError("both sides are played: there are no opponents to set")
        mixture = read_mixture(opponent)
        self._opponents.set(mixture)
        self._ezpickle_kwargs["opponent"] = for_copies(mixture)

    def set_variants(self, weights: str | Mapping[str, float]) -> None:
        """Let episodes that start from now on sample variants by other weights than those of the configuration.

        Args:
            weights: a weight for each variant that may be sampled, by name; or the name of the only one. Saves and copies of
                the environment do not hold them.

        Raises:
            ValueError: there is no such variant, or a weight is wrong; nothing has changed then.
        """
        self._episodes.games.set_variants(weights)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start new episodes of all games, or of those that ``options["reset_mask"]`` selects.

        Games that are not selected go on as if nothing had happened. So ``np_random``, from which opponents draw that do not
        take a random key for each game, starts anew only in a reset of all games with a seed for each, by the first one.

        Args:
            seed: an integer s (game i gets s + i), or one for each game (None leaves a game's streams as they are);
                None goes on with all streams.
            options: ``reset_mask``: (num_envs,) bool, the same for both sides of a game. ``games``: positions to start
                from instead, ``Games`` of the same configuration with one for each game that is selected, in their
                order. Their random streams go on, so equal games play alike; with a seed, a new one starts. ``max_cycles``
                counts from there.

        Raises:
            ValueError: a seed or an option is wrong, or an option is not known; nothing has changed then.
        """
        if self.closed:
            raise RuntimeError("the environment is closed")
        read = read_options(options, ("reset_mask", "games"))
        mask = read_reset_mask(read.get("reset_mask"), self.num_games, self._sides)
        start = self._read_start(read.get("games"), int(np.count_nonzero(mask)))
        was_started, resets_all = self._is_started, bool(mask.all())
        if not was_started and not resets_all:
            raise ValueError("reset_mask: the first reset starts all games: select every environment")
        seeds = read_seeds(seed, self.num_games)
        self._is_started = False  # until all is done: if it is interrupted, some games have been reset, others have not
        self._pool.wait()
        self._seed_games(seeds, mask)
        first_seed = seeds[0]
        if resets_all and first_seed is not None and None not in seeds:
            super().reset(seed=first_seed % 2**63)
        self._new_games |= mask
        rows = np.flatnonzero(mask)
        self._episodes.reset(rows, self._opponents.choices, start=start)
        if start is not None:
            seeded = {row: seed for row in rows if (seed := seeds[row]) is not None}
            self._episodes.games.seed_streams(list(seeded.values()), np.array(list(seeded), np.int64))
        self._packer.read_sampled_values(rows)
        self._num_over = int(np.count_nonzero(self._episodes.records["is_over"]))
        self._describe()
        before, self._sampled = self._sampled, None
        if self._samples and (resets_all or before is not None):
            sampled = self._episodes.sample_actions(mask)
            if before is not None and not resets_all:  # games that go on keep theirs
                rows = np.repeat(~mask, self._sides)
                sampled[rows] = before[rows]
            self._sampled = sampled
        self._is_started = True
        return self._pack()

    def _read_start(self, games: Any, count: int) -> Games | None:
        if games is None:
            return None
        if not isinstance(games, Games) or len(games) != count:
            found = f"Games of {len(games)}" if isinstance(games, Games) else show(games)
            raise ValueError(f"option 'games' must be a geo_patrol.Games of {count}, the selected games, got {found}")
        return check_start("option 'games'", games, self._config)

    def _describe(self) -> None:
        """Write the outputs of all games as they are; no episode has finished in them."""
        outputs = self._new_outputs()
        for array in (outputs.results, outputs.statistics):
            array.view(np.uint8)[:] = 0
        self._episodes.describe(outputs)

    def _pack(self) -> tuple[Any, dict[str, Any]]:
        return self._packer.observations(self._episodes.outputs), self._packer.infos(self._episodes.outputs)

    def view(self) -> tuple[Any, dict[str, Any]]:
        """Return observations and infos as the games are now, as after ``restore``."""
        self._check_started()
        self._describe()
        return self._pack()

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """Return a picture of each environment, (height, width, 3) uint8, as its side knows the game; None without ``render_mode``.

        It shows the position without the engagement that led to it, whose outcomes are not kept of many games.

        Raises:
            RuntimeError: ``reset`` was not called.
        """
        if self.render_mode is None:
            return None
        pictures: list[NDArray[np.uint8]] = []
        self._check_started()
        for row, seat in enumerate(self._episodes.outputs.results["seat"].tolist()):
            if row % self._sides == 0 or self._config.hides_enemies:
                pictures.append(self._draw(row // self._sides, SIDES[seat]))
            else:  # both sides see the same
                pictures.append(pictures[-1])
        return tuple(pictures)

    def _draw(self, index: int, side: Side) -> NDArray[np.uint8]:
        def game() -> Game:
            return self.game(index)

        self._display.side = side
        self._display.reset(game)
        picture = self._display.render(game)
        assert isinstance(picture, np.ndarray)
        return picture

    def state(self, *, from_seats: bool = False) -> NDArray[np.float32]:
        """Return the whole positions for a centralised critic, encoded as "onehot", whatever the observations show.

        Args:
            from_seats: whether they are seen from the side of each environment, (num_envs, size), instead of from alpha's,
                (num_games, size).
        """
        self._check_started()
        states = self._whole_positions()
        if not from_seats:
            return states[:, 0]
        if self._sides == NUM_SIDES:
            return states.reshape(self.num_envs, -1)
        at_seats: NDArray[np.float32] = states[np.arange(self.num_games), self._episodes.records["seat"]]
        return at_seats

    def _whole_positions(self) -> NDArray[np.float32]:
        """Return the observations of everything of both sides, (num_games, 2, size)."""
        outputs = self._episodes.outputs.onehot
        if self._sides == NUM_SIDES and outputs.size > 0 and outputs.ndim == 2 and not self._config.hides_enemies:
            return outputs.reshape(self.num_games, NUM_SIDES, -1)
        states: NDArray[np.float32] = self._episodes.games.observe("onehot", whole=True)
        return states

    def save(self) -> dict[str, Any]:
        """Return all games, random streams included, as plain data that ``json.dumps`` takes.

        An opponent's memory is not saved; the agents of this package have none.

        Raises:
            RecordingError: ``reset`` was not called.
        """
        if not self._is_started:
            raise RecordingError("nothing to save: reset must be called first")
        return self._episodes.save(self._sampled) | {
            "opponents": list(self.opponent_names),
            "generator": self.np_random.bit_generator.state,
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Resume games that were saved with the same configuration, number of games, seats and opponents.

        On an error nothing changes.

        Raises:
            RecordingError: the data are damaged, or of another configuration.
        """
        if self.closed:
            raise RuntimeError("the environment is closed")
        data = check_saved(_SavedVector, saved, "saved environment")
        if [*map(absolute_name, data.opponents)] != [*map(absolute_name, self.opponent_names)]:  # of copies as well
            names = ", ".join(map(repr, data.opponents)) or "none"
            raise RecordingError(
                f"saved environment: it has the opponents {names}, but there are {show(self.opponent_names)}"
            )
        games = self._episodes.read_saved(data)
        for i, episode in enumerate(data.episodes):
            if (
                (episode.opponent >= 0)
                if self._sides == NUM_SIDES
                else not self._opponents.is_in_play(episode.opponent)
            ):
                fault = "both sides are played" if self._sides == NUM_SIDES else "this opponent is not in play"
                raise RecordingError(f"saved environment: episodes.{i}.opponent = {episode.opponent}: {fault}")
        generator = data.generator.restore()

        self._is_started = False  # until all is done
        self._pool.wait()
        self._sampled = self._episodes.restore(data, games, self._opponents.choices)
        self._packer.read_sampled_values(np.arange(self.num_games))
        self._num_over = int(np.count_nonzero(self._episodes.records["is_over"]))
        self.np_random = generator
        self._is_seeded[:] = True
        self._new_games[:] = True
        self._describe()
        self._is_started = True

    def _new_outputs(self, *, samples: bool = False, out: NDArray[Any] | None = None) -> Outputs:
        """Return the arrays that the next step writes: new ones, or with ``copy=False`` the same every time.

        ``out`` is written to instead of the observations among them.
        """
        sampled = self._sampled_array if samples else self._sampled_array[:0]
        if self._copy:
            outputs = self._episodes.new_outputs(sampled=np.empty_like(sampled))
        else:
            outputs = self._kept._replace(sampled=sampled)
        if out is not None:
            outputs = self._episodes.with_observations(outputs, out)
        self._episodes.outputs = outputs
        return outputs

    def _seed_games(self, seeds: list[int | None], mask: NDArray[np.bool_]) -> None:
        """Restart the streams of selected games that have a seed, and of those that never had one."""
        has_seed = np.array([seed is not None for seed in seeds])
        rows = np.flatnonzero(mask & (has_seed | ~self._is_seeded))
        numbers = [seeds[row] for row in rows]
        self._episodes.seed([fresh_seed() if number is None else number for number in numbers], rows)
        self._is_seeded[rows] = True

    def step(
        self, actions: NDArray[Any], *, out: NDArray[Any] | None = None
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Play one decision phase of every game.

        Args:
            actions: (num_envs, 11) order codes; illegal ones become noop and are counted in the infos. Those of
                episodes that are reset in this step are ignored.
            out: array for the observations, of their shape and dtype and C-contiguous, such as a row of a rollout; it is what
                is returned. By default a new one, or with ``copy=False`` the same every time.

        Returns:
            Observations, rewards (num_envs,) float64, terminations and truncations (num_envs,) bool, infos.

        Raises:
            ValueError: the actions have another shape or are not integers, or ``out`` is another array.
            RuntimeError: ``reset`` was never called, the environment is closed, or (mode DISABLED) an episode is over.
            AgentError: an opponent raised an exception, or returned something other than orders.
        """
        self._check_started()
        orders = check_actions(actions, self.num_envs)
        self._samples &= self._sampled is None  # those of the last step were not used
        if self._mode is AutoresetMode.DISABLED and self._num_over:
            over = np.flatnonzero(self._episodes.records["is_over"])
            raise RuntimeError(f"{len(over)} games are over, the first is game {over[0]}: reset them with reset_mask")
        if out is not None:
            out = _check_out(out, self._episodes.observations(self._episodes.outputs))
        if self._sides == 1:
            self._opponents.reset(self._episodes, self._new_games)
            self._opponents.act(self._episodes, self._shard_rows, self._pool, self.np_random)
        self._is_started = False  # until all is done: if it is interrupted, only some games have been played
        outputs = self._new_outputs(samples=self._samples, out=out)
        self._play(orders, outputs)
        infos = self._packer.infos(outputs)
        if self._mode is AutoresetMode.SAME_STEP and self._num_over:  # after the infos, which copy the final ones
            self._episodes.describe(outputs, self._reset_over(is_new=False))
            infos |= self._packer.additional()
            self._num_over = 0
        self._is_started, self._sampled, results = True, outputs.sampled if self._samples else None, outputs.results
        observations = self._packer.observations(outputs)
        return observations, results["reward"], results["terminated"], results["truncated"], infos

    def _play(self, orders: NDArray[np.int64], outputs: Outputs) -> None:
        """Reset the games that wait for it, and play the others, on all threads."""
        if self._num_over:
            self._reset_over(is_new=True)
        counts = [0] * len(self._shards)

        def step_shard(shard: int) -> None:
            counts[shard] = self._episodes.step(orders, outputs, self._shards[shard])

        self._pool.run(step_shard)
        self._num_over = sum(counts)

    def _reset_over(self, *, is_new: bool) -> NDArray[np.bool_]:
        """Reset the games whose episodes are over, and return a mask of them; new ones are not played in this step."""
        over: NDArray[np.bool_] = self._episodes.records["is_over"] != 0
        rows = np.flatnonzero(over)
        self._episodes.reset(rows, self._opponents.choices)
        self._packer.read_sampled_values(rows)
        self._episodes.records["is_new"][over] = is_new
        self._new_games |= over
        return over

    def close_extras(self, **_: Any) -> None:
        """End the threads."""
        self._display.close()
        self._pool.shut_down()
        self._is_started = False

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._config.title!r}: {self.num_games} games, {self.num_envs} environments>"


class VectorSatelliteOptions(VectorOptions, ViewOptions, total=False):
    """Keyword arguments of ``VectorSatellites``."""


class VectorSatellites(VectorGeoPatrol):
    """A ``VectorGeoPatrol`` whose agents are satellites: rows are teams, and their satellites the axis after it.

    A row is one side of a game, as in ``VectorGeoPatrol``, and so are actions, rewards, endings, autoreset and
    opponents: an action is eleven orders, one for each agent, and the reward is shared. What differs:

    - observations are dicts: ``own``, (num_envs, 11, features), the features of each satellite, and ``team``,
      (num_envs, size), what its side sees, with ``action_mask`` for ``mask_in="obs"``. ``own`` is a view of ``team``.
    - infos have ``agents``, (num_envs, 11) bool: the satellites that the side has, and that were not destroyed.

    Number, ``own`` and ``team`` side by side are what ``SatellitesGeoPatrol`` returns for a satellite.

    With ``view="own"`` there is no ``team``: ``own``, (num_envs, 11, size), is all that each satellite observes, what
    ``SatellitesGeoPatrol`` returns for it. Rows of satellites that are no agents show nothing of the enemy. ``state`` has what a
    central critic needs.

    Args:
        config: as for ``VectorGeoPatrol``.
        num_games: likewise.
        view: "side" or "own", see ``SatellitesGeoPatrol``.
        fleet: "all" or "in_range", likewise.
        sensor_range: steps, likewise.
        **options: the other arguments of ``VectorGeoPatrol``.

    Raises:
        ConfigError: the configuration is invalid.
        ValueError: another argument is invalid.
    """

    def __init__(
        self, config: ConfigSource = "geo_patrol", num_games: int = 1, **options: Unpack[VectorSatelliteOptions]
    ) -> None:
        refuse_own(options, ("observation",), "where satellites are agents")
        check_names(options, VectorSatelliteOptions, "config", "num_games")
        view, others = take_view(options)
        if view.is_own:
            self._new_episodes = view.new_episodes
        super().__init__(config, num_games, **others)
        self._ezpickle_kwargs |= view.given
        self._final_agents = np.zeros((self.num_envs, SATELLITES), np.bool_)
        space = self.single_observation_space
        masks = {"action_mask": space["action_mask"]} if isinstance(space, spaces.Dict) else {}
        if view.is_own:
            own = satellite_box(self._config, check_encoding(self._episodes.encoding), (SATELLITES,))
            self.single_observation_space = spaces.Dict({"own": own, **masks})
            return
        team = space["observation"] if isinstance(space, spaces.Dict) else space
        assert isinstance(team, spaces.Box)
        low, high = (own_features(bound[None])[0].copy() for bound in (team.low, team.high))
        own = spaces.Box(low, high, dtype=high.dtype.type)
        self.single_observation_space = spaces.Dict({"own": own, "team": team, **masks})

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start new episodes, see ``VectorGeoPatrol.reset``."""
        return self._by_satellite(*super().reset(seed=seed, options=options))

    def step(
        self, actions: NDArray[Any], *, out: NDArray[Any] | None = None
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Play one decision phase of every game, see ``VectorGeoPatrol.step``; ``out`` is for what teams observe, or satellites by themselves."""
        observations, rewards, terminations, truncations, infos = super().step(actions, out=out)
        observations, infos = self._by_satellite(observations, infos)
        return observations, rewards, terminations, truncations, infos

    def view(self) -> tuple[Any, dict[str, Any]]:
        """Return observations and infos as the games are now, as after ``restore``."""
        return self._by_satellite(*super().view())

    def _by_satellite(self, observations: Any, infos: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        infos["agents"], infos["_agents"] = self._agents(), infos["_seat"]
        if "final_obs" in infos:
            infos["final_obs"] = split_satellites(infos["final_obs"])
            finished = infos["_final_info"]
            infos["final_info"] |= {"agents": self._final_agents & finished[:, None], "_agents": finished}
        return split_satellites(observations), infos

    def _agents(self) -> NDArray[np.bool_]:
        living = living_satellites(self._episodes.games)
        if self._sides == 1:
            living = living[np.arange(self.num_games), self._episodes.records["seat"]]
        return living.reshape(self.num_envs, SATELLITES)

    def _reset_over(self, *, is_new: bool) -> NDArray[np.bool_]:
        self._final_agents = self._agents()
        return super()._reset_over(is_new=is_new)


def _check_out(out: Any, observations: NDArray[Any]) -> NDArray[Any]:
    """Return an array of the caller's that the step can write to instead of ``observations``.

    Raises:
        ValueError: it is another one.
    """
    shape, dtype = observations.shape, observations.dtype
    if isinstance(out, np.ndarray) and out.shape == shape and out.dtype == dtype and out.flags.carray:
        return np.asarray(out)
    found = f"{out.shape} of {out.dtype}" if isinstance(out, np.ndarray) else show(out)
    raise ValueError(f"out must be a writable, C-contiguous array of shape {shape} of {dtype}, got {found}")


def split_satellites(observations: Any) -> dict[str, NDArray[Any]]:
    """Return the observations of satellites from those of sides."""
    if isinstance(observations, dict):
        return split_satellites(observations["observation"]) | {"action_mask": observations["action_mask"]}
    if observations.ndim > 2:
        return {"own": observations}
    return {"own": own_features(observations), "team": observations}


class _Packer:
    """Packs the outputs of a step as Gymnasium wants them: observations and infos.

    Args:
        episodes: the games that write them.
        mask_in: where action masks are returned.
        has_final: whether finished episodes are reset in the same step, so that their last observations and infos are
            returned beside the others.
        copy: whether every step returns new arrays.
    """

    def __init__(self, episodes: Episodes, mask_in: MaskIn, *, has_final: bool, copy: bool) -> None:
        self._episodes, self._mask_in, self._has_final, self._copy = episodes, mask_in, has_final, copy
        self._all_envs = np.ones(episodes.num_envs, np.bool_)
        self._all_envs.flags.writeable = False
        self._final: Outputs | None = None
        self._final_rows = np.empty(0, np.int64)
        self._views: dict[str, Any] = {}
        self._viewed: NDArray[np.void] | None = None  # the results that the views are of
        self._sampled_values = np.zeros((episodes.num_envs, episodes.num_sampled_values), np.int64)
        self._sampled: dict[str, Any] = {}  # the infos about these, of all environments

    def read_sampled_values(self, rows: NDArray[np.int64]) -> None:
        """Read what was sampled for the games at ``rows``, into a new array: infos have returned the other."""
        num_values = self._sampled_values.shape[1]
        if num_values == 0:
            return
        self._sampled_values = self._sampled_values.copy()
        by_game = self._sampled_values.reshape(len(self._episodes), -1, num_values)
        by_game[rows] = self._episodes.sampled_values(rows)[:, None]
        self._sampled_values.flags.writeable = False
        self._sampled = self._name_sampled(self._sampled_values, self._all_envs)

    def _name_sampled(self, values: NDArray[np.int64], mask: NDArray[np.bool_]) -> dict[str, Any]:
        columns = self._episodes.name_values(values)
        return {"sampled": _with_masks(columns, tuple(columns), mask), "_sampled": mask}

    def additional(self, finished: NDArray[np.bool_] | None = None) -> dict[str, Any]:
        """Return events, if they are counted, and sampled values, if there are any: of ``finished`` environments, or of all."""
        return self._events(finished) | self.sampled(finished)

    def _events(self, finished: NDArray[np.bool_] | None) -> dict[str, Any]:
        """Return the infos that count events; none if they are not counted."""
        if not self._episodes.counts_events:
            return {}
        counts = self._episodes.event_counts()
        if finished is None:
            return _with_masks(counts, tuple(counts), self._all_envs)
        return _with_masks({name: finished * count for name, count in counts.items()}, tuple(counts), finished)

    def sampled(self, finished: NDArray[np.bool_] | None = None) -> dict[str, Any]:
        """Return the infos about sampled values, of ``finished`` environments or of all; none if nothing is sampled."""
        if not self._sampled:
            return {}
        if finished is None:
            return self._sampled | {"sampled": self._sampled["sampled"].copy()}
        return self._name_sampled(np.where(finished[:, None], self._sampled_values, 0), finished)

    def observations(self, outputs: Outputs) -> Any:
        """Return observations, with masks if they are part of them."""
        if self._mask_in == "obs":
            return {"observation": self._episodes.observations(outputs), "action_mask": outputs.masks}
        return self._episodes.observations(outputs)

    def infos(self, outputs: Outputs) -> dict[str, Any]:
        """Return infos, each with a mask of the environments that it is valid for."""
        if outputs.results is not self._viewed:  # views of arrays that are used again stay valid
            finished = outputs.results["is_finished"]
            self._views = self._info(outputs, self._all_envs)
            self._views["finished_episode"] = _with_masks(outputs.statistics, steps.STATISTICS.names, finished)
            self._views["_finished_episode"] = finished
            self._viewed = outputs.results
        finished = self._views["_finished_episode"]
        infos = self._views | self.additional()
        infos["finished_episode"] = infos["finished_episode"] | self.sampled(finished)
        if self._has_final:
            final = self._copy_final(outputs)
            infos |= {"final_obs": self.observations(final), "_final_obs": finished}
            final_info = self._info(final, finished) | self.additional(finished)
            infos |= {"final_info": final_info, "_final_info": finished}
        return infos

    def _info(self, outputs: Outputs, mask: NDArray[np.bool_]) -> dict[str, Any]:
        infos = _with_masks(outputs.results, steps.INFO_FIELDS, mask)
        if self._mask_in == "info":
            infos["action_mask"], infos["_action_mask"] = outputs.masks, mask
        return infos

    def _copy_final(self, outputs: Outputs) -> Outputs:
        """Return what finished episodes ended with, zero in other rows."""
        if self._copy or self._final is None:
            self._final = self._episodes.new_outputs(zeros=True)
        else:
            for array in (self._final.results, self._final.masks, self._episodes.observations(self._final)):
                array[self._final_rows] = 0
        rows = self._final_rows = np.flatnonzero(outputs.results["is_finished"])
        self._final.results[rows] = outputs.results[rows]
        self._final.masks[rows] = outputs.masks[rows]
        self._episodes.observations(self._final)[rows] = self._episodes.observations(outputs)[rows]
        return self._final


def _with_masks(
    records: NDArray[np.void] | Mapping[str, NDArray[Any]], names: tuple[str, ...] | None, mask: NDArray[np.bool_]
) -> dict[str, NDArray[Any]]:
    """Return fields by their names, each followed by a mask of the rows that it is valid for."""
    fields: dict[str, NDArray[Any]] = {}
    for name in names or ():
        fields[name], fields[f"_{name}"] = records[name], mask
    return fields
