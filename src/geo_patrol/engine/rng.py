"""Counter-based random streams: SplitMix64 (Steele, Lea and Flood, 2014), addressed by a key and a counter.

Every game has a stream of its own, whose key and counter are fields of its record. Number n of a stream depends on the
key and n alone, so a game plays the same by itself, in a batch of any size, or restored from a save.
"""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from geo_patrol.base.jit import jit, jitable
from geo_patrol.engine.state import Record

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MULTIPLY_1 = np.uint64(0xBF58476D1CE4E5B9)
_MULTIPLY_2 = np.uint64(0x94D049BB133111EB)
_SHIFT_30, _SHIFT_27, _SHIFT_31 = np.uint64(30), np.uint64(27), np.uint64(31)
_SHIFT_11, _SHIFT_32 = np.uint64(11), np.uint64(32)
_ONE = np.uint64(1)
_UNIT = 1.0 / (1 << 53)


@jit
def mix(number: np.uint64) -> np.uint64:
    """Scramble 64 bits so that neighbouring numbers become unrelated (the finalizer of SplitMix64)."""
    number = (number ^ (number >> _SHIFT_30)) * _MULTIPLY_1
    number = (number ^ (number >> _SHIFT_27)) * _MULTIPLY_2
    return number ^ (number >> _SHIFT_31)


@jit
def stream_number(key: np.uint64, counter: np.uint64) -> np.uint64:
    """Return the 64 random bits that a stream holds at a counter."""
    return mix(key + (counter + _ONE) * _GAMMA)


if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
    # Compiled code wraps around at 64 bits silently; NumPy's scalars do so with a warning.
    mix = np.errstate(over="ignore")(mix)
    stream_number = np.errstate(over="ignore")(stream_number)


@jitable
def next_key(stream: NDArray[np.uint64]) -> np.uint64:
    """Return the next number of a stream, an array of key and counter."""
    number = stream_number(stream[0], stream[1])
    stream[1] += _ONE
    return number


# Keys of streams. Streams with different purposes are unrelated, even if they have the same seed.

GAME_STREAM, ACTION_STREAM, OPPONENT_STREAM, FORK_STREAM = (
    _GAMMA,
    np.uint64(0x6F72646572730000),
    np.uint64(0x6F70706F6E656E74),
    np.uint64(0x666F726B00000000),
)
STREAMS = np.array([GAME_STREAM, ACTION_STREAM, OPPONENT_STREAM])
"""Those that the seed of a game starts."""
_mix_arrays: Any = getattr(mix, "py_func", mix)  # plain NumPy: these run once for each reset, and compile nothing


def stream_keys(seeds: NDArray[np.uint64], purpose: np.uint64 | NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the keys of the streams that seeds start for a purpose, such as ``GAME_STREAM``; arguments are broadcast."""
    keys: NDArray[np.uint64] = _mix_arrays(seeds ^ purpose)
    return keys


def fork_keys(seeds: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the keys of the streams that forks of games have for seeds, (n,)."""
    keys: NDArray[np.uint64] = _mix_arrays(stream_keys(seeds, FORK_STREAM))
    return keys


def next_keys(streams: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the next number of each stream, (n, 2) keys and counters, as ``next_key`` does of one."""
    streams[:, 1] += _ONE
    keys: NDArray[np.uint64] = _mix_arrays(streams[:, 0] + streams[:, 1] * _GAMMA)
    return keys


@jitable
def random_bits(game: Record) -> np.uint64:
    """Return the next 64 random bits of a game's stream."""
    bits = stream_number(game.rng_key, game.rng_counter)
    game.rng_counter += _ONE
    return bits


@jitable
def random_unit(game: Record) -> float:
    """Sample a number uniformly from [0, 1)."""
    return int(random_bits(game) >> _SHIFT_11) * _UNIT


@jitable
def random_below(game: Record, count: int) -> int:
    """Sample an integer uniformly from 0 .. count - 1 (count below 2^31, bias below 2^-32)."""
    return int(((random_bits(game) >> _SHIFT_32) * np.uint64(count)) >> _SHIFT_32)
