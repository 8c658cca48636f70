"""The base of scripted agents: their parameters as text, observations as records, and a random key for each decision."""

from functools import cache
from typing import Any, NamedTuple, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from geo_patrol.agents.basic import StatelessAgent
from geo_patrol.agents.scripted.paths import PathCosts
from geo_patrol.base.board import EARTH, MAX_RING, azimuth_of, ring_of, sector_at
from geo_patrol.base.errors import show, suggest
from geo_patrol.base.jit import jitable, jitable_call
from geo_patrol.base.validation import describe_fault
from geo_patrol.engine.observe import (
    GOAL_AZIMUTH_BITS,
    TOKEN_COLUMNS,
    TOKEN_SIZE,
    TOKEN_TABLE_SIZE,
    observation_bounds,
    observation_names,
    observation_size,
)
from geo_patrol.engine.rng import stream_keys, stream_number
from geo_patrol.engine.state import NUM_SIDES, ORDERS, RADIAL_OUT, SATELLITES, IntArray, Record

_Parameters = TypeVar("_Parameters", bound=NamedTuple)


@cache
def _adapters(kind: type[NamedTuple]) -> dict[str, TypeAdapter[Any]]:
    hints = get_type_hints(kind, include_extras=True)
    return {name: TypeAdapter(hints[name]) for name in kind._fields}


def read_parameters(agent: str, text: str, kind: type[_Parameters]) -> _Parameters:
    """Read ``name=value,name=value``.

    Args:
        agent: the agent's name.
        text: the parameters; those that it does not name keep their defaults.
        kind: a NamedTuple whose fields have a default and, as pydantic understands it, a type with bounds.

    Raises:
        ValueError: a parameter is unknown, given twice, or has a wrong value.
    """
    values: dict[str, Any] = {}
    for item in text.split(","):
        name, equals, value = (word.strip() for word in item.partition("="))
        if not equals:
            raise ValueError(f"agent {agent!r}: {show(item)}: parameters are name=value,name=value")
        if name not in kind._fields:
            hint = suggest(name, kind._fields) or "."
            known = ", ".join(kind._fields)
            raise ValueError(f"agent {agent!r}: there is no parameter {show(name)}{hint} It takes: {known}.")
        if name in values:
            raise ValueError(f"agent {agent!r}: {name} is given twice")
        try:
            values[name] = _adapters(kind)[name].validate_python(value)
        except ValidationError as error:
            raise ValueError(f"agent {agent!r}: {name} {describe_fault(error.errors()[0])}") from None
    make: Any = kind
    parameters: _Parameters = make(**values)
    return parameters


def describe_parameters(agent: str, parameters: NamedTuple) -> str:
    """Return an agent's name with those parameters that are not the default, as ``read_parameters`` reads them."""
    make: Any = type(parameters)
    defaults = make()
    changed = [
        f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
        for name, value, default in zip(parameters._fields, parameters, defaults, strict=True)
        if value != default
    ]
    return f"{agent}:{','.join(changed)}" if changed else agent


_INDEX = {name: index for index, name in enumerate(observation_names("tokens"))}
_WHOSE = ("own", "enemy")
_RANGES = ("same", "adjacent")
_PER_MILLE = 0.001
_FUEL = _INDEX["own_hva_fuel"]
_AMMO = _INDEX["own_hva_ammo"]
_SCORE = _INDEX["own_score"]
MOVEMENT_PHASE = _INDEX["movement_phase"]
_TURNS_LEFT = _INDEX["turns_left"]
_GOAL_AZIMUTH = _INDEX["goal_azimuth_bit_0"]
_INNER_RING, _OUTER_RING, _GOAL_RING = _INDEX["inner_ring"], _INDEX["outer_ring"], _INDEX["goal_ring"]


def _indices(*names: str) -> IntArray:
    """Return the indices of features of both sides in an observation, (2, features)."""
    return np.array([[_INDEX[f"{whose}_{name}"] for name in names] for whose in _WHOSE])


_MOVE_COSTS = _indices("prograde_cost", "retrograde_cost", "radial_in_cost", "radial_out_cost")
_STATION_KEEPING = _indices("station_keeping_cost")
_KINDS = ("shoot", "collide", "guard")
_ENGAGEMENT_COSTS = _indices(*(f"{kind}_cost_{where}" for kind in _KINDS for where in _RANGES))
_ENGAGEMENT_ODDS = _indices(*(f"{kind}_odds_{where}" for kind in _KINDS for where in _RANGES))
_POINTS = _indices("goal_points", "adjacent_points", "win_score")
_WEIGHTS = _indices("hva_weight", "patrol_weight")
_INITIAL_AMMO = _indices("initial_hva_ammo", "initial_patrol_ammo")
_HIGHEST = observation_bounds("tokens", MAX_RING).astype(np.uint16)
_SIZES = tuple(
    observation_size("tokens", 1, hides_enemies=hides, counts_patrols=counts)
    for hides in (False, True)
    for counts in (False, True)
)
_PATH_COSTS = np.array([_INNER_RING, _OUTER_RING, *_MOVE_COSTS.ravel(), *_STATION_KEEPING.ravel()])


def check_observations(observations: Any, games: int) -> NDArray[np.int16]:
    """Return observations in tokens, (n, size), in the type and layout that the agents are compiled for.

    Raises:
        ValueError: another shape or type, values that no feature has, or that describe no board or satellites off it.
    """
    array = np.asarray(observations)
    if array.ndim == 2 and array.shape[1] in _SIZES:
        array = array[:, :TOKEN_SIZE]  # enemies out of sight are taken to be where they were last seen
    if array.shape != (games, TOKEN_SIZE) or array.dtype != np.int16:
        right = f"({games}, {TOKEN_SIZE}), int16, as the encoding 'tokens' gives them"
        raise ValueError(f"observations must be {right}, got shape {array.shape} of {array.dtype}")
    inner, outer, goal = (array[:, index] for index in (_INNER_RING, _OUTER_RING, _GOAL_RING))
    is_board = (inner >= 1) & (inner <= goal) & (goal <= outer) & (outer <= MAX_RING)
    is_beyond = array.view(np.uint16) > _HIGHEST  # of unsigned numbers, since negative ones are then beyond as well
    if not is_board.all() or is_beyond.any():
        raise ValueError("observations describe no board, or have values beyond the bounds of features")
    sectors = array[:, :TOKEN_TABLE_SIZE:TOKEN_COLUMNS]
    first, end = ((1 << rings[:, None].astype(np.int64)) - 1 for rings in (inner, outer + 1))
    if ((sectors != EARTH) & ((sectors < first) | (sectors >= end))).any():
        raise ValueError("observations describe satellites off their board")
    return np.require(array, np.int16, ["C", "W"])


def split_by_path_costs(observations: NDArray[np.int16]) -> list[tuple[PathCosts, NDArray[np.int64]]]:
    """Group the rows of a batch by their path costs."""
    path_costs = observations[:, _PATH_COSTS]
    if len(path_costs) == 0:
        return []
    if (path_costs == path_costs[0]).all():
        return [(_as_path_costs(path_costs[0]), np.arange(len(path_costs)))]
    different, kinds = np.unique(path_costs, axis=0, return_inverse=True)
    return [(_as_path_costs(row), np.flatnonzero(kinds.ravel() == kind)) for kind, row in enumerate(different)]


def _as_path_costs(row: NDArray[np.int16]) -> PathCosts:
    inner, outer, *costs, own_keeping, enemy_keeping = row.tolist()
    half = len(costs) // NUM_SIDES
    return PathCosts(inner, outer, (tuple(costs[:half]), tuple(costs[half:])), (own_keeping, enemy_keeping))


@jitable_call
def read_rules(observation: IntArray, rules: Record) -> None:
    """Read the rules; side 0 is the own one."""
    rules.inner_ring, rules.outer_ring = observation[_INNER_RING], observation[_OUTER_RING]
    rules.goal_ring = observation[_GOAL_RING]
    rules.turn_limit = observation[_TURNS_LEFT]  # counted from now
    for side in range(NUM_SIDES):
        for move in range(RADIAL_OUT):
            rules.move_cost[side, move + 1] = observation[_MOVE_COSTS[side, move]]
        rules.station_keeping_cost[side] = observation[_STATION_KEEPING[side, 0]]
        for kind in range(3):
            for distance in range(2):
                index = 2 * kind + distance
                rules.engagement_cost[side, kind, distance] = observation[_ENGAGEMENT_COSTS[side, index]]
                rules.engagement_odds[side, kind, distance] = observation[_ENGAGEMENT_ODDS[side, index]] * _PER_MILLE
        rules.goal_points[side] = observation[_POINTS[side, 0]]
        rules.win_score[side] = observation[_POINTS[side, 2]]
        for kind in range(2):
            rules.weight[side, kind] = observation[_WEIGHTS[side, kind]] * _PER_MILLE
            rules.initial_ammo[side, kind] = observation[_INITIAL_AMMO[side, kind]]


@jitable_call
def absolute_sector(relative: int, goal_azimuth: int, goal_ring: int) -> int:
    """Turn a sector number counted from the own goal sector back, up to half a turn, which is a symmetry."""
    if relative == EARTH:
        return EARTH
    ring = ring_of(relative)
    start = goal_azimuth >> (goal_ring - ring) if ring <= goal_ring else goal_azimuth << (ring - goal_ring)
    return sector_at(ring, azimuth_of(relative) + start)


@jitable_call
def read_game(observation: IntArray, game: Record, rules: Record) -> None:
    """Read a position; side 0 is the own one, and its goal sector lies in the first half turn."""
    goal_azimuth = 0
    for bit in range(GOAL_AZIMUTH_BITS):
        goal_azimuth += int(np.int64(observation[_GOAL_AZIMUTH + bit])) << bit
    for side in range(NUM_SIDES):
        game.score[side] = observation[_SCORE + side]
        game.goal[side] = sector_at(rules.goal_ring, goal_azimuth + side * (1 << (rules.goal_ring - 1)))
        for number in range(SATELLITES):
            row = (side * SATELLITES + number) * TOKEN_COLUMNS
            game.sector[side, number] = absolute_sector(int(np.int64(observation[row])), goal_azimuth, rules.goal_ring)
            game.fuel[side, number] = observation[row + _FUEL]
            game.ammo[side, number] = observation[row + _AMMO]


_SHIFT_11 = np.uint64(11)
_UNIT = 1.0 / (1 << 53)


@jitable
def uniform(key: np.uint64, number: int) -> float:
    """Return the n-th uniform random number in [0, 1) of a key."""
    return np.int64(stream_number(key, np.uint64(number)) >> _SHIFT_11) * _UNIT


def sample_keys(generator: np.random.Generator, num_rows: int) -> NDArray[np.uint64]:
    """Sample a random key for each row of a batch."""
    return stream_keys(np.arange(num_rows, dtype=np.uint64), np.uint64(generator.integers(1 << 63)))


class SeededScript(StatelessAgent):
    """A stateless agent whose orders in a game depend on its observation and a random key alone."""

    def act(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Choose the orders of one decision phase.

        Equal observations and an equal generator give equal orders.

        Raises:
            ValueError: observations or masks have another shape or type, or describe no board.
        """
        return self.act_seeded(observations, action_masks, sample_keys(generator, len(action_masks)))

    def act_seeded(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8], keys: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """Choose the orders of one decision phase; equal observations and equal keys give equal orders.

        Raises:
            ValueError: observations or masks have another shape or type, or describe no board.
        """
        raise NotImplementedError


class DeterministicScript(SeededScript):
    """A script that leaves nothing to chance: its orders depend on the observation alone."""

    def order_probabilities(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8]
    ) -> NDArray[np.floating[Any]]:
        """Return probability 1 for each satellite's order, (n, 11, 28).

        Raises:
            ValueError: observations or masks have another shape or type, or describe no board.
        """
        orders = self.act_seeded(observations, action_masks, np.zeros(len(action_masks), np.uint64))
        return np.eye(ORDERS)[orders]
