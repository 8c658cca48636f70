"""The engagement phase (rule book, Engagement Phase): pay, resolve, enact.

Resolving draws the outcomes and leaves the game as it is; enacting carries them out. Outcomes are what the books
print and what recordings keep: a recorded engagement is enacted without drawing anything.
"""

import numpy as np

from geo_patrol.engine.chance import random_below, random_unit
from geo_patrol.engine.legality import order_cost, range_between
from geo_patrol.engine.state import (
    COLLIDE,
    COLLISION,
    GUARD,
    GUARDING,
    HVA,
    NOBODY,
    NOOP,
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


@jit
def has_orders(orders: IntArray) -> bool:
    """Tell whether anybody does anything."""
    for side in range(SIDES):
        for number in range(SATELLITES):
            if orders[side, number] != NOOP:
                return True
    return False


@jit
def pay_for_engagements(game: Record, rules: Record, orders: IntArray) -> None:
    """Take the fuel for all legal engagement orders, at the prices before anybody has paid.

    With the published code's rules, an order paid with the last fuel is void, and so is every order against the payer
    or, for guards, for it: both are struck from ``orders``.
    """
    costs = np.zeros((SIDES, SATELLITES), np.int64)
    for side in range(SIDES):
        for number in range(SATELLITES):
            if orders[side, number] != NOOP:
                costs[side, number] = order_cost(game, rules, side, number, orders[side, number])
    for side in range(SIDES):
        for number in range(SATELLITES):
            game.fuel[side, number] -= costs[side, number]
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
    kind = SHOT if order < COLLIDE else COLLISION
    distance = range_between(game.sector[side, number], game.sector[1 - side, target_of(order)])
    return rules.engagement_odds[side, kind, distance]


@jit
def guard_probability(game: Record, rules: Record, side: int, number: int) -> float:
    """Return the probability that a guard draws away the first attack."""
    distance = range_between(game.sector[side, number], game.sector[side, HVA])
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


@jit
def resolve_guards(game: Record, rules: Record, orders: IntArray, aim: IntArray, outcomes: Records) -> int:
    """Let each guard, in random order, try to draw away the attacks that are aimed at its HVA at that moment."""
    guards = np.empty(SIDES * SATELLITES, np.int64)
    guard_count = 0
    for side in range(SIDES):
        for number in range(SATELLITES):
            if orders[side, number] == GUARD:
                guards[guard_count] = side * SATELLITES + number
                guard_count += 1
    shuffle(game, guards, guard_count)
    count = 0
    attackers = np.empty(SATELLITES, np.int64)
    for place in range(guard_count):
        side, guardian = guards[place] // SATELLITES, guards[place] % SATELLITES
        enemy = 1 - side
        attacker_count = 0
        for number in range(SATELLITES):
            if aim[enemy, number] == HVA:
                attackers[attacker_count] = number
                attacker_count += 1
        shuffle(game, attackers, attacker_count)
        probability = guard_probability(game, rules, side, guardian)
        if attacker_count == 0:
            count = write_outcome(outcomes, count, GUARDING, side, NOBODY, guardian, HVA, probability, False)
        for turn in range(attacker_count):
            success = random_unit(game) < probability
            if success:
                aim[enemy, attackers[turn]] = guardian
            count = write_outcome(outcomes, count, GUARDING, side, attackers[turn], guardian, HVA, probability, success)
            probability *= GUARD_DECAY
    return count


@jit
def resolve_shots(
    game: Record, rules: Record, orders: IntArray, aim: IntArray, destroyed: IntArray, outcomes: Records, count: int
) -> int:
    """Fire all shots at once: a satellite that is hit has still fired its own."""
    for side in range(SIDES):
        for number in range(SATELLITES):
            order = orders[side, number]
            if SHOOT <= order < COLLIDE:
                probability = attack_probability(game, rules, side, number, order)
                success = random_unit(game) < probability
                target = aim[side, number]
                count = write_outcome(outcomes, count, SHOT, side, number, NOBODY, target, probability, success)
                if success:
                    destroyed[1 - side, target] = 1
    return count


@jit
def resolve_collisions(
    game: Record, rules: Record, orders: IntArray, aim: IntArray, destroyed: IntArray, outcomes: Records, count: int
) -> int:
    """Carry out collisions one at a time, each drawn uniformly from those whose two satellites both remain."""
    waiting = np.empty(SIDES * SATELLITES, np.int64)
    waiting_count = 0
    for side in range(SIDES):
        for number in range(SATELLITES):
            if COLLIDE <= orders[side, number] < GUARD:
                waiting[waiting_count] = side * SATELLITES + number
                waiting_count += 1
    while True:
        remaining = 0
        for place in range(waiting_count):
            side, number = waiting[place] // SATELLITES, waiting[place] % SATELLITES
            if not destroyed[side, number] and not destroyed[1 - side, aim[side, number]]:
                waiting[remaining] = waiting[place]
                remaining += 1
        waiting_count = remaining
        if waiting_count == 0:
            return count
        drawn = random_below(game, waiting_count)
        side, number = waiting[drawn] // SATELLITES, waiting[drawn] % SATELLITES
        waiting_count -= 1
        waiting[drawn] = waiting[waiting_count]
        probability = attack_probability(game, rules, side, number, orders[side, number])
        success = random_unit(game) < probability
        count = write_outcome(outcomes, count, COLLISION, side, number, NOBODY, aim[side, number], probability, success)
        if success:
            destroyed[side, number] = 1
            destroyed[1 - side, aim[side, number]] = 1


@jit
def resolve_engagements(game: Record, rules: Record, orders: IntArray, outcomes: Records) -> int:
    """Draw the outcomes of legal orders that have been paid for: guards, then shots, then collisions.

    The game's record is left alone but for its random stream. Returns the number of outcomes written to ``outcomes``.
    """
    aim = np.full((SIDES, SATELLITES), NOBODY, np.int64)  # the enemy whom each attack is aimed at now
    for side in range(SIDES):
        for number in range(SATELLITES):
            if orders[side, number] not in (NOOP, GUARD):
                aim[side, number] = target_of(orders[side, number])
    destroyed = np.zeros((SIDES, SATELLITES), np.int64)
    count = resolve_guards(game, rules, orders, aim, outcomes)
    count = resolve_shots(game, rules, orders, aim, destroyed, outcomes, count)
    return resolve_collisions(game, rules, orders, aim, destroyed, outcomes, count)


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
