"""How scripts of the raiding family move: raiders by the table of paths, defenders to their HVA, the HVA out of harm."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.scripted.pathfinding import MOVES
from geo_patrol.agents.scripted.paths import FAR, IN_SECTOR, NEARBY, Paths
from geo_patrol.engine.legality import range_between
from geo_patrol.engine.movement import destination
from geo_patrol.engine.rng import stream_number
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
"""The share of the raiders that could ever arrive together for which a quick raid waits."""
_WORTH = 20.0
"""Fuel for which a cheap raid takes one more raider along."""
_UNGUARDED = 0.5
"""The chance that an attack on the enemy HVA is not drawn away."""
_PENNY = 1e-6
"""The chance to catch the enemy HVA for which a raider spends a unit of fuel: all that there is, if need be."""
_SHIFT_11 = np.uint64(11)
_UNIT = 1.0 / (1 << 53)


class Desk(NamedTuple):
    """Room for the plans of one side."""

    raiders: NDArray[np.int64]
    """(11,): 1 where a Patrol is on a raid."""
    open_odds: NDArray[np.float64]
    """(MOVES,): that the enemy HVA goes to each place and everybody so far misses it."""


@jitable
def make_desk() -> Desk:
    """Return room for plans."""
    return Desk(np.zeros(SATELLITES, np.int64), np.zeros(MOVES))


@jitable
def chance(key: np.uint64, number: int) -> float:
    """Return one of the numbers from [0, 1) that belong to a key."""
    return np.int64(stream_number(key, np.uint64(number)) >> _SHIFT_11) * _UNIT


@jitable
def attack_cost(game: Record, rules: Record, side: int, number: int) -> int:
    """Return what a satellite's attack costs in the target's sector: a shot, or a collision without ammo."""
    kind = SHOT if game.ammo[side, number] > 0 else COLLISION
    return int(rules.engagement_cost[side, kind, SAME_SECTOR])


@jitable
def can_pay(game: Record, rules: Record, side: int, number: int, price: int) -> bool:
    """Tell whether a satellite can pay for a way and for an attack at its end."""
    fuel = int(game.fuel[side, number])
    return price < fuel and price + attack_cost(game, rules, side, number) <= fuel


@jitable
def turns_to_attack(game: Record, rules: Record, side: int, number: int, paths: Paths, most: int) -> int:
    """Return after how many drifts an enemy can attack a side's HVA where it drifts, ``most`` if not before."""
    if game.fuel[1 - side, number] > 0:
        row = paths.prices[1 - side, NEARBY, game.sector[side, HVA], game.sector[1 - side, number]]
        for turns in range(min(most, len(row))):
            if can_pay(game, rules, 1 - side, number, int(row[turns])):
                return turns
    return most


@jitable
def soonest_attack(game: Record, rules: Record, side: int, paths: Paths) -> int:
    """Return after how many drifts a side's HVA can be attacked, ALARM_TURNS if not before."""
    soonest = ALARM_TURNS
    for number in range(1, SATELLITES):
        soonest = turns_to_attack(game, rules, side, number, paths, soonest)
    return soonest


@jitable
def path_home(paths: Paths, side: int, target: int, sector: int, fuel: int) -> int:
    """Return the first move of the cheapest way into a sector that drifts along; of equals, the quickest."""
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
    """Return the HVA's move: aside when it can be attacked, drawn by chance, or back to its goal sector."""
    if alarm == 0 and chance(key, 0) < tactics.dodge:
        aside = PROGRADE + int(chance(key, 1) * (MOVES - PROGRADE))
        return aside if (legal[side, HVA] >> aside) & 1 else NOOP
    here, goal = int(game.sector[side, HVA]), int(game.goal[side])
    return path_home(paths, side, goal, here, int(game.fuel[side, HVA])) if here != goal else NOOP


@jitable
def count_arriving(
    game: Record, rules: Record, side: int, prices: IntArray, turns: int, wanted: int
) -> tuple[int, float]:
    """Count the Patrols that can attack after so many drifts, ``wanted`` at most; return their mean price too.

    ``prices``: (sectors, turns), to the enemy HVA.
    """
    count, total = 0, 0
    for number in range(1, SATELLITES):
        price = int(prices[game.sector[side, number], turns])
        if can_pay(game, rules, side, number, price):
            count += 1
            total += price
    return min(count, wanted), total / max(count, 1)


@jitable
def plan_arrival(game: Record, rules: Record, side: int, prices: IntArray, is_quick: bool, wanted: int) -> int:
    """Return in how many turns a raid arrives, NOBODY if none can.

    A quick one takes the next turn in which most of those arrive that ever could together, a cheap one that which costs
    least.
    """
    horizon = prices.shape[1]
    most = 0
    for turns in range(horizon):
        most = max(most, count_arriving(game, rules, side, prices, turns, wanted)[0])
    best, best_value = NOBODY, -np.inf
    for turns in range(horizon):
        count, price = count_arriving(game, rules, side, prices, turns, wanted)
        if is_quick and count > 0 and count >= most * _PATIENCE:
            return turns
        if count > 0 and count * _WORTH - price > best_value:
            best, best_value = turns, count * _WORTH - price
    return best


@jitable
def mark_raiders(
    game: Record, rules: Record, side: int, prices: IntArray, turns: int, wanted: int, raiders: IntArray
) -> None:
    """Mark the Patrols whose paths to the enemy HVA are cheapest."""
    for _ in range(wanted):
        best, best_price = NOBODY, FAR
        for number in range(1, SATELLITES):
            price = int(prices[game.sector[side, number], turns])
            if not raiders[number] and price < best_price and can_pay(game, rules, side, number, price):
                best, best_price = number, price
        if best == NOBODY:
            return
        raiders[best] = 1


@jitable
def odds_at(game: Record, rules: Record, side: int, number: int, order: int, place: int) -> float:
    """Return the odds of a satellite's attack, after a move, on a target in a sector; 0 where it cannot attack."""
    distance = range_between(destination(int(game.sector[side, number]), order), place)
    if distance == OUT_OF_RANGE:
        return 0.0
    kind = SHOT if game.ammo[side, number] > 0 else COLLISION
    cost = rules.move_cost[side, order] + rules.engagement_cost[side, kind, distance]
    return rules.engagement_odds[side, kind, distance] if cost <= game.fuel[side, number] else 0.0


@jitable
def foresee_hva(legal_moves: int, lead: float, open_odds: NDArray[np.float64]) -> None:
    """Write the chances of the enemy HVA's moves: it stays, or, with the chance ``lead``, goes anywhere alike."""
    moves = 0
    for order in range(PROGRADE, MOVES):
        moves += (legal_moves >> order) & 1
    for order in range(PROGRADE, MOVES):
        open_odds[order] = lead / moves if (legal_moves >> order) & 1 else 0.0
    open_odds[NOOP] = 1.0 - lead if moves > 0 else 1.0


@jitable
def close_in(
    game: Record, rules: Record, legal: IntArray, side: int, reach: int, lead: float, desk: Desk, orders: IntArray
) -> None:
    """Let raiders go where they catch the enemy HVA most likely, each where those before it may miss it."""
    target = int(game.sector[1 - side, HVA])
    foresee_hva(int(legal[1 - side, HVA]), lead, desk.open_odds)
    for number in range(1, SATELLITES):
        if desk.raiders[number]:
            best, best_value = NOOP, 0.0
            for order in range(MOVES):
                if (legal[side, number] >> order) & 1:
                    value = -_PENNY * rules.move_cost[side, order]
                    for place in range(MOVES):
                        aim = destination(target, place)
                        if desk.open_odds[place] > 0.0:
                            if reach == NEARBY or destination(int(game.sector[side, number]), order) == aim:
                                value += desk.open_odds[place] * odds_at(game, rules, side, number, order, aim)
                    if value > best_value:
                        best, best_value = order, value
            orders[number] = best
            for place in range(MOVES):
                odds = odds_at(game, rules, side, number, best, destination(target, place))
                desk.open_odds[place] *= 1.0 - odds * _UNGUARDED


@jitable
def send_raiders(
    game: Record, rules: Record, legal: IntArray, side: int, paths: Paths, tactics: Record, desk: Desk, orders: IntArray
) -> None:
    """Order those Patrols on their way to the enemy HVA that do not stay at home."""
    wanted = -tactics.defenders
    for number in range(1, SATELLITES):
        wanted += game.fuel[side, number] > 0
    if not tactics.raids or wanted <= 0:
        return
    target = int(game.sector[1 - side, HVA])
    prices, moves = paths.prices[side, tactics.reach, target], paths.moves[side, tactics.reach, target]
    turns = plan_arrival(game, rules, side, prices, tactics.is_quick, wanted)
    if turns == NOBODY:
        return
    mark_raiders(game, rules, side, prices, turns, wanted, desk.raiders)
    if turns == 0:
        close_in(game, rules, legal, side, tactics.reach, tactics.lead, desk, orders)
        return
    for number in range(1, SATELLITES):
        if desk.raiders[number]:
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
    desk: Desk,
    orders: IntArray,
) -> None:
    """Give a side's orders of a movement phase, (11,); ``legal``: (2, 11), sets."""
    desk.raiders[:] = 0
    alarm = soonest_attack(game, rules, side, paths)
    orders[HVA] = move_hva(game, legal, side, paths, tactics, alarm, key)
    send_raiders(game, rules, legal, side, paths, tactics, desk, orders)
    if alarm < ALARM_TURNS:
        shelter = destination(int(game.sector[side, HVA]), orders[HVA])
        for number in range(1, SATELLITES):
            if not desk.raiders[number]:
                sector, fuel = int(game.sector[side, number]), int(game.fuel[side, number])
                orders[number] = path_home(paths, side, shelter, sector, fuel)
