"""One random stream per game: SplitMix64, addressed by a key and a counter that lie in the game's record.

The n-th number of a stream depends on the key and n alone, so a game plays the same alone, in a batch of any size, or
restored from a save.
"""

import numba
import numpy as np

from geo_patrol.engine.state import Record
from geo_patrol.jit import jit

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MULTIPLY_1 = np.uint64(0xBF58476D1CE4E5B9)
_MULTIPLY_2 = np.uint64(0x94D049BB133111EB)
_SHIFT_30, _SHIFT_27, _SHIFT_31 = np.uint64(30), np.uint64(27), np.uint64(31)
_SHIFT_11, _SHIFT_32 = np.uint64(11), np.uint64(32)
_ONE = np.uint64(1)
_UNIT = 1.0 / (1 << 53)


@jit
def mix(number: np.uint64) -> np.uint64:
    """Scramble 64 bits so that neighbouring numbers have nothing in common."""
    number = (number ^ (number >> _SHIFT_30)) * _MULTIPLY_1
    number = (number ^ (number >> _SHIFT_27)) * _MULTIPLY_2
    return number ^ (number >> _SHIFT_31)


@jit
def stream_number(key: np.uint64, counter: np.uint64) -> np.uint64:
    """Return the 64 random bits at one place of a stream."""
    return mix(key + (counter + _ONE) * _GAMMA)


if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
    # Compiled code wraps around at 64 bits in silence; NumPy's scalars do so with a warning.
    mix = np.errstate(over="ignore")(mix)
    stream_number = np.errstate(over="ignore")(stream_number)


@jit
def seed_stream(game: Record, seed: np.uint64) -> None:
    """Start a game's stream afresh from a seed."""
    game.chance_key = mix(seed ^ _GAMMA)
    game.chance_counter = np.uint64(0)


_FORK = np.uint64(0x666F726B00000000)


@jit
def fork_stream(game: Record, seed: np.uint64) -> None:
    """Give a game the stream of a seed for forks, which has nothing in common with the stream of a game's own seed."""
    game.chance_key = mix(mix(seed ^ _FORK))
    game.chance_counter = np.uint64(0)


@jit
def random_bits(game: Record) -> np.uint64:
    """Draw 64 random bits from a game's stream."""
    bits = stream_number(game.chance_key, game.chance_counter)
    game.chance_counter += _ONE
    return bits


@jit
def random_unit(game: Record) -> float:
    """Draw a number from [0, 1)."""
    return int(random_bits(game) >> _SHIFT_11) * _UNIT


@jit
def random_below(game: Record, count: int) -> int:
    """Draw a whole number from 0 .. count - 1 (count below 2^31, bias below 2^-32)."""
    return int(((random_bits(game) >> _SHIFT_32) * np.uint64(count)) >> _SHIFT_32)
