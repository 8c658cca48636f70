"""From a game to what a side sees of it: two encodings, both egocentric.

Own satellites come first, and sectors are numbered from the own goal sector, so that mirrored positions look the same
to alpha and bravo. Turning the board by less than half a turn is no symmetry of the inner rings; how they lie is told
by the bits of the goal's azimuth. All figures of the rules are included, so that one network can play every preset.

- "onehot", float32: for each satellite its sector one-hot, fuel, ammo and flags; then the figures, scaled.
- "tokens", int16: for each satellite its sector number, fuel, ammo and flags; then the figures, as whole numbers.
"""

from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from geo_patrol.board import EARTH, MAX_RING, ring_of
from geo_patrol.config import (
    MAX_AMMO,
    MAX_FUEL,
    MAX_PATROLS,
    MAX_POINTS,
    MAX_TURNS,
    MAX_WEIGHT,
    MAX_WIN_SCORE,
)
from geo_patrol.engine.legality import range_between
from geo_patrol.engine.state import (
    ADJACENT_SECTOR,
    ENGAGEMENT,
    HVA,
    MOVEMENT,
    SAME_SECTOR,
    SATELLITES,
    SIDES,
    Record,
    Records,
)
from geo_patrol.jit import jit

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

_GAME_SCALES = np.array([figure.scale for figure in GAME_FIGURES])
_GAME_TOKEN_SCALES = np.array([figure.token_scale for figure in GAME_FIGURES])
_GAME_FIGURE_COUNT = len(GAME_FIGURES)
_FUEL_SCALE = SATELLITE_FIGURES[0].scale
_SATELLITE_FIGURE_COUNT = len(SATELLITE_FIGURES)

ROWS = SIDES * SATELLITES
"""Satellites in an observation: own HVA and Patrols 1-10, enemy HVA and Patrols 1-10."""
TOKEN_COLUMNS = 1 + _SATELLITE_FIGURE_COUNT
"""Columns of the table in "tokens": sector number (0: absent), and the satellite's figures."""
TOKEN_TABLE = ROWS * TOKEN_COLUMNS
"""Size of the table in "tokens", which is flat; the figures of the game follow it."""
TOKEN_SIZE = TOKEN_TABLE + _GAME_FIGURE_COUNT
_HIGHEST_TOKEN = 32_767

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
    return ROWS * (sector_slots(encoding, outer_ring) + _SATELLITE_FIGURE_COUNT) + _GAME_FIGURE_COUNT


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
        return np.minimum(row * ROWS + tail, _HIGHEST_TOKEN).astype(np.int16)
    row = [1.0] * sector_slots(encoding, outer_ring) + [figure.highest * figure.scale for figure in SATELLITE_FIGURES]
    return np.array(row * ROWS + [figure.highest * figure.scale for figure in GAME_FIGURES], np.float32)


@jit
def relative_sector(sector: int, ring: int, goal: int, goal_ring: int) -> int:
    """Renumber a sector of a ring so that its azimuth counts from a goal sector's; the ring stays."""
    goal_azimuth = goal + 1 - (1 << goal_ring)
    start = goal_azimuth >> (goal_ring - ring) if ring <= goal_ring else goal_azimuth << (ring - goal_ring)
    base = 1 << ring
    return base - 1 + ((sector + 1 - base - start) & (base - 1))


_RING, _RANGE_TO_HVA = 0, 1  # columns of the geometry: the ring; from 1, the range to alpha's and to bravo's HVA
_GEOMETRY_SHAPE = (SIDES, SATELLITES, 3)


@jit
def measure_geometry(game: Record, geometry: NDArray[np.int64]) -> None:
    """Write what both sides' observations need to know of each satellite's place, (2, 11, 3)."""
    for whose in range(SIDES):
        for number in range(SATELLITES):
            sector = game.sector[whose, number]
            if sector != EARTH:
                geometry[whose, number, _RING] = ring_of(sector)
                for side in range(SIDES):
                    geometry[whose, number, _RANGE_TO_HVA + side] = range_between(sector, game.sector[side, HVA])


@jit
def write_side_figures(rules: Record, side: int, figures: NDArray[np.float64], place: int) -> int:
    """Write one side's figures of the rules; return the place after them."""
    figures[place] = rules.patrol_count[side]
    place += 1
    for kind in range(2):
        figures[place + kind] = rules.initial_fuel[side, kind]
        figures[place + 2 + kind] = rules.initial_ammo[side, kind]
    place += 4
    for move in range(1, 5):
        figures[place] = rules.move_cost[side, move]
        place += 1
    figures[place] = rules.station_keeping_cost[side]
    place += 1
    for kind in range(3):
        for distance in range(2):
            figures[place] = rules.engagement_cost[side, kind, distance]
            figures[place + 6] = rules.engagement_odds[side, kind, distance]
            place += 1
    place += 6
    figures[place] = rules.goal_points[side]
    figures[place + 1] = rules.adjacent_points[side]
    figures[place + 2] = rules.win_score[side]
    figures[place + 3] = rules.weight[side, 0]
    figures[place + 4] = rules.weight[side, 1]
    return place + 5


@jit
def write_game_figures(game: Record, rules: Record, side: int, figures: NDArray[np.float64]) -> None:
    """Write the figures that follow the satellites, unscaled, as ``side`` sees them."""
    figures[0] = game.phase == MOVEMENT
    figures[1] = game.phase == ENGAGEMENT
    figures[2] = game.turn
    figures[3] = max(rules.turn_limit + rules.code_rules - game.turn, 0)
    figures[4] = game.score[side]
    figures[5] = game.score[1 - side]
    place = 6
    goal_azimuth = game.goal[side] + 1 - (1 << rules.goal_ring)
    for bit in range(GOAL_AZIMUTH_BITS):
        figures[place] = (goal_azimuth >> bit) & 1 if bit < rules.goal_ring - 1 else 0
        place += 1
    figures[place] = rules.inner_ring
    figures[place + 1] = rules.outer_ring
    figures[place + 2] = rules.goal_ring
    figures[place + 3] = rules.code_rules
    place = write_side_figures(rules, side, figures, place + 4)
    write_side_figures(rules, 1 - side, figures, place)


@jit
def write_satellite(
    game: Record,
    side: int,
    whose: int,
    number: int,
    geometry: NDArray[np.int64],
    fuel_scale: float,
    figures: NDArray[Any],
) -> None:
    """Write the figures of a satellite as ``side`` sees it: fuel, ammo, active, and how near it is to the two HVAs."""
    figures[0] = game.fuel[whose, number] * fuel_scale
    figures[1] = game.ammo[whose, number]
    figures[2] = game.fuel[whose, number] > 0
    own_range = geometry[whose, number, _RANGE_TO_HVA + side]
    enemy_range = geometry[whose, number, _RANGE_TO_HVA + 1 - side]
    figures[3] = own_range == SAME_SECTOR
    figures[4] = own_range == ADJACENT_SECTOR
    figures[5] = enemy_range == SAME_SECTOR
    figures[6] = enemy_range == ADJACENT_SECTOR


@jit
def observe_onehot(
    game: Record, rules: Record, side: int, geometry: NDArray[np.int64], slots: int, observation: NDArray[np.float32]
) -> None:
    """Write what a side sees, encoded as "onehot", with room for ``slots`` sectors."""
    observation[:] = 0
    width = slots + _SATELLITE_FIGURE_COUNT
    for row in range(ROWS):
        whose = side if row < SATELLITES else 1 - side
        number = row % SATELLITES
        sector = game.sector[whose, number]
        if sector == EARTH:
            continue
        place = row * width
        ring = geometry[whose, number, _RING]
        observation[place + relative_sector(sector, ring, game.goal[side], rules.goal_ring) - 1] = 1
        write_satellite(game, side, whose, number, geometry, _FUEL_SCALE, observation[place + slots :])
    figures = np.empty(_GAME_FIGURE_COUNT, np.float64)
    write_game_figures(game, rules, side, figures)
    place = ROWS * width
    for figure in range(_GAME_FIGURE_COUNT):
        observation[place + figure] = figures[figure] * _GAME_SCALES[figure]


@jit
def observe_tokens(
    game: Record, rules: Record, side: int, geometry: NDArray[np.int64], observation: NDArray[np.int16]
) -> None:
    """Write what a side sees, encoded as "tokens"."""
    observation[:TOKEN_TABLE] = 0
    for row in range(ROWS):
        whose = side if row < SATELLITES else 1 - side
        number = row % SATELLITES
        sector = game.sector[whose, number]
        if sector == EARTH:
            continue
        place = row * TOKEN_COLUMNS
        ring = geometry[whose, number, _RING]
        observation[place] = relative_sector(sector, ring, game.goal[side], rules.goal_ring)
        write_satellite(game, side, whose, number, geometry, 1.0, observation[place + 1 :])
    figures = np.empty(_GAME_FIGURE_COUNT, np.float64)
    write_game_figures(game, rules, side, figures)
    for figure in range(_GAME_FIGURE_COUNT):
        token = figures[figure] * _GAME_TOKEN_SCALES[figure]
        observation[TOKEN_TABLE + figure] = min(int(token + 0.5), _HIGHEST_TOKEN)


@jit
def observe_both(game: Record, rules: Record, slots: int, observations: NDArray[Any]) -> None:
    """Write what both sides see, (2, size): "onehot" with room for ``slots`` sectors, "tokens" without slots."""
    geometry = np.empty(_GEOMETRY_SHAPE, np.int64)
    measure_geometry(game, geometry)
    for side in range(SIDES):
        if slots == NO_SLOTS:
            observe_tokens(game, rules, side, geometry, observations[side])
        else:
            observe_onehot(game, rules, side, geometry, slots, observations[side])


@jit
def observe_games(games: Records, rules: Records, slots: int, observations: NDArray[Any]) -> None:
    """Write what both sides see of every game; ``observations``: (n, 2, size), float32 with slots, int16 without."""
    for place in range(len(games)):
        observe_both(games[place], rules[place if len(rules) > 1 else 0], slots, observations[place])
