"""The cost and legality of one order (rule book, Movement Phase and Engagement Phase).

An order that the satellite cannot pay for is not legal. ``legal_sets.py`` finds all legal orders of a game at once.
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
)
from geo_patrol.jit import jit, jitable

ILLEGAL = -1
"""The cost of an order that the rules do not allow."""


@jitable
def range_between(sector: int, other: int) -> int:
    """Return SAME_SECTOR, ADJACENT_SECTOR or OUT_OF_RANGE."""
    if sector == other:
        return SAME_SECTOR
    if are_adjacent(sector, other):
        return ADJACENT_SECTOR
    return OUT_OF_RANGE


@jitable
def is_hva_threatened(game: Record, side: int) -> bool:
    """Return whether an active enemy is in the same or an adjacent sector of a side's HVA: guarding needs one."""
    enemy = 1 - side
    for number in range(SATELLITES):
        if game.fuel[enemy, number] > 0:
            if range_between(game.sector[side, HVA], game.sector[enemy, number]) != OUT_OF_RANGE:
                return True
    return False


@jitable
def move_cost(game: Record, rules: Record, side: int, number: int, order: int) -> int:
    """Return the cost of an order in the movement phase, or ILLEGAL."""
    if order < NOOP or order > RADIAL_OUT:
        return ILLEGAL
    if order == RADIAL_IN and ring_of(game.sector[side, number]) <= rules.inner_ring:
        return ILLEGAL
    if order == RADIAL_OUT and ring_of(game.sector[side, number]) >= rules.outer_ring:
        return ILLEGAL
    return rules.move_cost[side, order]


@jitable
def attack_cost(game: Record, rules: Record, side: int, number: int, order: int) -> int:
    """Return the cost of a shot or a collision, or ILLEGAL."""
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


@jitable
def guard_cost(game: Record, rules: Record, side: int, number: int) -> int:
    """Return the cost of guarding, or ILLEGAL."""
    distance = range_between(game.sector[side, number], game.sector[side, HVA])
    if number == HVA or distance == OUT_OF_RANGE or not is_hva_threatened(game, side):
        return ILLEGAL
    return rules.engagement_cost[side, GUARDING, distance]


@jitable
def order_cost(game: Record, rules: Record, side: int, number: int, order: int) -> int:
    """Return the fuel that an order costs in the current phase, or ILLEGAL, whether the satellite has it or not."""
    if order == NOOP:
        return 0
    if game.phase == MOVEMENT:
        return move_cost(game, rules, side, number, order)
    if order < SHOOT or order > GUARD:
        return ILLEGAL
    if order == GUARD:
        return guard_cost(game, rules, side, number)
    return attack_cost(game, rules, side, number, order)


@jitable
def is_legal(game: Record, rules: Record, side: int, number: int, order: int) -> bool:
    """Return whether an order is legal: allowed by the rules, and affordable."""
    if order == NOOP:
        return True
    fuel = game.fuel[side, number]
    if fuel <= 0 or game.done:
        return False
    cost = order_cost(game, rules, side, number, order)
    return cost != ILLEGAL and cost <= fuel


@jit
def write_order_costs(game: Record, rules: Record, costs: IntArray) -> None:
    """Write the cost of every order of both sides, or ILLEGAL, whether it is affordable or not.

    ``costs``: (2, 11, 28), overwritten. Satellites without fuel take no order but noop.
    """
    for side in range(SIDES):
        for number in range(SATELLITES):
            is_active = game.fuel[side, number] > 0
            for order in range(ORDERS):
                if is_active or order == NOOP:
                    costs[side, number, order] = order_cost(game, rules, side, number, order)
                else:
                    costs[side, number, order] = ILLEGAL
