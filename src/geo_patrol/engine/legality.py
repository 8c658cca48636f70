"""Legal orders (rule book, Movement Phase and Engagement Phase).

``order_cost`` judges one order; ``write_legal_orders`` writes the mask of all. An order that the satellite cannot pay
is not legal. Both state the same rules: looking at each pair of enemies once makes the mask five times as fast as
asking for every order, and the properties in the tests hold the two together.
"""

from geo_patrol.board import are_adjacent, ring_of
from geo_patrol.engine.state import (
    ADJACENT_SECTOR,
    COLLIDE,
    COLLISION,
    GUARD,
    GUARDING,
    HVA,
    MOVEMENT,
    NOOP,
    ORDERS,
    OUT_OF_RANGE,
    RADIAL_IN,
    RADIAL_OUT,
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

ILLEGAL = -1
"""The cost of an order that the rules do not allow."""


@jit
def range_between(sector: int, other: int) -> int:
    """Return SAME_SECTOR, ADJACENT_SECTOR or OUT_OF_RANGE."""
    if sector == other:
        return SAME_SECTOR
    if are_adjacent(sector, other):
        return ADJACENT_SECTOR
    return OUT_OF_RANGE


@jit
def is_hva_threatened(game: Record, side: int) -> bool:
    """Tell whether an active enemy is in the same or an adjacent sector of a side's HVA: guarding needs one."""
    enemy = 1 - side
    for number in range(SATELLITES):
        if game.fuel[enemy, number] > 0:
            if range_between(game.sector[side, HVA], game.sector[enemy, number]) != OUT_OF_RANGE:
                return True
    return False


@jit
def move_cost(game: Record, rules: Record, side: int, number: int, order: int) -> int:
    """Return what an order costs in the movement phase, or ILLEGAL."""
    if order < NOOP or order > RADIAL_OUT:
        return ILLEGAL
    if order == RADIAL_IN and ring_of(game.sector[side, number]) <= rules.inner_ring:
        return ILLEGAL
    if order == RADIAL_OUT and ring_of(game.sector[side, number]) >= rules.outer_ring:
        return ILLEGAL
    return rules.move_cost[side, order]


@jit
def attack_cost(game: Record, rules: Record, side: int, number: int, order: int) -> int:
    """Return what a shot or a collision costs, or ILLEGAL."""
    if order < COLLIDE:
        kind, target = SHOT, order - SHOOT
        allowed = game.ammo[side, number] > 0
    else:
        kind, target = COLLISION, order - COLLIDE
        allowed = number != HVA
    if not allowed or game.fuel[1 - side, target] <= 0:
        return ILLEGAL
    distance = range_between(game.sector[side, number], game.sector[1 - side, target])
    if distance == OUT_OF_RANGE:
        return ILLEGAL
    return rules.engagement_cost[side, kind, distance]


@jit
def guard_cost(game: Record, rules: Record, side: int, number: int) -> int:
    """Return what guarding costs a satellite, or ILLEGAL."""
    distance = range_between(game.sector[side, number], game.sector[side, HVA])
    if number == HVA or distance == OUT_OF_RANGE or not is_hva_threatened(game, side):
        return ILLEGAL
    return rules.engagement_cost[side, GUARDING, distance]


@jit
def order_cost(game: Record, rules: Record, side: int, number: int, order: int) -> int:
    """Return the fuel that an order costs in the phase at hand, or ILLEGAL; the satellite's fuel is not looked at."""
    if order == NOOP:
        return 0
    if game.phase == MOVEMENT:
        return move_cost(game, rules, side, number, order)
    if order < SHOOT or order > GUARD:
        return ILLEGAL
    if order == GUARD:
        return guard_cost(game, rules, side, number)
    return attack_cost(game, rules, side, number, order)


@jit
def is_legal(game: Record, rules: Record, side: int, number: int, order: int) -> bool:
    """Tell whether a satellite may be given an order: allowed, and paid for."""
    if order == NOOP:
        return True
    fuel = game.fuel[side, number]
    if fuel <= 0 or game.done:
        return False
    cost = order_cost(game, rules, side, number, order)
    return cost != ILLEGAL and cost <= fuel


@jit
def write_legal_moves(game: Record, rules: Record, mask: IntArray) -> None:
    """Mark the legal moves of both sides."""
    for side in range(SIDES):
        for number in range(SATELLITES):
            fuel = game.fuel[side, number]
            if fuel > 0:
                for order in range(NOOP + 1, RADIAL_OUT + 1):
                    cost = move_cost(game, rules, side, number, order)
                    if cost != ILLEGAL and cost <= fuel:
                        mask[side, number, order] = 1


@jit
def write_legal_attacks(
    game: Record, rules: Record, side: int, number: int, target: int, distance: int, mask: IntArray
) -> None:
    """Mark the shot and the collision of one satellite at one enemy in range, where it can pay for them."""
    fuel = game.fuel[side, number]
    if game.ammo[side, number] > 0 and rules.engagement_cost[side, SHOT, distance] <= fuel:
        mask[side, number, SHOOT + target] = 1
    if number != HVA and rules.engagement_cost[side, COLLISION, distance] <= fuel:
        mask[side, number, COLLIDE + target] = 1


@jit
def write_legal_guards(game: Record, rules: Record, side: int, mask: IntArray) -> None:
    """Mark which Patrols of a side may guard its threatened HVA."""
    for number in range(1, SATELLITES):
        fuel = game.fuel[side, number]
        if fuel > 0:
            distance = range_between(game.sector[side, number], game.sector[side, HVA])
            if distance != OUT_OF_RANGE and rules.engagement_cost[side, GUARDING, distance] <= fuel:
                mask[side, number, GUARD] = 1


@jit
def write_legal_engagements(game: Record, rules: Record, mask: IntArray) -> None:
    """Mark the legal engagements of both sides, each pair of enemies looked at once: range is mutual."""
    threatened_alpha = False
    threatened_bravo = False
    for number in range(SATELLITES):
        if game.fuel[0, number] <= 0 and number != HVA:
            continue
        for other in range(SATELLITES):
            if game.fuel[1, other] <= 0 and other != HVA:
                continue
            distance = range_between(game.sector[0, number], game.sector[1, other])
            if distance == OUT_OF_RANGE:
                continue
            alpha_active = game.fuel[0, number] > 0
            bravo_active = game.fuel[1, other] > 0
            if number == HVA and bravo_active:
                threatened_alpha = True
            if other == HVA and alpha_active:
                threatened_bravo = True
            if alpha_active and bravo_active:
                write_legal_attacks(game, rules, 0, number, other, distance, mask)
                write_legal_attacks(game, rules, 1, other, number, distance, mask)
    if threatened_alpha:
        write_legal_guards(game, rules, 0, mask)
    if threatened_bravo:
        write_legal_guards(game, rules, 1, mask)


@jit
def write_legal_orders(game: Record, rules: Record, mask: IntArray) -> None:
    """Write the legal orders of both sides.

    ``mask``: (2, 11, 28) int8, overwritten: 1 where a satellite may be given an order. Noop always is legal; for
    absent and inactive satellites and in a finished game it is the only one.
    """
    mask[:] = 0
    mask[:, :, NOOP] = 1
    if game.done:
        return
    if game.phase == MOVEMENT:
        write_legal_moves(game, rules, mask)
    else:
        write_legal_engagements(game, rules, mask)


@jit
def write_order_costs(game: Record, rules: Record, costs: IntArray) -> None:
    """Write what every order of both sides costs, or ILLEGAL, whether it can be paid or not.

    ``costs``: (2, 11, 28), overwritten. Satellites without fuel take no order but noop.
    """
    costs[:] = ILLEGAL
    costs[:, :, NOOP] = 0
    for side in range(SIDES):
        for number in range(SATELLITES):
            if game.fuel[side, number] > 0:
                for order in range(ORDERS):
                    costs[side, number, order] = order_cost(game, rules, side, number, order)


@jit
def write_legal_orders_of_games(games: Records, rules: Records, masks: IntArray) -> None:
    """Write the legal orders of every game of a batch; ``masks``: (n, 2, 11, 28) int8."""
    for place in range(len(games)):
        write_legal_orders(games[place], rules[place if len(rules) > 1 else 0], masks[place])
