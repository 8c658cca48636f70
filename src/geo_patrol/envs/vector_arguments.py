"""What is handed to the vector environment, checked."""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from geo_patrol.engine.batch import check_seed
from geo_patrol.engine.state import ORDERS, SATELLITES
from geo_patrol.envs.table import check_choice
from geo_patrol.errors import show

Seats: TypeAlias = Literal["both", "alpha", "bravo", "alternate"]

MAX_GAMES = 1 << 20
MAX_THREADS = 256


def check_count(name: str, value: Any, most: int) -> int:
    """Return a whole number from 1 to ``most``.

    Raises:
        ValueError: it is none.
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or not 1 <= value <= most:
        raise ValueError(f"{name} = {value!r}: give a whole number from 1 to {most:,}")
    return int(value)


def check_seats(seats: Any, *, has_opponent: bool) -> Seats:
    """Return which sides are played.

    Raises:
        ValueError: it is none of the choices, or does not go together with having an opponent or none.
    """
    if seats is None:
        return "alpha" if has_opponent else "both"
    check_choice("seats", seats, get_args(Seats))
    if seats == "both" and has_opponent:
        raise ValueError('seats = "both": both sides are played: give no opponent, or one of the other seats')
    if seats != "both" and not has_opponent:
        raise ValueError(f'seats = {seats!r}: give an opponent for the other side, such as opponent="scripted"')
    checked: Seats = seats
    return checked


def read_autoreset(mode: Any) -> AutoresetMode:
    """Return an autoreset mode from its name, as ``"next_step"`` or ``"NextStep"``, or as it is.

    Raises:
        ValueError: there is none of that name.
    """
    if isinstance(mode, AutoresetMode):
        return mode
    for known in AutoresetMode:
        if isinstance(mode, str) and mode in (known.name.lower(), known.value):
            return known
    names = ", ".join(repr(known.name.lower()) for known in AutoresetMode)
    raise ValueError(f"autoreset = {mode!r}: give one of {names}")


def check_actions(actions: Any, slots: int) -> NDArray[np.int64]:
    """Return actions as (slots, 11) int64; which codes are legal is the engine's business.

    Raises:
        ValueError: another shape, or not whole numbers.
    """
    try:
        orders = np.asarray(actions)
    except ValueError:
        raise ValueError(f"actions = {show(actions)}: give ({slots}, {SATELLITES}) order codes") from None
    if orders.shape != (slots, SATELLITES):
        raise ValueError(f"actions have shape {orders.shape}: give ({slots}, {SATELLITES}) order codes")
    if orders.dtype.kind == "f" and np.isfinite(orders).all() and (orders == np.floor(orders)).all():
        orders = np.clip(orders, -1, ORDERS)
    elif orders.dtype.kind == "u":
        orders = np.minimum(orders, ORDERS)
    elif orders.dtype.kind != "i":
        raise ValueError(f"actions of type {orders.dtype}: give whole numbers")
    return np.require(orders, np.int64, ["C", "A", "W"])  # the one kind of array that the engine is compiled for


def read_reset_mask(mask: Any, games: int, sides: int) -> NDArray[np.bool_]:
    """Return which games a mask of slots marks, (games,); None marks all.

    Raises:
        ValueError: it is no array of bool with a value for each slot, marks none, or half a game.
    """
    if mask is None:
        return np.ones(games, np.bool_)
    if not isinstance(mask, np.ndarray) or mask.shape != (games * sides,) or mask.dtype != np.bool_:
        raise ValueError(f"reset_mask = {mask!r}: give an array of {games * sides} bool")
    by_game = mask.reshape(games, sides)
    halves = np.flatnonzero((by_game != by_game[:, :1]).any(axis=1))
    if len(halves) > 0:
        slot = sides * int(halves[0])
        raise ValueError(f"reset_mask: slots {slot} and {slot + 1} are one game: mark both or none")
    if not mask.any():
        raise ValueError("reset_mask marks no slot: mark at least one")
    return by_game[:, 0].copy()


def read_seeds(seed: Any, games: int) -> list[int | None]:
    """Return a seed for each game: s, s + 1, ... for a whole number s, None for those that have none.

    Raises:
        ValueError: it is neither a whole number from 0 on nor one of those, or None, for each game.
    """
    if seed is None:
        return [None] * games
    if isinstance(seed, (int, np.integer)):
        first = check_seed(seed)
        return [first + place for place in range(games)]
    is_list = isinstance(seed, Sequence) or (isinstance(seed, np.ndarray) and seed.ndim > 0)
    if not is_list or isinstance(seed, (str, bytes)):
        raise ValueError(f"seed = {seed!r}: give a whole number from 0 on, or one for each game")
    if len(seed) != games:
        raise ValueError(f"seed: {len(seed)} seeds: give one for each of the {games} games")
    return [None if single is None else check_seed(single) for single in seed]
