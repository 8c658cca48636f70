"""Episodes: games with what environments add to them, and the base of the environments of a single game.

``Episodes`` is n games with rewards, truncation, seats, opponents and observations; every environment has one.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, FiniteFloat

from geo_patrol.base.arguments import check_seed, fresh_seed, read_options
from geo_patrol.base.errors import RecordingError, counted, show
from geo_patrol.config.presets import ConfigSource, load_config, read_saved_config
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine import setup, state, steps
from geo_patrol.engine.observe import Encoding, check_observation, observation_size
from geo_patrol.engine.own import Observation, Reward
from geo_patrol.engine.steps import EpisodeState, Opponents, Outputs
from geo_patrol.envs.arguments import GameOptions, MaskIn, RewardName, check_options, check_start
from geo_patrol.envs.display import RENDER_SIZE, Display, Rendered
from geo_patrol.game.game import (
    MAX_GAMES,
    Game,
    Games,
    call_own,
    compiled_own,
    compiled_step,
    make_outputs,
    restore_states,
    save_state,
)
from geo_patrol.game.notation import Outcome, outcome_records, read_outcomes
from geo_patrol.game.position import SavedData, SavedState

ALPHA, BRAVO = "alpha", "bravo"
EVENT_INFOS = tuple(f"{whose}{name}" for whose in ("", "enemy_") for name in steps.EVENT_FIELDS)
"""The infos that ``count_events`` adds."""

_RESULT, _STATISTICS = np.dtype((np.record, steps.RESULT)), np.dtype((np.record, steps.STATISTICS))
# NumPy finds types given as objects faster than by their classes.
_MASK_TYPE, _TOKEN_TYPE, _ONEHOT_TYPE = np.dtype(np.int8), np.dtype(np.int16), np.dtype(np.float32)
_ACTION_TYPE = np.dtype(np.int64)
_NO_ACTIONS = np.empty((0, state.SATELLITES), np.int64)
_NO_MASKS = np.empty((0, state.SATELLITES, state.ORDERS), _MASK_TYPE)
_NO_ONEHOT, _NO_TOKENS = np.empty((0, 0), _ONEHOT_TYPE), np.empty((0, 0), _TOKEN_TYPE)


# Saves

_SavedStream = Annotated[list[Annotated[int, Field(ge=0, lt=2**64)]], Field(min_length=2, max_length=2)]
_SavedOrders = Annotated[
    list[Annotated[int, Field(ge=0, lt=state.ORDERS)]], Field(min_length=state.SATELLITES, max_length=state.SATELLITES)
]
_SavedEvents = Annotated[list[Annotated[int, Field(ge=0, le=state.SATELLITES)]], Field(min_length=2, max_length=2)]
_Count = Annotated[int, Field(ge=0, lt=2**62)]
_Difference = Annotated[int, Field(gt=-(2**31), lt=2**31)]


class _SavedEpisode(SavedData):
    """The fields of ``engine.steps.EPISODE`` that outlast a step, and the stream of sampled actions."""

    sampler: _SavedStream
    opponent_stream: _SavedStream
    total_reward: Annotated[list[FiniteFloat], Field(min_length=2, max_length=2)]
    length: _Count
    score_difference: Annotated[list[_Difference], Field(min_length=2, max_length=2)]
    illegal_orders: Annotated[list[_Count], Field(min_length=2, max_length=2)]
    seat: Literal[0, 1]
    next_seat: Literal[0, 1]
    opponent: Annotated[int, Field(ge=-1, lt=2**31)]
    is_over: Literal[0, 1]
    shots: _SavedEvents = Field(default=[0, 0])
    hits: _SavedEvents = Field(default=[0, 0])
    losses: _SavedEvents = Field(default=[0, 0])


_EPISODE_FIELDS = tuple(name for name in _SavedEpisode.model_fields if name != "sampler")


class SavedEnvironment(SavedData):
    """What all environments save, as ``Episodes.save`` writes it; some add fields of their own."""

    format: Literal["geo_patrol environment"]
    version: Annotated[int, Field(ge=1, le=1)]
    config: dict[str, Any]
    games: Annotated[list[SavedState], Field(max_length=MAX_GAMES)]
    episodes: Annotated[list[_SavedEpisode], Field(max_length=MAX_GAMES)]
    sampled: list[_SavedOrders] | None


class OwnOutputs(Outputs):
    """``Outputs`` with observations of a user's own, which the compiled step, to which they are a plain tuple, does not see."""

    observations: NDArray[Any]
    """(rows, size)."""

    def _replace(self, **fields: Any) -> Self:
        replaced = super()._replace(**fields)
        replaced.observations = self.observations
        return replaced


class Episodes:
    """Games of environments, with the record of the episode that is being played in each.

    Args:
        config: the configuration.
        num_games: number of games.
        encoding: encoding of the observations, or an observation of a user's own.
        sides: 2 if both sides of each game are environments (rows 2i and 2i + 1); 1 if one of them is.
        reward: "score", "outcome", or a reward of a user's own.
        max_cycles: phases after which an unfinished game is truncated; None never does.
        counts_events: whether the shots, the hits and the losses of each phase are counted.
        first_seat: side of the environment of the first game if there is one environment a game: 0 alpha, 1 bravo.
        alternates: whether the seat alternates from game to game, and from episode to episode.

    Attributes:
        games: the games.
        bookkeeping: the episode of each game, for the compiled step.
        outputs: what the last step or reset wrote.
    """

    def __init__(
        self,
        config: GameConfig,
        num_games: int,
        encoding: Encoding | Observation,
        *,
        sides: int = state.NUM_SIDES,
        reward: RewardName | Reward = "score",
        max_cycles: int | None = None,
        counts_events: bool = False,
        first_seat: int = 0,
        alternates: bool = False,
    ) -> None:
        self.games = Games.unseeded(config, num_games)
        self.encoding = encoding
        self.num_envs = num_games * sides
        self.sides = sides
        settings = state.records(steps.SETTINGS, 1)
        limit = min(max_cycles or 0, 1 << 62)
        self._reward = reward if isinstance(reward, Reward) else None
        counts = counts_events or self._reward is not None  # an own one may depend on them
        settings[0] = sides, reward == "outcome", limit, first_seat, alternates, 0, counts
        self.max_cycles, self.counts_events = max_cycles, counts_events
        self.bookkeeping = EpisodeState(state.records(steps.EPISODE, num_games), settings)
        features = {"hides_enemies": config.hides_enemies, "counts_patrols": config.counts_patrols}
        size = observation_size(encoding, config.board.outer_ring, **features)
        self._own = encoding if isinstance(encoding, Observation) else None
        self._is_onehot, self._is_tokens = encoding == "onehot", encoding == "tokens"
        self._mask_shape = self.num_envs, state.SATELLITES, state.ORDERS
        self._observation_shape: tuple[int, ...] = self.num_envs, size
        self._all = np.ones(num_games, np.bool_)
        self.outputs = self.new_outputs()
        self._lock = threading.Lock()  # of functions that are not compiled: users need not expect several threads
        for given in (self._own, self._reward):
            if given is not None and given.compiled:  # now, so that what is wrong with it is said here
                compiled_own(given, hides_enemies=self.games.hides_enemies)
        self._shard = self.shard(0, num_games)
        self.sampled = setup.sampled_values(config) if self.games.is_randomized else {}
        self._sampled_words = np.array([value.word for value in self.sampled.values()], np.int64)

    def __len__(self) -> int:
        return len(self.games)

    @property
    def records(self) -> state.Records:
        """(num_games,) records of layout ``steps.EPISODE``."""
        return self.bookkeeping.records

    def new_outputs(
        self, *, zeros: bool = False, sampled: NDArray[np.int64] = _NO_ACTIONS, reuse: Outputs | None = None
    ) -> Outputs:
        """Allocate the arrays that a step writes, uninitialized but for results and statistics, or all zero.

        Args:
            zeros: whether all arrays are zero.
            sampled: the array for sampled actions.
            reuse: outputs whose results and statistics are taken over.
        """
        empty = np.zeros if zeros else np.empty
        is_onehot = self._is_onehot
        arrays = (
            np.zeros(self.num_envs, _RESULT) if reuse is None else reuse.results,
            np.zeros(self.num_envs, _STATISTICS) if reuse is None else reuse.statistics,
            sampled,
            empty(self._mask_shape, _MASK_TYPE),
            empty(self._observation_shape, _ONEHOT_TYPE) if is_onehot else _NO_ONEHOT,
            empty(self._observation_shape, _TOKEN_TYPE) if self._is_tokens else _NO_TOKENS,
        )
        if self._own is not None:
            outputs = tuple.__new__(OwnOutputs, arrays)
            outputs.observations = empty(self._observation_shape, self._own.dtype)
            return outputs
        return tuple.__new__(
            Outputs, arrays
        )  # skips the call of a Python function, which takes as long as an allocation

    def observations(self, outputs: Outputs) -> NDArray[Any]:
        """Return the observations among outputs, (num_envs, size)."""
        if self._is_onehot:
            return outputs.onehot
        return outputs.observations if isinstance(outputs, OwnOutputs) else outputs.tokens

    def with_observations(self, outputs: Outputs, observations: NDArray[Any]) -> Outputs:
        """Return outputs whose observations are written to another array of the same shape and dtype."""
        if isinstance(outputs, OwnOutputs):
            replaced = outputs._replace()
            replaced.observations = observations
            return replaced
        return outputs._replace(onehot=observations) if self._is_onehot else outputs._replace(tokens=observations)

    def seed(self, seeds: Sequence[int], rows: NDArray[np.int64] | None = None) -> None:
        """Restart all random streams of the games at ``rows``, or of all, and the order of their seats."""
        rows = np.arange(len(self)) if rows is None else rows
        keys = self.games.seed_streams(seeds, rows)
        settings = self.bookkeeping.settings[0]
        self.records["opponent_stream"][rows, 0] = keys
        self.records["opponent_stream"][rows, 1] = 0
        self.records["next_seat"][rows] = (settings.first_seat + settings.alternates * rows) % state.NUM_SIDES

    def reset(
        self,
        rows: NDArray[np.int64] | None = None,
        opponents: Opponents = steps.NO_OPPONENTS,
        *,
        start: Games | None = None,
    ) -> None:
        """Start new episodes of the games at ``rows``, or of all; their random streams go on.

        Args:
            rows: indices of the games.
            opponents: the opponents to choose from.
            start: positions to start from, one for each row, whose random streams replace those of the games.
        """
        self.games.set_up(rows, self.bookkeeping, opponents)
        if start is not None:
            rows = np.arange(len(self)) if rows is None else rows
            self.games.put(rows, start)
            # Rewards are those of the same phases in a whole game, which counts the difference from 0 at its start.
            is_begun = (start.turn > 1) | (start.phase > 0)
            (alphas, for_alpha), (for_bravo, bravos) = start.known_scores.transpose(1, 2, 0)
            differences = np.stack([alphas - for_alpha, bravos - for_bravo], axis=1)
            self.records["score_difference"][rows] = is_begun[:, None] * differences

    def step(self, actions: NDArray[np.int64], outputs: Outputs, shard: "Shard | None" = None) -> int:
        """Play one decision phase, and write everything that follows from it.

        Args:
            actions: (num_envs, 11) order codes, C-contiguous; illegal ones become noop.
            outputs: the arrays to write.
            shard: the games to play, all by default; threads may step different shards at the same time.

        Returns:
            How many episodes ended.
        """
        start, stop, arrays, sight, outcomes = shard or self._shard
        return self._step(
            steps.PLAY, start, stop, self._all, arrays, sight, self.bookkeeping, actions, outcomes, outputs
        )

    @cached_property
    def _step(self) -> Callable[..., int]:
        return self._engine_step if self._own is None and self._reward is None else self._step_own

    @cached_property
    def _engine_step(self) -> Callable[..., int]:
        return compiled_step(self.games.hides_enemies)

    def _step_own(self, task: int, start: int, stop: int, *arguments: Any) -> int:
        """Call the compiled step, and then what replaces its rewards and observations."""
        selected, arrays, sight, bookkeeping, _, _, outputs = arguments
        reward = self._reward if task == steps.PLAY else None
        if reward is None:
            count = self._engine_step(task, start, stop, *arguments)
        else:
            shape, totals = (stop - start, state.NUM_SIDES), self.records["total_reward"][start:stop].copy()
            before = None if reward.compiled else self.games[start:stop]
            count = self._engine_step(task, start, stop, *arguments)
            if before is None:
                rewards = np.empty(shape)
                find = compiled_own(reward, hides_enemies=sight is not None)
                find(start, stop, arrays, sight, bookkeeping, rewards)
            else:
                with self._lock:
                    rewards = call_own(reward, shape, before, self.games[start:stop])
            steps.pay_rewards(start, stop, bookkeeping, rewards, totals, outputs)
        if isinstance(outputs, OwnOutputs) and self._own is not None:
            if self._own.compiled:
                observe = compiled_own(self._own, hides_enemies=sight is not None)
                observe(start, stop, selected, arrays, sight, bookkeeping, outputs.observations)
            else:
                self._observe_games(self._own, start + np.flatnonzero(selected[start:stop]), outputs.observations)
        return count

    def _observe_games(self, own: Observation, rows: NDArray[np.int64], observations: NDArray[Any]) -> None:
        """Write the observations of the games at ``rows`` by a function that is not compiled."""
        if len(rows) == 0:
            return
        with self._lock:
            by_side = call_own(own, (len(rows), state.NUM_SIDES, own.size), self.games[rows])
        if self.sides == state.NUM_SIDES:
            observations.reshape(len(self), *by_side.shape[1:])[rows] = by_side
        else:
            observations[rows] = by_side[np.arange(len(rows)), self.records["seat"][rows]]

    def event_counts(self) -> dict[str, NDArray[np.int64]]:
        """Return what the phase just played did in each environment, (num_envs,), by the names in infos: copies."""
        counts: dict[str, NDArray[np.int64]] = {}
        games, seats = np.arange(len(self)), self.records["seat"]
        for name in steps.EVENT_FIELDS:
            by_side = self.records[name]
            if self.sides == state.NUM_SIDES:
                counts[name], counts[f"enemy_{name}"] = by_side.flatten(), by_side[:, ::-1].flatten()
            else:
                counts[name], counts[f"enemy_{name}"] = by_side[games, seats], by_side[games, 1 - seats]
        return counts

    @property
    def num_sampled_values(self) -> int:
        """How many values resets may sample for a game."""
        return len(self.sampled)

    def sampled_values(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what was sampled for the games at ``rows`` as words, (len(rows), num_sampled_values); see ``name_values``."""
        words = setup.as_words(self.games.state.rules)
        values: NDArray[np.int64] = words[rows[:, None], self._sampled_words]
        for column, value in enumerate(self.sampled.values()):
            if value.formations:
                values[:, column] = value.read_formations(words[rows])
        return values

    def name_values(self, words: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """Return the columns of sampled values by key of the configuration, int64 or float64: views.

        The value of a formation is its index among those that the configuration lists for it.
        """
        reals = words.view(np.float64)
        return {
            key: (reals if value.is_real else words)[:, column]
            for column, (key, value) in enumerate(self.sampled.items())
        }

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """The outcomes of the phase last played, of a single game."""
        return read_outcomes(self._shard[-1], int(self.games.state.games["outcome_count"][0]))

    def put_outcomes(self, outcomes: Sequence[Outcome]) -> None:
        """Replace the outcomes of the phase last played, of a single game."""
        self.games.state.games["outcome_count"] = len(outcomes)
        self._shard[-1][: len(outcomes)] = outcome_records(outcomes)

    def shard(self, start: int, stop: int) -> "Shard":
        """Return a part of the games that one thread steps, with an array of its own for outcomes."""
        return start, stop, self.games.state, self.games.sight_to_step, state.make_outcomes()

    def describe(self, outputs: Outputs, selected: NDArray[np.bool_] | None = None) -> None:
        """Write legal orders, infos, masks and observations of the games as they are.

        Args:
            outputs: the arrays to write. The fields of results that are no infos are left as they are.
            selected: (n,), a mask of the games whose outputs are written; all by default.
        """
        selected = self._all if selected is None else selected
        self._write(steps.DESCRIBE, selected, self.bookkeeping, outputs)

    def _write(self, task: int, selected: NDArray[np.bool_], bookkeeping: EpisodeState, outputs: Outputs) -> None:
        """Call the compiled step for games that are not played."""
        arrays, sight = self.games.state, self.games.sight_to_step
        self._step(task, 0, len(self), selected, arrays, sight, bookkeeping, _NO_ACTIONS, self._shard[-1], outputs)

    def sample_actions(self, selected: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """Sample legal actions, (num_envs, 11); rows of games that are not selected are uninitialized."""
        sampled = np.empty((self.num_envs, state.SATELLITES), np.int64)
        results, statistics = self.outputs.results, self.outputs.statistics
        self.describe(Outputs(results, statistics, sampled, _NO_MASKS, _NO_ONEHOT, _NO_TOKENS), selected)
        return sampled

    def observe_opponents(self, encoding: Encoding | Observation) -> tuple[NDArray[Any], NDArray[np.int8]]:
        """Return observations, (n, size), and action masks, (n, 11, 28), of the side opposite to each game's seat."""
        config = self.games.config
        features = {"hides_enemies": self.games.hides_enemies, "counts_patrols": config.counts_patrols}
        outputs = make_outputs(len(self), encoding, config.board.outer_ring, **features, masks=True)
        settings = self.bookkeeping.settings.copy()
        settings["sides"], settings["observes_opponent"] = 1, 1
        self._write(steps.OBSERVE, self._all, EpisodeState(self.records, settings), outputs)
        if isinstance(encoding, Observation):
            return self.games.observe(encoding)[np.arange(len(self)), 1 - self.records["seat"]], outputs.masks
        return outputs.onehot if encoding == "onehot" else outputs.tokens, outputs.masks

    def save(self, sampled: NDArray[np.int64] | None) -> dict[str, Any]:
        """Return all games, random streams included, as plain data that ``json.dumps`` takes, see ``SavedEnvironment``.

        Args:
            sampled: (num_envs, 11), actions that were sampled for the next step; None if none were.
        """
        games, records = self.games, self.records
        columns = {"sampler": games.state.choices["stream"].tolist()}
        columns |= {name: records[name].tolist() for name in _EPISODE_FIELDS}
        return {
            "format": "geo_patrol environment",
            "version": 1,
            "config": games.config.to_dict(),
            "games": [save_state(games, i) for i in range(len(self))],
            "episodes": [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
            "sampled": None if sampled is None else sampled.tolist(),
        }

    def read_saved(self, data: SavedEnvironment) -> Games:
        """Return the games of a save that fits these; nothing changes.

        Raises:
            RecordingError: it has another configuration or number of games, or one of them is impossible.
        """
        where, n = "saved environment", len(self)
        if read_saved_config(data.config) != self.games.config:
            raise RecordingError(f"{where}: it was saved with another configuration")
        if len(data.games) != n or len(data.episodes) != n:
            raise RecordingError(f"{where}: games and episodes must be those of {counted(n, 'game')}")
        if data.sampled is not None and len(data.sampled) != self.num_envs:
            raise RecordingError(f"{where}: sampled must have {self.num_envs} rows, got {len(data.sampled)}")
        games = restore_states(self.games.config, data.games, f"{where}: games")
        for i, episode in enumerate(data.episodes):
            if games.is_over[i] and not episode.is_over:
                raise RecordingError(f"{where}: episodes.{i}.is_over = 0: the game is over")
        return games

    def restore(
        self, data: SavedEnvironment, games: Games, opponents: Opponents = steps.NO_OPPONENTS
    ) -> NDArray[np.int64] | None:
        """Go on with the games that ``read_saved`` returned; return the actions that were sampled for the next step.

        Args:
            data: the save; its opponents are among ``opponents``.
            games: its games.
            opponents: all opponents.
        """
        self.games.put(np.arange(len(self)), games)
        self.games.state.choices["stream"] = [episode.sampler for episode in data.episodes]
        for name in _EPISODE_FIELDS:
            if name not in steps.EVENT_FIELDS or self.counts_events:
                self.records[name] = [getattr(episode, name) for episode in data.episodes]
        self.records["is_new"] = 0
        if len(opponents.kinds) > 0:
            self.records["opponent_kind"] = opponents.kinds[self.records["opponent"]]
        return None if data.sampled is None else np.array(data.sampled, np.int64)


Shard: TypeAlias = tuple[int, int, state.State, state.Sight | None, state.Records]
"""The games that one thread plays: the first index, the one after the last, their arrays, what their sides know, and where
their engagements write outcomes."""


# A single game


def make_infos(result: Any) -> dict[str, Any]:
    """Return the infos that single environments of every kind have, from a record of layout ``RESULT`` as a tuple."""
    # By position, since names take longer.
    illegal_orders, score, enemy_score, turn, phase, reasons, variant = result[4:11]
    return {
        "illegal_orders": illegal_orders,
        "score": score,
        "enemy_score": enemy_score,
        "turn": turn,
        "phase": phase,
        "reasons": reasons,
        "variant": variant,
    }


class GameEnvironment:
    """Base of the environments of a single game: its options, its current episode, its saves and its pictures.

    Args:
        config: a preset's name, a path, a mapping or a ``GameConfig``.
        options: those of ``ParallelGeoPatrol``.
        mask_in: where the environment returns action masks unless the options say so.
        sides: 2 if both sides are played, 1 against an opponent.

    Attributes:
        episodes: the game.
        mask_in: where action masks are returned.
        has_more_infos: whether infos have more than ``make_infos`` returns, see ``add_infos``.

    Raises:
        ConfigError, ValueError: an argument is invalid.
    """

    _new_episodes: Callable[..., Episodes] = Episodes
    opponents = steps.NO_OPPONENTS
    """The opponent of the side that is played; none where both are."""

    def __init__(
        self, config: ConfigSource, options: GameOptions, mask_in: MaskIn, *, sides: int = state.NUM_SIDES
    ) -> None:
        encoding, reward = check_observation(options.get("observation", "onehot")), options.get("reward", "score")
        max_cycles, counts_events = options.get("max_cycles"), options.get("count_events", False)
        self.mask_in = options.get("mask_in", mask_in)
        max_cycles, counts_events = check_options(self.mask_in, reward, max_cycles, counts_events)
        self.render_mode = options.get("render_mode")
        self._display = Display(self.render_mode, options.get("render_size", RENDER_SIZE))
        self._config = load_config(config, options.get("overrides"))
        self.episodes = self._new_episodes(
            self._config, 1, encoding, sides=sides, reward=reward, max_cycles=max_cycles, counts_events=counts_events
        )
        self._actions_shape = sides, state.SATELLITES
        self.has_more_infos = counts_events or self.episodes.num_sampled_values > 0
        self._is_seeded = False
        self._sampled_values: dict[str, int | float] = {}  # by key of the configuration
        self._sampled: NDArray[np.int64] | None = None  # actions for the next phase: a step samples them at little cost

    @property
    def config(self) -> GameConfig:
        """The configuration, with the ranges that resets sample from."""
        return self._config

    def check_reset(self) -> None:
        """Raise RuntimeError if ``reset`` was never called."""
        if not self._is_seeded:
            raise RuntimeError("reset must be called first")

    def set_variants(self, weights: str | Mapping[str, float]) -> None:
        """Let resets from now on sample variants by other weights than those of the configuration.

        Args:
            weights: a weight for each variant that may be sampled, by name; or the name of the only one. Saves and copies of
                the environment do not hold them.

        Raises:
            ValueError: there is no such variant, or a weight is wrong; nothing has changed then.
        """
        self.episodes.games.set_variants(weights)

    def read_start(self, options: Any) -> Game | None:
        """Return the position from which a reset with these options starts; None for a new game.

        Raises:
            ValueError: an option is not known, or its value is no ``Game`` that the environment can go on with.
        """
        game = read_options(options, ("game",)).get("game")
        if game is None:
            return None
        if not isinstance(game, Game):
            raise ValueError(f"option 'game' must be a geo_patrol.Game, got {show(game)}")
        check_start("option 'game'", game.as_games(), self._config)
        return game

    def start_game(self, seed: int | None, start: Game | None = None, seat: int = 0) -> Outputs:
        """Start a new game; without a seed, the random streams of the game before go on.

        Args:
            seed: of all random streams.
            start: the position to start from, as ``read_start`` returns it. Without a seed its random stream goes on.
            seat: the side that is played against an opponent.

        Raises:
            ValueError: the seed is negative or not an integer.
        """
        if seed is not None or not self._is_seeded:
            self.episodes.seed([fresh_seed() if seed is None else check_seed(seed)])
            self._is_seeded = True
        self.episodes.records["next_seat"] = seat
        self.episodes.reset(opponents=self.opponents, start=None if start is None else start.as_games())
        if start is not None:
            self.episodes.put_outcomes(start.outcomes)
            if seed is not None:
                self.episodes.games.seed_streams([seed])
        self._sampled = None
        self._read_sampled_values()
        return self.describe_game()

    def _read_sampled_values(self) -> None:
        if self.episodes.num_sampled_values > 0:
            values = self.episodes.name_values(self.episodes.sampled_values(np.zeros(1, np.int64)))
            self._sampled_values = {key: value.item() for key, value in values.items()}

    def describe_game(self) -> Outputs:
        """Return what describes the game as it is, a row for each side that is played; the arrays are new ones."""
        outputs = self.episodes.outputs = self.episodes.new_outputs(reuse=self.episodes.outputs)
        self.episodes.describe(outputs)
        return outputs

    def play_phase(self, actions: NDArray[np.int64]) -> Outputs:
        """Play a phase with the actions of the sides that are played, (sides, 11), and return what ``describe_game`` does."""
        episodes = self.episodes
        if self._sampled is None:  # otherwise nobody has asked for them, and they may be overwritten
            self._sampled = np.empty(self._actions_shape, _ACTION_TYPE)
        outputs = episodes.outputs = episodes.new_outputs(sampled=self._sampled, reuse=episodes.outputs)
        episodes.step(actions, outputs)
        return outputs

    def add_infos(self, infos: dict[str, Any], row: int) -> None:
        """Add events, if they are counted, and sampled values, if there are any, to the infos of one of the sides played."""
        if self.episodes.counts_events:
            infos.update((name, counts.item(row)) for name, counts in self.episodes.event_counts().items())
        if self._sampled_values:
            infos["sampled"] = self._sampled_values.copy()

    def sample_orders(self) -> NDArray[np.int64]:
        """Sample legal orders for the sides that are played, (sides, 11): the game's own random stream is not used."""
        sampled, self._sampled = self._sampled, None
        if sampled is None:
            self.check_reset()
            sampled = self.episodes.sample_actions()
        return sampled

    def game(self) -> Game:
        """Return a copy of the game, to inspect, or to plan with after ``fork``.

        It has the random stream of the game, so what happens in it foretells what will happen here, and the outcomes of the
        last engagement.

        Raises:
            RuntimeError: ``reset`` was not called.
        """
        self.check_reset()
        return Game.from_games(self.episodes.games.copy(), outcomes=self.episodes.outcomes)

    def save(self) -> dict[str, Any]:
        """Return the game, random streams included, as plain data that ``json.dumps`` takes.

        Raises:
            RecordingError: ``reset`` was not called.
        """
        if not self._is_seeded:
            raise RecordingError("nothing to save: reset must be called first")
        return self.episodes.save(self._sampled)

    def resume(self, data: SavedEnvironment, games: Games) -> None:
        """Go on with the games that ``Episodes.read_saved`` returned."""
        self._sampled = self.episodes.restore(data, games, self.opponents)
        self._is_seeded = True
        self._read_sampled_values()

    def render(self) -> Rendered:
        """Return the position as text ("ansi") or as a picture ("rgb_array"); draw the window anew ("human").

        Raises:
            RuntimeError: ``reset`` was never called.
        """
        if self.render_mode is not None:
            self.check_reset()
        return self._display.render(self.game)

    def close(self) -> None:
        """Close the window, if one is open."""
        self._display.close()
