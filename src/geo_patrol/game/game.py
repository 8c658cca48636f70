"""Positions as values: ``Games``, many side by side, and ``Game``, one of them.

``Games`` holds the arrays. A ``Game`` is a batch of one with satellites, orders and outcomes as values, and a ``Phase`` is
what was played of it.
"""

import functools
import hashlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, overload

import numpy as np
from numpy.typing import NDArray

from geo_patrol.base.arguments import check_count, check_limit, fresh_seed, read_seeds
from geo_patrol.base.board import adjacent_sectors, are_adjacent, ring_of
from geo_patrol.base.errors import OrderError, RecordingError, counted, optional_import, show, suggest
from geo_patrol.base.jit import resolve
from geo_patrol.base.sides import SIDES, Side, enemy_of
from geo_patrol.config.presets import ConfigSource, Overrides, load_config, read_saved_config
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine import own, rng, setup, state, steps, turn
from geo_patrol.engine.distribution import outcome_distribution
from geo_patrol.engine.engagement import attack_probability, engagement_cost, guard_probability
from geo_patrol.engine.legal import to_masks
from geo_patrol.engine.observe import Encoding, check_observation, observation_size
from geo_patrol.engine.own import Observation, Reward
from geo_patrol.engine.setup import sampled_config
from geo_patrol.engine.sight import reveal_games
from geo_patrol.engine.steps import EpisodeState, Opponents, Outputs
from geo_patrol.game import notation
from geo_patrol.game.position import (
    FORMAT,
    VERSION,
    Known,
    Position,
    SavedGame,
    SavedState,
    check_saved,
)
from geo_patrol.game.text import outcomes_text, position_text

if TYPE_CHECKING:
    from geo_patrol.game.cuda import CudaGames

MAX_GAMES = 1 << 20

_ACTION_TYPE = np.dtype(np.int64)
_ACTION_SHAPE = state.NUM_SIDES, state.SATELLITES
_NO_ACTIONS = np.empty((0, state.SATELLITES), np.int64)
_NOT_IN_KEYS = ("rng_key", "rng_counter", "illegal_orders", "outcome_count")
"""The fields of a game that say nothing about its position: streams, and the bookkeeping of the last phase."""
_KEY_BYTES = np.concatenate(
    [
        np.arange(offset, offset + layout.itemsize)
        for name, (layout, offset, *_) in (state.GAME.fields or {}).items()
        if name not in _NOT_IN_KEYS
    ]
)


_NO_OUTPUTS = Outputs(
    results=state.records(steps.RESULT, 0),
    statistics=state.records(steps.STATISTICS, 0),
    sampled=_NO_ACTIONS,
    masks=np.empty((0, state.SATELLITES, state.ORDERS), np.int8),
    onehot=np.empty((0, 0), np.float32),
    tokens=np.empty((0, 0), np.int16),
)


def make_outputs(
    rows: int,
    encoding: Encoding | Observation | None = None,
    outer_ring: int = 1,
    *,
    hides_enemies: bool = False,
    counts_patrols: bool = False,
    masks: bool = False,
) -> Outputs:
    """Allocate arrays for observations and masks, uninitialized; the engine does not write observations of users' own."""
    outputs = _NO_OUTPUTS
    features = {"hides_enemies": hides_enemies, "counts_patrols": counts_patrols}
    size = 0 if encoding is None else observation_size(encoding, outer_ring, **features)
    if masks:
        outputs = outputs._replace(masks=np.empty((rows, state.SATELLITES, state.ORDERS), np.int8))
    if encoding == "onehot":
        outputs = outputs._replace(onehot=np.empty((rows, size), np.float32))
    elif encoding == "tokens":
        outputs = outputs._replace(tokens=np.empty((rows, size), np.int16))
    return outputs


@functools.cache
def compiled_step(hides_enemies: bool) -> Callable[..., int]:
    """Return ``step_games`` as compiled for the types of arguments that all callers have.

    All of them are fixed, so the types need not be looked at in every call, which would take longer than a step of one
    game.
    """
    arrays, sight = state.make_state(1, 1), state.NO_SIGHT if hides_enemies else None
    arguments = 0, 0, 1, np.ones(1, np.bool_), arrays, sight, steps.NO_EPISODES
    return resolve(steps.step_games, *arguments, _NO_ACTIONS, state.make_outcomes(), _NO_OUTPUTS)


def compiled_own(given: Observation | Reward, *, hides_enemies: bool) -> Callable[..., None]:
    """Return the loop that calls a function of a user's own, compiled once for all objects that have it.

    Raises:
        ValueError: it cannot be compiled.
    """
    return _compile_own(given.function, given.dtype if isinstance(given, Observation) else None, hides_enemies)


@functools.cache
def _compile_own(function: Callable[..., Any], dtype: np.dtype[Any] | None, hides_enemies: bool) -> Callable[..., None]:
    arrays, sight = state.make_state(1, 1), state.NO_SIGHT if hides_enemies else None
    if dtype is None:
        rewards = np.empty((0, state.NUM_SIDES))
        return own.compile_loop("reward", function, own.reward_loop, 0, 0, arrays, sight, steps.NO_EPISODES, rewards)
    rows = np.ones(1, np.bool_), arrays, sight, steps.NO_EPISODES, np.empty((0, 0), dtype)
    return own.compile_loop("observation", function, own.observation_loop, 0, 0, *rows)


def call_own(given: Observation | Reward, shape: tuple[int, ...], *games: "Games") -> NDArray[Any]:
    """Return what an uncompiled function says of games for both sides, (n, 2, ...), from what each side knows.

    Raises:
        ValueError: it returns something else than an array of this shape.
    """
    if not games[0].hides_enemies:
        return own.check_returned(given, given.function(*games), shape)
    sides = range(state.NUM_SIDES)
    known = [given.function(*(batch.seen_by(side) for batch in games)) for side in sides]
    return np.stack([own.check_returned(given, known[side], shape)[:, side] for side in sides], axis=1)


@functools.cache
def _compiled_reset() -> Callable[..., None]:
    rows, arrays = np.empty(0, np.int64), state.make_state(1, 1)
    return resolve(steps.reset_games, rows, arrays, steps.NO_EPISODES, steps.NO_OPPONENTS, True)


def as_codes(actions: Any, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Return order codes as the engine takes them: int64, C-contiguous, with values beyond it as codes that do not exist.

    Raises:
        ValueError: they have another shape or are not integers.
    """
    codes = np.asarray(actions)
    if codes.shape != shape or codes.dtype.kind not in "iu":
        raise ValueError(f"actions must be integers of shape {shape}, got {codes.shape} of {codes.dtype}")
    return codes if codes.dtype is _ACTION_TYPE and codes.flags.c_contiguous else np.require(codes, np.int64, ["C"])


class Games:
    """Positions of one configuration, side by side.

    Game i plays, bit for bit, what a ``Game`` with its seed plays, whatever the number of games. All arrays have a row for
    each game; those by side have alpha first, those by satellite the HVA first, then Patrols 1 to 10.

    >>> games = Games("geo_patrol", 1000, seed=7)
    >>> while not games.is_over.all():
    ...     games.step(games.sample_actions())
    >>> games.returns.shape
    (1000, 2)

    Args:
        config: a preset's name, the path of a TOML file, its content as a mapping, or a ``GameConfig``.
        n: number of games.
        seed: an integer s (game i gets s + i), or one for each game; None takes seeds from the operating system.
        overrides: single values of the configuration, such as ``{"bravo.patrols.ammo": 3}``.

    Raises:
        ConfigError: the configuration is invalid.
        ValueError: another argument is invalid.
    """

    _unread_outcomes: state.Records | None = None
    """Where engagements write outcomes that nobody asks for, made with the first of them: threads must not share it."""

    def __init__(
        self,
        config: ConfigSource = "geo_patrol",
        n: int = 1,
        *,
        seed: int | Sequence[int] | NDArray[np.integer[Any]] | None = None,
        overrides: Overrides | None = None,
    ) -> None:
        n = check_count("n", n, MAX_GAMES)
        seeds = read_seeds(seed, n)
        self._allocate(load_config(config, overrides), n)
        self.seed_streams([fresh_seed() if number is None else number for number in seeds])
        self.set_up()
        self.describe()

    def _allocate(self, config: GameConfig, n: int) -> None:
        self.config = config
        self.scenario = setup.make_scenario(config)
        self.is_randomized = config.is_randomized  # a walk through the whole configuration
        self._rules_digest: bytes | None = None
        self.hides_enemies = config.hides_enemies
        self.state = state.make_state(n, n if self.is_randomized else 1)
        self.sight = state.make_sight(n) if self.hides_enemies else state.NO_SIGHT
        self._rows, self._all = np.arange(n), np.ones(n, np.bool_)
        if not self.is_randomized:
            words = setup.as_words(self.state.rules)
            setup.write_sampled(self.scenario, state.NOBODY, (), self.state.rules[0], words[0])

    @classmethod
    def unseeded(cls, config: GameConfig, n: int) -> Self:
        """Return games that still have to be seeded and set up."""
        games = object.__new__(cls)
        games._allocate(config, n)
        return games

    @classmethod
    def from_games(cls, games: "Iterable[Game]") -> "Games":
        """Return games as a batch, with their random streams. All must have the same configuration.

        A game that is given several times plays the same each time; ``Game.repeat`` returns copies with streams of their own.

        Raises:
            ValueError: there are no games, or they have different configurations.
        """
        singles = [game.as_games() for game in games]
        if not singles:
            raise ValueError("games must be one or more games of the same configuration, got none")
        first = singles[0]
        if any(single.config is not first.config and single.config != first.config for single in singles):
            raise ValueError("games must be one or more games of the same configuration")
        if any(single.hides_enemies != first.hides_enemies for single in singles):
            raise ValueError("games must be whole, or all of them as a side knows them, got some of each")

        def join(field: str) -> state.Records:
            return state.join_records([getattr(single.state, field) for single in singles])

        rules = join("rules") if first.is_randomized else first.state.rules
        sight = state.Sight(*map(state.join_records, zip(*(single.sight for single in singles), strict=True)))
        return first._twin(state.State(join("games"), rules, join("choices")), sight)

    # What the positions are

    def __len__(self) -> int:
        return len(self.state.games)

    @property
    def turn(self) -> NDArray[np.int32]:
        """(n,) number of the turn being played, from 1; of a finished game, of its last turn."""
        turns: NDArray[np.int32] = self.state.games["turn"] + 1
        return turns

    @property
    def phase(self) -> NDArray[np.int16]:
        """(n,) what is to be ordered now: 0 movement, 1 engagement; 2 when the game is over."""
        return self._field("phase")

    @property
    def is_over(self) -> NDArray[np.bool_]:
        """(n,) whether each game has ended."""
        over: NDArray[np.bool_] = self.state.games["done"] != 0
        return over

    @property
    def winner(self) -> NDArray[np.int64]:
        """(n,) side that has won: 0 alpha, 1 bravo; -1 for a draw, or while the game goes on."""
        return turn.winners_of(self.state.games)

    @property
    def returns(self) -> NDArray[np.int64]:
        """(n, 2) outcome of each game for both sides: 1 won, -1 lost, 0 drawn or not finished (see ``is_over``)."""
        alpha = np.choose(self.winner + 1, (0, 1, -1))
        return np.stack([alpha, -alpha], axis=1)

    @property
    def reasons(self) -> NDArray[np.int16]:
        """(n,) why each game ended, as bits, see ``geo_patrol.read_reasons``; 0 while it goes on."""
        return self._field("reasons")

    @property
    def variant(self) -> NDArray[np.int64]:
        """(n,) the variant that was sampled for each game, its index in ``config.variants``; -1 if there are none."""
        variants = self.state.rules["variant"]
        return variants.copy() if len(variants) == len(self) else np.full(len(self), variants[0])

    @property
    def scores(self) -> NDArray[np.int32]:
        """(n, 2) points when they were last counted: goal points so far and fuel points."""
        return self._field("score")

    @property
    def goals(self) -> NDArray[np.int16]:
        """(n, 2) goal sectors."""
        return self._field("goal")

    @property
    def sector(self) -> NDArray[np.int16]:
        """(n, 2, 11) sector of each satellite; 0 for one that the side does not have."""
        return self._field("sector")

    @property
    def fuel(self) -> NDArray[np.int16]:
        """(n, 2, 11) fuel of each satellite."""
        return self._field("fuel")

    @property
    def ammo(self) -> NDArray[np.int16]:
        """(n, 2, 11) rounds left."""
        return self._field("ammo")

    @property
    def destroyed(self) -> NDArray[np.int8]:
        """(n, 2, 11) 1 where a satellite was shot or collided."""
        return self._field("destroyed")

    @property
    def last_seen(self) -> NDArray[np.int32]:
        """(n, 2, 11) number of the turn in which the other side last saw each satellite; ``turn`` for those in sight."""
        phases = self._phase_numbers()[:, None, None] - self.unseen
        turns: NDArray[np.int32] = phases // 2 + 1
        return turns

    @property
    def unseen(self) -> NDArray[np.int32]:
        """(n, 2, 11) decision phases since the other side last saw each satellite; 0 for those in sight."""
        sightings = self.sight.sightings
        if len(sightings) == 0:
            return np.zeros((len(self), state.NUM_SIDES, state.SATELLITES), np.int32)
        phases: NDArray[np.int32] = self._phase_numbers()[:, None, None] - sightings["phase"]
        return phases

    def _phase_numbers(self) -> NDArray[np.int32]:
        """Return the number of each game's decision phase, (n,), as ``engine.sight.phase_number`` does."""
        numbers: NDArray[np.int32] = 2 * self.state.games["turn"] + (self.state.games["phase"] != state.MOVEMENT)
        return numbers

    def position_keys(self) -> list[bytes]:
        """Return a hashable key of each position.

        Keys are equal where positions, with what their configuration sampled for them, are equal, whatever their random
        streams; they are the same in every process.
        """
        as_bytes = self.state.games.view(np.uint8).reshape(len(self), state.GAME.itemsize).take(_KEY_BYTES, axis=1)
        positions = as_bytes.view(f"V{len(_KEY_BYTES)}")[:, 0].tolist()
        rules = self.state.rules
        if self.hides_enemies:  # what the sides know belongs to the position
            beliefs, sightings = self.sight
            positions = [
                key + _digest(beliefs[2 * i : 2 * i + 2]) + _digest(sightings[i : i + 1])
                for i, key in enumerate(positions)
            ]
        values = setup.as_words(rules)[:, 1:]  # without the variant, which is a name for them
        if len(rules) > 1:
            return [key + _digest(values[i]) for i, key in enumerate(positions)]
        if self._rules_digest is None or self.is_randomized:
            self._rules_digest = _digest(values)
        return [key + self._rules_digest for key in positions]

    def _field(self, name: str) -> NDArray[Any]:
        view: NDArray[Any] = self.state.games[name].view()
        view.flags.writeable = False  # legal orders follow from the positions
        return view

    def action_masks(self) -> NDArray[np.int8]:
        """Return the legal orders of both sides: (n, 2, 11, 28), 1 where a satellite may be given an order code."""
        outputs = make_outputs(2 * len(self), masks=True)
        self.run(steps.OBSERVE, outputs=outputs)
        return outputs.masks.reshape(len(self), 2, state.SATELLITES, state.ORDERS)

    def observe(self, encoding: Encoding | Observation = "onehot", *, whole: bool = False) -> NDArray[Any]:
        """Return the observations of both sides, (n, 2, size): float32 ("onehot"), int16 ("tokens"), or of an own type.

        ``geo_patrol.observation_names`` names their features.

        Args:
            encoding: "onehot", "tokens" or an ``Observation``.
            whole: whether both sides observe the whole position although the configuration hides enemies.

        Raises:
            ValueError: there is no such encoding.
        """
        encoding = check_observation(encoding)
        if isinstance(encoding, Observation):
            return self._observe_own(encoding, whole=whole)
        hides_enemies = self.hides_enemies and not whole
        outer_ring = self.config.board.outer_ring
        features = {"hides_enemies": hides_enemies, "counts_patrols": self.config.counts_patrols}
        outputs = make_outputs(2 * len(self), encoding, outer_ring, **features)
        self.run(steps.OBSERVE, outputs=outputs, whole=whole)
        observations = outputs.tokens if encoding == "tokens" else outputs.onehot
        return observations.reshape(len(self), 2, observations.shape[1])

    def _observe_own(self, own: Observation, *, whole: bool) -> NDArray[Any]:
        shape = len(self), state.NUM_SIDES, own.size
        if not own.compiled:
            games = self.copy()
            games.hides_enemies = self.hides_enemies and not whole
            return call_own(own, shape, games)
        sight = None if whole else self.sight_to_step
        observations = np.empty((state.NUM_SIDES * len(self), own.size), own.dtype)
        write = compiled_own(own, hides_enemies=sight is not None)
        write(0, len(self), self._all, self.state, sight, steps.NO_EPISODES, observations)
        return observations.reshape(shape)

    # Playing

    def sample_actions(self) -> NDArray[np.int64]:
        """Sample legal actions, (n, 2, 11), uniformly and independently for each satellite, from streams of their own."""
        sampled = np.empty((2 * len(self), state.SATELLITES), np.int64)
        self.run(steps.DESCRIBE, outputs=_NO_OUTPUTS._replace(sampled=sampled))
        return sampled.reshape(len(self), 2, state.SATELLITES)

    def step(self, actions: NDArray[np.integer[Any]]) -> None:
        """Play one decision phase of every game: movement, or engagement with the drift that follows it.

        Args:
            actions: (n, 2, 11) order codes. Illegal orders become noop; finished games stay as they are.

        Raises:
            ValueError: the actions have another shape or are not integers.
        """
        self.run(steps.PLAY, as_codes(actions, (len(self._rows), *_ACTION_SHAPE)).reshape(-1, state.SATELLITES))

    def replace_illegal(self, actions: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Return actions, (n, 2, 11), with illegal orders replaced by noop, as ``step`` plays them.

        Raises:
            ValueError: the actions have another shape or are not integers.
        """
        codes = as_codes(actions, (len(self), *_ACTION_SHAPE))
        is_code = (codes >= 0) & (codes < state.ORDERS)
        is_legal = is_code & (self.state.choices["legal"] >> np.where(is_code, codes, 0) & 1 != 0)
        return np.where(is_legal, codes, state.NOOP)

    def play_randomly(self, max_phases: int | None = None) -> Self:
        """Play the games to their end with sampled actions, and return the games themselves.

        It plays what ``sample_actions`` before every ``step`` would, in one compiled call a phase. ``geo_patrol.play_out``
        lets any agents play.

        Args:
            max_phases: the number of decision phases to play at most; None plays all games to their end.

        Raises:
            ValueError: it is neither a non-negative integer nor None.
        """
        limit = check_limit("max_phases", max_phases)
        sampled = np.empty((2 * len(self), state.SATELLITES), np.int64)
        sampling, running, played = _NO_OUTPUTS._replace(sampled=sampled), ~self.is_over, 0
        if limit > 0:
            self.run(steps.DESCRIBE, selected=running, outputs=sampling)
        while played < limit and running.any():
            played += 1
            outputs = sampling if played < limit else _NO_OUTPUTS  # no number of a stream is drawn in vain
            self.run(steps.PLAY, actions=sampled, selected=running, outputs=outputs)
            running = ~self.is_over
        return self

    # Copies

    @overload
    def __getitem__(self, rows: int) -> "Game": ...

    @overload
    def __getitem__(self, rows: slice | NDArray[Any] | Sequence[int]) -> "Games": ...

    def __getitem__(self, rows: Any) -> "Game | Games":
        """Return a copy of one game (an integer), or of several (a slice, indices or a mask), with their random streams.

        A game that is selected several times plays the same each time, see ``reseed``.

        Raises:
            IndexError: there is no such game, or games are not selected by one of these.
        """
        if isinstance(rows, (int, np.integer)) and not isinstance(rows, bool):
            if not -len(self) <= rows < len(self):  # loops over the games end by it, too
                raise IndexError(f"index {rows} is out of range for {counted(len(self), 'game')}")
            return Game.from_games(self._take(np.array([rows % len(self)])))
        selected = np.arange(len(self))[rows]
        if selected.ndim != 1:
            raise IndexError(f"games must be selected by an integer, a slice, indices or a mask, got {show(rows)}")
        return self._take(selected)

    def _take(self, rows: NDArray[np.int64]) -> Self:
        games, rules, choices = self.state
        beliefs, sightings = self.sight
        if len(beliefs) > 0:
            beliefs = state.copy_records(beliefs, _belief_rows(rows))
        if len(sightings) > 0:
            sightings = state.copy_records(sightings, rows)
        return self._twin(
            state.State(
                state.copy_records(games, rows),
                state.copy_records(rules, rows) if len(rules) > 1 else self._own(rules),
                state.copy_records(choices, rows),
            ),
            state.Sight(beliefs, sightings),
        )

    def copy(self) -> Self:
        """Return independent copies with the same random streams: given the same orders, they play the same."""
        games, rules, choices = self.state
        sight = self.sight
        if len(sight.beliefs) > 0:
            sight = state.Sight(state.copy_records(sight.beliefs), state.copy_records(sight.sightings))
        return self._twin(state.State(state.copy_records(games), self._own(rules), state.copy_records(choices)), sight)

    @overload
    def to(self, device: Literal["cpu"]) -> "Games": ...

    @overload
    def to(self, device: Literal["cuda"]) -> "CudaGames": ...

    @overload
    def to(self, device: str) -> "Games | CudaGames": ...

    def to(self, device: str) -> "Games | CudaGames":
        """Return copies of the games on a GPU, with the same random streams; for "cpu" the games themselves.

        Args:
            device: "cpu", or "cuda" or "cuda:1" for ``CudaGames``, whose arrays are tensors on a GPU.

        Raises:
            CudaError: there is no such device.
            MissingPackageError: the extra ``[cuda]`` is not installed.
            ValueError: the device is of another kind.
        """
        if device == "cpu":
            return self
        with optional_import("cuda"):
            from geo_patrol.game.cuda import CudaGames  # noqa: PLC0415 - needs the extra
        return CudaGames(self, device)

    def seen_by(self, side: int) -> "Games":
        """Return the positions as a side knows them, to show them to a player, or to plan with.

        Where the configuration hides enemies, those that the side does not see stand where they would be if they had drifted
        since it last saw them (``last_seen``), and the enemy's score follows from that; otherwise these are copies. The
        side's legal orders are those of the games. Nothing more is hidden in them, so they can be played on, with random
        streams that are all alike: ``reseed`` gives each one its own.

        Args:
            side: 0 alpha, 1 bravo.

        Raises:
            ValueError: it is neither.
        """
        if side not in range(state.NUM_SIDES):
            raise ValueError(f"side must be 0 (alpha) or 1 (bravo), got {show(side)}")
        if not self.hides_enemies:
            return self.copy()
        beliefs, sightings = (state.copy_records(array) for array in self.sight)
        sightings["phase"][:, side] = self._phase_numbers()[:, None]  # what the other side sees is hidden as well
        seen = self._twin(
            state.State(
                state.copy_records(beliefs, np.arange(side, len(beliefs), state.NUM_SIDES)),
                self._own(self.state.rules),
                state.records(state.CHOICES, len(self)),
            ),
            state.Sight(state.NO_SIGHT.beliefs, sightings),
        )
        seen.hides_enemies = False
        seen.describe()
        seen.state.choices["legal"][:, side] = self.state.choices["legal"][:, side]
        return seen

    def _own(self, rules: state.Records) -> state.Records:
        """Return the rules for a copy: the same ones, unless a reset of games samples them anew in place."""
        return state.copy_records(rules) if self.is_randomized else rules

    def _twin(self, arrays: state.State, sight: state.Sight) -> Self:
        """Return other games of the same configuration."""
        twin = object.__new__(type(self))
        twin.config, twin.scenario, twin.is_randomized = self.config, self.scenario, self.is_randomized
        twin._rules_digest, twin.state, twin.sight = self._rules_digest, arrays, sight
        twin.hides_enemies = self.hides_enemies
        n = len(arrays.games)
        is_as_long = n == len(self._rows)
        twin._rows, twin._all = (self._rows, self._all) if is_as_long else (np.arange(n), np.ones(n, np.bool_))
        return twin

    def reseed(self, seed: int | Sequence[int] | NDArray[np.integer[Any]] | None = None) -> Self:
        """Give the games new random streams, for chance and for ``sample_actions``; return the games themselves.

        Args:
            seed: an integer s (game i gets s + i), or one for each game; None takes seeds from the operating system.
        """
        seeds = [fresh_seed() if number is None else number for number in read_seeds(seed, len(self))]
        self.fork_streams(np.array([number % 2**64 for number in seeds], np.uint64))
        return self

    # For environments and agents inside the package

    def fork_streams(self, seeds: NDArray[np.uint64]) -> None:
        """Start new random streams, by a seed for each game, (n,)."""
        keys = rng.fork_keys(seeds)
        self.state.games["rng_key"], self.state.games["rng_counter"] = keys, 0
        streams = self.state.choices["stream"]
        streams[:, 0], streams[:, 1] = rng.stream_keys(keys, rng.ACTION_STREAM), 0

    def seed_streams(self, seeds: Sequence[int], rows: NDArray[np.int64] | None = None) -> NDArray[np.uint64]:
        """Restart the random streams of the games at ``rows``, or of all; return the keys of their opponents' streams."""
        numbers = np.array([int(seed) % 2**64 for seed in seeds], np.uint64)
        keys = rng.stream_keys(numbers[:, None], rng.STREAMS)
        where: Any = slice(None) if rows is None else rows
        games, streams = self.state.games, self.state.choices["stream"]
        games["rng_key"][where], games["rng_counter"][where] = keys[:, 0], 0
        streams[where, 0], streams[where, 1] = keys[:, 1], 0
        opponents: NDArray[np.uint64] = keys[:, 2]
        return opponents

    def set_variants(self, weights: str | Mapping[str, float]) -> None:
        """Let games that are set up from now on sample their variants by other weights than those of the configuration.

        Args:
            weights: a weight for each variant that may be sampled, by name; or the name of the only one.

        Raises:
            ValueError: there is no such variant, or a weight is wrong; nothing has changed then.
        """
        chances = read_variant_weights(weights, self.config)
        self.scenario = self.scenario._replace(cumulative_weights=np.cumsum(chances).astype(np.int64))

    def set_up(
        self,
        rows: NDArray[np.int64] | None = None,
        episodes: EpisodeState = steps.NO_EPISODES,
        opponents: Opponents = steps.NO_OPPONENTS,
    ) -> None:
        """Set up the games at ``rows``, or all, for a new game; their random streams go on."""
        rows = self._rows if rows is None else rows
        if self.is_randomized:
            rules = self.state.rules
            setup.sample_rules_of_games(rows, self.state.games, rules, setup.as_words(rules), self.scenario)
        _compiled_reset()(rows, self.state, episodes, opponents, not self.is_randomized)
        self.reveal(rows)

    def reveal(self, rows: NDArray[np.int64] | None = None) -> None:
        """Show both sides of the games at ``rows``, or of all, everything as it is now, as at the start of a game."""
        if not self.hides_enemies:
            return
        reveal_games(self._rows if rows is None else rows, self.state.games, self.state.rules, self.sight)

    @property
    def known_scores(self) -> NDArray[np.int32]:
        """(n, 2, 2) points of both sides, as alpha and as bravo know them; ``scores`` where nothing is hidden."""
        if self.hides_enemies:
            return self.sight.beliefs["score"].reshape(len(self), state.NUM_SIDES, state.NUM_SIDES)
        return np.repeat(self.scores[:, None], state.NUM_SIDES, axis=1)

    def put(self, rows: NDArray[np.int64], games: "Games") -> None:
        """Put games of the same configuration in the places of those at ``rows``, with their random streams.

        Both sides see everything of games that hide nothing, such as those that ``seen_by`` returns.
        """
        self.state.games[rows] = games.state.games
        self.state.choices[rows] = games.state.choices
        if self.is_randomized:
            self.state.rules[rows] = games.state.rules
        if not games.hides_enemies:
            self.reveal(rows)
        elif self.hides_enemies:
            self.sight.beliefs[_belief_rows(rows)] = games.sight.beliefs
            self.sight.sightings[rows] = games.sight.sightings

    def set_position(self, position: Position, where: str = "position", *, supplies_are_limited: bool = True) -> None:
        """Set the only game, which was just set up, to a position, see ``Position.write``."""
        position.write(self.state, where, supplies_are_limited=supplies_are_limited)
        self.reveal()
        self.describe()

    def set_up_again(self) -> None:
        """Set up all games by their rules as they are."""
        _compiled_reset()(self._rows, self.state, steps.NO_EPISODES, steps.NO_OPPONENTS, False)
        self.reveal()

    def describe(self) -> None:
        """Find the legal orders of the positions as they are."""
        self.run(steps.DESCRIBE)

    def run(
        self,
        task: int,
        actions: NDArray[np.int64] = _NO_ACTIONS,
        *,
        selected: NDArray[np.bool_] | None = None,
        outcomes: state.Records | None = None,
        outputs: Outputs = _NO_OUTPUTS,
        whole: bool = False,
    ) -> None:
        """Call the compiled step for all games, see ``engine.steps.step_games``.

        Args:
            task: PLAY, DESCRIBE or OBSERVE.
            actions: (2 * n, 11) order codes, as ``as_codes`` returns them.
            selected: (n,), the games whose outputs are written, all by default.
            outcomes: (128,), overwritten with the outcomes of an engagement where there is one game.
            outputs: arrays to write.
            whole: whether both sides observe the whole position although the configuration hides enemies.
        """
        sight = self.sight if self.hides_enemies and not whole else None
        if outcomes is None:
            outcomes = self._unread_outcomes
            if outcomes is None:
                outcomes = self._unread_outcomes = state.make_outcomes()
        compiled_step(sight is not None)(
            task,
            0,
            len(self._rows),
            self._all if selected is None else selected,
            self.state,
            sight,
            steps.NO_EPISODES,
            actions,
            outcomes,
            outputs,
        )

    @property
    def sight_to_step(self) -> state.Sight | None:
        """``sight`` as the compiled step takes it: None where both sides see everything."""
        return self.sight if self.hides_enemies else None

    def play_recorded(self, orders: NDArray[np.int64], recorded: state.Records, outcomes: state.Records) -> None:
        """Play one phase of the only game, with an engagement that recorded outcomes decide, not its random stream.

        Args:
            orders: (2, 11) order codes.
            recorded: (k,) outcomes.
            outcomes: (128,), overwritten with those that were found, which differ where the recorded ones are impossible.
        """
        games, rules, choices = self.state
        turn.play_orders(
            games[0], rules[0], choices["legal"][0], orders.copy(), recorded, outcomes, self.sight_to_step, 0
        )
        self.describe()


_MAX_CHANCE = 1 << 20
"""Largest weight of a variant as an integer; the sum for all of them must be below 2^31."""


def read_variant_weights(weights: Any, config: GameConfig) -> list[int]:
    """Return integer weights of all variants of a configuration, 0 for those that are left out.

    Integers up to 1,048,576 stay as they are, so that the chances of the configuration sample as it does; others are
    scaled to it.

    Raises:
        ValueError: there is no such variant, or a weight is wrong.
    """
    names = [variant.name for variant in config.variants]
    given = {weights: 1} if isinstance(weights, str) else weights
    if not isinstance(given, Mapping):
        raise ValueError(f"variants must be a name, or a mapping of names to weights, got {show(weights)}")
    for name, weight in given.items():
        if name not in names:
            if not names:
                raise ValueError(f"there is no variant {show(name)}: {config.title!r} has none")
            hint = (suggest(name, names) if isinstance(name, str) else "") or "."
            raise ValueError(f"there is no variant {show(name)}{hint} The variants are: {', '.join(names)}.")
        is_number = isinstance(weight, (int, float, np.integer, np.floating)) and not isinstance(weight, bool)
        if not is_number or not 0 <= weight <= sys.float_info.max:
            raise ValueError(f"variant {name!r}: weight must be a finite number of at least 0, got {show(weight)}")
    largest = max(given.values(), default=0)
    if largest <= 0:
        raise ValueError(f"variants must have at least one with a positive weight, got {show(weights)}")
    if largest <= _MAX_CHANCE and all(isinstance(weight, (int, np.integer)) for weight in given.values()):
        return [int(given.get(name, 0)) for name in names]
    scaled = {name: max(round(weight / largest * _MAX_CHANCE), 1) for name, weight in given.items() if weight > 0}
    return [scaled.get(name, 0) for name in names]


def _digest(values: NDArray[Any]) -> bytes:
    return hashlib.blake2b(values.tobytes(), digest_size=16).digest()


def _belief_rows(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows of both sides' beliefs for rows of games."""
    both: NDArray[np.int64] = (state.NUM_SIDES * rows[:, None] + np.arange(state.NUM_SIDES)).ravel()
    return both


class Phase(NamedTuple):
    """A decision phase that was played: movement, or engagement with the drift that follows it."""

    turn: int
    """Number of the turn, from 1."""
    name: notation.PhaseName
    """"movement" or "engagement"."""
    orders: tuple[tuple[notation.Order, ...], tuple[notation.Order, ...]]
    """The legal orders of alpha and of bravo, without noops."""
    actions: NDArray[np.int8]
    """(2, 11) order codes as they were given, illegal ones included."""
    illegal_orders: tuple[int, int]
    """How many orders of alpha and of bravo were illegal and became noop."""
    outcomes: tuple[notation.Outcome, ...]
    """The outcomes of an engagement, in the order in which they happened."""
    before: "Game"
    after: "Game"

    @property
    def hides_enemies(self) -> bool:
        """Whether the sides may know different things of it."""
        return self.before.config.hides_enemies

    def seen_by(self, side: Side) -> "Phase":
        """Return the phase as a side knows it; the phase itself where the configuration hides nothing.

        Orders of an enemy are those of satellites that the side saw before and after it, or that took part in an outcome.
        Outcomes are known to both sides, except those of guards who had nothing to intercept and were not seen.
        """
        if not self.before.hides_enemies:  # nothing is hidden, or it is what a side knows already
            return self
        before, after = self.before.known_to(side), self.after.known_to(side)
        enemy = enemy_of(side)
        unseen = zip(before.unseen(enemy), after.unseen(enemy), strict=True)
        seen = {number for number, phases in enumerate(unseen) if after.is_over or not any(phases)}
        actors = [one for outcome in after.outcomes for one in (outcome.actor, outcome.attacker)]
        seen |= {actor.number for actor in actors if actor is not None and actor.side == enemy}
        index, actions = SIDES.index(enemy), self.actions.copy()
        actions[index, [number for number in range(state.SATELLITES) if number not in seen]] = state.NOOP
        own, told = self.orders[1 - index], tuple(order for order in self.orders[index] if order.satellite in seen)
        illegal = self.illegal_orders[1 - index]
        return self._replace(
            orders=(told, own) if index == 0 else (own, told),
            actions=actions,
            illegal_orders=(0, illegal) if index == 0 else (illegal, 0),
            outcomes=after.outcomes,
            before=before,
            after=after,
        )


class OutcomeDistribution(NamedTuple):
    """All that an engagement phase can lead to.

    The games are as after ``Game.step``, drift included, no two of them in the same position. They have the random streams of
    the game that they follow, all the same one; ``Games.reseed`` gives each its own.
    """

    games: Games
    probabilities: NDArray[np.float64]
    """(n,), above 0; they sum to 1."""


class Game:
    """One game of GEO Patrol, or of whatever its configuration says.

    >>> game = Game("geo_patrol", seed=7)
    >>> phase = game.step(alpha="P1 radial_in; P10 prograde", bravo=["P3 retrograde"])
    >>> phase.name, game.phase
    ('movement', 'engagement')

    Copies are cheap: a position is never changed in place, a step replaces it.

    Args:
        config: a preset's name, the path of a TOML file, its content as a mapping, or a ``GameConfig``.
        seed: seed of the random stream, a non-negative integer, taken modulo 2^64; None takes one from the operating
            system.
        overrides: single values of the configuration, such as ``{"bravo.patrols.ammo": 3}``.
        keep_history: whether the game, and its copies, keep their ``history``.

    Raises:
        ConfigError: the configuration is invalid.
        ValueError: the seed is invalid.
    """

    def __init__(
        self,
        config: ConfigSource = "geo_patrol",
        *,
        seed: int | None = None,
        overrides: Overrides | None = None,
        keep_history: bool = False,
    ) -> None:
        self._games = Games(config, 1, seed=seed, overrides=overrides)
        self._configs: list[GameConfig] = []
        self._outcomes: tuple[notation.Outcome, ...] = ()
        self._allowed: NDArray[np.int32] | None = None
        self._history: tuple[Phase, ...] | None = () if keep_history else None
        self._viewer: Side | None = None

    @classmethod
    def from_games(cls, games: Games, *, outcomes: Sequence[notation.Outcome] = (), keep_history: bool = False) -> Self:
        """Return the game of a batch of one, which must not be stepped any more.

        Args:
            games: the batch.
            outcomes: those of the phase last played, which a batch does not hold.
            keep_history: whether the game keeps its ``history`` from here on.
        """
        game = object.__new__(cls)
        game._games, game._configs, game._outcomes, game._allowed = games, [], tuple(outcomes), None
        game._history = () if keep_history else None
        game._viewer = None
        return game

    @property
    def _game(self) -> state.Record:
        return self._games.state.games[0]

    @property
    def _rules(self) -> state.Record:
        return self._games.state.rules[0]

    def _value(self, field: str) -> Any:
        """Return a field of the game; as an attribute of its record it would take twenty times as long."""
        return self._games.state.games[field][0]

    # Properties

    @property
    def config(self) -> GameConfig:
        """The configuration that is played: one that leaves values to chance with those that were sampled for this game.

        ``config.variant`` is the name of the sampled variant.
        """
        if not self._games.is_randomized:
            return self._games.config
        if not self._configs:  # shared by all copies: the first that is asked for it makes it
            self._configs.append(sampled_config(self._games.config, self._rules))
        return self._configs[0]

    @property
    def turn(self) -> int:
        """The number of the turn being played, from 1; of a finished game, of its last turn."""
        return int(self._value("turn")) + 1

    @property
    def phase(self) -> notation.PhaseName:
        """What is to be ordered now, "movement" or "engagement"; "drift" when the game is over."""
        phase: notation.PhaseName = notation.PHASES[self._value("phase")]
        return phase

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return bool(self._value("done"))

    @property
    def reasons(self) -> tuple[notation.EndReason, ...]:
        """Why the game ended; empty while it goes on. Several reasons may hold at once."""
        return notation.read_reasons(int(self._value("reasons")))

    @property
    def winner(self) -> Side | None:
        """The side with more points when the game has ended; None for a draw, or while it goes on.

        A side that forfeits loses whatever the points; if both do, it is a draw.
        """
        winners: dict[int, Side] = {state.ALPHA: "alpha", state.BRAVO: "bravo"}
        return winners.get(int(self._games.winner[0]))

    @property
    def result(self) -> notation.Result | None:
        """Winner and reasons when the game has ended; None while it goes on."""
        return notation.Result(self.winner, self.reasons) if self.is_over else None

    @property
    def returns(self) -> dict[Side, int]:
        """Outcome of the game for each side: 1 won, -1 lost, 0 drawn or not finished (see ``is_over``)."""
        return dict(zip(SIDES, self._games.returns[0].tolist(), strict=True))

    @property
    def key(self) -> bytes:
        """A hashable key of the position, for dictionaries of positions; it stays what it is when the game goes on.

        Keys are equal where positions, with what their configuration sampled for them, are equal, whatever their random
        streams; they are the same in every process.
        """
        return self._games.position_keys()[0]

    @property
    def history(self) -> "tuple[Phase, ...]":
        """The phases that were played since the game was created, the oldest first.

        Raises:
            AttributeError: the game does not keep them: create it with ``keep_history=True``.
        """
        if self._history is None:
            raise AttributeError("this game keeps no history: create it with keep_history=True")
        return self._history

    @property
    def scores(self) -> dict[Side, int]:
        """Points of each side when they were last counted: goal points so far and fuel points."""
        return dict(zip(SIDES, self._value("score").tolist(), strict=True))

    @property
    def goal_points(self) -> dict[Side, int]:
        """Goal points of each side so far, points for destroyed Patrols included."""
        return dict(zip(SIDES, self._value("goal_points").tolist(), strict=True))

    @property
    def goals(self) -> dict[Side, int]:
        """The goal sector of each side now."""
        return dict(zip(SIDES, self._value("goal").tolist(), strict=True))

    @property
    def outcomes(self) -> tuple[notation.Outcome, ...]:
        """Outcomes of the last phase in the order in which they happened; empty after a movement.

        Also empty, until its next phase, in a game that comes out of ``Games``, of a vector environment, of a position or of a
        save, which do not hold them.
        """
        return self._outcomes

    def satellites(self, side: Side) -> tuple[notation.Satellite, ...]:
        """Return a side's satellites, HVA first: the index in the tuple is the number."""
        index, games = _side_index(side), self._games.state.games
        fleet = 1 + int(self._games.state.rules["patrol_count"][0, index])
        # Whole rows: reading a record value by value takes ten times as long.
        rows = (games[field][0, index, :fleet].tolist() for field in ("sector", "fuel", "ammo", "destroyed"))
        return tuple(
            notation.Satellite(notation.SatelliteId(side, number), sector, fuel, ammo, bool(destroyed))
            for number, (sector, fuel, ammo, destroyed) in enumerate(zip(*rows, strict=True))
        )

    def satellite(self, side: Side, number: int) -> notation.Satellite:
        """Return one satellite.

        Raises:
            OrderError: the side has none of that number.
        """
        fleet = self.satellites(side)
        if isinstance(number, bool) or number not in range(len(fleet)):
            raise OrderError(f"satellite {number!r}: {side} has 0 (HVA) to {len(fleet) - 1}")
        return fleet[number]

    @property
    def hides_enemies(self) -> bool:
        """Whether a side may not see all of the other: its configuration has sensor ranges."""
        return self._games.hides_enemies

    def seen_by(self, side: Side) -> Self:
        """Return the game as a side knows it; the game itself where its configuration hides nothing.

        Enemies out of sight stand where they would be if they had drifted since the side last saw them, see ``last_seen``,
        and the enemy's score follows from that. The side's legal orders and the outcomes that it knows of are those of the
        game. Nothing more is hidden in it, so it can be played on; its random stream is not that of the game.
        """
        seen = self.known_to(side)
        if self._history is not None and seen is not self:
            seen._history = tuple(phase.seen_by(side) for phase in self._history)
        return seen

    def known_to(self, side: Side) -> Self:
        """Return the same as ``seen_by``, without a history where the configuration hides enemies."""
        index = _side_index(side)
        if not self.hides_enemies:
            return self
        seen = object.__new__(type(self))
        seen._games, seen._configs, seen._allowed = self._games.seen_by(index), self._configs, None
        unseen = self._games.unseen[0, 1 - index].tolist()
        seen._outcomes = tuple(
            outcome
            for outcome in self.outcomes
            if outcome.attacker is not None or outcome.actor.side == side or unseen[outcome.actor.number] <= 1
        )
        seen._history, seen._viewer = None, side
        return seen

    def unseen(self, side: Side) -> tuple[int, ...]:
        """Return for how many decision phases the other side has not seen each of a side's satellites; 0: in sight."""
        return tuple(self._of_fleet(self._games.unseen, side))

    @property
    def out_of_sight(self) -> dict[notation.SatelliteId, int]:
        """Satellites that are not seen, in a game as a side knows it (``seen_by``), each with the turn it was last seen in."""
        games = self._games
        if self.hides_enemies or len(games.sight.sightings) == 0:
            return {}
        return {
            notation.SatelliteId(side, number): turn
            for side in SIDES
            for number, (phases, turn) in enumerate(zip(self.unseen(side), self.last_seen(side), strict=True))
            if phases
        }

    @property
    def sectors_in_sight(self) -> frozenset[int] | None:
        """The sectors that a side sees, in a game as the side knows it (``seen_by``); None where it sees everything."""
        rules, side = self._rules, self._viewer
        reach = 0 if side is None else int(rules.sensor_range[_side_index(side)])
        if side is None or reach == 0 or self.is_over:
            return None
        found = {one.sector for one in self.satellites(side) if not one.destroyed}
        latest, inner, outer = found, int(rules.inner_ring), int(rules.outer_ring)
        for _ in range(reach):
            around = {
                other for sector in latest for other in adjacent_sectors(sector, outer) if ring_of(other) >= inner
            }
            latest = around - found
            found = found | latest
            if not latest:
                break
        return frozenset(found)

    def last_seen(self, side: Side) -> tuple[int, ...]:
        """Return the turn in which the other side last saw each of a side's satellites."""
        return tuple(self._of_fleet(self._games.last_seen, side))

    def _of_fleet(self, values: NDArray[np.integer[Any]], side: Side) -> list[int]:
        index = _side_index(side)
        numbers: list[int] = values[0, index, : 1 + int(self._games.state.rules["patrol_count"][0, index])].tolist()
        return numbers

    def action_mask(self, side: Side) -> NDArray[np.int8]:
        """Return a side's legal orders as (11, 28) int8: 1 where a satellite may be given an order code."""
        mask: NDArray[np.int8] = self._games.action_masks()[0, _side_index(side)]
        return mask

    def observation(self, side: Side, encoding: Encoding = "onehot") -> NDArray[Any]:
        """Return what a side sees, as in the environments; ``observation_names`` names its components."""
        observation: NDArray[Any] = self._games.observe(encoding)[0, _side_index(side)]
        return observation

    def allowed_mask(self, side: Side) -> NDArray[np.int8]:
        """Return the orders that the rules allow whatever the fuel, as (11, 28) int8; ``action_mask`` is a part of it."""
        return to_masks(self._allowed_orders()[_side_index(side)])

    def legal_orders(self, side: Side) -> dict[int, tuple[notation.Order, ...]]:
        """Return the legal orders of each of a side's satellites by number; noop is always among them."""
        index = _side_index(side)
        fleet = 1 + int(self._games.state.rules["patrol_count"][0, index])
        legal = self._games.state.choices["legal"][0, index, :fleet].tolist()
        return {number: notation.orders_in(number, codes) for number, codes in enumerate(legal)}

    def legal_actions(self, side: Side) -> tuple[tuple[int, ...], ...]:
        """Return the legal order codes of each of a side's eleven satellites; noop, 0, is always among them.

        ``itertools.product(*game.legal_actions(side))`` are all joint actions of the side.
        """
        legal = self._games.state.choices["legal"][0, _side_index(side)].tolist()
        return tuple(map(notation.codes_in, legal))

    def is_legal(self, side: Side, order: notation.Order | str) -> bool:
        """Return whether a side may give an order now: the phase, range and fuel allow it."""
        order = notation.as_order(order)
        return bool(self._games.state.choices["legal"][0, _side_index(side), order.satellite] >> order.code & 1)

    def cost(self, side: Side, order: notation.Order | str) -> int:
        """Return the fuel that an order would cost now.

        Raises:
            OrderError: the rules do not allow the order, whatever the fuel.
        """
        order, index = notation.as_order(order), _side_index(side)
        self._check_allowed(index, order)
        return self._cost(index, order)

    def _check_allowed(self, side: int, order: notation.Order) -> None:
        if not self._allowed_orders()[side, order.satellite] >> order.code & 1:
            raise OrderError(f"{SIDES[side]} {order}: {self._why_illegal(side, order)}")

    def _cost(self, side: int, order: notation.Order) -> int:
        """Return the cost of an order that is legal but perhaps cannot be paid."""
        if order.action in notation.MOVES:
            return int(self._rules.move_cost[side, order.code])
        return int(engagement_cost(self._game, self._rules, side, order.satellite, order.code))

    def _allowed_orders(self) -> NDArray[np.int32]:
        """Return the orders that the rules allow whatever the fuel, (2, 11) sets: the legal ones if all tanks were full."""
        if self._allowed is None:
            full = self._games.copy()
            fuel = full.state.games["fuel"]
            fuel[fuel > 0] = np.iinfo(fuel.dtype).max
            full.describe()
            self._allowed = full.state.choices["legal"][0]
        return self._allowed

    def probability(self, side: Side, order: notation.Order | str) -> float:
        """Return the probability that an engagement order succeeds, by the range as it is now.

        Raises:
            OrderError: the order is no engagement, or not allowed now.
        """
        order = notation.as_order(order)
        if order.action in notation.MOVES:
            raise OrderError(f"{side} {order}: only {', '.join(notation.ENGAGEMENTS)} have a probability")
        index = _side_index(side)
        self._check_allowed(index, order)
        if order.action == "guard":
            return float(guard_probability(self._game, self._rules, index, order.satellite))
        return float(attack_probability(self._game, self._rules, index, order.satellite, order.code))

    def outcome_distribution(self, alpha: notation.Orders = None, bravo: notation.Orders = None) -> OutcomeDistribution:
        """Return all that an engagement phase can lead to, as games to go on from, with exact probabilities.

        Raises:
            OrderError: this is no engagement phase, an order is not legal, or there are over 1,000,000 random branches.
        """
        positions, probabilities = outcome_distribution(self._game, self._rules, self._check_both(alpha, bravo))
        games = self.repeat(len(positions), same_chance=True)
        for stream in ("rng_key", "rng_counter"):
            positions[stream] = games.state.games[stream]
        games.state = games.state._replace(games=positions)
        games.step(np.zeros((len(games), len(SIDES), state.SATELLITES), np.int64))  # all have acted: the drift
        return OutcomeDistribution(games, probabilities)

    def _why_illegal(self, side: int, order: notation.Order) -> str:
        """Return why an order of a side is not legal now."""
        game, rules = self._game, self._rules
        number, name = order.satellite, notation.short_name(order.satellite)
        if number > rules.patrol_count[side]:
            return f"{SIDES[side]} has no {name}"
        if game.done:
            return "the game is over"
        if game.fuel[side, number] <= 0:
            return f"{name} has no fuel and takes no orders"
        if (order.action in notation.MOVES) != (game.phase == state.MOVEMENT):
            return f"not in the {notation.PHASES[game.phase]} phase"
        if order.target is not None and order.target <= rules.patrol_count[1 - side]:
            unseen, turn = (
                int(array[0, 1 - side, order.target]) for array in (self._games.unseen, self._games.last_seen)
            )
            if unseen:
                target_name = notation.SatelliteId(SIDES[1 - side], order.target)
                return f"{target_name} is out of sight; it was last seen in turn {turn}"
        is_allowed = self._allowed_orders()[side, number] >> order.code & 1
        if is_allowed and self._cost(side, order) > game.fuel[side, number]:
            return f"it costs {self._cost(side, order)} fuel, and {name} has {game.fuel[side, number]}"
        if order.action in notation.MOVES:
            where = "inner" if order.action == "radial_in" else "outer"
            return f"ring {ring_of(game.sector[side, number])} is the {where}most of the board"
        if number == state.HVA and order.action != "shoot":
            return f"an HVA cannot {order.action}"
        if order.action == "shoot" and game.ammo[side, number] == 0:
            return f"{name} has no ammo"
        target_side, target = (side, state.HVA) if order.target is None else (1 - side, order.target)
        target_name = notation.SatelliteId(SIDES[target_side], target)
        if target > rules.patrol_count[target_side]:
            return f"{SIDES[target_side]} has no {notation.short_name(target)}"
        here, there = game.sector[side, number], game.sector[target_side, target]
        if here != there and not are_adjacent(here, there):
            return f"{target_name} in sector {there} is out of range of sector {here}"
        if order.action == "guard":
            return "no active enemy is in the same or an adjacent sector of the HVA"
        return f"{target_name} is inactive"

    # Playing

    def step(self, alpha: notation.Orders = None, bravo: notation.Orders = None) -> Phase:
        """Play one decision phase: movement, or engagement with the drift that follows it.

        Args:
            alpha: orders of alpha's satellites, see ``Orders``.
            bravo: orders of bravo's satellites.

        Returns:
            The phase that was played, with the outcomes of an engagement.

        Raises:
            OrderError: the game is over, or an order is not legal; the game is unchanged then.
        """
        if self.is_over:
            raise OrderError(f"the game is over: {', '.join(map(str, self.reasons))}")
        return self.step_actions(self._check_both(alpha, bravo))

    def _check_both(self, alpha: notation.Orders, bravo: notation.Orders) -> NDArray[np.int64]:
        codes = np.zeros(_ACTION_SHAPE, np.int64)
        for index, orders in enumerate((alpha, bravo)):
            if orders is not None:
                codes[index] = self.check_orders(SIDES[index], orders)
        return codes

    def check_orders(self, side: Side, orders: notation.Orders) -> list[int]:
        """Return the order codes of a side's satellites, (11,), for orders that it may give now.

        Raises:
            OrderError: an order cannot be read or is not legal; the message says why.
        """
        codes = notation.order_codes(orders, side)
        index = _side_index(side)
        legal = self._games.state.choices["legal"][0, index].tolist()
        for number, code in enumerate(codes):
            if code != state.NOOP and not legal[number] >> code & 1:
                order = notation.Order.from_code(number, code)
                raise OrderError(f"{side} {order}: {self._why_illegal(index, order)}")
        return codes

    def step_actions(
        self, actions: NDArray[np.integer[Any]], outcomes: Sequence[notation.Outcome] | None = None
    ) -> Phase:
        """Play one decision phase with order codes, as environments do: illegal ones become noop and are counted.

        Args:
            actions: (2, 11) order codes.
            outcomes: recorded outcomes that decide an engagement instead of the random stream. Where they are impossible,
                the outcomes of the phase differ from them.

        Returns:
            The phase that was played.

        Raises:
            ValueError: the actions have another shape or are not integers; the game is unchanged then.
        """
        before, codes = self.copy(), as_codes(actions, _ACTION_SHAPE)
        (alpha, bravo), legal = codes.tolist(), self._games.state.choices["legal"][0].tolist()
        self._games, found = self._games.copy(), state.make_outcomes()
        if outcomes is None:
            self._games.run(steps.PLAY, codes, outcomes=found)
        else:
            self._games.play_recorded(codes, notation.outcome_records(outcomes), found)
        if not before.is_over:  # a finished game stays as it is
            self._outcomes = notation.read_outcomes(found, int(self._value("outcome_count")))
        self._allowed = None
        phase = Phase(
            turn=before.turn,
            name=before.phase,
            orders=(
                notation.legal_orders_from_codes(alpha, legal[0]),
                notation.legal_orders_from_codes(bravo, legal[1]),
            ),
            actions=codes.astype(np.int8),
            illegal_orders=tuple(self._value("illegal_orders").tolist()),
            outcomes=self.outcomes,
            before=before,
            after=self.copy(),
        )
        if self._history is not None:
            self._history = phase.after._history = (*self._history, phase)
        return phase

    # Copies

    def copy(self) -> Self:
        """Return an independent copy with the same random stream: given the same orders, it plays the same."""
        twin = object.__new__(type(self))
        twin._games, twin._configs = self._games, self._configs
        twin._outcomes, twin._allowed = self._outcomes, self._allowed
        twin._history, twin._viewer = self._history, self._viewer
        return twin

    def fork(self, seed: int | None = None) -> Self:
        """Return an independent copy with a new random stream, for planners: it reveals nothing of this game's future.

        Args:
            seed: seed of the new stream; None takes one from the operating system.
        """
        twin = self._reseeded(seed)
        if self._history is not None:  # the games of its phases could be played on to this one's future
            past: tuple[Phase, ...] = ()
            for phase in self._history:
                before, after = phase.before._reseeded(seed), phase.after._reseeded(seed)
                past = (*past, phase._replace(before=before, after=after))
                before._history, after._history = past[:-1], past
            twin._history = past
        return twin

    def _reseeded(self, seed: int | None) -> Self:
        twin = self.copy()
        twin._games = self._games.copy().reseed(seed)
        return twin

    def repeat(self, n: int, *, same_chance: bool = False) -> Games:
        """Return n copies of the game as a batch.

        Each has a random stream of its own, which follows from that of the game: a game that is repeated again without being
        played on has the same copies, and copy i is the same whatever the number of copies. ``Games.reseed`` gives them others.

        Args:
            n: the number of copies, 1 to 1,048,576.
            same_chance: whether all keep the random stream of the game, so that, given the same orders, they play the same.

        Raises:
            ValueError: there can be no such number of copies.
        """
        games = self._games[np.zeros(check_count("n", n, MAX_GAMES), np.int64)]
        if not same_chance:
            own = self._games.state.games
            key = rng.fork_keys(rng.fork_keys(own["rng_key"]) + own["rng_counter"])
            games.fork_streams(rng.stream_keys(np.arange(n, dtype=np.uint64), key))
        return games

    def as_games(self) -> Games:
        """Return the game as a batch of one, which must not be changed; ``as_games().copy()`` returns a copy."""
        return self._games

    @property
    def position(self) -> Position:
        """The position as plain data."""
        return Position.of(self._games.state)

    @classmethod
    def from_position(
        cls,
        position: Position | Mapping[str, Any],
        config: ConfigSource = "geo_patrol",
        *,
        seed: int | None = None,
        overrides: Overrides | None = None,
        keep_history: bool = False,
    ) -> Self:
        """Return a game in a position.

        Args:
            position: the position, or the same as a mapping.
            config: configuration of the game, see ``Game``; values that it leaves to chance are sampled from the seed.
            seed: seed of the random stream; None takes one from the operating system.
            overrides: single values of the configuration.
            keep_history: whether the game keeps its ``history`` from here on.

        Raises:
            RecordingError: the position is impossible with the configuration.
            ConfigError: the configuration is invalid.
        """
        games = Games(config, 1, seed=seed, overrides=overrides)
        if not isinstance(position, Position):
            position = check_saved(Position, position, "position")
        games.set_position(position)
        return cls.from_games(games, keep_history=keep_history)

    def save(self) -> dict[str, Any]:
        """Return the game as plain data that ``json.dumps`` takes, random stream included, at any phase of a turn."""
        return save_game(self._games)

    @classmethod
    def restore(cls, saved: Mapping[str, Any], *, keep_history: bool = False) -> Self:
        """Rebuild a saved game; it goes on exactly as the original would. The last outcomes are not saved.

        Args:
            saved: what ``save`` returned.
            keep_history: whether the game keeps its ``history`` from here on.

        Raises:
            RecordingError: the data are not a saved game, or damaged.
            ConfigError: the configuration in it is invalid.
        """
        return cls.from_games(restore_game(saved), keep_history=keep_history)

    def is_same_position(self, other: "Game") -> bool:
        """Return whether another game is in the same position by the same rules, whatever its random stream."""
        return self.key == other.key

    def __eq__(self, other: object) -> bool:
        """Two games are equal if position and random stream are the same."""
        if not isinstance(other, Game):
            return NotImplemented
        streams = [(game._value("rng_key"), game._value("rng_counter")) for game in (self, other)]
        return streams[0] == streams[1] and self.key == other.key

    __hash__ = None  # type: ignore[assignment]  # games change

    def svg(self, size: tuple[int, int] = (1280, 720)) -> str:
        """Return the position as an SVG document, as the window shows it.

        Args:
            size: width and height of the layout in pixels; the document scales.

        Raises:
            ValueError: the size is too small or too large.
        """
        from geo_patrol.scenes.picture import picture_svg  # noqa: PLC0415 - drawing is above the game

        return picture_svg(self, size)

    def _repr_svg_(self) -> str:
        """Show the position in notebooks."""
        return self.svg()

    def __repr__(self) -> str:
        scores = f"{self.scores['alpha']} | {self.scores['bravo']}"
        end = f", over: {', '.join(map(str, self.reasons))}" if self.is_over else ""
        return f"<Game {self.config.title!r}: turn {self.turn}, {self.phase}, score {scores}{end}>"

    def __str__(self) -> str:
        return f"{position_text(self)}\n\n{outcomes_text(self.outcomes)}" if self.outcomes else position_text(self)


def replay_orders(config: GameConfig, seed: int, orders: Iterable[NDArray[np.integer[Any]]]) -> Iterator[Phase]:
    """Play a game again from its orders.

    Args:
        config: configuration of the game.
        seed: seed of the game, as in ``MatchResult.seeds``.
        orders: (phases, 2, 11) order codes, as in ``MatchResult.first_game``.

    Yields:
        Every phase in turn.
    """
    game = Game(config, seed=seed)
    for codes in orders:
        yield game.step_actions(codes)


def _side_index(side: str) -> int:
    if side not in SIDES:
        raise OrderError(f"side must be 'alpha' or 'bravo', got {side!r}")
    return SIDES.index(side)


# Saved games


def save_game(games: Games, index: int = 0) -> dict[str, Any]:
    """Return one game of a batch as plain data for ``json.dumps``."""
    return {"format": FORMAT, "version": VERSION, "config": games.config.to_dict(), **save_state(games, index)}


def save_state(games: Games, index: int = 0) -> dict[str, Any]:
    """Return one game of a batch as ``save_game`` does, without its configuration."""
    game, variants = games.state.games[index], games.config.variants
    sampled: dict[str, Any] = {}
    if games.is_randomized:
        rules = games.state.rules
        variant = int(rules["variant"][index])
        sampled = {"variant": variants[variant].name} if variants else {}
        sampled["sampled"] = setup.read_sampled(games.scenario, variant, setup.as_words(rules)[index])
    known = {}
    if games.hides_enemies:
        known["known"] = [
            Known.of(games.state, games.sight, index, side).model_dump() for side in range(state.NUM_SIDES)
        ]
    return {
        "chance": {"key": int(game.rng_key), "counter": int(game.rng_counter), **sampled},
        "position": Position.of(games.state, index).model_dump(),
        **known,
    }


def restore_game(saved: Any) -> Games:
    """Restore a saved game as a batch of one.

    Raises:
        RecordingError: the data are not a saved game, or the position is impossible with its configuration.
        ConfigError: its configuration is invalid.
    """
    data = check_saved(SavedGame, saved, "saved game")
    return _restore_state(Games.unseeded(read_saved_config(data.config), 1), data, "saved game")


def restore_states(config: GameConfig, states: Sequence[SavedState], where: str) -> Games:
    """Restore saved games of one configuration as a batch.

    Raises:
        RecordingError: a position is impossible with the configuration.
    """
    games, single = Games.unseeded(config, len(states)), Games.unseeded(config, 1)
    for i, saved in enumerate(states):
        games.put(np.array([i]), _restore_state(single, saved, f"{where}.{i}"))
    return games


def _restore_state(single: Games, saved: SavedState, where: str) -> Games:
    """Return a batch of one after it was set to a saved game."""
    game, chance = single.state.games[0], saved.chance
    names = [variant.name for variant in single.config.variants]
    if (chance.variant not in names) if names else (chance.variant is not None):
        right = f"one of {', '.join(names)}" if names else "left out, as the configuration has no variants"
        raise RecordingError(f"{where}: chance.variant must be {right}, got {show(chance.variant)}")
    if single.is_randomized:
        variant = state.NOBODY if chance.variant is None else names.index(chance.variant)
        rules, words = single.state.rules[0], setup.as_words(single.state.rules)[0]
        try:
            setup.write_sampled(single.scenario, variant, chance.sampled or (), rules, words)
        except ValueError as error:
            raise RecordingError(f"{where}: chance.{error}") from None
    single.set_up_again()
    start = game.copy()
    single.set_position(saved.position, where)
    if saved.known is not None and not single.hides_enemies:
        raise RecordingError(f"{where}: known is given, but its configuration has no sensor ranges")
    for side, known in enumerate(saved.known or ()):
        known.write(single.state, single.sight, side, start, f"{where}: known.{side}")
    game.rng_key, game.rng_counter = np.uint64(chance.key), np.uint64(chance.counter)
    return single
