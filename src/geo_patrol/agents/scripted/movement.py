"""The orders of a movement phase."""

import numpy as np

from geo_patrol.agents.scripted.evasion import close_in, move_along, move_hva
from geo_patrol.agents.scripted.pathfinding import MOVE, UNREACHABLE, find_paths
from geo_patrol.agents.scripted.raids import Plans, count_incoming, find_strikes, plan_raid
from geo_patrol.agents.scripted.valuation import ENEMY, OWN, Style, count_active, sector_of
from geo_patrol.engine.movement import destination
from geo_patrol.engine.state import HVA, SATELLITES, IntArray, Record
from geo_patrol.jit import jitable_call


@jitable_call
def count_spare(active: int, incoming: int, style: Style) -> int:
    """Return how many of the active Patrols may leave home when ``incoming`` enemies approach."""
    defenders = max(active * style.home_share, incoming * style.defenders_per_raider)
    return max(active - int(defenders + 0.5), 0)


@jitable_call
def decide_movement(
    game: Record, rules: Record, masks: IntArray, plans: Plans, style: Style, key: np.uint64, orders: IntArray
) -> None:
    """Write the orders of a movement phase."""
    find_strikes(game, rules, OWN, style, plans, plans.strike)
    find_strikes(game, rules, ENEMY, style, plans, plans.threat)
    incoming = count_incoming(game, rules, plans.threat)
    raiders = plans.raiders
    num_spare = count_spare(count_active(game, OWN), incoming, style)
    turns = plan_raid(game, rules, plans.strike, style, num_spare, raiders)
    orders[HVA] = move_hva(game, rules, plans, style, key)
    if incoming > 0:
        shelter = destination(sector_of(game, OWN, HVA), orders[HVA])
        find_paths(rules, OWN, shelter, UNREACHABLE, plans.steps, plans.prices, plans.home)
    for number in range(1, SATELLITES):
        if raiders[number]:
            orders[number] = plans.strike[turns, MOVE, game.sector[OWN, number]]
        elif incoming > 0:
            orders[number] = move_along(game, number, plans.home, 0)
    if turns == 0:
        close_in(game, rules, masks, plans, style, orders)
