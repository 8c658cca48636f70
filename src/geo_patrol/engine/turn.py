"""The order of phases in a turn (rule book, Turn)."""

from geo_patrol.engine.drift import forfeit_game, play_drift
from geo_patrol.engine.engagement import enact_engagements, has_orders, pay_for_engagements, resolve_engagements
from geo_patrol.engine.movement import move_satellites, replace_illegal_orders
from geo_patrol.engine.state import DRIFT, ENGAGEMENT, MOVEMENT, IntArray, Record, Records
from geo_patrol.jit import jitable


@jitable
def play_movement(game: Record, rules: Record, orders: IntArray) -> None:
    """Play the movement phase with legal orders."""
    move_satellites(game, rules, orders)
    game.phase = ENGAGEMENT


@jitable
def play_engagement(game: Record, rules: Record, orders: IntArray, outcomes: Records) -> int:
    """Play the engagement phase with legal orders, up to the drift; return the number of outcomes."""
    count = 0
    if has_orders(orders):
        pay_for_engagements(game, rules, orders)
        count = resolve_engagements(game, rules, orders, outcomes)
        enact_engagements(game, outcomes, count)
    game.phase = DRIFT
    return count


@jitable
def play_orders(game: Record, rules: Record, legal: IntArray, orders: IntArray, outcomes: Records) -> int:
    """Play one decision phase of a game; an engagement is followed by the drift.

    Args:
        game: modified in place; a finished one stays as it is.
        rules: its rules.
        legal: (2, 11), the sets of legal orders.
        orders: (2, 11) order codes of both sides, any integers; illegal ones are replaced by noop in place.
        outcomes: receives the outcomes of an engagement.

    Returns:
        The number of outcomes; 0 in the movement phase.
    """
    if game.done:
        return 0
    replace_illegal_orders(game, legal, orders)
    if rules.forfeit and (game.illegal_orders[0] > 0 or game.illegal_orders[1] > 0):
        forfeit_game(game)
        return 0
    if game.phase == MOVEMENT:
        play_movement(game, rules, orders)
        return 0
    count = play_engagement(game, rules, orders, outcomes)
    play_drift(game, rules)
    return count
