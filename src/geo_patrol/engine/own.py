"""Observations and rewards of users' own, which environments take in place of the names of the package's.

A function of one game is compiled into a loop over games and sides, as those of the package are. A function of ``Games`` stays
Python. Either gets what a side knows where a configuration hides enemies.
"""

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from geo_patrol.base.arguments import check_count
from geo_patrol.base.errors import printable, show
from geo_patrol.base.jit import resolve
from geo_patrol.engine.state import NUM_SIDES, Sight, State

MAX_SIZE = 1 << 20
_DTYPES = ("float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_Function = Callable[..., Any]


@dataclass(frozen=True, eq=False)
class Observation:
    """An observation of your own, for the argument ``observation`` of environments and for ``Games.observe``.

    >>> def observe_fuel(game, rules, side, out):
    ...     for number in range(11):
    ...         out[number] = game.fuel[side, number] / 100
    >>> fuel = Observation(observe_fuel, 11, low=0, high=100)

    Args:
        function: a function ``(game, rules, side, out)`` that Numba can compile. It writes what a side (0 alpha, 1 bravo) sees of
            a game into ``out``, (size,), which is zero before. ``game`` and ``rules`` are records with the fields
            of ``geo_patrol.engine.state.GAME`` and ``RULES``, to be read only. Where the configuration hides enemies, the game
            is what the side knows.
            Without ``compiled``, a function of ``Games``, any number n at once, which returns the observations of both
            sides, (n, 2, size), each row from its own game. Where the configuration hides enemies, it is called once for
            each side, with the games as ``Games.seen_by`` returns them for it, and the observations of the other side are
            dropped. It is called with copies, by one thread at a time.
        size: the length of an observation.
        low: the lowest values, a number or (size,); finite.
        high: the highest values, likewise.
        dtype: a type of NumPy of integers, of float32 or of float64.
        names: the names of all values, for ``observation_names``; "0", "1" and so on by default.
        compiled: whether the function is compiled.

    Raises:
        ValueError: an argument is invalid.

    An environment can be pickled if its functions can: they must have names in a module.
    """

    function: _Function
    size: int
    _: KW_ONLY
    low: Any
    high: Any
    dtype: Any = np.float32
    names: Sequence[str] | None = None
    compiled: bool = True

    def __post_init__(self) -> None:
        parameters = ("game", "rules", "side", "out") if self.compiled else ("games",)
        _check_function("observation", self.function, parameters, self.compiled)
        size, dtype = check_count("observation: size", self.size, MAX_SIZE), _read_dtype(self.dtype)
        low, high = (_read_bounds(name, getattr(self, name), size, dtype) for name in ("low", "high"))
        if (low > high).any():
            i = int((low > high).argmax())
            raise ValueError(f"observation: low must not be above high, got {low[i]} and {high[i]} at index {i}")
        names = self.names if self.names is not None else tuple(map(str, range(size)))
        are_names = isinstance(names, (list, tuple)) and all(isinstance(name, str) for name in names)
        if not are_names or len(names) != size or len(set(names)) != size:
            raise ValueError(f"observation: names must be {size} different strings, got {show(names)}")
        read = {"size": size, "dtype": dtype, "low": low, "high": high, "names": tuple(names)}
        for name, value in read.items():  # the only way to set a field of a frozen class
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"Observation({_name(self.function)}, {self.size}, dtype={self.dtype})"


@dataclass(frozen=True, eq=False)
class Reward:
    """A reward of your own, for the argument ``reward`` of environments.

    >>> def reward_hits(game, rules, episode, side):
    ...     return episode.reward[side] + 5.0 * (episode.losses[1 - side] - episode.losses[side])
    >>> hits = Reward(reward_hits)

    Args:
        function: a function ``(game, rules, episode, side)`` that Numba can compile. It returns the reward of a side (0 alpha, 1
            bravo) for the phase just played, a number. ``game`` and ``rules`` are those after the phase, as in ``Observation``.
            ``episode`` is a record with the fields of ``geo_patrol.engine.steps.EPISODE``, to be read only: by side the
            ``shots``, ``hits`` and ``losses`` of the phase, its ``reward`` as of "score", ``illegal_orders`` so far; ``length``,
            ``is_over`` and ``winner``.
            Without ``compiled``, a function of ``Games`` before and after the phase, any number n at once, which returns the
            rewards of both sides, (n, 2). Where the configuration hides enemies, it is called once for each side, as in
            ``Observation``.
        compiled: whether the function is compiled.

    Raises:
        ValueError: an argument is invalid.
    """

    function: _Function
    _: KW_ONLY
    compiled: bool = True

    def __post_init__(self) -> None:
        parameters = ("game", "rules", "episode", "side") if self.compiled else ("before", "after")
        _check_function("reward", self.function, parameters, self.compiled)

    def __repr__(self) -> str:
        return f"Reward({_name(self.function)})"


def _check_function(kind: str, function: Any, parameters: Sequence[str], compiled: Any) -> None:
    """Raise ValueError if an object is no function of so many parameters."""
    if not isinstance(compiled, (bool, np.bool_)):
        raise ValueError(f"{kind}: compiled must be True or False, got {show(compiled)}")
    right = f"{kind}: function must take ({', '.join(parameters)}) with compiled={compiled}"
    if not (inspect.isfunction(plain(function)) if compiled else callable(function)):
        raise ValueError(f"{right}, got {show(function)}")
    signature = inspect.signature(plain(function))
    try:
        signature.bind(*parameters)
    except TypeError:
        raise ValueError(f"{right}, got {_name(function)}{signature}") from None


def plain(function: _Function) -> _Function:
    """Return the Python function of one that its user has compiled."""
    python: _Function = getattr(function, "py_func", function)
    return python


def _name(function: _Function) -> str:
    return getattr(function, "__name__", type(function).__name__)


def _read_dtype(dtype: Any) -> np.dtype[Any]:
    try:
        read = np.dtype(dtype)
    except TypeError:
        read = np.dtype(object)
    if read.name not in _DTYPES or not read.isnative:
        raise ValueError(f"observation: dtype must be one of {', '.join(_DTYPES)}, got {show(dtype)}")
    return read


def _read_bounds(name: str, bounds: Any, size: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the lowest or the highest values of an observation, (size,)."""
    read = np.asarray(bounds)
    if read.dtype.kind not in "biuf" or read.shape not in ((), (size,)):
        raise ValueError(f"observation: {name} must be a number or an array of {size}, got {show(bounds)}")
    with np.errstate(all="ignore"):
        cast = np.broadcast_to(read, size).astype(dtype)
    wrong = ~np.isfinite(cast) if dtype.kind == "f" else cast != read
    if wrong.any():
        value = np.broadcast_to(read, size)[wrong.argmax()]
        raise ValueError(f"observation: {name} must be finite numbers of {dtype}, got {value}")
    return cast


# Compilation


def compile_loop(kind: str, function: _Function, make: Callable[[_Function], _Function], *arguments: Any) -> _Function:
    """Return a loop that calls a function of the user's, compiled for arguments of these types.

    Args:
        kind: "observation" or "reward".
        function: the function.
        make: ``observation_loop`` or ``reward_loop``.
        arguments: those of the loop.

    Raises:
        ValueError: the function cannot be compiled.
    """
    python = plain(function)
    # A wrong index would overwrite memory of others. The check is lost in the noise of a step.
    loop = make(numba.njit(boundscheck=True)(python))
    loop.__module__ = python.__module__  # so that it is not announced as a piece of the engine
    try:
        compiled = resolve(numba.njit(nogil=True)(loop), *arguments)
    except Exception as error:  # Numba raises a KeyError for an unknown field, and others
        raise ValueError(f"{kind}: {_name(function)} cannot be compiled: {_reason(error)}") from error

    def run(*arguments: Any) -> None:
        try:
            compiled(*arguments)
        except Exception as error:  # whose traceback ends here
            error.add_note(f"raised by {_name(function)}, the {kind}")
            raise

    return run


def _reason(error: Exception) -> str:
    """Return what is wrong with a function on one line, with the place: Numba writes paragraphs."""
    if isinstance(error, KeyError):
        return f"there is no field {error}"
    text = str(error)
    lines = [line.strip(" >-") for line in text.splitlines() if line.strip() and not line.startswith("Failed in")]
    lines = lines or [type(error).__name__]
    reason = " ".join(lines[: 1 + lines[0].endswith(":")])
    places = [
        place for place in re.findall(r'File "(.+)", line (\d+)', text) if Path(place[0]).name != Path(__file__).name
    ]
    where = "" if not places else f" ({Path(places[0][0]).name}, line {places[0][1]})"
    return printable(reason, 200) + where


def observation_loop(observe: _Function) -> _Function:
    """Return a loop that writes the observations of the selected games by a function, as ``steps.observe_games`` does."""

    def observe_rows(
        start: int,
        stop: int,
        selected: NDArray[np.bool_],
        arrays: State,
        sight: Sight | None,
        episodes: Any,
        observations: NDArray[Any],
    ) -> None:
        games, all_rules, all_episodes, settings = arrays.games, arrays.rules, episodes.records, episodes.settings[0]
        beliefs = games if sight is None else sight.beliefs
        two_sides, per_game = settings.sides == NUM_SIDES, len(all_rules) > 1
        for i in range(start, stop):
            if not selected[i]:
                continue
            rules = all_rules[i if per_game else 0]
            for seat in range(settings.sides):
                side = seat if two_sides else all_episodes[i].seat & 1
                game = games[i] if sight is None else beliefs[NUM_SIDES * i + side]
                observation = observations[settings.sides * i + seat]
                for k in range(len(observation)):
                    observation[k] = 0
                observe(game, rules, side, observation)

    return observe_rows


def reward_loop(reward: _Function) -> _Function:
    """Return a loop that finds the rewards of both sides by a function, (stop - start, 2)."""

    def reward_rows(
        start: int, stop: int, arrays: State, sight: Sight | None, episodes: Any, rewards: NDArray[np.float64]
    ) -> None:
        games, all_rules, all_episodes = arrays.games, arrays.rules, episodes.records
        beliefs = games if sight is None else sight.beliefs
        per_game = len(all_rules) > 1
        for i in range(start, stop):
            rules, episode = all_rules[i if per_game else 0], all_episodes[i]
            for side in range(NUM_SIDES):
                game = games[i] if sight is None else beliefs[NUM_SIDES * i + side]
                rewards[i - start, side] = float(reward(game, rules, episode, side))

    return reward_rows


# Functions that are not compiled


def check_returned(given: Observation | Reward, values: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return what a function of games has returned as an array of the type that it is written to.

    Raises:
        ValueError: it has another shape or type.
    """
    kind, dtype = ("observation", given.dtype) if isinstance(given, Observation) else ("reward", np.dtype(np.float64))
    array = np.asarray(values)
    if array.shape != shape or not np.can_cast(array.dtype, dtype, "same_kind"):
        right = f"{kind}: {_name(given.function)} must return an array of shape {shape} and type {dtype}"
        raise ValueError(f"{right}, got {array.shape} of {array.dtype}")
    return array.astype(dtype, copy=False)
