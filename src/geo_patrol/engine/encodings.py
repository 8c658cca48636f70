"""The features of observations in two encodings: names, bounds, scales and sizes.

- "onehot", float32: for each satellite its sector one-hot, fuel, ammo and flags; then the features of the game, scaled.
- "tokens", int16: for each satellite its sector number, fuel, ammo and flags; then the features of the game, as integers.

All values of the rules are included, so that one network can play every preset. ``observe`` writes them.
"""

from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from geo_patrol.board import MAX_RING
from geo_patrol.config.schema import (
    MAX_AMMO,
    MAX_FUEL,
    MAX_PATROLS,
    MAX_POINTS,
    MAX_TURNS,
    MAX_WEIGHT,
    MAX_WIN_SCORE,
)
from geo_patrol.engine.state import HVA, NUM_RULE_FEATURES, SATELLITES, SIDES

Encoding: TypeAlias = Literal["onehot", "tokens"]
ENCODINGS: tuple[Encoding, ...] = get_args(Encoding)


class Feature(NamedTuple):
    """One number of an observation."""

    name: str
    highest: float
    """Its highest possible value; the lowest is 0."""
    scale: float = 1.0
    """What "onehot" multiplies it by."""
    token_scale: float = 1.0
    """What it is multiplied by in "tokens", before it is rounded and cut off at 32,767."""


_MAX_SCORE = float(2**31)
_PER_MILLE = 1000.0

SATELLITE_FEATURES = (
    Feature("fuel", MAX_FUEL, 1 / 100),
    Feature("ammo", MAX_AMMO),
    Feature("active", 1),
    Feature("same_sector_as_own_hva", 1),
    Feature("adjacent_to_own_hva", 1),
    Feature("same_sector_as_enemy_hva", 1),
    Feature("adjacent_to_enemy_hva", 1),
)
"""The features of each satellite in both encodings, after its sector."""

_SIDE_FEATURES = (
    Feature("patrols", MAX_PATROLS, 1 / 10),
    Feature("initial_hva_fuel", MAX_FUEL, 1 / 100),
    Feature("initial_patrol_fuel", MAX_FUEL, 1 / 100),
    Feature("initial_hva_ammo", MAX_AMMO),
    Feature("initial_patrol_ammo", MAX_AMMO),
    *(
        Feature(f"{name}_cost", MAX_FUEL, 1 / 10)
        for name in ("prograde", "retrograde", "radial_in", "radial_out", "station_keeping")
    ),
    *(
        Feature(f"{kind}_cost_{where}", MAX_FUEL, 1 / 10)
        for kind in ("shoot", "collide", "guard")
        for where in ("same", "adjacent")
    ),
    *(
        Feature(f"{kind}_odds_{where}", 1, 1, _PER_MILLE)
        for kind in ("shoot", "collide", "guard")
        for where in ("same", "adjacent")
    ),
    Feature("goal_points", MAX_POINTS, 1 / 10),
    Feature("adjacent_points", MAX_POINTS, 1 / 10),
    Feature("win_score", MAX_WIN_SCORE, 1 / 100),
    Feature("hva_weight", MAX_WEIGHT, 1, _PER_MILLE),
    Feature("patrol_weight", MAX_WEIGHT, 10, _PER_MILLE),
)

GOAL_AZIMUTH_BITS = MAX_RING - 1

GAME_FEATURES = (
    Feature("movement_phase", 1),
    Feature("engagement_phase", 1),
    Feature("turn", MAX_TURNS, 1 / 50),
    Feature("turns_left", MAX_TURNS + 1, 1 / 50),
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
assert len(GAME_FEATURES) == NUM_CHANGING_FEATURES + NUM_RULE_FEATURES
NUM_GAME_FEATURES = len(GAME_FEATURES)
NUM_SATELLITE_FEATURES = len(SATELLITE_FEATURES)

OBSERVED_SATELLITES = SIDES * SATELLITES
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
        raise ValueError(f"observation = {encoding!r}: give {' or '.join(map(repr, ENCODINGS))}")
    checked: Encoding = encoding
    return checked


def num_sectors(outer_ring: int) -> int:
    """Return the width of the one-hot encoding of a sector: the sectors of five rings (62), or more on larger boards."""
    return int(2 ** (max(outer_ring, _MIN_RINGS) + 1) - 2)


def observation_size(encoding: Encoding, outer_ring: int) -> int:
    """Return the length of an observation."""
    if encoding == "tokens":
        return TOKEN_SIZE
    return OBSERVED_SATELLITES * (num_sectors(outer_ring) + NUM_SATELLITE_FEATURES) + NUM_GAME_FEATURES


def observation_names(encoding: Encoding, outer_ring: int = _MIN_RINGS) -> list[str]:
    """Name every index of an observation, such as ``own_patrol_3_fuel`` or ``enemy_hva_sector_15``.

    A sector number here is relative: the ring as it is, the azimuth counted from the own goal sector's.

    Raises:
        ValueError: there is no such encoding.
    """
    check_encoding(encoding)
    names = []
    for whose in ("own", "enemy"):
        for number in range(SATELLITES):
            satellite = f"{whose}_hva" if number == HVA else f"{whose}_patrol_{number}"
            if encoding == "tokens":
                names.append(f"{satellite}_sector")
            else:
                names += [f"{satellite}_sector_{sector}" for sector in range(1, num_sectors(outer_ring) + 1)]
            names += [f"{satellite}_{feature.name}" for feature in SATELLITE_FEATURES]
    return names + [feature.name for feature in GAME_FEATURES]


def observation_bounds(encoding: Encoding, outer_ring: int) -> NDArray[np.float32] | NDArray[np.int16]:
    """Return the highest value of every index of an observation; the lowest is 0 everywhere."""
    if encoding == "tokens":
        row = [
            num_sectors(MAX_RING),
            *(feature.highest * feature.token_scale for feature in SATELLITE_FEATURES),
        ]
        tail = [feature.highest * feature.token_scale for feature in GAME_FEATURES]
        return np.minimum(row * OBSERVED_SATELLITES + tail, HIGHEST_TOKEN).astype(np.int16)
    row = [1.0] * num_sectors(outer_ring) + [feature.highest * feature.scale for feature in SATELLITE_FEATURES]
    return np.array(
        row * OBSERVED_SATELLITES + [feature.highest * feature.scale for feature in GAME_FEATURES], np.float32
    )
