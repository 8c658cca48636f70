"""Checks of arguments: seeds, counts, choices, names, options of a reset."""

import operator
import secrets
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from geo_patrol.base.errors import show, suggest


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
        raise ValueError(f"seed must be a non-negative integer, got {seed!r}")
    return number


def read_seeds(seed: Any, n: int) -> list[int | None]:
    """Return a seed for each of n games: s, s + 1, ... for an integer s; None where none is given.

    Raises:
        ValueError: it is neither a non-negative integer nor a sequence of such, or None, for each game.
    """
    if seed is None:
        return [None] * n
    if isinstance(seed, np.ndarray) and seed.ndim == 0:
        raise ValueError(f"seed must be a non-negative integer, got {seed!r}")
    if not isinstance(seed, (Sequence, np.ndarray)) or isinstance(seed, (str, bytes)):
        first = check_seed(seed)
        return [first + i for i in range(n)]
    if len(seed) != n:
        raise ValueError(f"seed must have one seed for each of the {n} games, got {len(seed)}")
    return [None if number is None else check_seed(number) for number in seed]


def check_count(name: str, value: Any, maximum: int) -> int:
    """Return an integer from 1 to ``maximum``.

    Raises:
        ValueError: it is not one.
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or not 1 <= value <= maximum:
        raise ValueError(f"{name} must be an integer from 1 to {maximum:,}, got {value!r}")
    return int(value)


def check_limit(name: str, value: Any) -> int:
    """Return how many of something there may be at most: a non-negative integer, ``sys.maxsize`` for None.

    Raises:
        ValueError: it is neither.
    """
    if value is None:
        return sys.maxsize
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < 0:
        raise ValueError(f"{name} must be a non-negative integer or None, got {value!r}")
    return int(value)


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise ValueError for a value that is not among the choices."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be {' or '.join(map(repr, choices))}, got {show(value)}")


def check_names(options: Mapping[str, Any], kind: type[Any], *others: str) -> None:
    """Raise ValueError for keyword arguments that a ``TypedDict`` does not have; ``others`` are listed before its names."""
    known = (*others, *kind.__annotations__)
    for name in options:
        if name not in kind.__annotations__:
            raise ValueError(
                f"unexpected keyword argument {name!r}{suggest(name, known)}; there are {', '.join(known)}"
            )


def read_options(options: Any, known: tuple[str, ...]) -> Mapping[str, Any]:
    """Return the options of a reset; the one named "options", which PettingZoo's conformance tests pass, has no effect.

    Raises:
        ValueError: they are no dict, or one is not known.
    """
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise ValueError(f"options must be a dict, such as {{{known[0]!r}: ..}}, got {show(options)}")
    for name in options:
        if name not in (*known, "options"):
            hint = suggest(name, known) if isinstance(name, str) else ""
            raise ValueError(f"there is no option {show(name)} of reset{hint}; there are {', '.join(known)}")
    return options
