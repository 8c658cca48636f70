"""Observations: their features in two encodings, and writing them.

- "onehot", float32: for each satellite its sector one-hot, fuel, ammo and flags; then the features of the game, scaled.
- "tokens", int16: for each satellite its sector number, fuel, ammo and flags; then the features of the game, as integers.

Both are egocentric. Own satellites come first, and sectors are numbered from the own goal sector, so that mirrored
positions look the same to alpha and bravo. Rotating the board by less than half a turn is no symmetry of the inner rings;
the bits of the goal's azimuth say how they are aligned. All values of the rules are included, so that one network can play
every preset.

A single satellite observes less, in the same two encodings: itself, the satellites around it relative to its own sector, and the
features of the game that reveal nothing of enemies out of its sight.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from geo_patrol.base.arguments import check_choice
from geo_patrol.base.board import EARTH, MAX_RING, RINGS, prograde, radial_in, radial_out, retrograde
from geo_patrol.base.errors import show
from geo_patrol.base.jit import jitable
from geo_patrol.config import schema
from geo_patrol.engine import state
from geo_patrol.engine.own import Observation
from geo_patrol.engine.sight import phase_number

Encoding: TypeAlias = Literal["onehot", "tokens"]
ENCODINGS: tuple[Encoding, ...] = get_args(Encoding)
View: TypeAlias = Literal["side", "own"]
"""Whether a satellite observes what its side does, or what it sees itself."""


class Feature(NamedTuple):
    """One number of an observation."""

    name: str
    highest: float
    """Its highest possible value."""
    scale: float = 1.0
    """What "onehot" multiplies it by."""
    token_scale: float = 1.0
    """What it is multiplied by in "tokens", before it is rounded and cut off at 32,767."""
    lowest: float = 0.0
    """Its lowest possible value."""


_MAX_SCORE = float(2**31)
_PER_MILLE = 1000.0

SATELLITE_FEATURES = (
    Feature("fuel", schema.MAX_FUEL, 1 / 100),
    Feature("ammo", schema.MAX_AMMO),
    Feature("active", 1),
    Feature("same_sector_as_own_hva", 1),
    Feature("adjacent_to_own_hva", 1),
    Feature("same_sector_as_enemy_hva", 1),
    Feature("adjacent_to_enemy_hva", 1),
)
"""The features of each satellite in both encodings, after its sector."""

_SIDE_FEATURES = (
    Feature("patrols", schema.MAX_PATROLS, 1 / 10),
    Feature("initial_hva_fuel", schema.MAX_FUEL, 1 / 100),
    Feature("initial_patrol_fuel", schema.MAX_FUEL, 1 / 100),
    Feature("initial_hva_ammo", schema.MAX_AMMO),
    Feature("initial_patrol_ammo", schema.MAX_AMMO),
    *(
        Feature(f"{name}_cost", schema.MAX_FUEL, 1 / 10)
        for name in ("prograde", "retrograde", "radial_in", "radial_out", "station_keeping")
    ),
    *(
        Feature(f"{kind}_cost_{where}", schema.MAX_FUEL, 1 / 10)
        for kind in ("shoot", "collide", "guard")
        for where in ("same", "adjacent")
    ),
    *(
        Feature(f"{kind}_odds_{where}", 1, 1, _PER_MILLE)
        for kind in ("shoot", "collide", "guard")
        for where in ("same", "adjacent")
    ),
    Feature("goal_points", schema.MAX_POINTS, 1 / 10),
    Feature("adjacent_points", schema.MAX_POINTS, 1 / 10),
    Feature("win_score", schema.MAX_WIN_SCORE, 1 / 100),
    Feature("hva_weight", schema.MAX_WEIGHT, 1, _PER_MILLE),
    Feature("patrol_weight", schema.MAX_WEIGHT, 10, _PER_MILLE),
)

GOAL_AZIMUTH_BITS = MAX_RING - 1

GAME_FEATURES = (
    Feature("movement_phase", 1),
    Feature("engagement_phase", 1),
    Feature("turn", schema.MAX_TURNS, 1 / 50),
    Feature("turns_left", schema.MAX_TURNS + 1, 1 / 50),
    Feature("own_score", _MAX_SCORE, 1 / 100),
    Feature("enemy_score", _MAX_SCORE, 1 / 100),
    *(Feature(f"goal_azimuth_bit_{bit}", 1) for bit in range(GOAL_AZIMUTH_BITS)),  # of the azimuth modulo half a turn
    Feature("inner_ring", MAX_RING, 1 / 10),
    Feature("outer_ring", MAX_RING, 1 / 10),
    Feature("goal_ring", MAX_RING, 1 / 10),
    Feature("code_rules", 1),
    *(feature._replace(name=f"{whose}_{feature.name}") for whose in ("own", "enemy") for feature in _SIDE_FEATURES),
)
"""The features that follow the satellites in both encodings."""

NUM_CHANGING_FEATURES = 6 + GOAL_AZIMUTH_BITS  # the first ones, which change from one phase to the next
assert len(GAME_FEATURES) == NUM_CHANGING_FEATURES + state.NUM_RULE_FEATURES
NUM_GAME_FEATURES = len(GAME_FEATURES)
NUM_SATELLITE_FEATURES = len(SATELLITE_FEATURES)

SIGHT_FEATURES = (
    Feature("own_sensor_range", schema.MAX_SENSOR_RANGE, 1 / 10),  # 0: everything is seen
    Feature("enemy_sensor_range", schema.MAX_SENSOR_RANGE, 1 / 10),
    *(
        Feature(f"enemy_{'hva' if number == state.HVA else f'patrol_{number}'}_unseen", 2 * schema.MAX_TURNS, 1 / 100)
        for number in range(state.SATELLITES)
    ),
)
"""The features at the end of both encodings where a configuration hides enemies: the last are the decision phases since a
side last saw each satellite of the enemy, 0 for those in sight."""
NUM_SIGHT_FEATURES = len(SIGHT_FEATURES)
PATROL_FEATURES = (
    Feature("own_patrol_points", schema.MAX_POINTS, 1 / 10),
    Feature("enemy_patrol_points", schema.MAX_POINTS, 1 / 10),
)
"""The features that follow those of the game in both encodings where a configuration has points for destroyed Patrols."""
NUM_PATROL_FEATURES = len(PATROL_FEATURES)
_PATROL_POINTS_SCALE = PATROL_FEATURES[0].scale
SENSOR_RANGE_SCALE, UNSEEN_SCALE = SIGHT_FEATURES[0].scale, SIGHT_FEATURES[-1].scale

_OFFSET_SCALE = 1 / 4
_MAX_OFFSET = 2.0 ** (MAX_RING - 1)
LOCAL_FEATURES = (
    Feature("in_sight", 1),
    Feature("ring_offset", MAX_RING, _OFFSET_SCALE, lowest=-MAX_RING),
    Feature("azimuth_offset", _MAX_OFFSET, _OFFSET_SCALE, lowest=-_MAX_OFFSET),
    *SATELLITE_FEATURES[:3],
)
"""The features of all satellites of both sides in what a single one observes, 0 for those out of its sight: the rings from it
outwards, and the sectors prograde on their own ring from where it lies above or below that; then fuel, ammo and active."""
NUM_LOCAL_FEATURES = len(LOCAL_FEATURES)

OBSERVED_SATELLITES = state.NUM_SIDES * state.SATELLITES
"""Satellites in an observation: own HVA and Patrols 1-10, enemy HVA and Patrols 1-10."""
TOKEN_COLUMNS = 1 + NUM_SATELLITE_FEATURES
"""Columns of the table in "tokens": sector number (0: absent), and the satellite's features."""
TOKEN_TABLE_SIZE = OBSERVED_SATELLITES * TOKEN_COLUMNS
"""Size of the table in "tokens", which is flat; the features of the game follow it."""
TOKEN_SIZE = TOKEN_TABLE_SIZE + NUM_GAME_FEATURES
HIGHEST_TOKEN = 32_767

_MIN_RINGS = 5


def check_encoding(encoding: Any) -> Encoding:
    """Return an encoding.

    Raises:
        ValueError: there is none of that name.
    """
    if encoding not in ENCODINGS:
        raise ValueError(f"observation must be {' or '.join(map(repr, ENCODINGS))}, got {encoding!r}")
    checked: Encoding = encoding
    return checked


def check_observation(observation: Any) -> Encoding | Observation:
    """Return an encoding or an observation of a user's own.

    Raises:
        ValueError: it is neither.
    """
    if isinstance(observation, Observation):
        return observation
    if observation not in ENCODINGS:
        names = ", ".join(map(repr, ENCODINGS))
        raise ValueError(f"observation must be {names} or a geo_patrol.Observation, got {show(observation)}")
    return check_encoding(observation)


def num_sectors(outer_ring: int) -> int:
    """Return the width of the one-hot encoding of a sector: the sectors of five rings (62), or more on larger boards."""
    return int(2 ** (max(outer_ring, _MIN_RINGS) + 1) - 2)


def observation_size(
    encoding: Encoding | Observation, outer_ring: int, *, hides_enemies: bool = False, counts_patrols: bool = False
) -> int:
    """Return the length of an observation."""
    if isinstance(encoding, Observation):
        return encoding.size
    last = len(_last_features(hides_enemies, counts_patrols))
    if encoding == "tokens":
        return TOKEN_TABLE_SIZE + last
    return OBSERVED_SATELLITES * (num_sectors(outer_ring) + NUM_SATELLITE_FEATURES) + last


_OBSERVED = tuple(
    f"{whose}_{'hva' if number == state.HVA else f'patrol_{number}'}"
    for whose in ("own", "enemy")
    for number in range(state.SATELLITES)
)


def observation_names(
    encoding: Encoding | Observation,
    outer_ring: int = _MIN_RINGS,
    *,
    hides_enemies: bool = False,
    counts_patrols: bool = False,
    view: View = "side",
) -> list[str]:
    """Name every index of an observation, such as ``own_patrol_3_fuel`` or ``enemy_hva_sector_15``.

    A sector number here is relative: the ring as it is, the azimuth counted from the own goal sector's.

    Args:
        encoding: "onehot" or "tokens", or an ``Observation``, which has its own names.
        outer_ring: the outer ring of the board.
        hides_enemies: whether the configuration hides enemies, see ``GameConfig.hides_enemies``.
        counts_patrols: whether it has points for destroyed Patrols, see ``GameConfig.counts_patrols``.
        view: "side" for the observation of a side; "own" for that of a single satellite with ``view="own"``, which is the
            same whether enemies are hidden or not.

    Raises:
        ValueError: there is no such encoding or view.
    """
    encoding = check_observation(encoding)
    check_choice("view", view, get_args(View))
    if isinstance(encoding, Observation):
        return list(encoding.names or ())
    if view == "own":
        numbers = ["number"] if encoding == "tokens" else [f"number_{number}" for number in range(state.SATELLITES)]
        sectors = [f"self_{name}" for name in _sector_names(encoding, outer_ring)]
        local = [f"{satellite}_{feature.name}" for feature in LOCAL_FEATURES for satellite in _OBSERVED]
        return numbers + sectors + local + [feature.name for feature in GAME_FEATURES]
    features = _sector_names(encoding, outer_ring) + [feature.name for feature in SATELLITE_FEATURES]
    names = [f"{satellite}_{name}" for satellite in _OBSERVED for name in features]
    return names + [feature.name for feature in _last_features(hides_enemies, counts_patrols)]


def _sector_names(encoding: Encoding, outer_ring: int) -> list[str]:
    return ["sector"] if encoding == "tokens" else [f"sector_{i}" for i in range(1, num_sectors(outer_ring) + 1)]


def _last_features(hides_enemies: bool, counts_patrols: bool) -> tuple[Feature, ...]:
    """Return the features that follow the satellites."""
    return GAME_FEATURES + PATROL_FEATURES * counts_patrols + SIGHT_FEATURES * hides_enemies


def observation_bounds(
    encoding: Encoding, outer_ring: int, *, hides_enemies: bool = False, counts_patrols: bool = False
) -> NDArray[np.float32] | NDArray[np.int16]:
    """Return the highest value of every index of an observation; the lowest is 0 everywhere."""
    last_features = _last_features(hides_enemies, counts_patrols)
    if encoding == "tokens":
        row = [num_sectors(MAX_RING), *(feature.highest * feature.token_scale for feature in SATELLITE_FEATURES)]
        tail = [feature.highest * feature.token_scale for feature in last_features]
        return np.minimum(row * OBSERVED_SATELLITES + tail, HIGHEST_TOKEN).astype(np.int16)
    row = [1.0] * num_sectors(outer_ring) + [feature.highest * feature.scale for feature in SATELLITE_FEATURES]
    return np.array(
        row * OBSERVED_SATELLITES + [feature.highest * feature.scale for feature in last_features], np.float32
    )


def satellite_bounds(encoding: Encoding, outer_ring: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the lowest and the highest value of every index of what a single satellite observes."""
    local = tuple(feature for feature in LOCAL_FEATURES for _ in range(OBSERVED_SATELLITES))
    if encoding == "tokens":
        head = Feature("number", state.SATELLITES - 1), Feature("sector", num_sectors(MAX_RING))
        features = head + tuple(feature._replace(scale=feature.token_scale) for feature in local + GAME_FEATURES)
    else:
        features = (Feature("", 1),) * (state.SATELLITES + num_sectors(outer_ring)) + local + GAME_FEATURES
    bounds = np.array([(feature.lowest * feature.scale, feature.highest * feature.scale) for feature in features]).T
    if encoding == "tokens":
        bounds = np.minimum(bounds, HIGHEST_TOKEN).astype(np.int16)
    low, high = bounds.astype(np.int16 if encoding == "tokens" else np.float32)
    return low, high


# Writing observations

_GAME_SCALES = np.array([feature.scale for feature in GAME_FEATURES])
_GAME_TOKEN_SCALES = np.array([feature.token_scale for feature in GAME_FEATURES])
_FUEL_SCALE = SATELLITE_FEATURES[0].scale

# The scales of the features that change, as constants of the compiled code.
_TURN_SCALE, _TURNS_LEFT_SCALE, _OWN_SCORE_SCALE, _ENEMY_SCORE_SCALE = (
    next(feature.scale for feature in GAME_FEATURES if feature.name == name)
    for name in ("turn", "turns_left", "own_score", "enemy_score")
)


@jitable
def first_relative_azimuth(goal: int, goal_ring: int, ring: int) -> int:
    """Return the azimuth on a ring from which relative azimuths are counted: in line with a goal sector."""
    goal_azimuth = goal + 1 - (1 << goal_ring)
    return goal_azimuth >> (goal_ring - ring) if ring <= goal_ring else goal_azimuth << (ring - goal_ring)


_RELATIVE, _NEARNESS = 0, 2
"""Columns of a satellite's position: from 0, the sector's number relative to alpha's and to bravo's goal sector (0:
absent); then two bits for each HVA, alpha's first: in its sector, adjacent to it."""
_IN_SECTOR, _NEXT_TO = 1, 2
_NEARNESS_BITS = 2


@jitable
def mark_around(sector: int, in_sector: int, next_to: int, nearness: NDArray[np.int32]) -> None:
    """Set the flags of a sector and of those adjacent to it; 0 clears them."""
    keep = ~(in_sector | next_to) if in_sector else 0
    outward = radial_out(sector)
    for other in (prograde(sector), retrograde(sector), radial_in(sector), outward, outward + 1):
        nearness[other] = (nearness[other] & keep) | next_to
    nearness[sector] = (nearness[sector] & keep) | in_sector


@jitable
def find_positions(game: state.Record, rules: state.Record, workspace: state.Workspace) -> None:
    """Write what both sides' observations need of each satellite's position.

    The goal sectors are half a turn apart, so the two relative azimuths differ in their highest bit.
    """
    nearness, positions = workspace.nearness, workspace.positions
    for side in range(state.NUM_SIDES):
        shift = side * _NEARNESS_BITS
        mark_around(int(game.sector[side, state.HVA]), _IN_SECTOR << shift, _NEXT_TO << shift, nearness)
    goal, goal_ring = int(game.goal[state.ALPHA]), rules.goal_ring
    for side in range(state.NUM_SIDES):
        for number in range(state.SATELLITES):
            sector = int(game.sector[side, number])
            ring = int(RINGS[sector])
            first = (1 << ring) - 1  # the ring's first sector, and the bits of its azimuths
            azimuth = (sector - first - first_relative_azimuth(goal, goal_ring, ring)) & first
            positions[side, number, _RELATIVE + state.ALPHA] = first + azimuth
            positions[side, number, _RELATIVE + state.BRAVO] = first + (azimuth ^ ((1 << ring) >> 1))
            positions[side, number, _NEARNESS] = nearness[sector]
    for side in range(state.NUM_SIDES):
        mark_around(int(game.sector[side, state.HVA]), 0, 0, nearness)


# Features of the rules


@jitable
def write_side_features(rules: state.Record, side: int, features: NDArray[np.float64], start: int) -> int:
    """Write the features of one side's rules from an index on; return the index after them."""
    features[start] = rules.patrol_count[side]
    for kind in range(2):
        features[start + 1 + kind] = rules.initial_fuel[side, kind]
        features[start + 3 + kind] = rules.initial_ammo[side, kind]
    for move in range(1, 5):
        features[start + 4 + move] = rules.move_cost[side, move]
    features[start + 9] = rules.station_keeping_cost[side]
    for kind in range(3):
        for distance in range(2):
            features[start + 10 + 2 * kind + distance] = rules.engagement_cost[side, kind, distance]
            features[start + 16 + 2 * kind + distance] = rules.engagement_odds[side, kind, distance]
    features[start + 22] = rules.goal_points[side]
    features[start + 23] = rules.adjacent_points[side]
    features[start + 24] = rules.win_score[side]
    features[start + 25] = rules.weight[side, 0]
    features[start + 26] = rules.weight[side, 1]
    return start + 27


@jitable
def write_rule_features(rules: state.Record, features: NDArray[np.float64]) -> None:
    """Write the features that stay the same until the next reset, in both encodings, into the rules' own record.

    ``features``: (``NUM_GAME_FEATURES``,), overwritten.
    """
    for side in range(state.NUM_SIDES):
        features[NUM_CHANGING_FEATURES] = rules.inner_ring
        features[NUM_CHANGING_FEATURES + 1] = rules.outer_ring
        features[NUM_CHANGING_FEATURES + 2] = rules.goal_ring
        features[NUM_CHANGING_FEATURES + 3] = rules.code_rules
        start = write_side_features(rules, side, features, NUM_CHANGING_FEATURES + 4)
        write_side_features(rules, 1 - side, features, start)
        for i in range(NUM_CHANGING_FEATURES, NUM_GAME_FEATURES):
            rules.onehot_features[side, i - NUM_CHANGING_FEATURES] = features[i] * _GAME_SCALES[i]
            token = min(int(features[i] * _GAME_TOKEN_SCALES[i] + 0.5), HIGHEST_TOKEN)
            rules.token_features[side, i - NUM_CHANGING_FEATURES] = token


# Observations


@jitable
def write_phase_and_goal(game: state.Record, rules: state.Record, side: int, features: NDArray[Any]) -> None:
    """Write the features of the game that are the same numbers in both encodings: phase and goal azimuth."""
    features[0] = game.phase == state.MOVEMENT
    features[1] = game.phase == state.ENGAGEMENT
    goal_azimuth = (int(game.goal[side]) + 1) & ((1 << (rules.goal_ring - 1)) - 1)  # modulo half a turn
    for bit in range(GOAL_AZIMUTH_BITS):
        features[6 + bit] = (goal_azimuth >> bit) & 1


@jitable
def turns_left(game: state.Record, rules: state.Record) -> int:
    """Return how many turns may be played yet, the current one included."""
    return max(rules.turn_limit + rules.code_rules - game.turn, 0)


@jitable
def write_satellite(
    game: state.Record, side: int, owner: int, number: int, nearness: int, fuel_scale: float, features: NDArray[Any]
) -> None:
    """Write the features of a satellite as ``side`` sees it: fuel, ammo, active, and how near it is to the two HVAs."""
    fuel = int(game.fuel[owner, number])
    near_own = nearness >> (side * _NEARNESS_BITS)
    near_enemy = nearness >> ((1 - side) * _NEARNESS_BITS)
    features[0] = fuel * fuel_scale
    features[1] = game.ammo[owner, number]
    features[2] = fuel > 0
    features[3] = near_own & 1
    features[4] = (near_own >> 1) & 1
    features[5] = near_enemy & 1
    features[6] = (near_enemy >> 1) & 1


@jitable
def observe_onehot(
    game: state.Record, rules: state.Record, side: int, positions: NDArray[np.int64], observation: NDArray[np.float32]
) -> None:
    """Write one side's observation as "onehot", from what ``find_positions`` has found."""
    width = (len(observation) - NUM_GAME_FEATURES) // OBSERVED_SATELLITES
    num_sectors = width - NUM_SATELLITE_FEATURES
    for i in range(OBSERVED_SATELLITES * width):
        observation[i] = 0
    for enemy in range(state.NUM_SIDES):
        owner = side ^ enemy
        for number in range(state.SATELLITES):
            sector = positions[owner, number, _RELATIVE + side]
            if sector != EARTH:
                start = (enemy * state.SATELLITES + number) * width
                observation[start + sector - 1] = 1
                features = observation[start + num_sectors : start + width]
                write_satellite(game, side, owner, number, positions[owner, number, _NEARNESS], _FUEL_SCALE, features)
    write_game_onehot(game, rules, side, observation[OBSERVED_SATELLITES * width :])


@jitable
def write_game_onehot(game: state.Record, rules: state.Record, side: int, features: NDArray[np.float32]) -> None:
    """Write the features of the game as "onehot"."""
    write_phase_and_goal(game, rules, side, features)
    features[2] = game.turn * _TURN_SCALE
    features[3] = turns_left(game, rules) * _TURNS_LEFT_SCALE
    features[4] = game.score[side] * _OWN_SCORE_SCALE
    features[5] = game.score[1 - side] * _ENEMY_SCORE_SCALE
    rule_features = rules.onehot_features[side]
    for i in range(state.NUM_RULE_FEATURES):
        features[NUM_CHANGING_FEATURES + i] = rule_features[i]
    write_patrol_points(rules, side, _PATROL_POINTS_SCALE, features[NUM_GAME_FEATURES:])


@jitable
def observe_tokens(
    game: state.Record, rules: state.Record, side: int, positions: NDArray[np.int64], observation: NDArray[np.int16]
) -> None:
    """Write one side's observation as "tokens", from what ``find_positions`` has found."""
    for enemy in range(state.NUM_SIDES):
        owner = side ^ enemy
        for number in range(state.SATELLITES):
            sector = positions[owner, number, _RELATIVE + side]
            start = (enemy * state.SATELLITES + number) * TOKEN_COLUMNS
            observation[start] = sector
            nearness = positions[owner, number, _NEARNESS] * (sector != EARTH)
            features = observation[start + 1 : start + TOKEN_COLUMNS]
            write_satellite(game, side, owner, number, nearness, 1, features)
    write_game_tokens(game, rules, side, observation[TOKEN_TABLE_SIZE:])


@jitable
def write_game_tokens(game: state.Record, rules: state.Record, side: int, features: NDArray[np.int16]) -> None:
    """Write the features of the game as "tokens"."""
    write_phase_and_goal(game, rules, side, features)
    features[2] = min(game.turn, HIGHEST_TOKEN)
    features[3] = min(turns_left(game, rules), HIGHEST_TOKEN)
    features[4] = min(game.score[side], HIGHEST_TOKEN)
    features[5] = min(game.score[1 - side], HIGHEST_TOKEN)
    rule_features = rules.token_features[side]
    for i in range(state.NUM_RULE_FEATURES):
        features[NUM_CHANGING_FEATURES + i] = rule_features[i]
    write_patrol_points(rules, side, 1, features[NUM_GAME_FEATURES:])


@jitable
def write_patrol_points(rules: state.Record, side: int, scale: float, features: NDArray[Any]) -> None:
    """Write the points for destroyed Patrols, where ``features``, what follows the features of the game, has a place for them.

    A configuration adds these features, those of sight, both or neither, and so the length tells whether they are there. The rules
    do not: an observation is as long in games in which the points are sampled to be 0.
    """
    if len(features) % NUM_SIGHT_FEATURES == NUM_PATROL_FEATURES:
        features[0] = rules.patrol_points[side] * scale
        features[1] = rules.patrol_points[1 - side] * scale


@jitable
def write_sight(
    belief: state.Record,
    rules: state.Record,
    side: int,
    last_seen: state.IntArray,
    sensor_range_scale: float,
    unseen_scale: float,
    features: NDArray[Any],
) -> None:
    """Write how far both sides see, and for how many phases ``side`` has not seen each satellite of the enemy."""
    phase = phase_number(belief)
    features[0] = rules.sensor_range[side] * sensor_range_scale
    features[1] = rules.sensor_range[1 - side] * sensor_range_scale
    for number in range(state.SATELLITES):
        features[2 + number] = (phase - last_seen[1 - side, number]) * unseen_scale


# What a single satellite observes


class Surroundings(NamedTuple):
    """Temporary arrays for what the satellites of a side observe. Loops over their last axis become vector instructions."""

    places: NDArray[np.int32]
    """(4, 22): ring, angle in sectors of the outermost ring, azimuth plus half a turn, and whether there is such a satellite."""
    values: NDArray[Any]
    """(3, 22): fuel, ammo and active, as they are observed."""
    in_sight: NDArray[np.int32]
    """(22,): 1 for each satellite that one of them sees."""
    game: NDArray[Any]
    """(73,): the features of the game."""


@jitable
def make_surroundings(observations: NDArray[Any]) -> Surroundings:
    """Allocate the temporary arrays for observations of this type."""
    return Surroundings(
        np.empty((4, OBSERVED_SATELLITES), np.int32),
        np.empty((3, OBSERVED_SATELLITES), observations.dtype),
        np.empty(OBSERVED_SATELLITES, np.int32),
        np.empty(NUM_GAME_FEATURES, observations.dtype),
    )


_OFFSET_FACTOR = np.float32(_OFFSET_SCALE)
_ENEMY_SCORE = next(i for i, feature in enumerate(GAME_FEATURES) if feature.name == "enemy_score")
_LOCAL_SIZE = NUM_LOCAL_FEATURES * OBSERVED_SATELLITES
_RING, _ANGLE, _AZIMUTH, _EXISTS = range(4)


@jitable
def as_float32(number: int) -> np.float32:
    """Return a number as "onehot" needs it: without the conversion, compiled code would calculate with 64 bits."""
    return np.float32(number)


@jitable
def as_int16(number: int) -> np.int16:
    """Return a number as "tokens" needs it."""
    return np.int16(number)


@jitable
def find_surroundings(game: state.Record, side: int, fuel_scale: float, surroundings: Surroundings) -> None:
    """Write what the observations of a side's satellites have in common of all satellites, the side's own ones first."""
    places, values = surroundings.places, surroundings.values
    for enemy in range(state.NUM_SIDES):
        owner = side ^ enemy
        for number in range(state.SATELLITES):
            i = enemy * state.SATELLITES + number
            sector, fuel = int(game.sector[owner, number]), int(game.fuel[owner, number])
            exists = sector != EARTH
            ring = max(int(RINGS[sector]), 1)
            azimuth = (sector + 1 - (1 << ring)) * exists
            places[_RING, i] = ring
            places[_ANGLE, i] = azimuth << (MAX_RING - ring)
            places[_AZIMUTH, i] = azimuth + ((1 << ring) >> 1)
            places[_EXISTS, i] = exists
            values[0, i] = fuel * fuel_scale
            values[1, i] = game.ammo[owner, number]
            values[2, i] = fuel > 0


@jitable
def look_around(
    number: int, looks: bool, reach: int, inner_ring: int, sees_fleet: bool, surroundings: Surroundings
) -> None:
    """Write which satellites one of a side sees: itself, perhaps its fleet, and if it looks, all within so many steps.

    The steps are those of ``are_within``, for each ring along which a way may lead. Everything is cast to 32 bits, of which a
    vector holds twice as many.
    """
    ring, angle, in_sight = surroundings.places[_RING], surroundings.places[_ANGLE], surroundings.in_sight
    own_ring, own_angle, limit, innermost = ring[number], angle[number], np.int32(reach), np.int32(inner_ring)
    for i in range(OBSERVED_SATELLITES):
        in_sight[i] = sees_fleet and i < state.SATELLITES
    if looks:
        first = state.SATELLITES if sees_fleet else 0
        for inwards in range(min(reach >> 1, MAX_RING) + 1):
            for i in range(first, OBSERVED_SATELLITES):
                lower = min(own_ring, ring[i])
                along = np.int32(max(np.int32(lower - inwards), innermost))
                shift = np.int32(MAX_RING - along)
                apart = np.int32(abs(np.int32((own_angle >> shift) - (angle[i] >> shift))))
                apart = np.int32(min(apart, np.int32(np.int32((1 << MAX_RING) >> shift) - apart)))
                steps = np.int32(abs(np.int32(own_ring - ring[i])) + 2 * np.int32(lower - along) + apart)
                in_sight[i] |= steps <= limit
    in_sight[number] = 1


@jitable
def write_local(
    number: int, surroundings: Surroundings, offset_scale: Any, convert: Callable[[Any], Any], features: NDArray[Any]
) -> None:
    """Write the local features of what a satellite sees: all satellites' ``in_sight``, then ``ring_offset``, and so on."""
    places, values, in_sight = surroundings.places, surroundings.values, surroundings.in_sight
    ring, azimuth, exists = places[_RING], places[_AZIMUTH], places[_EXISTS]
    own_ring, own_angle = ring[number], places[_ANGLE, number]
    for i in range(OBSERVED_SATELLITES):
        shown = np.int32(in_sight[i] & exists[i])
        last = np.int32(np.int32(1 << ring[i]) - 1)  # the highest azimuth, and the bits of all
        in_line = np.int32(own_angle >> np.int32(MAX_RING - ring[i]))
        offset = np.int32(np.int32(np.int32(azimuth[i] - in_line) & last) - np.int32(np.int32(last + 1) >> 1))
        factor = convert(shown)
        features[i] = factor
        features[OBSERVED_SATELLITES + i] = convert(np.int32(shown * np.int32(ring[i] - own_ring))) * offset_scale
        features[2 * OBSERVED_SATELLITES + i] = convert(np.int32(shown * offset)) * offset_scale
        features[3 * OBSERVED_SATELLITES + i] = factor * values[0, i]
        features[4 * OBSERVED_SATELLITES + i] = factor * values[1, i]
        features[5 * OBSERVED_SATELLITES + i] = factor * values[2, i]


@jitable
def relative_sector(game: state.Record, rules: state.Record, side: int, number: int) -> int:
    """Return the sector of a satellite relative to its side's goal sector; EARTH if the side does not have it."""
    sector = int(game.sector[side, number])
    ring = int(RINGS[sector])
    first = (1 << ring) - 1
    return first + ((sector - first - first_relative_azimuth(int(game.goal[side]), rules.goal_ring, ring)) & first)


@jitable
def observe_satellites_onehot(
    game: state.Record,
    rules: state.Record,
    side: int,
    reach: int,
    sees_fleet: bool,
    surroundings: Surroundings,
    observations: NDArray[np.float32],
) -> None:
    """Write what each satellite of a side observes as "onehot", (11, size)."""
    write_game_onehot(game, rules, side, surroundings.game)
    find_surroundings(game, side, _FUEL_SCALE, surroundings)
    for number in range(state.SATELLITES):
        observation = observations[number]
        start = len(observation) - NUM_GAME_FEATURES - _LOCAL_SIZE
        for i in range(start):
            observation[i] = 0
        observation[number] = 1
        sector = relative_sector(game, rules, side, number)
        if sector != EARTH:
            observation[state.SATELLITES + sector - 1] = 1
        observe_around(
            game, rules, side, number, reach, sees_fleet, surroundings, _OFFSET_FACTOR, as_float32, observation[start:]
        )


@jitable
def observe_satellites_tokens(
    game: state.Record,
    rules: state.Record,
    side: int,
    reach: int,
    sees_fleet: bool,
    surroundings: Surroundings,
    observations: NDArray[np.int16],
) -> None:
    """Write what each satellite of a side observes as "tokens", (11, size)."""
    write_game_tokens(game, rules, side, surroundings.game)
    find_surroundings(game, side, 1, surroundings)
    for number in range(state.SATELLITES):
        observation = observations[number]
        observation[0] = number
        observation[1] = relative_sector(game, rules, side, number)
        observe_around(game, rules, side, number, reach, sees_fleet, surroundings, 1, as_int16, observation[2:])


@jitable
def observe_around(
    game: state.Record,
    rules: state.Record,
    side: int,
    number: int,
    reach: int,
    sees_fleet: bool,
    surroundings: Surroundings,
    offset_scale: Any,
    convert: Callable[[Any], Any],
    features: NDArray[Any],
) -> None:
    """Write what a satellite observes after its number and its sector.

    Only the game as it is matters, not what the side knows of it: an enemy that is in sight is known as it is.
    """
    local, of_game, common = features[:_LOCAL_SIZE], features[_LOCAL_SIZE:], surroundings.game
    if game.sector[side, number] != EARTH:
        looks, inner_ring = game.destroyed[side, number] == 0, int(rules.inner_ring)
        look_around(number, looks, reach, inner_ring, sees_fleet, surroundings)
        write_local(number, surroundings, offset_scale, convert, local)
    else:
        for i in range(_LOCAL_SIZE):
            local[i] = 0
    for i in range(NUM_GAME_FEATURES):
        of_game[i] = common[i]
    of_game[_ENEMY_SCORE] = 0
