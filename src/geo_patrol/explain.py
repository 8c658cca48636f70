"""Explanations of illegal orders."""

from geo_patrol.board import are_adjacent, ring_of
from geo_patrol.engine import state
from geo_patrol.engine.legality import ILLEGAL, is_hva_threatened, order_cost
from geo_patrol.notation import MOVES, PHASES, Order, SatelliteId, short_name
from geo_patrol.sides import SIDES


def why_illegal(game: state.Record, rules: state.Record, side: int, order: Order) -> str:
    """Return why an order of a side is illegal now.

    Args:
        game: record of the game.
        rules: record of its rules.
        side: 0 alpha, 1 bravo.
        order: an illegal order.
    """
    number, name = order.satellite, short_name(order.satellite)
    if number > rules.patrol_count[side]:
        return f"{SIDES[side]} has no {name}"
    if game.done:
        return "the game is over"
    if game.fuel[side, number] <= 0:
        return f"{name} has no fuel and takes no orders"
    if (order.action in MOVES) != (game.phase == state.MOVEMENT):
        return f"not in the {PHASES[game.phase]} phase"
    cost = int(order_cost(game, rules, side, number, order.code))
    if cost != ILLEGAL:
        return f"it costs {cost} fuel, and {name} has {game.fuel[side, number]}"
    if order.action in MOVES:
        where = "inner" if order.action == "radial_in" else "outer"
        return f"ring {ring_of(game.sector[side, number])} is the {where}most of the board"
    if number == state.HVA and order.action != "shoot":
        return f"an HVA cannot {order.action}"
    return _why_no_engagement(game, rules, side, order)


def _why_no_engagement(game: state.Record, rules: state.Record, side: int, order: Order) -> str:
    if order.action == "shoot" and game.ammo[side, order.satellite] == 0:
        return f"{short_name(order.satellite)} has no ammo"
    target_side, target = (side, state.HVA) if order.target is None else (1 - side, order.target)
    name = SatelliteId(SIDES[target_side], target)
    if target > rules.patrol_count[target_side]:
        return f"{SIDES[target_side]} has no {short_name(target)}"
    here, there = game.sector[side, order.satellite], game.sector[target_side, target]
    if here != there and not are_adjacent(here, there):
        return f"{name} in sector {there} is out of range of sector {here}"
    if order.action == "guard" and not is_hva_threatened(game, side):
        return "no active enemy is in the same or an adjacent sector of the HVA"
    return f"{name} is inactive"
