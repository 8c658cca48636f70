"""The engagement phase (rule book, Engagement Phase): pay, resolve, carry out.

All orders are paid for first. Then engagements are resolved in the order guards, shots, collisions, which leaves the
position as it is and writes outcomes; finally the outcomes are carried out. Outcomes are what the rule books print and
what recordings hold.

Chance has a part in four places: the order of the guards, the order in which a guard meets the attackers, whether an
attempt succeeds, and which collision comes next. Each of them is decided by the game's random stream, or by outcomes that
were recorded, if there are any: a recorded engagement is played again by the same code that played it first. If
something in the recording is impossible, the outcomes that are written differ from the recorded ones.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from geo_patrol.base.jit import jit, jitable, jitable_call
from geo_patrol.engine import state
from geo_patrol.engine.rng import random_below, random_unit

GUARD_DECAY = 0.5
"""Factor by which the probability of a guard falls with each attack that it meets in a phase, intercepted or not."""

# Range, cost and odds


@jitable
def range_of(sector: int, other: int) -> int:
    """Return the range of a legal engagement, SAME_SECTOR or ADJACENT_SECTOR."""
    return state.SAME_SECTOR if sector == other else state.ADJACENT_SECTOR


@jitable
def kind_of(order: int) -> int:
    """Return the kind of an engagement order: SHOT, COLLISION or GUARDING."""
    if order == state.GUARD:
        return state.GUARDING
    return state.COLLISION if order >= state.COLLIDE else state.SHOT


@jitable
def is_shot(order: int) -> bool:
    """Return whether an order code is a shot."""
    return (order >= state.SHOOT) & (order < state.COLLIDE)


@jitable
def is_collision(order: int) -> bool:
    """Return whether an order code is a collision."""
    return (order >= state.COLLIDE) & (order < state.GUARD)


@jitable
def target_of(order: int) -> int:
    """Return the number of the target of an engagement order; that of a guard is its own HVA."""
    if order == state.GUARD:
        return state.HVA
    return order - state.COLLIDE if order >= state.COLLIDE else order - state.SHOOT


@jitable
def engagement_cost(game: state.Record, rules: state.Record, side: int, number: int, order: int) -> int:
    """Return the cost of a legal engagement order; it depends on the sectors of the two satellites, not on their fuel."""
    target_side = side if order == state.GUARD else 1 - side
    distance = range_of(game.sector[side, number], game.sector[target_side, target_of(order)])
    return rules.engagement_cost[side, kind_of(order), distance]


@jitable
def attack_probability(game: state.Record, rules: state.Record, side: int, number: int, order: int) -> float:
    """Return the probability that a shot or collision succeeds, by the range to the target that was ordered."""
    distance = range_of(game.sector[side, number], game.sector[1 - side, target_of(order)])
    return rules.engagement_odds[side, kind_of(order), distance]


@jitable
def guard_probability(game: state.Record, rules: state.Record, side: int, number: int) -> float:
    """Return the probability that a guard intercepts the first attack that it meets."""
    distance = range_of(game.sector[side, number], game.sector[side, state.HVA])
    return rules.engagement_odds[side, state.GUARDING, distance]


# Paying


@jitable
def has_orders(orders: state.IntArray) -> bool:
    """Return whether any order is not a noop."""
    for side in range(state.NUM_SIDES):
        for number in range(state.SATELLITES):
            if orders[side, number] != state.NOOP:
                return True
    return False


@jitable
def pay_for_engagements(game: state.Record, rules: state.Record, orders: state.IntArray) -> None:
    """Take the fuel and the ammo for all legal engagement orders, at their costs before any of them is paid.

    With the rules of the published code, an order paid with the last fuel is void, and so is every order against the payer
    or, for guards, for it: both become noop in ``orders``.
    """
    for side in range(state.NUM_SIDES):
        for number in range(state.SATELLITES):
            order = orders[side, number]
            if order != state.NOOP:
                game.fuel[side, number] -= engagement_cost(game, rules, side, number, order)
    if rules.code_rules:
        void_orders_of_inactive(game, orders)
    for side in range(state.NUM_SIDES):
        for number in range(state.SATELLITES):
            game.ammo[side, number] -= is_shot(orders[side, number])


@jitable_call
def void_orders_of_inactive(game: state.Record, orders: state.IntArray) -> None:
    """Replace by noop the orders by, against and (guards) for satellites that have no fuel left."""
    for side in range(state.NUM_SIDES):
        for number in range(state.SATELLITES):
            order = orders[side, number]
            if order != state.NOOP:
                target_side = side if order == state.GUARD else 1 - side
                if game.fuel[side, number] <= 0 or game.fuel[target_side, target_of(order)] <= 0:
                    orders[side, number] = state.NOOP


# Resolving


class Engagement(NamedTuple):
    """An engagement being resolved. Satellites of both sides are numbered consecutively: 11 * side + number."""

    aim: state.IntArray
    """(22,): the number of the enemy that each attack is aimed at now, or NOBODY."""
    destroyed: state.IntArray
    """(22,): 1 where a satellite has been hit."""
    guards: state.IntArray
    """(22,): the satellites that guard, at the front; shooters and colliders likewise."""
    shooters: state.IntArray
    colliders: state.IntArray
    attackers: state.IntArray
    """(22,): the satellites that attack one HVA, at the front."""


@jitable
def make_engagement() -> Engagement:
    """Allocate the arrays of an engagement, in one piece; ``destroyed`` is zero, the others are uninitialized."""
    arrays = np.empty((6, state.NUM_SIDES * state.SATELLITES), np.int64)
    arrays[1] = 0
    return Engagement(arrays[0], arrays[1], arrays[2], arrays[3], arrays[4], arrays[5])


@jitable
def sort_orders(orders: state.IntArray, engagement: Engagement) -> tuple[int, int, int]:
    """List the guards, shooters and colliders, and the aims of their attacks; return the lengths of the three lists.

    Each satellite is written at the end of all three lists, and only the right one grows, which avoids branches.
    """
    guards, shooters, colliders = 0, 0, 0
    for side in range(state.NUM_SIDES):
        for number in range(state.SATELLITES):
            satellite, order = side * state.SATELLITES + number, orders[side, number]
            shoots, collides = is_shot(order), is_collision(order)
            target = order - state.COLLIDE if collides else order - state.SHOOT
            engagement.aim[satellite] = target if collides | shoots else state.NOBODY
            engagement.guards[guards] = satellite
            engagement.shooters[shooters] = satellite
            engagement.colliders[colliders] = satellite
            guards += order == state.GUARD
            shooters += shoots
            colliders += collides
    return guards, shooters, colliders


@jitable
def recorded_actor(outcome: state.Record) -> int:
    """Return the satellite whose order a recorded outcome belongs to, 11 * side + number."""
    return outcome.side * state.SATELLITES + (outcome.guardian if outcome.kind == state.GUARDING else outcome.attacker)


@jitable_call
def put_in_recorded_order(
    items: state.IntArray, count: int, recorded: state.Records, start: int, stop: int, are_attackers: bool
) -> None:
    """Put the first items of an array into the order in which recorded[start:stop] has them; others follow.

    The items are the satellites that act, 11 * side + number, or the numbers of attackers of one side.
    """
    first = 0
    for k in range(start, min(stop, len(recorded))):
        item = recorded[k].attacker if are_attackers else recorded_actor(recorded[k])
        for i in range(first, count):
            if items[i] == item:
                items[first], items[i] = items[i], items[first]
                first += 1
                break


@jitable_call
def recorded_success(recorded: state.Records, index: int, probability: float) -> bool:
    """Return whether the outcome at an index was recorded as a success, if that is possible."""
    return probability > 0 and (probability >= 1 or recorded[index].success != 0)


@jitable_call
def recorded_collision(recorded: state.Records, index: int, waiting: state.IntArray, count: int) -> int:
    """Return which of the waiting collisions was recorded at an index, the first if it is none of them."""
    for i in range(count):
        if waiting[i] == recorded_actor(recorded[index]):
            return i
    return 0


@jitable
def shuffle(game: state.Record, items: state.IntArray, count: int) -> None:
    """Put the first items of an array into a uniformly random order (Fisher and Yates)."""
    for last in range(count - 1, 0, -1):
        other = random_below(game, last + 1)
        items[last], items[other] = items[other], items[last]


@jitable
def succeeds(game: state.Record, probability: float, recorded: state.Records | None, index: int) -> bool:
    """Decide whether an attempt succeeds, at random or as the outcome at an index was recorded."""
    if recorded is not None and index < len(recorded):
        return recorded_success(recorded, index, probability)
    return random_unit(game) < probability


@jitable
def write_outcome(
    outcomes: state.Records,
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
def resolve_guards(
    game: state.Record,
    rules: state.Record,
    engagement: Engagement,
    guards: int,
    recorded: state.Records | None,
    outcomes: state.Records,
) -> int:
    """Let each guard, in random order, try to intercept ("divert") the attacks that are aimed at its HVA at that moment.

    It meets them one by one, in random order; an attack that it intercepts is aimed at the guard from then on. A guard that
    meets none has an outcome of its own.
    """
    if recorded is not None:
        put_in_recorded_order(engagement.guards, guards, recorded, 0, len(recorded), False)
    else:
        shuffle(game, engagement.guards, guards)
    count = 0
    aim, attackers = engagement.aim, engagement.attackers
    for i in range(guards):
        side, guardian = engagement.guards[i] // state.SATELLITES, engagement.guards[i] % state.SATELLITES
        enemies = (1 - side) * state.SATELLITES
        attacker_count = 0
        for number in range(state.SATELLITES):
            if aim[enemies + number] == state.HVA:
                attackers[attacker_count] = number
                attacker_count += 1
        if recorded is not None:
            put_in_recorded_order(attackers, attacker_count, recorded, count, count + attacker_count, True)
        else:
            shuffle(game, attackers, attacker_count)
        probability = guard_probability(game, rules, side, guardian)
        if attacker_count == 0:
            count = write_outcome(
                outcomes, count, state.GUARDING, side, state.NOBODY, guardian, state.HVA, probability, False
            )
        for k in range(attacker_count):
            success = succeeds(game, probability, recorded, count)
            if success:
                aim[enemies + attackers[k]] = guardian
            count = write_outcome(
                outcomes, count, state.GUARDING, side, attackers[k], guardian, state.HVA, probability, success
            )
            probability *= GUARD_DECAY  # for the next attack, whether this one was intercepted or not
    return count


@jitable
def resolve_shots(
    game: state.Record,
    rules: state.Record,
    orders: state.IntArray,
    engagement: Engagement,
    shooters: int,
    recorded: state.Records | None,
    outcomes: state.Records,
    count: int,
) -> int:
    """Fire all shots at once: a satellite that is hit has still fired its own.

    An attack that was intercepted keeps the probability that it had against the target that was ordered.
    """
    if recorded is not None:
        put_in_recorded_order(engagement.shooters, shooters, recorded, count, count + shooters, False)
    for i in range(shooters):
        shooter = engagement.shooters[i]
        side, number = shooter // state.SATELLITES, shooter % state.SATELLITES
        probability = attack_probability(game, rules, side, number, orders[side, number])
        success = succeeds(game, probability, recorded, count)
        target = engagement.aim[shooter]
        count = write_outcome(outcomes, count, state.SHOT, side, number, state.NOBODY, target, probability, success)
        if success:
            engagement.destroyed[(1 - side) * state.SATELLITES + target] = 1
    return count


@jitable
def resolve_collisions(
    game: state.Record,
    rules: state.Record,
    orders: state.IntArray,
    engagement: Engagement,
    colliders: int,
    recorded: state.Records | None,
    outcomes: state.Records,
    count: int,
) -> int:
    """Carry out collisions one at a time, each chosen uniformly from those whose two satellites both remain.

    The others are void: they have no outcome and move nobody, but their fuel has been paid.
    """
    waiting, aim, destroyed = engagement.colliders, engagement.aim, engagement.destroyed
    while True:
        remaining = 0
        for i in range(colliders):
            collider = waiting[i]
            enemies = (1 - collider // state.SATELLITES) * state.SATELLITES
            if not destroyed[collider] and not destroyed[enemies + aim[collider]]:
                waiting[remaining] = collider
                remaining += 1
        colliders = remaining
        if colliders == 0:
            return count
        if recorded is not None and count < len(recorded):
            i = recorded_collision(recorded, count, waiting, colliders)
        else:
            i = int(np.int64(random_below(game, colliders)))  # unsigned as it is: with i signed, it would be a float
        collider = waiting[i]
        side, number = collider // state.SATELLITES, collider % state.SATELLITES
        colliders -= 1
        waiting[i] = waiting[colliders]
        probability = attack_probability(game, rules, side, number, orders[side, number])
        success = succeeds(game, probability, recorded, count)
        count = write_outcome(
            outcomes, count, state.COLLISION, side, number, state.NOBODY, aim[collider], probability, success
        )
        if success:
            destroyed[collider] = 1
            destroyed[(1 - side) * state.SATELLITES + aim[collider]] = 1


@jitable
def resolve_engagements(
    game: state.Record,
    rules: state.Record,
    orders: state.IntArray,
    recorded: state.Records | None,
    outcomes: state.Records,
) -> int:
    """Find the outcomes of legal orders that have been paid for: guards, then shots, then collisions.

    Args:
        game: the game, of which only the random stream changes.
        rules: its rules.
        orders: (2, 11) order codes.
        recorded: (k,) outcomes that decide what is left to chance; None to sample it from the random stream.
        outcomes: (128,), overwritten.

    Returns:
        The number of outcomes.
    """
    engagement = make_engagement()
    guards, shooters, colliders = sort_orders(orders, engagement)
    count = resolve_guards(game, rules, engagement, guards, recorded, outcomes)
    count = resolve_shots(game, rules, orders, engagement, shooters, recorded, outcomes, count)
    return resolve_collisions(game, rules, orders, engagement, colliders, recorded, outcomes, count)


# Carrying out


@jitable
def destroy(game: state.Record, rules: state.Record, side: int, number: int) -> None:
    """Take a satellite out of the game; it keeps drifting, without fuel. The enemy gets the points for a Patrol, once."""
    if number != state.HVA and not game.destroyed[side, number]:
        game.goal_points[1 - side] += rules.patrol_points[1 - side]
    game.fuel[side, number] = 0
    game.destroyed[side, number] = 1


@jitable
def enact_engagements(game: state.Record, rules: state.Record, outcomes: state.Records, count: int) -> None:
    """Carry out outcomes in their order.

    A guard moves to the sector of its HVA, and a collider to that of its target, successful or not. Destroyed satellites
    lose their fuel. The exact distribution and the solver carry out results that are not written as outcomes: by
    ``destroy``, and by moves of their own (``distribution.py``, ``solving/transitions.py``).
    """
    for i in range(count):
        outcome = outcomes[i]
        side, enemy = outcome.side, 1 - outcome.side
        if outcome.kind == state.GUARDING:
            game.sector[side, outcome.guardian] = game.sector[side, state.HVA]
        elif outcome.kind == state.COLLISION:
            game.sector[side, outcome.attacker] = game.sector[enemy, outcome.target]
            if outcome.success:
                destroy(game, rules, side, outcome.attacker)
        if outcome.success and outcome.kind != state.GUARDING:
            destroy(game, rules, enemy, outcome.target)


@jit
def play_engagement(
    game: state.Record,
    rules: state.Record,
    orders: state.IntArray,
    recorded: state.Records | None,
    outcomes: state.Records,
) -> int:
    """Play the engagement phase with legal orders, up to the drift; return the number of outcomes."""
    count = 0
    if has_orders(orders):
        pay_for_engagements(game, rules, orders)
        count = resolve_engagements(game, rules, orders, recorded, outcomes)
        enact_engagements(game, rules, outcomes, count)
    game.phase = state.DRIFT
    return count


# The odds of an engagement, by resolving it many times


@jitable
def destroyed_bits(outcomes: state.Records, count: int) -> int:
    """Return the satellites that outcomes destroy, as bits: 11 * side + number."""
    bits = 0
    for i in range(count):
        outcome = outcomes[i]
        side, attacker, target = int(outcome.side), int(outcome.attacker), int(outcome.target)
        if outcome.success and outcome.kind != state.GUARDING:
            bits |= 1 << ((1 - side) * state.SATELLITES + target)
            if outcome.kind == state.COLLISION:
                bits |= 1 << (side * state.SATELLITES + attacker)
    return bits


@jit
def resolve_repeatedly(
    game: state.Record,
    rules: state.Record,
    orders: state.IntArray,
    outcomes: state.Records,
    destroyed: NDArray[np.int64],
    kinds: NDArray[np.int64],
) -> None:
    """Resolve an engagement as often as ``destroyed`` is long.

    Args:
        game: the position after paying, of which only the random stream changes.
        rules: rules of the game.
        orders: (2, 11) legal orders that have been paid for.
        outcomes: (128,), overwritten.
        destroyed: (n,), overwritten with the destroyed satellites of each resolution, see ``destroyed_bits``.
        kinds: (n, 3), overwritten with the number of shots, collisions and guard outcomes.
    """
    for draw in range(len(destroyed)):
        count = resolve_engagements(game, rules, orders, None, outcomes)
        destroyed[draw] = destroyed_bits(outcomes, count)
        for kind in (state.SHOT, state.COLLISION, state.GUARDING):
            kinds[draw, kind] = 0
        for i in range(count):
            kinds[draw, outcomes[i].kind] += 1
