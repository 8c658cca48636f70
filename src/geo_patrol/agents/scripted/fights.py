"""The orders of an engagement phase."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.scripted.raids import diverted_fraction
from geo_patrol.agents.scripted.valuation import ENEMY, NOBODY, OWN, Style, is_active, kill_worth, sector_of
from geo_patrol.engine.engagement import range_between
from geo_patrol.engine.state import (
    COLLIDE,
    COLLISION,
    GUARD,
    GUARDING,
    HVA,
    NOOP,
    ORDERS,
    OUT_OF_RANGE,
    SATELLITES,
    SHOOT,
    SHOT,
    IntArray,
    Record,
)
from geo_patrol.jit import jitable_call

GUARD_RISK = 0.5
"""The probability that an attack diverted by a guard destroys the guard."""
UNGUARDED = 0.8
"""The probability that an attack on the enemy HVA is not diverted."""


class Fight(NamedTuple):
    """The state of an engagement phase while its orders are chosen one by one."""

    threats: NDArray[np.float64]
    """(11,): the probability that each enemy hits the own HVA, if its attack is not diverted."""
    near: NDArray[np.int64]
    """(11,): 1 where an enemy can attack the own HVA now."""
    attackers: NDArray[np.int64]
    """(1,): how many enemies can attack the own HVA now."""
    alive: NDArray[np.float64]
    """(11,): the probability that each enemy survives the orders so far."""
    aimed: NDArray[np.float64]
    """(1,): the probability that an attack on the own HVA is not diverted by the guards so far."""


def make_fight() -> Fight:
    """Allocate the state of an engagement phase."""
    return Fight(
        np.zeros(SATELLITES),
        np.zeros(SATELLITES, np.int64),
        np.zeros(1, np.int64),
        np.zeros(SATELLITES),
        np.zeros(1),
    )


@jitable_call
def read_order(game: Record, number: int, order: int) -> tuple[int, int, int]:
    """Return the kind, the target and the range of a satellite's engagement order; a guard's target is its own HVA."""
    kind, target, sector = GUARDING, HVA, sector_of(game, OWN, HVA)
    if order != GUARD:
        kind = SHOT if order < COLLIDE else COLLISION
        target = order - (SHOOT if kind == SHOT else COLLIDE)
        sector = sector_of(game, ENEMY, target)
    return kind, target, range_between(sector_of(game, OWN, number), sector)


@jitable_call
def open_fight(game: Record, rules: Record, fight: Fight) -> None:
    """Write the state of an engagement phase before any order."""
    fight.attackers[0], fight.aimed[0] = 0, 1.0
    for number in range(SATELLITES):
        fight.threats[number] = 0.0
        distance = range_between(sector_of(game, ENEMY, number), sector_of(game, OWN, HVA))
        for kind in (SHOT, COLLISION):
            able = game.ammo[ENEMY, number] > 0 if kind == SHOT else number != HVA
            if able and distance != OUT_OF_RANGE and is_active(game, ENEMY, number):
                if rules.engagement_cost[ENEMY, kind, distance] <= game.fuel[ENEMY, number]:
                    odds = rules.engagement_odds[ENEMY, kind, distance]
                    fight.threats[number] = max(fight.threats[number], odds)
        fight.near[number] = fight.threats[number] > 0
        fight.attackers[0] += fight.near[number]
        fight.alive[number] = 1.0


@jitable_call
def loss_probability(fight: Fight, aimed: float, changed: int, threat: float) -> float:
    """Return the probability that the own HVA is hit, if the threat by one enemy changed."""
    missed = 1.0
    for number in range(SATELLITES):
        missed *= 1.0 - aimed * (threat if number == changed else fight.threats[number])
    return 1.0 - missed


@jitable_call
def aimed_after_guard(fight: Fight, odds: float) -> float:
    """Return the probability that an attack on the own HVA is not diverted after one more guard."""
    return fight.aimed[0] * (1.0 - diverted_fraction(odds, fight.attackers[0] * fight.aimed[0]))


@jitable_call
def threat_after_attack(game: Record, fight: Fight, target: int, kind: int, odds: float) -> float:
    """Return an enemy's threat after an attack on it: shots come first and all at once, then collisions."""
    prevented = kind == SHOT and game.ammo[ENEMY, target] == 0
    return fight.threats[target] * (1.0 - odds) if prevented else fight.threats[target]


@jitable_call
def guard_value(game: Record, rules: Record, number: int, odds: float, worth: float, fight: Fight) -> float:
    """Return the points that a Patrol gains by guarding, its cost apart."""
    aimed = aimed_after_guard(fight, odds)
    saved = loss_probability(fight, fight.aimed[0], NOBODY, 0.0) - loss_probability(fight, aimed, NOBODY, 0.0)
    diverted = min((fight.aimed[0] - aimed) * fight.attackers[0], 1.0)
    return saved * worth - diverted * GUARD_RISK * game.fuel[OWN, number] * rules.weight[OWN, 1]


@jitable_call
def order_value(game: Record, rules: Record, number: int, order: int, style: Style, fight: Fight) -> float:
    """Return the points that a satellite's engagement order is expected to gain."""
    kind, target, distance = read_order(game, number, order)
    cost, odds = rules.engagement_cost[OWN, kind, distance], rules.engagement_odds[OWN, kind, distance]
    weight = rules.weight[OWN, min(number, 1)]
    own_worth = kill_worth(game, rules, OWN, style)
    if kind == GUARDING:
        return guard_value(game, rules, number, odds, own_worth, fight) - cost * weight
    if target == HVA:
        value = odds * fight.alive[HVA] * kill_worth(game, rules, ENEMY, style)
    else:
        gain = game.fuel[ENEMY, target] * rules.weight[ENEMY, 1] + (style.danger if fight.near[target] else 0.0)
        threat = threat_after_attack(game, fight, target, kind, odds)
        saved = loss_probability(fight, fight.aimed[0], NOBODY, 0.0)
        saved -= loss_probability(fight, fight.aimed[0], target, threat)
        value = odds * fight.alive[target] * gain + saved * own_worth
    if kind == COLLISION:  # success destroys the collider too
        value -= odds * fight.alive[target] * (game.fuel[OWN, number] - cost) * weight
    return value - cost * weight


@jitable_call
def apply_order(game: Record, rules: Record, number: int, order: int, fight: Fight) -> None:
    """Update the state of the engagement phase for an order."""
    kind, target, distance = read_order(game, number, order)
    odds = rules.engagement_odds[OWN, kind, distance]
    if kind == GUARDING:
        fight.aimed[0] = aimed_after_guard(fight, odds)
        return
    fight.threats[target] = threat_after_attack(game, fight, target, kind, odds)
    # The enemy HVA may be guarded, which makes hits on it less likely than the odds say.
    fight.alive[target] *= 1.0 - (odds * UNGUARDED if target == HVA else odds)


@jitable_call
def decide_engagement(
    game: Record, rules: Record, masks: IntArray, style: Style, fight: Fight, orders: IntArray
) -> None:
    """Write the orders of an engagement phase, greedily: for each satellite in turn the one with the highest expected gain."""
    open_fight(game, rules, fight)
    for number in range(SATELLITES):
        best, best_value = NOOP, 0.0
        for order in range(SHOOT, ORDERS):
            if masks[number, order]:
                value = order_value(game, rules, number, order, style, fight)
                if value > best_value:
                    best, best_value = order, value
        orders[number] = best
        if best != NOOP:
            apply_order(game, rules, number, best, fight)
