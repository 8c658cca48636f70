"""From a game to what a side sees of it: two encodings (``encodings``), both egocentric.

Own satellites come first, and sectors are numbered from the own goal sector, so that mirrored positions look the same
to alpha and bravo. Turning the board by less than half a turn is no symmetry of the inner rings; how they lie is told
by the bits of the goal's azimuth.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.board import EARTH, RINGS, prograde, radial_in, radial_out, retrograde
from geo_patrol.engine.encodings import (
    CHANGING_FIGURES,
    GAME_FIGURE_COUNT,
    GAME_FIGURES,
    GOAL_AZIMUTH_BITS,
    HIGHEST_TOKEN,
    NO_SLOTS,
    ROWS,
    RULE_FIGURES,
    SATELLITE_FIGURE_COUNT,
    SATELLITE_FIGURES,
    TOKEN_COLUMNS,
    TOKEN_TABLE,
)
from geo_patrol.engine.state import ALPHA, BRAVO, ENGAGEMENT, HVA, MOVEMENT, SATELLITES, SIDES, Record, Records
from geo_patrol.engine.workspace import Scratch, make_scratch
from geo_patrol.jit import jit

_GAME_SCALES = np.array([figure.scale for figure in GAME_FIGURES])
_GAME_TOKEN_SCALES = np.array([figure.token_scale for figure in GAME_FIGURES])
_FUEL_SCALE = SATELLITE_FIGURES[0].scale


@jit
def first_relative_azimuth(goal: int, goal_ring: int, ring: int) -> int:
    """Return the azimuth on a ring from which relative azimuths count: in line with a goal sector."""
    goal_azimuth = goal + 1 - (1 << goal_ring)
    return goal_azimuth >> (goal_ring - ring) if ring <= goal_ring else goal_azimuth << (ring - goal_ring)


_RELATIVE, _NEARNESS = 0, 2
"""Columns of a satellite's place: from 0, the sector's number relative to alpha's and to bravo's goal sector (0:
absent); then two bits for each HVA, alpha's first: in its sector, next to it."""
_IN_SECTOR, _NEXT_TO = 1, 2
_NEARNESS_BITS = 2


@jit
def mark_around(sector: int, in_sector: int, next_to: int, nearness: NDArray[np.int8]) -> None:
    """Note a sector and those next to it; 0 takes the note away."""
    keep = ~(in_sector | next_to) if in_sector else 0
    outward = radial_out(sector)
    for other in (prograde(sector), retrograde(sector), radial_in(sector), outward, outward + 1):
        nearness[other] = (nearness[other] & keep) | next_to
    nearness[sector] = (nearness[sector] & keep) | in_sector


@jit
def find_places(game: Record, rules: Record, scratch: Scratch) -> None:
    """Write what both sides' observations need to know of each satellite's place.

    The goal sectors are half a turn apart, so the two relative azimuths differ in their highest bit.
    """
    nearness, places = scratch.nearness, scratch.places
    for side in range(SIDES):
        shift = side * _NEARNESS_BITS
        mark_around(int(game.sector[side, HVA]), _IN_SECTOR << shift, _NEXT_TO << shift, nearness)
    goal, goal_ring = int(game.goal[ALPHA]), rules.goal_ring
    for whose in range(SIDES):
        for number in range(SATELLITES):
            sector = int(game.sector[whose, number])
            ring = int(RINGS[sector])
            first = (1 << ring) - 1  # the ring's first sector, and the bits of its azimuths
            azimuth = (sector - first - first_relative_azimuth(goal, goal_ring, ring)) & first
            places[whose, number, _RELATIVE + ALPHA] = first + azimuth
            places[whose, number, _RELATIVE + BRAVO] = first + (azimuth ^ ((1 << ring) >> 1))
            places[whose, number, _NEARNESS] = nearness[sector]
    for side in range(SIDES):
        mark_around(int(game.sector[side, HVA]), 0, 0, nearness)


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
def encode_figure(place: int, figure: float, is_onehot: bool) -> float:
    """Return a figure of the game, by its place among them, as an encoding gives it."""
    if is_onehot:
        return figure * _GAME_SCALES[place]
    return float(min(int(figure * _GAME_TOKEN_SCALES[place] + 0.5), HIGHEST_TOKEN))


@jit
def write_rule_figures(rules: Record, slots: int, rule_figures: NDArray[Any]) -> None:
    """Write the figures that stay the same from a reset to the next, as both sides see them, (2, RULE_FIGURES)."""
    figures = np.empty(GAME_FIGURE_COUNT, np.float64)
    for side in range(SIDES):
        place = CHANGING_FIGURES
        figures[place] = rules.inner_ring
        figures[place + 1] = rules.outer_ring
        figures[place + 2] = rules.goal_ring
        figures[place + 3] = rules.code_rules
        place = write_side_figures(rules, side, figures, place + 4)
        write_side_figures(rules, 1 - side, figures, place)
        for place in range(CHANGING_FIGURES, GAME_FIGURE_COUNT):
            rule_figures[side, place - CHANGING_FIGURES] = encode_figure(place, figures[place], slots != NO_SLOTS)


@jit
def write_rule_figures_of_games(
    rules: Records, slots: int, rule_figures: NDArray[Any], which: NDArray[np.bool_]
) -> None:
    """Write the figures that stay the same for every game that ``which`` marks; (n, 2, RULE_FIGURES), n = len(rules).

    Where one record holds for all games, it is written in any case.
    """
    for place in range(len(rules)):
        if len(rules) == 1 or which[place]:
            write_rule_figures(rules[place], slots, rule_figures[place])


@jit
def write_game_figures(
    game: Record, rules: Record, side: int, is_onehot: bool, rule_figures: NDArray[Any], figures: NDArray[Any]
) -> None:
    """Write the figures that follow the satellites, as ``side`` sees them."""
    figures[0] = game.phase == MOVEMENT
    figures[1] = game.phase == ENGAGEMENT
    figures[2] = encode_figure(2, float(game.turn), is_onehot)
    turns_left = max(rules.turn_limit + rules.code_rules - game.turn, 0)
    figures[3] = encode_figure(3, float(turns_left), is_onehot)
    figures[4] = encode_figure(4, float(game.score[side]), is_onehot)
    figures[5] = encode_figure(5, float(game.score[1 - side]), is_onehot)
    goal_azimuth = (int(game.goal[side]) + 1) & ((1 << (rules.goal_ring - 1)) - 1)  # modulo half a turn
    for bit in range(GOAL_AZIMUTH_BITS):
        figures[6 + bit] = (goal_azimuth >> bit) & 1
    for place in range(RULE_FIGURES):
        figures[CHANGING_FIGURES + place] = rule_figures[side, place]


@jit
def write_satellite(
    game: Record, side: int, whose: int, number: int, places: NDArray[np.int64], is_onehot: bool, row: NDArray[Any]
) -> None:
    """Write the figures of a satellite as ``side`` sees it: fuel, ammo, active, and how near it is to the two HVAs."""
    fuel = int(game.fuel[whose, number])
    row[0] = fuel * _FUEL_SCALE if is_onehot else fuel
    row[1] = game.ammo[whose, number]
    row[2] = fuel > 0
    near_own = places[whose, number, _NEARNESS] >> (side * _NEARNESS_BITS)
    near_enemy = places[whose, number, _NEARNESS] >> ((1 - side) * _NEARNESS_BITS)
    row[3] = near_own & 1
    row[4] = (near_own >> 1) & 1
    row[5] = near_enemy & 1
    row[6] = (near_enemy >> 1) & 1


@jit
def write_onehot(game: Record, side: int, places: NDArray[np.int64], slots: int, observation: NDArray[Any]) -> None:
    """Write the satellites as a side sees them, with room for ``slots`` sectors each."""
    width = slots + SATELLITE_FIGURE_COUNT
    observation[: ROWS * width] = 0
    for own_or_enemy in range(SIDES):
        whose = side ^ own_or_enemy
        for number in range(SATELLITES):
            sector = places[whose, number, _RELATIVE + side]
            if sector != EARTH:
                place = (own_or_enemy * SATELLITES + number) * width
                observation[place + sector - 1] = 1
                row = observation[place + slots : place + width]
                write_satellite(game, side, whose, number, places, True, row)


@jit
def write_tokens(game: Record, side: int, places: NDArray[np.int64], observation: NDArray[Any]) -> None:
    """Write the satellites as a side sees them, as a table."""
    observation[:TOKEN_TABLE] = 0
    for own_or_enemy in range(SIDES):
        whose = side ^ own_or_enemy
        for number in range(SATELLITES):
            sector = places[whose, number, _RELATIVE + side]
            if sector != EARTH:
                place = (own_or_enemy * SATELLITES + number) * TOKEN_COLUMNS
                observation[place] = sector
                row = observation[place + 1 : place + TOKEN_COLUMNS]
                write_satellite(game, side, whose, number, places, False, row)


@jit
def observe_as_tokens(
    game: Record,
    rules: Record,
    side: int,
    places: NDArray[np.int64],
    rule_figures: NDArray[Any],
    observation: NDArray[Any],
) -> None:
    """Write what a side sees as "tokens", by what ``find_places`` has found."""
    write_tokens(game, side, places, observation)
    write_game_figures(game, rules, side, False, rule_figures, observation[TOKEN_TABLE:])


@jit
def observe_as_onehot(
    game: Record,
    rules: Record,
    side: int,
    places: NDArray[np.int64],
    slots: int,
    rule_figures: NDArray[Any],
    observation: NDArray[Any],
) -> None:
    """Write what a side sees as "onehot", by what ``find_places`` has found."""
    write_onehot(game, side, places, slots, observation)
    figures = observation[ROWS * (slots + SATELLITE_FIGURE_COUNT) :]
    write_game_figures(game, rules, side, True, rule_figures, figures)


@jit
def observe_side(
    game: Record,
    rules: Record,
    side: int,
    places: NDArray[np.int64],
    slots: int,
    rule_figures: NDArray[Any],
    observation: NDArray[Any],
) -> None:
    """Write what a side sees: "onehot" with room for ``slots`` sectors, "tokens" without slots."""
    if slots == NO_SLOTS:
        observe_as_tokens(game, rules, side, places, rule_figures, observation)
    else:
        observe_as_onehot(game, rules, side, places, slots, rule_figures, observation)


@jit
def observe_both(
    game: Record, rules: Record, scratch: Scratch, slots: int, rule_figures: NDArray[Any], observations: NDArray[Any]
) -> None:
    """Write what both sides see, (2, size): "onehot" with room for ``slots`` sectors, "tokens" without slots.

    ``rule_figures``: (2, RULE_FIGURES) from ``write_rule_figures``.
    """
    find_places(game, rules, scratch)
    for side in range(SIDES):
        observe_side(game, rules, side, scratch.places, slots, rule_figures, observations[side])


@jit
def observe_games(
    games: Records, rules: Records, slots: int, rule_figures: NDArray[Any], observations: NDArray[Any]
) -> None:
    """Write what both sides see of every game; ``observations``: (n, 2, size), float32 with slots, int16 without.

    A loop for each encoding: the compiler makes more of a loop that knows which.
    """
    scratch = make_scratch(rules[0].outer_ring)
    places = scratch.places
    if slots == NO_SLOTS:
        for place in range(len(games)):
            game, of_rules = games[place], place if len(rules) > 1 else 0
            rule, figures, seen = rules[of_rules], rule_figures[of_rules], observations[place]
            find_places(game, rule, scratch)
            for side in range(SIDES):
                observe_as_tokens(game, rule, side, places, figures, seen[side])
    else:
        for place in range(len(games)):
            game, of_rules = games[place], place if len(rules) > 1 else 0
            rule, figures, seen = rules[of_rules], rule_figures[of_rules], observations[place]
            find_places(game, rule, scratch)
            for side in range(SIDES):
                observe_as_onehot(game, rule, side, places, slots, figures, seen[side])
