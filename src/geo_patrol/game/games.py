"""``Games``: positions of one configuration side by side, each with random streams of its own."""

import functools
import hashlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from geo_patrol.base.arguments import check_count, fresh_seed, read_seeds
from geo_patrol.base.errors import counted, show, suggest
from geo_patrol.base.jit import resolve
from geo_patrol.config.presets import ConfigSource, Overrides, load_config
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine import rng, setup, state, steps, turn
from geo_patrol.engine.observe import Encoding, check_encoding, observation_size
from geo_patrol.engine.steps import EpisodeState, Opponents, Outputs

if TYPE_CHECKING:
    from geo_patrol.agents.protocol import Agent
    from geo_patrol.game.game import Game

MAX_GAMES = 1 << 20

_ACTION_TYPE = np.dtype(np.int64)
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
    encoding: Encoding | None = None,
    outer_ring: int = 1,
    *,
    hides_enemies: bool = False,
    masks: bool = False,
) -> Outputs:
    """Allocate arrays for observations and masks, uninitialized."""
    outputs = _NO_OUTPUTS
    size = 0 if encoding is None else observation_size(encoding, outer_ring, hides_enemies=hides_enemies)
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


@functools.cache
def _compiled_reset() -> Callable[..., None]:
    rows, arrays = np.empty(0, np.int64), state.make_state(1, 1)
    return resolve(steps.reset_games, rows, arrays, steps.NO_EPISODES, steps.NO_OPPONENTS, True)


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
        as_bytes = self.state.games.view(np.uint8).reshape(len(self), -1).take(_KEY_BYTES, axis=1)
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

    def observe(self, encoding: Encoding = "onehot", *, whole: bool = False) -> NDArray[Any]:
        """Return the observations of both sides, (n, 2, size): float32 ("onehot") or int16 ("tokens").

        ``geo_patrol.observation_names`` names their features.

        Args:
            encoding: "onehot" or "tokens".
            whole: whether both sides observe the whole position although the configuration hides enemies.

        Raises:
            ValueError: there is no such encoding.
        """
        hides_enemies = self.hides_enemies and not whole
        outer_ring = self.config.board.outer_ring
        outputs = make_outputs(2 * len(self), check_encoding(encoding), outer_ring, hides_enemies=hides_enemies)
        self._step(steps.OBSERVE, self._all, _NO_ACTIONS, outputs, self.sight if hides_enemies else None)
        observations = outputs.tokens if encoding == "tokens" else outputs.onehot
        return observations.reshape(len(self), 2, -1)

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
        self.run(steps.PLAY, actions=self._check_actions(actions).reshape(-1, state.SATELLITES))

    def _check_actions(self, actions: Any) -> NDArray[np.integer[Any]]:
        codes = np.asarray(actions)
        if codes.shape != (len(self), 2, state.SATELLITES) or codes.dtype.kind not in "iu":
            raise ValueError(
                f"actions must be integers of shape ({len(self)}, 2, {state.SATELLITES}), "
                f"got {codes.shape} of {codes.dtype}"
            )
        return codes

    def replace_illegal(self, actions: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Return actions, (n, 2, 11), with illegal orders replaced by noop, as ``step`` plays them.

        Raises:
            ValueError: the actions have another shape or are not integers.
        """
        codes = self._check_actions(actions).astype(np.int64)
        is_code = (codes >= 0) & (codes < state.ORDERS)
        is_legal = is_code & (self.state.choices["legal"] >> np.where(is_code, codes, 0) & 1 != 0)
        return np.where(is_legal, codes, state.NOOP)

    def play_out(
        self, alpha: "str | Agent" = "random", bravo: "str | Agent" = "random", max_phases: int | None = None
    ) -> Self:
        """Let two agents play the games to their end, and return the games themselves.

        >>> Games("geo_patrol", 1000, seed=7).play_out("raider", "random").returns.mean(axis=0)
        array([ 0.998, -0.998])

        All randomness comes from the games' own streams, so equal games are played out equally. ``"random"`` on both sides
        is compiled as a whole, the same orders as those of ``sample_actions`` before every step. With agents that have
        ``act_seeded``, as nearly all of the package, a game is played out alike in a batch of any size; others draw from one
        generator for all games, which starts from the streams of all.

        Args:
            alpha: the agent of alpha, by its name, see ``agent_names``, or itself. Agents are reset first.
            bravo: the agent of bravo; another object, unless the agent is stateless.
            max_phases: the number of decision phases to play at most; None plays all games to their end.

        Raises:
            AgentError: an agent raised an exception, or returned something else than orders; the phases before were played.
            ValueError: an argument is wrong.
        """
        if max_phases is not None and (
            isinstance(max_phases, bool) or not isinstance(max_phases, (int, np.integer)) or max_phases < 0
        ):
            raise ValueError(f"max_phases must be a non-negative integer or None, got {max_phases!r}")
        limit = sys.maxsize if max_phases is None else int(max_phases)
        if isinstance(alpha, str) and alpha == bravo == "random":
            self.play_randomly(limit)
        else:
            from geo_patrol.agents.playing import play_out  # noqa: PLC0415 - agents are above the games that they play

            play_out(self, alpha, bravo, limit)
        return self

    def play_randomly(self, max_phases: int) -> None:
        """Play at most so many phases with sampled actions: a compiled call plays a phase and samples for the next one."""
        sampled = np.empty((2 * len(self), state.SATELLITES), np.int64)
        sampling, running, played = _NO_OUTPUTS._replace(sampled=sampled), ~self.is_over, 0
        if max_phases > 0:
            self._step(steps.DESCRIBE, running, _NO_ACTIONS, sampling, self.sight_to_step)
        while played < max_phases and running.any():
            played += 1
            outputs = sampling if played < max_phases else _NO_OUTPUTS  # no number of a stream is drawn in vain
            self._step(steps.PLAY, running, sampled, outputs, self.sight_to_step)
            running = ~self.is_over

    # Copies

    @overload
    def __getitem__(self, rows: int) -> "Game": ...

    @overload
    def __getitem__(self, rows: slice | NDArray[Any] | Sequence[int]) -> "Games": ...

    def __getitem__(self, rows: Any) -> "Game | Games":
        """Return a copy of one game (an integer), or of several (a slice, indices or a mask), with their random streams.

        A game that is selected several times plays the same each time, see ``reseed``.
        """
        if isinstance(rows, (int, np.integer)) and not isinstance(rows, bool):
            from geo_patrol.game.game import Game  # noqa: PLC0415 - a game is made of games

            if not -len(self) <= rows < len(self):  # loops over the games end by it, too
                raise IndexError(f"index {rows} is out of range for {counted(len(self), 'game')}")
            return Game.from_games(self._take(np.array([rows % len(self)])))
        return self._take(np.arange(len(self))[rows])

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
        rows = self._rows if rows is None else rows
        beliefs, sightings = self.sight
        for side in range(state.NUM_SIDES):
            known = state.NUM_SIDES * rows + side
            beliefs[known] = self.state.games[rows]
            for field in ("rng_key", "rng_counter", "outcome_count"):
                beliefs[field][known] = 0
            beliefs["illegal_orders"][known, 1 - side] = 0
        sightings["phase"][rows] = self._phase_numbers()[rows][:, None, None]

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
        *,
        actions: NDArray[np.integer[Any]] = _NO_ACTIONS,
        outcomes: state.Records | None = None,
        outputs: Outputs = _NO_OUTPUTS,
    ) -> None:
        """Call the compiled step for all games, see ``engine.steps.step_games``.

        Args:
            task: PLAY, DESCRIBE or OBSERVE.
            actions: (2 * n, 11) order codes.
            outcomes: (128,), overwritten with the outcomes of an engagement where there is one game.
            outputs: arrays to write.
        """
        if actions.dtype is not _ACTION_TYPE or not actions.flags.c_contiguous:
            actions = np.require(actions, np.int64, ["C"])
        self._step(task, self._all, actions, outputs, self.sight_to_step, outcomes)

    @property
    def sight_to_step(self) -> state.Sight | None:
        """``sight`` as the compiled step takes it: None where both sides see everything."""
        return self.sight if self.hides_enemies else None

    def _step(
        self,
        task: int,
        selected: NDArray[np.bool_],
        actions: NDArray[np.integer[Any]],
        outputs: Outputs,
        sight: state.Sight | None,
        outcomes: state.Records | None = None,
    ) -> None:
        step = compiled_step(sight is not None)
        if outcomes is None:
            outcomes = self._unread_outcomes
        step(task, 0, len(self), selected, self.state, sight, steps.NO_EPISODES, actions, outcomes, outputs)

    @functools.cached_property
    def _unread_outcomes(self) -> state.Records:
        """Where engagements write outcomes that nobody asks for; copies have one of their own."""
        return state.make_outcomes()

    def play_recorded(self, orders: NDArray[np.integer[Any]], recorded: state.Records, outcomes: state.Records) -> None:
        """Play one phase of the only game, with an engagement that recorded outcomes decide, not its random stream.

        Args:
            orders: (2, 11) order codes.
            recorded: (k,) outcomes.
            outcomes: (128,), overwritten with those that were found, which differ where the recorded ones are impossible.
        """
        games, rules, choices = self.state
        legal, codes = choices["legal"][0], np.array(orders, np.int64)
        turn.play_orders(games[0], rules[0], legal, codes, recorded, outcomes, self.sight_to_step, 0)
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
