"""How scripts of the raiding family move: raiders by the table of paths, defenders to their HVA, the HVA evades."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.scripted.pathfinding import MOVES
from geo_patrol.agents.scripted.paths import FAR, IN_SECTOR, NEARBY, Paths
from geo_patrol.agents.scripted.seeded import uniform
from geo_patrol.engine.legality import range_between
from geo_patrol.engine.movement import destination
from geo_patrol.engine.state import (
    COLLISION,
    HVA,
    NOBODY,
    NOOP,
    OUT_OF_RANGE,
    PROGRADE,
    SAME_SECTOR,
    SATELLITES,
    SHOT,
    IntArray,
    Record,
)
from geo_patrol.jit import jitable

ALARM_TURNS = 2
"""Defenders gather when an enemy can attack their HVA within so many turns, this one included."""
_PATIENCE = 0.75
"""The fraction of the largest raid that could ever arrive together for which a quick raid waits."""
_WORTH = 20.0
"""Fuel for which a cheap raid takes one more raider along."""
_UNGUARDED = 0.5
"""The probability that an attack on the enemy HVA is not diverted."""
_PENNY = 1e-6
"""The probability of catching the enemy HVA for which a raider spends a unit of fuel: it only decides ties."""


class RaidPlan(NamedTuple):
    """The buffers in which the raid of one side is planned."""

    raiders: NDArray[np.int64]
    """(11,): 1 where a Patrol is on a raid."""
    open_odds: NDArray[np.float64]
    """(MOVES,): the probability that the enemy HVA makes each move and all raiders so far miss it."""


@jitable
def make_raid_plan() -> RaidPlan:
    """Allocate a raid plan."""
    return RaidPlan(np.zeros(SATELLITES, np.int64), np.zeros(MOVES))


@jitable
def attack_cost(game: Record, rules: Record, side: int, number: int) -> int:
    """Return what a satellite's attack costs in the target's sector: a shot, or a collision without ammo."""
    kind = SHOT if game.ammo[side, number] > 0 else COLLISION
    return int(rules.engagement_cost[side, kind, SAME_SECTOR])


@jitable
def can_pay(game: Record, rules: Record, side: int, number: int, price: int) -> bool:
    """Tell whether a satellite can pay for a path and for an attack at its end."""
    fuel = int(game.fuel[side, number])
    return price < fuel and price + attack_cost(game, rules, side, number) <= fuel


@jitable
def turns_to_attack(game: Record, rules: Record, side: int, number: int, paths: Paths, horizon: int) -> int:
    """Return after how many drifts an enemy can attack a side's HVA where it drifts, ``horizon`` if not before."""
    if game.fuel[1 - side, number] > 0:
        row = paths.prices[1 - side, NEARBY, game.sector[side, HVA], game.sector[1 - side, number]]
        for turns in range(min(horizon, len(row))):
            if can_pay(game, rules, 1 - side, number, int(row[turns])):
                return turns
    return horizon


@jitable
def soonest_attack(game: Record, rules: Record, side: int, paths: Paths) -> int:
    """Return after how many drifts a side's HVA can be attacked, ALARM_TURNS if not before."""
    soonest = ALARM_TURNS
    for number in range(1, SATELLITES):
        soonest = turns_to_attack(game, rules, side, number, paths, soonest)
    return soonest


@jitable
def path_home(paths: Paths, side: int, target: int, sector: int, fuel: int) -> int:
    """Return the first move of the cheapest path into a sector that drifts along; of equals, the quickest."""
    prices, moves = paths.prices[side, IN_SECTOR, target, sector], paths.moves[side, IN_SECTOR, target, sector]
    best, move = FAR, NOOP
    for turns in range(len(prices)):
        if prices[turns] < best and prices[turns] < fuel:
            best, move = int(prices[turns]), int(moves[turns])
    return move


@jitable
def move_hva(
    game: Record, legal: IntArray, side: int, paths: Paths, tactics: Record, alarm: int, key: np.uint64
) -> int:
    """Return the HVA's move: aside at random when it can be attacked, or back to its goal sector."""
    if alarm == 0 and uniform(key, 0) < tactics.dodge:
        aside = PROGRADE + int(uniform(key, 1) * (MOVES - PROGRADE))
        return aside if (legal[side, HVA] >> aside) & 1 else NOOP
    here, goal = int(game.sector[side, HVA]), int(game.goal[side])
    return path_home(paths, side, goal, here, int(game.fuel[side, HVA])) if here != goal else NOOP


@jitable
def count_arriving(
    game: Record, rules: Record, side: int, prices: IntArray, turns: int, num_raiders: int
) -> tuple[int, float]:
    """Count the Patrols that can attack after so many drifts, at most ``num_raiders``; return their mean price too.

    ``prices``: (sectors, turns), to the enemy HVA.
    """
    count, total = 0, 0
    for number in range(1, SATELLITES):
        price = int(prices[game.sector[side, number], turns])
        if can_pay(game, rules, side, number, price):
            count += 1
            total += price
    return min(count, num_raiders), total / max(count, 1)


@jitable
def plan_arrival(game: Record, rules: Record, side: int, prices: IntArray, is_quick: bool, num_raiders: int) -> int:
    """Return in how many turns a raid arrives, ``NOBODY`` if none can.

    A quick raid takes the next turn in which most of the largest possible raid can arrive together; a cheap one the turn
    with the best trade of raiders against fuel.
    """
    horizon = prices.shape[1]
    largest = 0
    for turns in range(horizon):
        largest = max(largest, count_arriving(game, rules, side, prices, turns, num_raiders)[0])
    best, best_value = NOBODY, -np.inf
    for turns in range(horizon):
        count, price = count_arriving(game, rules, side, prices, turns, num_raiders)
        if is_quick and count > 0 and count >= largest * _PATIENCE:
            return turns
        if count > 0 and count * _WORTH - price > best_value:
            best, best_value = turns, count * _WORTH - price
    return best


@jitable
def mark_raiders(
    game: Record, rules: Record, side: int, prices: IntArray, turns: int, num_raiders: int, raiders: IntArray
) -> None:
    """Mark the Patrols whose paths to the enemy HVA are cheapest."""
    for _ in range(num_raiders):
        best, best_price = NOBODY, FAR
        for number in range(1, SATELLITES):
            price = int(prices[game.sector[side, number], turns])
            if not raiders[number] and price < best_price and can_pay(game, rules, side, number, price):
                best, best_price = number, price
        if best == NOBODY:
            return
        raiders[best] = 1


@jitable
def odds_at(game: Record, rules: Record, side: int, number: int, order: int, target: int) -> float:
    """Return the odds of a satellite's attack, after a move, on a target in a sector; 0 where it cannot attack."""
    distance = range_between(destination(int(game.sector[side, number]), order), target)
    if distance == OUT_OF_RANGE:
        return 0.0
    kind = SHOT if game.ammo[side, number] > 0 else COLLISION
    cost = rules.move_cost[side, order] + rules.engagement_cost[side, kind, distance]
    return rules.engagement_odds[side, kind, distance] if cost <= game.fuel[side, number] else 0.0


@jitable
def foresee_hva(legal_moves: int, lead: float, open_odds: NDArray[np.float64]) -> None:
    """Write the probabilities of the enemy HVA's moves: uniform with probability ``lead``, otherwise none."""
    moves = 0
    for order in range(PROGRADE, MOVES):
        moves += (legal_moves >> order) & 1
    for order in range(PROGRADE, MOVES):
        open_odds[order] = lead / moves if (legal_moves >> order) & 1 else 0.0
    open_odds[NOOP] = 1.0 - lead if moves > 0 else 1.0


@jitable
def close_in(
    game: Record, rules: Record, legal: IntArray, side: int, reach: int, lead: float, plan: RaidPlan, orders: IntArray
) -> None:
    """Choose raiders' moves greedily: each goes where it most likely catches an enemy HVA that those before it miss."""
    target = int(game.sector[1 - side, HVA])
    foresee_hva(int(legal[1 - side, HVA]), lead, plan.open_odds)
    for number in range(1, SATELLITES):
        if plan.raiders[number]:
            best, best_value = NOOP, 0.0
            for order in range(MOVES):
                if (legal[side, number] >> order) & 1:
                    value = -_PENNY * rules.move_cost[side, order]
                    for i in range(MOVES):
                        aim = destination(target, i)
                        if plan.open_odds[i] > 0.0:
                            if reach == NEARBY or destination(int(game.sector[side, number]), order) == aim:
                                value += plan.open_odds[i] * odds_at(game, rules, side, number, order, aim)
                    if value > best_value:
                        best, best_value = order, value
            orders[number] = best
            for i in range(MOVES):
                odds = odds_at(game, rules, side, number, best, destination(target, i))
                plan.open_odds[i] *= 1.0 - odds * _UNGUARDED


@jitable
def send_raiders(
    game: Record,
    rules: Record,
    legal: IntArray,
    side: int,
    paths: Paths,
    tactics: Record,
    plan: RaidPlan,
    orders: IntArray,
) -> None:
    """Write the moves of the Patrols on a raid against the enemy HVA."""
    num_raiders = -tactics.defenders
    for number in range(1, SATELLITES):
        num_raiders += game.fuel[side, number] > 0
    if not tactics.raids or num_raiders <= 0:
        return
    target = int(game.sector[1 - side, HVA])
    prices, moves = paths.prices[side, tactics.reach, target], paths.moves[side, tactics.reach, target]
    turns = plan_arrival(game, rules, side, prices, tactics.is_quick, num_raiders)
    if turns == NOBODY:
        return
    mark_raiders(game, rules, side, prices, turns, num_raiders, plan.raiders)
    if turns == 0:
        close_in(game, rules, legal, side, tactics.reach, tactics.lead, plan, orders)
        return
    for number in range(1, SATELLITES):
        if plan.raiders[number]:
            orders[number] = moves[game.sector[side, number], turns]


@jitable
def order_movement(
    game: Record,
    rules: Record,
    legal: IntArray,
    side: int,
    paths: Paths,
    tactics: Record,
    key: np.uint64,
    plan: RaidPlan,
    orders: IntArray,
) -> None:
    """Write a side's orders of a movement phase, (11,); ``legal``: (2, 11), sets."""
    for number in range(SATELLITES):
        plan.raiders[number] = 0
    alarm = soonest_attack(game, rules, side, paths)
    orders[HVA] = move_hva(game, legal, side, paths, tactics, alarm, key)
    send_raiders(game, rules, legal, side, paths, tactics, plan, orders)
    if alarm < ALARM_TURNS:
        shelter = destination(int(game.sector[side, HVA]), orders[HVA])
        for number in range(1, SATELLITES):
            if not plan.raiders[number]:
                sector, fuel = int(game.sector[side, number]), int(game.fuel[side, number])
                orders[number] = path_home(paths, side, shelter, sector, fuel)
