"""Legality judged one order at a time, in the words of the rule books: the oracle of ``geo_patrol.engine.legal``."""

from geo_patrol.base.board import are_adjacent, ring_of
from geo_patrol.base.jit import jitable
from geo_patrol.engine.state import (
    COLLIDE,
    COLLISION,
    GUARD,
    GUARDING,
    HVA,
    MOVEMENT,
    NOOP,
    RADIAL_IN,
    RADIAL_OUT,
    SATELLITES,
    SHOOT,
    SHOT,
    Record,
)

ILLEGAL = -1
"""The cost of an order that the rules do not allow."""
OUT_OF_RANGE = 2


@jitable
def range_between(sector: int, other: int) -> int:
    """Return 0 in the same sector, 1 in adjacent ones, OUT_OF_RANGE otherwise."""
    if sector == other:
        return 0
    return 1 if are_adjacent(sector, other) else OUT_OF_RANGE


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
