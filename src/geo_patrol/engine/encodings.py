"""What an observation holds, number by number, in two encodings: names, bounds, scales and sizes.

- "onehot", float32: for each satellite its sector one-hot, fuel, ammo and flags; then the figures, scaled.
- "tokens", int16: for each satellite its sector number, fuel, ammo and flags; then the figures, as whole numbers.

All figures of the rules are included, so that one network can play every preset. ``observe`` writes them.
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
from geo_patrol.engine.state import HVA, SATELLITES, SIDES

Encoding: TypeAlias = Literal["onehot", "tokens"]
ENCODINGS: tuple[Encoding, ...] = get_args(Encoding)


class Figure(NamedTuple):
    """One number of an observation."""

    name: str
    highest: float
    """Its highest possible value; the lowest is 0."""
    scale: float = 1.0
    """What it is multiplied by in "onehot"."""
    token_scale: float = 1.0
    """What it is multiplied by in "tokens", before it is rounded and cut off at 32,767."""


_MAX_SCORE = float(2**31)
_PER_MILLE = 1000.0

SATELLITE_FIGURES = (
    Figure("fuel", MAX_FUEL, 1 / 100),
    Figure("ammo", MAX_AMMO),
    Figure("active", 1),
    Figure("same_sector_as_own_hva", 1),
    Figure("adjacent_to_own_hva", 1),
    Figure("same_sector_as_enemy_hva", 1),
    Figure("adjacent_to_enemy_hva", 1),
)
"""What both encodings tell of each satellite, after its sector."""

_SIDE_FIGURES = (
    Figure("patrols", MAX_PATROLS, 1 / 10),
    Figure("initial_hva_fuel", MAX_FUEL, 1 / 100),
    Figure("initial_patrol_fuel", MAX_FUEL, 1 / 100),
    Figure("initial_hva_ammo", MAX_AMMO),
    Figure("initial_patrol_ammo", MAX_AMMO),
    *(
        Figure(f"{name}_cost", MAX_FUEL, 1 / 10)
        for name in ("prograde", "retrograde", "radial_in", "radial_out", "station_keeping")
    ),
    *(
        Figure(f"{kind}_cost_{where}", MAX_FUEL, 1 / 10)
        for kind in ("shoot", "collide", "guard")
        for where in ("same", "adjacent")
    ),
    *(
        Figure(f"{kind}_odds_{where}", 1, 1, _PER_MILLE)
        for kind in ("shoot", "collide", "guard")
        for where in ("same", "adjacent")
    ),
    Figure("goal_points", MAX_POINTS, 1 / 10),
    Figure("adjacent_points", MAX_POINTS, 1 / 10),
    Figure("win_score", MAX_WIN_SCORE, 1 / 100),
    Figure("hva_weight", MAX_WEIGHT, 1, _PER_MILLE),
    Figure("patrol_weight", MAX_WEIGHT, 10, _PER_MILLE),
)

GOAL_AZIMUTH_BITS = MAX_RING - 1

GAME_FIGURES = (
    Figure("movement_phase", 1),
    Figure("engagement_phase", 1),
    Figure("turn", MAX_TURNS, 1 / 50),
    Figure("turns_left", MAX_TURNS + 1, 1 / 50),
    Figure("own_score", _MAX_SCORE, 1 / 100),
    Figure("enemy_score", _MAX_SCORE, 1 / 100),
    *(Figure(f"goal_azimuth_bit_{bit}", 1) for bit in range(GOAL_AZIMUTH_BITS)),  # of the azimuth modulo half a turn
    Figure("inner_ring", MAX_RING, 1 / 10),
    Figure("outer_ring", MAX_RING, 1 / 10),
    Figure("goal_ring", MAX_RING, 1 / 10),
    Figure("code_rules", 1),
    *(figure._replace(name=f"{whose}_{figure.name}") for whose in ("own", "enemy") for figure in _SIDE_FIGURES),
)
"""What both encodings tell after the satellites."""

CHANGING_FIGURES = 6 + GOAL_AZIMUTH_BITS  # those at the beginning that change from one phase to the next
RULE_FIGURES = len(GAME_FIGURES) - CHANGING_FIGURES
"""How many of them stay the same from a reset to the next."""
GAME_FIGURE_COUNT = len(GAME_FIGURES)
SATELLITE_FIGURE_COUNT = len(SATELLITE_FIGURES)

ROWS = SIDES * SATELLITES
"""Satellites in an observation: own HVA and Patrols 1-10, enemy HVA and Patrols 1-10."""
TOKEN_COLUMNS = 1 + SATELLITE_FIGURE_COUNT
"""Columns of the table in "tokens": sector number (0: absent), and the satellite's figures."""
TOKEN_TABLE = ROWS * TOKEN_COLUMNS
"""Size of the table in "tokens", which is flat; the figures of the game follow it."""
TOKEN_SIZE = TOKEN_TABLE + GAME_FIGURE_COUNT
HIGHEST_TOKEN = 32_767

_RINGS_AT_LEAST = 5


def check_encoding(encoding: Any) -> Encoding:
    """Return an encoding.

    Raises:
        ValueError: there is none of that name.
    """
    if encoding not in ENCODINGS:
        raise ValueError(f"observation = {encoding!r}: give {' or '.join(map(repr, ENCODINGS))}")
    checked: Encoding = encoding
    return checked


NO_SLOTS = 0


def sector_slots(encoding: Encoding, outer_ring: int) -> int:
    """Return how many sectors the one-hot part has room for: those of five rings (62), or more on larger boards."""
    return int(2 ** (max(outer_ring, _RINGS_AT_LEAST) + 1) - 2) if encoding == "onehot" else NO_SLOTS


def observation_size(encoding: Encoding, outer_ring: int) -> int:
    """Return the length of an observation."""
    if encoding == "tokens":
        return TOKEN_SIZE
    return ROWS * (sector_slots(encoding, outer_ring) + SATELLITE_FIGURE_COUNT) + GAME_FIGURE_COUNT


def observation_type(encoding: Encoding) -> type[np.int16 | np.float32]:
    """Return the scalar type of an observation."""
    return np.int16 if encoding == "tokens" else np.float32


def observation_names(encoding: Encoding, outer_ring: int = _RINGS_AT_LEAST) -> list[str]:
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
                names += [f"{satellite}_sector_{sector}" for sector in range(1, sector_slots(encoding, outer_ring) + 1)]
            names += [f"{satellite}_{figure.name}" for figure in SATELLITE_FIGURES]
    return names + [figure.name for figure in GAME_FIGURES]


def observation_bounds(encoding: Encoding, outer_ring: int) -> NDArray[np.float32] | NDArray[np.int16]:
    """Return the highest value of every index of an observation; the lowest is 0 everywhere."""
    if encoding == "tokens":
        row = [sector_slots("onehot", MAX_RING), *(figure.highest * figure.token_scale for figure in SATELLITE_FIGURES)]
        tail = [figure.highest * figure.token_scale for figure in GAME_FIGURES]
        return np.minimum(row * ROWS + tail, HIGHEST_TOKEN).astype(np.int16)
    row = [1.0] * sector_slots(encoding, outer_ring) + [figure.highest * figure.scale for figure in SATELLITE_FIGURES]
    return np.array(row * ROWS + [figure.highest * figure.scale for figure in GAME_FIGURES], np.float32)
