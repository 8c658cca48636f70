"""Illegal orders, and the movement phase (rule book, Movement Phase)."""

from geo_patrol.board import prograde, radial_in, radial_out, retrograde
from geo_patrol.engine.state import (
    NOOP,
    ORDERS,
    PROGRADE,
    RADIAL_IN,
    SATELLITES,
    SIDES,
    IntArray,
    Record,
)
from geo_patrol.jit import jitable


@jitable
def replace_illegal_orders(game: Record, legal: IntArray, orders: IntArray) -> None:
    """Replace illegal orders by noop in place, and count them in the game's record.

    Args:
        game: the game before anything is paid for: an enemy that spends its last fuel on an order of this phase is still
            a legal target in it.
        legal: (2, 11), the sets of legal orders.
        orders: (2, 11), any integers.
    """
    for side in range(SIDES):
        illegal = 0
        for number in range(SATELLITES):
            order = orders[side, number]
            if order < NOOP or order >= ORDERS or not (legal[side, number] >> order) & 1:
                orders[side, number] = NOOP
                illegal += 1
        game.illegal_orders[side] = illegal


@jitable
def destination(sector: int, order: int) -> int:
    """Return the sector where a move leads.

    All four are computed and one is selected: a mispredicted branch would take longer.
    """
    along = prograde(sector) if order == PROGRADE else retrograde(sector)
    across = radial_in(sector) if order == RADIAL_IN else radial_out(sector)
    moved = across if order >= RADIAL_IN else along
    return sector if order == NOOP else moved


@jitable
def move_satellites(game: Record, rules: Record, orders: IntArray) -> None:
    """Pay for the legal moves of both sides and carry them out; a noop costs nothing and stays."""
    for side in range(SIDES):
        for number in range(SATELLITES):
            order = orders[side, number]
            game.fuel[side, number] -= rules.move_cost[side, order]
            game.sector[side, number] = destination(int(game.sector[side, number]), order)
