"""A batch of games: the one pipeline through which every game is set up, played and described, a single one or many."""

import copy
import functools
import operator
import secrets
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from geo_patrol.config.schema import GameConfig
from geo_patrol.engine.buffers import Buffers
from geo_patrol.engine.encodings import Encoding, check_encoding
from geo_patrol.engine.episodes import (
    EPISODE,
    NO_OPPONENTS,
    SETTINGS,
    Opponents,
    reset_games,
    seed_games,
)
from geo_patrol.engine.legal_sets import sets_to_masks
from geo_patrol.engine.setup import as_words, make_scenario, sample_rules, sample_rules_of_games, set_up_game
from geo_patrol.engine.state import (
    GAME,
    MAX_OUTCOMES,
    NOOP,
    ORDERS,
    OUTCOME,
    RULES,
    SATELLITES,
    SIDES,
    Records,
    records,
)
from geo_patrol.engine.steps import step_games
from geo_patrol.jit import resolve


def fresh_seed() -> int:
    """Return a seed from the operating system's source of randomness."""
    return secrets.randbits(63)


def check_seed(seed: Any) -> int:
    """Return a seed as an int.

    Raises:
        ValueError: it is negative or not an integer.
    """
    try:
        number = operator.index(seed)
    except TypeError:
        number = -1
    if isinstance(seed, (bool, np.bool_)) or number < 0:
        raise ValueError(f"seed = {seed!r}: give a whole number from 0 on")
    return number


_NO_ACTIONS = np.empty((0, SATELLITES), np.int64)
_ACTION_TYPE = np.dtype(np.int64)


class Shard(NamedTuple):
    """Games of a batch that one thread plays."""

    start: int
    stop: int
    outcomes: Records
    """(128,): the outcomes of the last engagement of its last game."""


@functools.cache
def _resolve_step() -> Callable[..., int]:
    """Return the compiled step for arrays as every batch has them."""
    flags, buffers = np.ones(1, np.bool_), Buffers(0, None, 1)
    state = records(GAME, 1), records(RULES, 1), records(EPISODE, 1), records(SETTINGS, 1), records(OUTCOME, 1)
    return resolve(step_games, 0, 0, flags, True, *state, _NO_ACTIONS, *vars(buffers).values())


@functools.cache
def _resolve_reset() -> Callable[..., None]:
    """Return the compiled reset for arrays as every batch has them."""
    state = records(GAME, 1), records(RULES, 1), records(EPISODE, 1), records(SETTINGS, 1)
    return resolve(reset_games, np.empty(0, np.int64), *state, NO_OPPONENTS, True)


class Batch:
    """Games side by side. Game i with a seed is, bit for bit, the game that a batch of one plays with that seed.

    Args:
        config: what is played.
        num_games: how many games.
        encoding: of the observations that steps write; None for none.
        sides: 2, both sides of each game are environments (rows 2i and 2i + 1); 1, one of them is.
        reward: "score" or "outcome".
        max_cycles: phases after which an unfinished game is truncated; None never does.
        first_seat: with one side, which: 0 alpha, 1 bravo.
        alternates: whether the seat alternates from game to game, and from episode to episode.
    """

    def __init__(
        self,
        config: GameConfig,
        num_games: int = 1,
        *,
        encoding: Encoding | None = None,
        sides: int = SIDES,
        reward: str = "score",
        max_cycles: int | None = None,
        first_seat: int = 0,
        alternates: bool = False,
    ) -> None:
        self.config = config
        self.encoding = encoding
        self.num_envs = num_games * sides
        self.games = records(GAME, num_games)
        self.episodes = records(EPISODE, num_games)
        self.outcomes = records(OUTCOME, MAX_OUTCOMES)
        """The outcomes of the last engagement of the last game; ``episodes.outcome_count`` of them."""
        self.settings = records(SETTINGS, 1)
        self.settings[0] = (sides, reward == "outcome", min(max_cycles or 0, 1 << 62), first_seat, alternates, 0)
        self.scenario = make_scenario(config)
        self._is_randomized = config.is_randomized
        self.rules = records(RULES, num_games if self._is_randomized else 1)
        if not self._is_randomized:
            sample_rules(self.games[0], self.scenario, self.rules[0], as_words(self.rules)[0])
        self.buffers = self.make_buffers()
        self._rows, self._all = np.arange(num_games), np.ones(num_games, np.bool_)
        self._whole = Shard(0, num_games, self.outcomes)

    def __len__(self) -> int:
        return len(self.games)

    def make_buffers(self, *, zeros: bool = False) -> Buffers:
        """Return new output buffers for ``step`` and ``describe``, uninitialized or zero."""
        has_masks = self.encoding is not None
        return Buffers(self.num_envs, self.encoding, self.config.board.outer_ring, masks=has_masks, zeros=zeros)

    @property
    def outcome_count(self) -> int:
        """The number of outcomes in ``outcomes``, of a batch of one."""
        return int(self.episodes["outcome_count"][0])

    def copy(self) -> Self:
        """Return an independent copy, random streams included."""
        twin = copy.copy(self)
        twin.games, twin.episodes = self.games.copy(), self.episodes.copy()
        twin.rules = self.rules.copy()
        twin.outcomes = self.outcomes.copy()
        twin.buffers = self.buffers.copy()
        twin._whole = Shard(0, len(self), twin.outcomes)
        return twin

    def single(self, index: int) -> "Batch":
        """Return one game as an independent batch of one, without observations."""
        return self._take(np.array([index]), None)

    def repeat(self, count: int, encoding: Encoding) -> "Batch":
        """Return so many independent copies of the first game as a batch, random streams included."""
        return self._take(np.zeros(count, np.int64), encoding)

    def _take(self, rows: NDArray[np.int64], encoding: Encoding | None) -> "Batch":
        twin, count = copy.copy(self), len(rows)
        twin.encoding, twin.num_envs = encoding, SIDES * count
        twin.games, twin.episodes = self.games[rows], self.episodes[rows]
        twin.rules = self.rules[rows] if len(self.rules) > 1 else self.rules.copy()
        twin.settings = records(SETTINGS, 1)
        twin.settings["sides"] = SIDES
        twin.episodes["is_over"] = twin.games["done"]  # truncated episodes may go on
        twin.outcomes = self.outcomes.copy()
        twin.buffers = twin.make_buffers()
        twin._rows, twin._all = np.arange(count), np.ones(count, np.bool_)
        twin._whole = Shard(0, count, twin.outcomes)
        return twin

    def seed(self, seeds: Sequence[int] | NDArray[np.uint64], rows: NDArray[np.int64] | None = None) -> None:
        """Restart the random streams of the games at ``rows``, or of all, each from a seed of its own."""
        numbers = np.array([int(seed) % 2**64 for seed in seeds], np.uint64)
        rows = self._rows if rows is None else rows
        seed_games(rows, self.games, self.episodes, self.settings, numbers)

    def reset(self, rows: NDArray[np.int64] | None = None, opponents: Opponents = NO_OPPONENTS) -> None:
        """Start new episodes of the games at ``rows``, or of all; their random streams go on."""
        rows = self._rows if rows is None else rows
        if self._is_randomized:
            sample_rules_of_games(rows, self.games, self.rules, as_words(self.rules), self.scenario)
        _resolve_reset()(rows, self.games, self.rules, self.episodes, self.settings, opponents, not self._is_randomized)

    def set_up_again(self) -> None:
        """Set up all games from their setup keys, as for a saved game that goes on."""
        words = as_words(self.rules)
        for i in range(len(self)):
            rules = self.rules[i if len(self.rules) > 1 else 0]
            if self._is_randomized:
                sample_rules(self.games[i], self.scenario, rules, words[i])
            set_up_game(self.games[i], rules)

    def shard(self, start: int, stop: int) -> Shard:
        """Return a part of the batch that one thread steps."""
        return Shard(start, stop, records(OUTCOME, MAX_OUTCOMES))

    def step(
        self,
        actions: NDArray[np.int64],
        buffers: Buffers | None = None,
        *,
        samples: bool = False,
        shard: Shard | None = None,
    ) -> int:
        """Play one decision phase, and write everything that follows from it to the buffers.

        Args:
            actions: (num_envs, 11) order codes; illegal ones count as noop.
            buffers: the arrays to write to; the batch's own by default.
            samples: whether to sample legal actions for the next phase.
            shard: the games to play, all by default; threads may step different shards at the same time.

        Returns:
            How many episodes ended.
        """
        if actions.dtype is not _ACTION_TYPE or not actions.flags.c_contiguous:
            actions = np.require(actions, np.int64, ["C"])
        here, out = shard or self._whole, buffers or self.buffers
        return _resolve_step()(
            here.start,
            here.stop,
            self._all,
            True,
            self.games,
            self.rules,
            self.episodes,
            self.settings,
            here.outcomes,
            actions,
            out.results,
            out.statistics,
            out.sampled if samples else _NO_ACTIONS,
            out.masks,
            out.onehot,
            out.tokens,
        )

    def describe(
        self, buffers: Buffers | None = None, *, samples: bool = False, selected: NDArray[np.bool_] | None = None
    ) -> Buffers:
        """Write legal orders, infos, masks and observations of the games as they are.

        Args:
            buffers: the arrays to write to; the batch's own by default. Results other than infos are left as they are.
            samples: whether to sample legal actions for the next phase.
            selected: (n,), a mask of the games to describe; all by default.

        Returns:
            The buffers.
        """
        out = buffers or self.buffers
        _resolve_step()(
            0,
            len(self.games),
            self._all if selected is None else selected,
            False,
            self.games,
            self.rules,
            self.episodes,
            self.settings,
            self.outcomes,
            _NO_ACTIONS,
            out.results,
            out.statistics,
            out.sampled if samples else _NO_ACTIONS,
            out.masks,
            out.onehot,
            out.tokens,
        )
        return out

    def sample_actions(self, selected: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """Sample legal actions, (num_envs, 11), into the batch's own buffers, and return them."""
        return self._describe_legal(samples=True, selected=selected).sampled

    def _describe_legal(self, *, samples: bool = False, selected: NDArray[np.bool_] | None = None) -> Buffers:
        """Describe games without observations and masks."""
        return self.describe(self.buffers.without_arrays(), samples=samples, selected=selected)

    def legal_actions(self, actions: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Return the actions of both sides of every game, (n, 2, 11), with illegal orders replaced by noop."""
        codes = np.asarray(actions, np.int64).reshape(len(self), SIDES, SATELLITES)
        is_code = (codes >= 0) & (codes < ORDERS)
        is_legal = is_code & (self.episodes["legal"] >> np.where(is_code, codes, 0) & 1 != 0)
        return np.where(is_legal, codes, NOOP)

    def masks(self) -> NDArray[np.int8]:
        """Return the legal orders of both sides of every game as it is: (n, 2, 11, 28), 1 where legal."""
        self._describe_legal()
        return sets_to_masks(self.episodes["legal"])

    def observe(self, encoding: Encoding) -> NDArray[Any]:
        """Return the observations of both sides of every game: (n, 2, size), float32 ("onehot") or int16 ("tokens").

        Raises:
            ValueError: there is no such encoding.
        """
        buffers = Buffers(len(self) * SIDES, check_encoding(encoding), self.config.board.outer_ring, masks=False)
        return self._view(sides=SIDES).describe(buffers).observations.reshape(len(self), SIDES, -1)

    def observe_opponents(self, encoding: Encoding) -> tuple[NDArray[Any], NDArray[np.int8]]:
        """Return observations, (n, size), and action masks, (n, 11, 28), of the side opposite to each game's seat."""
        buffers = Buffers(len(self), encoding, self.config.board.outer_ring)
        self._view(sides=1, observes_opponent=1).describe(buffers)
        return buffers.observations, buffers.masks

    def _view(self, **settings: int) -> "Batch":
        """Return a batch over the same games with other settings."""
        view = copy.copy(self)
        view.settings = self.settings.copy()
        for name, value in settings.items():
            view.settings[name] = value
        return view
