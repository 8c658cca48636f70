"""From an observation in tokens to a position that can be played on."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.scripted.reading import MOVEMENT_PHASE, read_game, read_rules
from geo_patrol.engine.drift import fuel_points
from geo_patrol.engine.encodings import (
    RULE_FIGURES,
    Encoding,
    observation_names,
    observation_size,
    observation_type,
    sector_slots,
)
from geo_patrol.engine.legal_sets import write_legal_sets_of_games, write_masks
from geo_patrol.engine.observe import observe_games, write_rule_figures_of_games
from geo_patrol.engine.state import ENGAGEMENT, MOVEMENT, ORDERS, SATELLITES, SIDES, IntArray, Record, Records
from geo_patrol.jit import jit

_PLACE = {name: place for place, name in enumerate(observation_names("tokens"))}
_CODE_RULES = _PLACE["code_rules"]
_WHOSE = ("own", "enemy")
_ADJACENT = np.array([_PLACE[f"{whose}_adjacent_points"] for whose in _WHOSE])
_PATROLS = np.array([_PLACE[f"{whose}_patrols"] for whose in _WHOSE])
_HVA_FUEL = np.array([_PLACE[f"{whose}_initial_hva_fuel"] for whose in _WHOSE])
_PATROL_FUEL = np.array([_PLACE[f"{whose}_initial_patrol_fuel"] for whose in _WHOSE])
TURN = _PLACE["turn"]
"""The place of the turn's number in an observation in tokens; positions that are read count turns from 0 again."""
_PER_MILLE = 1000
_FULL_FLEET = 100


@jit
def set_exact_weight(rules: Record, side: int, kind: int, full: int) -> None:
    """Write a weight, known in thousandths, as a fraction: that of a full fleet worth 100 points where it fits."""
    thousandths = int(rules.weight[side, kind] * _PER_MILLE + 0.5)
    rules.weight_numerator[side, kind], rules.weight_denominator[side, kind] = thousandths, _PER_MILLE
    if kind == 1 and full > 0 and int(_FULL_FLEET * _PER_MILLE / full + 0.5) == thousandths:
        rules.weight_numerator[side, kind], rules.weight_denominator[side, kind] = _FULL_FLEET, full
    rules.weight[side, kind] = rules.weight_numerator[side, kind] / rules.weight_denominator[side, kind]


@jit
def estimate_goal_points(game: Record, rules: Record, side: int, turns: int) -> int:
    """Return the goal points that a side has, as far as they can be told.

    An observation gives the score, which counts the fuel of the last drift. Without the fuel of now and one turn's
    station keeping, what remains are the goal points and what was burnt in this turn's movement, which nobody tells; so
    they are held to what the turns so far can have earned.
    """
    keeping = rules.station_keeping_cost[side]
    for number in range(SATELLITES):
        game.fuel[side, number] += keeping * (game.fuel[side, number] > 0)
    most = int(game.score[side] - fuel_points(game, rules, side))
    for number in range(SATELLITES):
        game.fuel[side, number] -= keeping * (game.fuel[side, number] > 0)
    earned = turns * int(max(rules.goal_points[side], rules.adjacent_points[side]))
    return max(min(most, earned), 0)


@jit
def read_position(observation: IntArray, game: Record, rules: Record) -> None:
    """Read a position so that it can be played on; side 0 is the own one."""
    read_rules(observation, rules)
    read_game(observation, game, rules)
    rules.code_rules = observation[_CODE_RULES]
    rules.turn_limit -= rules.code_rules  # counted from now, and there one more is played
    game.phase = MOVEMENT if observation[MOVEMENT_PHASE] else ENGAGEMENT
    game.turn, game.done, game.reasons = 0, 0, 0
    for side in range(SIDES):
        rules.adjacent_points[side] = observation[_ADJACENT[side]]
        rules.patrol_count[side] = observation[_PATROLS[side]]
        rules.initial_fuel[side, 0] = observation[_HVA_FUEL[side]]
        rules.initial_fuel[side, 1] = observation[_PATROL_FUEL[side]]
        full = int(np.int64(observation[_PATROLS[side]])) * int(np.int64(observation[_PATROL_FUEL[side]]))
        for kind in range(2):
            set_exact_weight(rules, side, kind, full)
        game.goal_points[side] = estimate_goal_points(game, rules, side, int(np.int64(observation[TURN])))
        for number in range(SATELLITES):
            game.destroyed[side, number] = 0


def observe_sides(root: Records, rules: Records, encoding: Encoding) -> tuple[NDArray[Any], NDArray[np.int8]]:
    """Return what both sides of a position see, (2, size), and their masks, (2, 11, 28)."""
    slots = sector_slots(encoding, int(rules[0].outer_ring))
    figures = np.empty((1, SIDES, RULE_FIGURES), observation_type(encoding))
    write_rule_figures_of_games(rules, slots, figures, np.ones(1, np.bool_))
    size = observation_size(encoding, int(rules[0].outer_ring))
    seen = np.empty((1, SIDES, size), observation_type(encoding))
    observe_games(root, rules, slots, figures, seen)
    legal = np.empty((1, SIDES, SATELLITES), np.int32)
    masks = np.empty((SIDES, SATELLITES, ORDERS), np.int8)
    write_legal_sets_of_games(root, rules, legal)
    write_masks(legal[0], masks.view(np.int32))
    return seen[0], masks
