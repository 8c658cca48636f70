"""The orders of a movement phase: evasion of the HVA, the strike of raiders, and the return of defenders."""

import math

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.scripted.pathfinding import MOVE, MOVES, PRICE, UNREACHABLE, can_step, find_paths
from geo_patrol.agents.scripted.raids import Plans, attack_kind, count_incoming, find_strikes, plan_raid
from geo_patrol.agents.scripted.seeded import uniform
from geo_patrol.agents.scripted.valuation import (
    ENEMY,
    OWN,
    Style,
    count_active,
    is_active,
    kill_worth,
    sector_of,
    turns_to_end,
)
from geo_patrol.engine.engagement import range_between
from geo_patrol.engine.state import HVA, NOOP, OUT_OF_RANGE, SATELLITES, IntArray, Record
from geo_patrol.engine.turn import destination
from geo_patrol.jit import jitable_call

PROBABILITY_PER_POINT = 0.02
"""The probability of catching the enemy HVA for which a raider spends fuel worth a point."""


@jitable_call
def odds_after(game: Record, rules: Record, side: int, number: int, order: int, target: int) -> float:
    """Return the odds of a satellite's attack, after a move, on a target in a sector; 0 where it cannot attack."""
    sector = sector_of(game, side, number)
    distance = range_between(destination(sector, order), target)
    if distance == OUT_OF_RANGE or not can_step(rules, sector, order):
        return 0.0
    kind = attack_kind(game, side, number)
    cost = rules.move_cost[side, order] + rules.engagement_cost[side, kind, distance]
    return rules.engagement_odds[side, kind, distance] if cost <= game.fuel[side, number] else 0.0


@jitable_call
def hit_probability(game: Record, rules: Record, side: int, target: int, raid: IntArray, style: Style) -> float:
    """Estimate the probability that a side's HVA is hit this turn in a sector, ``raid`` being the attackers' paths."""
    missed = 1.0
    for number in range(1, SATELLITES):
        sector = game.sector[1 - side, number]
        if is_active(game, 1 - side, number) and raid[0, PRICE, sector] < UNREACHABLE:
            expected = odds_after(game, rules, 1 - side, number, raid[0, MOVE, sector], target)
            best = expected
            for order in range(MOVES):
                best = max(best, odds_after(game, rules, 1 - side, number, order, target))
            missed *= 1.0 - expected - style.foresight * (best - expected)
    return 1.0 - missed


@jitable_call
def step_loss(game: Record, rules: Record, side: int, order: int, raid: IntArray, style: Style) -> float:
    """Return the points that a side expects to lose by a move of its HVA under attack."""
    here = sector_of(game, side, HVA)
    cost = rules.move_cost[side, order]
    if not can_step(rules, here, order) or (cost + rules.station_keeping_cost[side] >= game.fuel[side, HVA] and order):
        return np.inf
    there = destination(here, order)
    worth = kill_worth(game, rules, side, style)
    loss = hit_probability(game, rules, side, there, raid, style) * worth + cost * rules.weight[side, HVA]
    return loss if there == game.goal[side] else loss + rules.goal_points[side]


@jitable_call
def write_evasion(
    game: Record, rules: Record, side: int, raid: IntArray, style: Style, odds: NDArray[np.float64]
) -> None:
    """Write the probabilities of the moves of a side's HVA under attack: a softmax of their expected losses, negated."""
    lowest = np.inf
    for order in range(MOVES):
        odds[order] = step_loss(game, rules, side, order, raid, style)
        lowest = min(lowest, odds[order])
    total = 0.0
    for order in range(MOVES):
        odds[order] = math.exp((lowest - odds[order]) / style.temperature)
        total += odds[order]
    for order in range(MOVES):
        odds[order] /= total


@jitable_call
def sample_move(odds: NDArray[np.float64], key: np.uint64) -> int:
    """Sample a move from its probabilities."""
    remaining = uniform(key, 0)
    for order in range(MOVES):
        remaining -= odds[order]
        if remaining < 0:
            return order
    return NOOP


@jitable_call
def move_along(game: Record, number: int, paths: IntArray, reserve: int) -> int:
    """Return the first move of the cheapest path that leaves a reserve of fuel; of equals, the quickest."""
    sector = game.sector[OWN, number]
    best, move = UNREACHABLE, NOOP
    for turns in range(len(paths)):
        price = paths[turns, PRICE, sector]
        if price < best and price + reserve < game.fuel[OWN, number]:
            best, move = price, paths[turns, MOVE, sector]
    return move


@jitable_call
def move_hva(game: Record, rules: Record, plans: Plans, style: Style, key: np.uint64) -> int:
    """Return the HVA's move: an evasion of a strike, or back to its goal sector, or none."""
    here = sector_of(game, OWN, HVA)
    if hit_probability(game, rules, OWN, here, plans.threat, style) >= style.dodge:
        write_evasion(game, rules, OWN, plans.threat, style, plans.odds)
        return sample_move(plans.odds, key)
    if here == game.goal[OWN]:
        return NOOP
    find_paths(rules, OWN, int(np.int64(game.goal[OWN])), UNREACHABLE, plans.steps, plans.prices, plans.home)
    to_the_end = turns_to_end(game, rules) * rules.station_keeping_cost[OWN]
    return move_along(game, HVA, plans.home, min(to_the_end, game.fuel[OWN, HVA] // 2))


@jitable_call
def best_catch(
    game: Record, rules: Record, number: int, mask: IntArray, targets: IntArray, open_odds: NDArray[np.float64]
) -> int:
    """Return the move of a raider that is most likely to catch the enemy HVA where the others so far miss it."""
    best, best_value = NOOP, 0.0
    for order in range(MOVES):
        value = -rules.move_cost[OWN, order] * rules.weight[OWN, 1] * PROBABILITY_PER_POINT
        for i in range(MOVES):
            value += open_odds[i] * odds_after(game, rules, OWN, number, order, targets[i])
        if mask[order] and value > best_value:
            best, best_value = order, value
    return best


@jitable_call
def close_in(game: Record, rules: Record, masks: IntArray, plans: Plans, style: Style, orders: IntArray) -> None:
    """Choose raiders' moves greedily: each goes where it most likely catches an enemy HVA that those before it miss."""
    targets, open_odds = plans.targets, plans.odds  # that the HVA goes to each target and all raiders so far miss it
    write_evasion(game, rules, ENEMY, plans.strike, style, open_odds)
    for order in range(MOVES):
        targets[order] = destination(sector_of(game, ENEMY, HVA), order)
        open_odds[order] *= style.lead
    open_odds[NOOP] += 1.0 - style.lead
    for number in range(1, SATELLITES):
        if plans.raiders[number]:
            orders[number] = best_catch(game, rules, number, masks[number], targets, open_odds)
            for i in range(MOVES):
                open_odds[i] *= 1.0 - odds_after(game, rules, OWN, number, orders[number], targets[i])


@jitable_call
def decide_movement(
    game: Record, rules: Record, masks: IntArray, plans: Plans, style: Style, key: np.uint64, orders: IntArray
) -> None:
    """Write the orders of a movement phase."""
    find_strikes(game, rules, OWN, style, plans, plans.strike)
    find_strikes(game, rules, ENEMY, style, plans, plans.threat)
    incoming = count_incoming(game, rules, plans.threat)
    raiders, num_active = plans.raiders, count_active(game, OWN)
    num_home = int(max(num_active * style.home_share, incoming * style.defenders_per_raider) + 0.5)
    turns = plan_raid(game, rules, plans.strike, style, max(num_active - num_home, 0), raiders)
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
