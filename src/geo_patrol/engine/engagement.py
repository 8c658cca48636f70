"""The engagement phase (rule book, Engagement Phase): pay, resolve, enact.

Resolving draws the outcomes and leaves the game as it is; enacting carries them out. Outcomes are what the books
print and what recordings keep: a recorded engagement is enacted without drawing anything.
"""

from typing import NamedTuple

import numpy as np

from geo_patrol.engine.rng import random_below, random_unit
from geo_patrol.engine.state import (
    ADJACENT_SECTOR,
    COLLIDE,
    COLLISION,
    GUARD,
    GUARDING,
    HVA,
    NOBODY,
    NOOP,
    SAME_SECTOR,
    SATELLITES,
    SHOOT,
    SHOT,
    SIDES,
    IntArray,
    Record,
    Records,
)
from geo_patrol.jit import jit

GUARD_DECAY = 0.5
"""Each further attack that one guard tries to draw away in a phase is this much less likely to follow it."""

_ALL = SIDES * SATELLITES


@jit
def has_orders(orders: IntArray) -> bool:
    """Tell whether anybody does anything."""
    for side in range(SIDES):
        for number in range(SATELLITES):
            if orders[side, number] != NOOP:
                return True
    return False


@jit
def reach(sector: int, other: int) -> int:
    """Return the range of a legal engagement, which is one of two."""
    return SAME_SECTOR if sector == other else ADJACENT_SECTOR


@jit
def kind_of(order: int) -> int:
    """Return what kind of engagement an order is."""
    if order == GUARD:
        return GUARDING
    return COLLISION if order >= COLLIDE else SHOT


@jit
def engagement_price(game: Record, rules: Record, side: int, number: int, order: int) -> int:
    """Return what a legal engagement order costs; it depends on where the two satellites are, not on their fuel."""
    target_side = side if order == GUARD else 1 - side
    distance = reach(game.sector[side, number], game.sector[target_side, target_of(order)])
    return rules.engagement_cost[side, kind_of(order), distance]


@jit
def pay_for_engagements(game: Record, rules: Record, orders: IntArray) -> None:
    """Take the fuel for all legal engagement orders, at the prices before anybody has paid.

    With the published code's rules, an order paid with the last fuel is void, and so is every order against the payer
    or, for guards, for it: both are struck from ``orders``.
    """
    for side in range(SIDES):
        for number in range(SATELLITES):
            order = orders[side, number]
            if order != NOOP:
                game.fuel[side, number] -= engagement_price(game, rules, side, number, order)
    if rules.code_rules:
        strike_orders_of_inactive(game, orders)


@jit
def strike_orders_of_inactive(game: Record, orders: IntArray) -> None:
    """Strike the orders by, against and (guards) for satellites that have no fuel left."""
    for side in range(SIDES):
        for number in range(SATELLITES):
            order = orders[side, number]
            if order != NOOP:
                target_side = side if order == GUARD else 1 - side
                if game.fuel[side, number] <= 0 or game.fuel[target_side, target_of(order)] <= 0:
                    orders[side, number] = NOOP


@jit
def target_of(order: int) -> int:
    """Return the number of the satellite that an engagement order is about; a guard's is its own HVA."""
    if order == GUARD:
        return HVA
    return order - COLLIDE if order >= COLLIDE else order - SHOOT


@jit
def attack_probability(game: Record, rules: Record, side: int, number: int, order: int) -> float:
    """Return the probability of a shot or collision, by the range to the target that it was ordered against."""
    distance = reach(game.sector[side, number], game.sector[1 - side, target_of(order)])
    return rules.engagement_odds[side, kind_of(order), distance]


@jit
def guard_probability(game: Record, rules: Record, side: int, number: int) -> float:
    """Return the probability that a guard draws away the first attack."""
    distance = reach(game.sector[side, number], game.sector[side, HVA])
    return rules.engagement_odds[side, GUARDING, distance]


@jit
def shuffle(game: Record, items: IntArray, count: int) -> None:
    """Put the first items of an array into a uniformly random order."""
    for last in range(count - 1, 0, -1):
        other = random_below(game, last + 1)
        items[last], items[other] = items[other], items[last]


@jit
def write_outcome(
    outcomes: Records,
    count: int,
    kind: int,
    side: int,
    attacker: int,
    guardian: int,
    target: int,
    probability: float,
    success: bool,
) -> int:
    """Append an outcome; return the new number of outcomes."""
    outcome = outcomes[count]
    outcome.kind = kind
    outcome.side = side
    outcome.attacker = attacker
    outcome.guardian = guardian
    outcome.target = target
    outcome.probability = probability
    outcome.success = success
    return count + 1


class Engagement(NamedTuple):
    """An engagement being resolved. Satellites of both sides are numbered through: 11 x side + number."""

    aim: IntArray
    """(22,): the number of the enemy whom each attack is aimed at now, or NOBODY."""
    destroyed: IntArray
    """(22,): 1 where a satellite has been hit."""
    guards: IntArray
    """The satellites that guard, then room."""
    shooters: IntArray
    colliders: IntArray
    attackers: IntArray
    """Room for the attackers of one HVA."""


@jit
def make_engagement() -> Engagement:
    """Return room for an engagement, in one piece."""
    room = np.zeros(6 * _ALL, np.int64)
    return Engagement(
        room[:_ALL],
        room[_ALL : 2 * _ALL],
        room[2 * _ALL : 3 * _ALL],
        room[3 * _ALL : 4 * _ALL],
        room[4 * _ALL : 5 * _ALL],
        room[5 * _ALL :],
    )


@jit
def sort_orders(orders: IntArray, engagement: Engagement) -> tuple[int, int, int]:
    """List who guards, shoots and collides, and note the aims; return how many there are of each.

    Everybody is written at the end of all three lists, and only the right one grows: quicker than asking which.
    """
    guards, shooters, colliders = 0, 0, 0
    for side in range(SIDES):
        for number in range(SATELLITES):
            who, order = side * SATELLITES + number, orders[side, number]
            is_guard = order == GUARD
            is_collision = (order >= COLLIDE) & (order < GUARD)
            is_shot = (order >= SHOOT) & (order < COLLIDE)
            target = order - COLLIDE if is_collision else order - SHOOT
            engagement.aim[who] = target if is_collision | is_shot else NOBODY
            engagement.guards[guards] = who
            engagement.shooters[shooters] = who
            engagement.colliders[colliders] = who
            guards += is_guard
            shooters += is_shot
            colliders += is_collision
    return guards, shooters, colliders


@jit
def resolve_guards(game: Record, rules: Record, engagement: Engagement, guards: int, outcomes: Records) -> int:
    """Let each guard, in random order, try to draw away the attacks that are aimed at its HVA at that moment."""
    shuffle(game, engagement.guards, guards)
    count = 0
    aim, attackers = engagement.aim, engagement.attackers
    for place in range(guards):
        side, guardian = engagement.guards[place] // SATELLITES, engagement.guards[place] % SATELLITES
        enemies = (1 - side) * SATELLITES
        attacker_count = 0
        for number in range(SATELLITES):
            if aim[enemies + number] == HVA:
                attackers[attacker_count] = number
                attacker_count += 1
        shuffle(game, attackers, attacker_count)
        probability = guard_probability(game, rules, side, guardian)
        if attacker_count == 0:
            count = write_outcome(outcomes, count, GUARDING, side, NOBODY, guardian, HVA, probability, False)
        for turn in range(attacker_count):
            success = random_unit(game) < probability
            if success:
                aim[enemies + attackers[turn]] = guardian
            count = write_outcome(outcomes, count, GUARDING, side, attackers[turn], guardian, HVA, probability, success)
            probability *= GUARD_DECAY
    return count


@jit
def resolve_shots(
    game: Record,
    rules: Record,
    orders: IntArray,
    engagement: Engagement,
    shooters: int,
    outcomes: Records,
    count: int,
) -> int:
    """Fire all shots at once: a satellite that is hit has still fired its own."""
    for place in range(shooters):
        who = engagement.shooters[place]
        side, number = who // SATELLITES, who % SATELLITES
        probability = attack_probability(game, rules, side, number, orders[side, number])
        success = random_unit(game) < probability
        target = engagement.aim[who]
        count = write_outcome(outcomes, count, SHOT, side, number, NOBODY, target, probability, success)
        if success:
            engagement.destroyed[(1 - side) * SATELLITES + target] = 1
    return count


@jit
def resolve_collisions(
    game: Record,
    rules: Record,
    orders: IntArray,
    engagement: Engagement,
    colliders: int,
    outcomes: Records,
    count: int,
) -> int:
    """Carry out collisions one at a time, each drawn uniformly from those whose two satellites both remain."""
    waiting, aim, destroyed = engagement.colliders, engagement.aim, engagement.destroyed
    while True:
        remaining = 0
        for place in range(colliders):
            who = waiting[place]
            enemies = (1 - who // SATELLITES) * SATELLITES
            if not destroyed[who] and not destroyed[enemies + aim[who]]:
                waiting[remaining] = who
                remaining += 1
        colliders = remaining
        if colliders == 0:
            return count
        drawn = random_below(game, colliders)
        who = waiting[drawn]
        side, number = who // SATELLITES, who % SATELLITES
        colliders -= 1
        waiting[drawn] = waiting[colliders]
        probability = attack_probability(game, rules, side, number, orders[side, number])
        success = random_unit(game) < probability
        count = write_outcome(outcomes, count, COLLISION, side, number, NOBODY, aim[who], probability, success)
        if success:
            destroyed[who] = 1
            destroyed[(1 - side) * SATELLITES + aim[who]] = 1


@jit
def resolve_engagements(game: Record, rules: Record, orders: IntArray, outcomes: Records) -> int:
    """Draw the outcomes of legal orders that have been paid for: guards, then shots, then collisions.

    The game's record is left alone but for its random stream. Returns the number of outcomes written to ``outcomes``.
    """
    engagement = make_engagement()
    guards, shooters, colliders = sort_orders(orders, engagement)
    count = resolve_guards(game, rules, engagement, guards, outcomes)
    count = resolve_shots(game, rules, orders, engagement, shooters, outcomes, count)
    return resolve_collisions(game, rules, orders, engagement, colliders, outcomes, count)


@jit
def destroy(game: Record, side: int, number: int) -> None:
    """Take a satellite out of the game; it keeps drifting, without fuel."""
    game.fuel[side, number] = 0
    game.destroyed[side, number] = 1


@jit
def enact_engagements(game: Record, outcomes: Records, count: int) -> None:
    """Carry out outcomes in their order: guards and colliders move, shooters lose a round, the destroyed their fuel."""
    for place in range(count):
        outcome = outcomes[place]
        side, enemy = outcome.side, 1 - outcome.side
        if outcome.kind == GUARDING:
            game.sector[side, outcome.guardian] = game.sector[side, HVA]
        elif outcome.kind == SHOT:
            game.ammo[side, outcome.attacker] -= 1
            if outcome.success:
                destroy(game, enemy, outcome.target)
        else:
            game.sector[side, outcome.attacker] = game.sector[enemy, outcome.target]
            if outcome.success:
                destroy(game, side, outcome.attacker)
                destroy(game, enemy, outcome.target)
