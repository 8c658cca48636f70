"""Legal orders (rule book, Movement Phase and Engagement Phase).

``order_cost`` judges one order. An order that the satellite cannot pay is not legal. ``legal_sets.py`` finds all legal
orders of a game at once.
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
