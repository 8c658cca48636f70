"""Checks of the arguments of environments."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, Literal, TypeAlias, TypedDict, get_args

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from geo_patrol.base.arguments import check_choice
from geo_patrol.base.errors import show
from geo_patrol.config.presets import Overrides
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine.observe import Encoding
from geo_patrol.engine.own import Observation, Reward
from geo_patrol.engine.state import ORDERS, SATELLITES
from geo_patrol.game.game import Games

RewardName: TypeAlias = Literal["score", "outcome"]
MaskIn: TypeAlias = Literal["obs", "info", "none"]
Seats: TypeAlias = Literal["both", "alpha", "bravo", "alternate"]


class GameOptions(TypedDict, total=False):
    """Keyword arguments that the environments of a single game share; ``ParallelGeoPatrol`` describes them."""

    overrides: Overrides | None
    observation: Encoding | Observation
    mask_in: MaskIn
    reward: RewardName | Reward
    max_cycles: int | None
    count_events: bool
    render_mode: str | None
    render_size: tuple[int, int]


MAX_THREADS = 256
_ORDER_TYPE, _ORDERS_SHAPE = np.dtype(np.int64), (SATELLITES,)


def copy_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of an environment for copies of it, which get its configuration as it is, overrides included."""
    return {name: deepcopy(value) for name, value in options.items() if name != "overrides"}


def refuse_own(options: Mapping[str, Any], names: Sequence[str], where: str) -> None:
    """Raise ValueError if one of the options named is an own observation or reward."""
    for name in names:
        if isinstance(options.get(name), Observation | Reward):
            raise ValueError(f"{name} must be a name {where}, got {show(options[name])}")


def check_start(option: str, games: Games, config: GameConfig) -> Games:
    """Return the positions from which episodes are to start.

    Raises:
        ValueError: they have another configuration, or are over.
    """
    if games.config != config:
        raise ValueError(
            f"{option} must have the configuration of the environment, {config.title!r}, and its overrides, got "
            f"{games.config.title!r}, or other values"
        )
    if games.is_over.any():
        raise ValueError(f"{option} must go on: game {int(games.is_over.argmax())} is over")
    return games


def check_options(mask_in: Any, reward: Any, max_cycles: Any, count_events: Any) -> tuple[int | None, bool]:
    """Return ``max_cycles`` and ``count_events`` as Python's types; NumPy's are accepted.

    Raises:
        ValueError: an option that all environments share has a wrong value.
    """
    check_choice("mask_in", mask_in, get_args(MaskIn))
    if not isinstance(reward, Reward) and reward not in get_args(RewardName):
        names = ", ".join(map(repr, get_args(RewardName)))
        raise ValueError(f"reward must be {names} or a geo_patrol.Reward, got {show(reward)}")
    is_integer = isinstance(max_cycles, (int, np.integer)) and not isinstance(max_cycles, bool)
    if max_cycles is not None and (not is_integer or max_cycles < 1):
        raise ValueError(f"max_cycles must be a positive integer or None, got {max_cycles!r}")
    if not isinstance(count_events, (bool, np.bool_)):
        raise ValueError(f"count_events must be True or False, got {show(count_events)}")
    return None if max_cycles is None else int(max_cycles), bool(count_events)


def check_orders(actions: Any, agent: str) -> NDArray[np.int64]:
    """Return one side's orders as (11,) int64, which may be ``actions`` itself; the engine decides which codes are legal.

    Raises:
        ValueError: another shape, or not integers.
    """
    if type(actions) is np.ndarray and actions.dtype is _ORDER_TYPE and actions.shape == _ORDERS_SHAPE:
        return actions  # at once: every step of a single environment passes here
    orders = np.asarray(actions)
    if orders.shape != (SATELLITES,):
        raise ValueError(
            f"action of {agent} must have {SATELLITES} order codes, one a satellite, got shape {orders.shape}"
        )
    if orders.dtype.kind not in "iu":
        raise ValueError(f"action of {agent} must be integers, got {str(actions)[:80]} of {orders.dtype}")
    return _to_codes(orders)


def check_agent_orders(actions: Any, agents: Sequence[str]) -> NDArray[np.int64]:
    """Return the orders of single satellites by agent as (len(agents),) int64, in the order of ``agents``.

    Raises:
        ValueError: an agent is missing or unknown, or its order is not an integer.
    """
    if not isinstance(actions, Mapping):
        raise ValueError(f"actions must be a dict with an order for each of agents, got {show(actions)}")
    for agent in agents:
        if agent not in actions:
            raise ValueError(f"actions must have an order for each of agents: {agent} has none")
    if len(actions) != len(agents):
        unknown = next(agent for agent in actions if agent not in agents)
        raise ValueError(f"actions has an order for {show(unknown)}, which is not among agents")
    orders = [actions[agent] for agent in agents]
    for i, order in enumerate(orders):
        if type(order) is not int:
            array = np.asarray(order)
            if array.shape != () or array.dtype.kind not in "iu":
                raise ValueError(f"action of {agents[i]} must be an integer, an order code, got {show(order)}")
            orders[i] = int(array)
    # What ``_to_codes`` does, in one array: one for each order takes a third of a step.
    return np.array([min(max(order, -1), ORDERS) for order in orders], np.int64)


def _to_codes(orders: NDArray[Any]) -> NDArray[np.int64]:
    """Return orders as int64; numbers beyond its range stay codes that do not exist."""
    if orders.dtype.kind == "u":
        orders = np.minimum(orders, ORDERS)
    return np.require(orders, np.int64, ["C", "A", "W"])  # the one kind of array that the engine is compiled for


def check_seats(seats: Any, *, has_opponent: bool) -> Seats:
    """Return the seats, with their default resolved.

    Raises:
        ValueError: it is not among the choices, or contradicts the presence or absence of an opponent.
    """
    if seats is None:
        return "alpha" if has_opponent else "both"
    check_choice("seats", seats, get_args(Seats))
    if seats == "both" and has_opponent:
        raise ValueError(
            'seats = "both": both sides are played; there must be no opponent, or seats must be another value'
        )
    if seats != "both" and not has_opponent:
        raise ValueError(f'seats = {seats!r}: the other side must have an opponent, such as opponent="scripted"')
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
    raise ValueError(f"autoreset must be one of {names}, got {mode!r}")


def check_actions(actions: Any, num_envs: int) -> NDArray[np.int64]:
    """Return actions as (num_envs, 11) int64; the engine decides which codes are legal.

    Raises:
        ValueError: another shape, or not integers.
    """
    try:
        orders = np.asarray(actions)
    except ValueError:
        raise ValueError(f"actions must be ({num_envs}, {SATELLITES}) order codes, got {show(actions)}") from None
    if orders.shape != (num_envs, SATELLITES):
        raise ValueError(f"actions must be ({num_envs}, {SATELLITES}) order codes, got shape {orders.shape}")
    if orders.dtype.kind not in "iu":
        raise ValueError(f"actions must be integers, got {orders.dtype}")
    return _to_codes(orders)


def read_reset_mask(mask: Any, games: int, sides: int) -> NDArray[np.bool_]:
    """Return a mask of games, (games,), from one of environments; None selects all.

    Raises:
        ValueError: it is not a bool array with a value for each environment, selects none, or half a game.
    """
    if mask is None:
        return np.ones(games, np.bool_)
    if not isinstance(mask, np.ndarray) or mask.shape != (games * sides,) or mask.dtype != np.bool_:
        raise ValueError(f"reset_mask must be an array of {games * sides} bool, got {mask!r}")
    by_game = mask.reshape(games, sides)
    halves = np.flatnonzero((by_game != by_game[:, :1]).any(axis=1))
    if len(halves) > 0:
        env = sides * int(halves[0])
        raise ValueError(f"reset_mask: environments {env} and {env + 1} are one game: select both or neither")
    if not mask.any():
        raise ValueError("reset_mask selects no environment: select at least one")
    return by_game[:, 0].copy()
