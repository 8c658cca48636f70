"""The engagement phase (rule book, Engagement Phase): pay, resolve, enact.

Resolving samples the outcomes and leaves the position as it is; enacting carries them out. Outcomes are what the books
print and what recordings hold: a recorded engagement is enacted without sampling anything.
"""

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
from geo_patrol.engine.workspace import Engagement, make_engagement
from geo_patrol.jit import jit, jitable

GUARD_DECAY = 0.5
"""Factor by which the probability falls with each further attack that one guard tries to intercept in a phase."""


@jitable
def has_orders(orders: IntArray) -> bool:
    """Return whether any order is not a noop."""
    for side in range(SIDES):
        for number in range(SATELLITES):
            if orders[side, number] != NOOP:
                return True
    return False


@jitable
def range_of(sector: int, other: int) -> int:
    """Return the range of a legal engagement, SAME_SECTOR or ADJACENT_SECTOR."""
    return SAME_SECTOR if sector == other else ADJACENT_SECTOR


@jitable
def kind_of(order: int) -> int:
    """Return the kind of an engagement order."""
    if order == GUARD:
        return GUARDING
    return COLLISION if order >= COLLIDE else SHOT


@jitable
def engagement_cost(game: Record, rules: Record, side: int, number: int, order: int) -> int:
    """Return the cost of a legal engagement order; it depends on the two satellites' sectors, not on their fuel."""
    target_side = side if order == GUARD else 1 - side
    distance = range_of(game.sector[side, number], game.sector[target_side, target_of(order)])
    return rules.engagement_cost[side, kind_of(order), distance]


@jit
def pay_for_engagements(game: Record, rules: Record, orders: IntArray) -> None:
    """Take the fuel for all legal engagement orders, at their costs before any of them is paid.

    With the published code's rules, an order paid with the last fuel is void, and so is every order against the payer
    or, for guards, for it: both become noop in ``orders``.
    """
    for side in range(SIDES):
        for number in range(SATELLITES):
            order = orders[side, number]
            if order != NOOP:
                game.fuel[side, number] -= engagement_cost(game, rules, side, number, order)
    if rules.code_rules:
        void_orders_of_inactive(game, orders)


@jitable
def void_orders_of_inactive(game: Record, orders: IntArray) -> None:
    """Replace by noop the orders by, against and (guards) for satellites that have no fuel left."""
    for side in range(SIDES):
        for number in range(SATELLITES):
            order = orders[side, number]
            if order != NOOP:
                target_side = side if order == GUARD else 1 - side
                if game.fuel[side, number] <= 0 or game.fuel[target_side, target_of(order)] <= 0:
                    orders[side, number] = NOOP


@jitable
def target_of(order: int) -> int:
    """Return the number of the target of an engagement order; a guard's is its own HVA."""
    if order == GUARD:
        return HVA
    return order - COLLIDE if order >= COLLIDE else order - SHOOT


@jitable
def attack_probability(game: Record, rules: Record, side: int, number: int, order: int) -> float:
    """Return the probability of a shot or collision, by the range to its ordered target."""
    distance = range_of(game.sector[side, number], game.sector[1 - side, target_of(order)])
    return rules.engagement_odds[side, kind_of(order), distance]


@jitable
def guard_probability(game: Record, rules: Record, side: int, number: int) -> float:
    """Return the probability that a guard intercepts the first attack."""
    distance = range_of(game.sector[side, number], game.sector[side, HVA])
    return rules.engagement_odds[side, GUARDING, distance]


@jitable
def shuffle(game: Record, items: IntArray, count: int) -> None:
    """Put the first items of an array into a uniformly random order."""
    for last in range(count - 1, 0, -1):
        other = random_below(game, last + 1)
        items[last], items[other] = items[other], items[last]


@jitable
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


@jitable
def sort_orders(orders: IntArray, engagement: Engagement) -> tuple[int, int, int]:
    """List the guards, shooters and colliders, and the aims of their attacks; return the lengths of the three lists.

    Each satellite is written at the end of all three lists, and only the right one grows, which avoids branches.
    """
    guards, shooters, colliders = 0, 0, 0
    for side in range(SIDES):
        for number in range(SATELLITES):
            satellite, order = side * SATELLITES + number, orders[side, number]
            is_guard = order == GUARD
            is_collision = (order >= COLLIDE) & (order < GUARD)
            is_shot = (order >= SHOOT) & (order < COLLIDE)
            target = order - COLLIDE if is_collision else order - SHOOT
            engagement.aim[satellite] = target if is_collision | is_shot else NOBODY
            engagement.guards[guards] = satellite
            engagement.shooters[shooters] = satellite
            engagement.colliders[colliders] = satellite
            guards += is_guard
            shooters += is_shot
            colliders += is_collision
    return guards, shooters, colliders


@jitable
def resolve_guards(game: Record, rules: Record, engagement: Engagement, guards: int, outcomes: Records) -> int:
    """Let each guard, in random order, try to intercept the attacks aimed at its HVA at that moment."""
    shuffle(game, engagement.guards, guards)
    count = 0
    aim, attackers = engagement.aim, engagement.attackers
    for i in range(guards):
        side, guardian = engagement.guards[i] // SATELLITES, engagement.guards[i] % SATELLITES
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
        for k in range(attacker_count):
            success = random_unit(game) < probability
            if success:
                aim[enemies + attackers[k]] = guardian
            count = write_outcome(outcomes, count, GUARDING, side, attackers[k], guardian, HVA, probability, success)
            probability *= GUARD_DECAY
    return count


@jitable
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
    for i in range(shooters):
        shooter = engagement.shooters[i]
        side, number = shooter // SATELLITES, shooter % SATELLITES
        probability = attack_probability(game, rules, side, number, orders[side, number])
        success = random_unit(game) < probability
        target = engagement.aim[shooter]
        count = write_outcome(outcomes, count, SHOT, side, number, NOBODY, target, probability, success)
        if success:
            engagement.destroyed[(1 - side) * SATELLITES + target] = 1
    return count


@jitable
def resolve_collisions(
    game: Record,
    rules: Record,
    orders: IntArray,
    engagement: Engagement,
    colliders: int,
    outcomes: Records,
    count: int,
) -> int:
    """Carry out collisions one at a time, each chosen uniformly from those whose two satellites both remain."""
    waiting, aim, destroyed = engagement.colliders, engagement.aim, engagement.destroyed
    while True:
        remaining = 0
        for i in range(colliders):
            collider = waiting[i]
            enemies = (1 - collider // SATELLITES) * SATELLITES
            if not destroyed[collider] and not destroyed[enemies + aim[collider]]:
                waiting[remaining] = collider
                remaining += 1
        colliders = remaining
        if colliders == 0:
            return count
        i = random_below(game, colliders)
        collider = waiting[i]
        side, number = collider // SATELLITES, collider % SATELLITES
        colliders -= 1
        waiting[i] = waiting[colliders]
        probability = attack_probability(game, rules, side, number, orders[side, number])
        success = random_unit(game) < probability
        count = write_outcome(outcomes, count, COLLISION, side, number, NOBODY, aim[collider], probability, success)
        if success:
            destroyed[collider] = 1
            destroyed[(1 - side) * SATELLITES + aim[collider]] = 1


@jitable
def resolve_engagements(game: Record, rules: Record, orders: IntArray, outcomes: Records) -> int:
    """Sample the outcomes of legal orders that have been paid for: guards, then shots, then collisions.

    Only the random stream of the game's record changes. Returns the number of outcomes written to ``outcomes``.
    """
    engagement = make_engagement()
    guards, shooters, colliders = sort_orders(orders, engagement)
    count = resolve_guards(game, rules, engagement, guards, outcomes)
    count = resolve_shots(game, rules, orders, engagement, shooters, outcomes, count)
    return resolve_collisions(game, rules, orders, engagement, colliders, outcomes, count)


@jitable
def destroy(game: Record, side: int, number: int) -> None:
    """Take a satellite out of the game; it keeps drifting, without fuel."""
    game.fuel[side, number] = 0
    game.destroyed[side, number] = 1


@jit
def enact_engagements(game: Record, outcomes: Records, count: int) -> None:
    """Carry out outcomes in their order: guards and colliders move, shooters lose a round, the destroyed their fuel."""
    for i in range(count):
        outcome = outcomes[i]
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
