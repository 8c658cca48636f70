"""The parameters of ``scripted``, and its valuation of satellites, HVAs and time."""

from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field

from geo_patrol.engine.state import HVA, SATELLITES, SIDES, Record
from geo_patrol.jit import jitable_call

OWN, ENEMY = 0, 1
"""The sides of a position as the agent sees it."""
NOBODY = -1
"""No Patrol, no enemy, no raid."""
SAFE_TURNS = 3
"""A side that is ahead starts no raid when so few turns remain."""


Fraction = Annotated[float, Field(ge=0, le=1)]
Points = Annotated[float, Field(ge=0, le=1_000)]


class Style(NamedTuple):
    """The parameters of ``scripted``."""

    home_share: Fraction = 0.4
    """The fraction of the active Patrols that do not go on a raid."""
    defenders_per_raider: Annotated[float, Field(ge=0, le=10)] = 0.5
    """How many Patrols stay at home for each enemy that comes."""
    haste: Points = 4.0
    """Points that it is worth to strike one turn earlier."""
    threshold: Fraction = 0.4
    """The probability of destroying the enemy HVA that a raid must have."""
    trust: Fraction = 0.3
    """The probability that a Patrol near the enemy HVA guards it."""
    premium: Points = 15.0
    """Fuel that better odds of a strike are worth, for a difference of one."""
    dodge: Annotated[float, Field(ge=0, le=2)] = 0.8
    """The probability of being hit at which the own HVA evades."""
    lead: Fraction = 0.8
    """The probability that the enemy HVA is expected to evade."""
    foresight: Fraction = 0.4
    """The probability that raiders are expected to foresee where an HVA goes, instead of attacking where it is."""
    temperature: Annotated[float, Field(ge=0.1, le=1_000)] = 3.0
    """The temperature, in points, of the softmax from which an evading HVA's move is sampled."""
    ending: Points = 80.0
    """Points that winning at once is worth on top of the score, and that losing at once costs."""
    danger: Points = 4.0
    """Points that it is worth to destroy an enemy near the own HVA."""


@jitable_call
def sector_of(game: Record, side: int, number: int) -> int:
    """Return the sector of a satellite, as a 64-bit integer."""
    return int(np.int64(game.sector[side, number]))


@jitable_call
def is_active(game: Record, side: int, number: int) -> bool:
    """Tell whether a satellite is on the board and has fuel."""
    return bool(game.fuel[side, number] > 0)


@jitable_call
def count_active(game: Record, side: int) -> int:
    """Count the active Patrols of a side."""
    count = 0
    for number in range(1, SATELLITES):
        count += is_active(game, side, number)
    return count


@jitable_call
def kill_worth(game: Record, rules: Record, side: int, style: Style) -> float:
    """Return the points that it is worth to destroy a side's HVA, negative where that side would win by it."""
    points = game.fuel[side, HVA] * rules.weight[side, HVA]
    margin = game.score[1 - side] - game.score[side] + points
    return points + style.ending if margin > 0 else margin - style.ending


@jitable_call
def turns_to_end(game: Record, rules: Record) -> int:
    """Return how many turns remain, this one included, if both HVAs earn their goal points and nothing is burnt."""
    turns = max(int(rules.turn_limit), 1)
    for side in range(SIDES):
        earned = rules.goal_points[side]
        if earned > 0:
            missing = max(rules.win_score[side] - game.score[side], 1)
            turns = min(turns, int((missing + earned - 1) // earned))
    return turns


@jitable_call
def may_rest(game: Record, rules: Record) -> bool:
    """Tell whether the game is about to be won by drifting along."""
    turns = turns_to_end(game, rules)
    lead = game.score[OWN] - game.score[ENEMY]
    return turns <= SAFE_TURNS and lead + turns * (rules.goal_points[OWN] - rules.goal_points[ENEMY]) > 0
