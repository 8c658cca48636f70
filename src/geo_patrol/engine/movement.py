"""Illegal orders, and the movement phase (rule book, Movement Phase)."""

from geo_patrol.board import prograde, radial_in, radial_out, retrograde
from geo_patrol.engine.legality import is_legal
from geo_patrol.engine.state import (
    NOOP,
    PROGRADE,
    RADIAL_IN,
    RADIAL_OUT,
    RETROGRADE,
    SATELLITES,
    SIDES,
    IntArray,
    Record,
)
from geo_patrol.jit import jit


@jit
def strike_illegal_orders(game: Record, rules: Record, orders: IntArray) -> None:
    """Replace illegal orders, a (2, 11) array, by noop in place, and count them in the game's record.

    All orders are judged before any is paid for: an enemy that spends its last fuel on an order of this phase is still
    a target in it.
    """
    for side in range(SIDES):
        illegal = 0
        for number in range(SATELLITES):
            if orders[side, number] != NOOP and not is_legal(game, rules, side, number, orders[side, number]):
                orders[side, number] = NOOP
                illegal += 1
        game.illegal_orders[side] = illegal


@jit
def destination(sector: int, order: int) -> int:
    """Return the sector where a move leads."""
    if order == PROGRADE:
        return prograde(sector)
    if order == RETROGRADE:
        return retrograde(sector)
    if order == RADIAL_IN:
        return radial_in(sector)
    if order == RADIAL_OUT:
        return radial_out(sector)
    return sector


@jit
def move_satellites(game: Record, rules: Record, orders: IntArray) -> None:
    """Pay for the legal moves of both sides and carry them out."""
    for side in range(SIDES):
        for number in range(SATELLITES):
            order = orders[side, number]
            if order != NOOP:
                game.fuel[side, number] -= rules.move_cost[side, order]
                game.sector[side, number] = destination(game.sector[side, number], order)
