"""The agent ``scripted``: exact path finding, and engagements by their expected gain in points.

From top to bottom: its parameters and what satellites are worth, when a raid pays, the orders of a movement phase,
those of an engagement phase, and the agent.
"""

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from geo_patrol.agents.scripted import script
from geo_patrol.agents.scripted.paths import (
    MOVE,
    MOVES,
    OUT_OF_RANGE,
    PRICE,
    UNREACHABLE,
    can_step,
    end_of_sectors,
    find_paths,
    make_paths,
    range_between,
    write_steps,
)
from geo_patrol.base.board import MAX_RING, azimuth_of, ring_of
from geo_patrol.base.jit import jit, jitable_call
from geo_patrol.engine import state
from geo_patrol.engine.engagement import GUARD_DECAY
from geo_patrol.engine.legal import check_keys, check_masks
from geo_patrol.engine.turn import destination

OWN, ENEMY = 0, 1
"""The sides of a position as the agent sees it."""
SAFE_TURNS = 3
"""A side that is ahead starts no raid when so few turns remain."""


Fraction = Annotated[float, Field(ge=0, le=1)]
Points = Annotated[float, Field(ge=0, le=1_000)]


class ScriptedStyle(NamedTuple):
    """The parameters of ``scripted``."""

    home_share: Fraction = 0.4
    """The fraction of the active Patrols that do not go on a raid."""
    defenders_per_raider: Annotated[float, Field(ge=0, le=10)] = 0.5
    """How many Patrols stay at home for each enemy that comes."""
    haste: Points = 4.0
    """Points that it is worth to strike one turn earlier."""
    threshold: Fraction = 0.4
    """The probability of destroying the enemy HVA that a raid must have."""
    trust: Fraction = 0.3
    """The probability that a Patrol near the enemy HVA guards it."""
    premium: Points = 15.0
    """Fuel that better odds of a strike are worth, for a difference of one."""
    dodge: Annotated[float, Field(ge=0, le=2)] = 0.8
    """The probability of being hit at which the own HVA evades."""
    lead: Fraction = 0.8
    """The probability that the enemy HVA is expected to evade."""
    foresight: Fraction = 0.4
    """The probability that raiders are expected to foresee where an HVA goes, instead of attacking where it is."""
    temperature: Annotated[float, Field(ge=0.1, le=1_000)] = 3.0
    """The temperature, in points, of the softmax from which an evading HVA's move is sampled."""
    ending: Points = 80.0
    """Points that winning at once is worth on top of the score, and that losing at once costs."""
    danger: Points = 4.0
    """Points that it is worth to destroy an enemy near the own HVA."""


@jitable_call
def sector_of(game: state.Record, side: int, number: int) -> int:
    """Return the sector of a satellite, as a 64-bit integer."""
    return int(np.int64(game.sector[side, number]))


@jitable_call
def is_active(game: state.Record, side: int, number: int) -> bool:
    """Tell whether a satellite is on the board and has fuel."""
    return bool(game.fuel[side, number] > 0)


@jitable_call
def count_active(game: state.Record, side: int) -> int:
    """Count the active Patrols of a side."""
    count = 0
    for number in range(1, state.SATELLITES):
        count += is_active(game, side, number)
    return count


@jitable_call
def kill_worth(game: state.Record, rules: state.Record, side: int, style: ScriptedStyle) -> float:
    """Return the points that it is worth to destroy a side's HVA, negative where that side would win by it."""
    points = game.fuel[side, state.HVA] * rules.weight[side, state.HVA]
    margin = game.score[1 - side] - game.score[side] + points
    return points + style.ending if margin > 0 else margin - style.ending


@jitable_call
def turns_to_end(game: state.Record, rules: state.Record) -> int:
    """Return how many turns remain, this one included, if both HVAs earn their goal points and nothing is burnt."""
    turns = max(int(rules.turn_limit), 1)
    for side in range(state.NUM_SIDES):
        earned = rules.goal_points[side]
        if earned > 0:
            missing = max(rules.win_score[side] - game.score[side], 1)
            turns = min(turns, int((missing + earned - 1) // earned))
    return turns


@jitable_call
def may_rest(game: state.Record, rules: state.Record) -> bool:
    """Tell whether the game is about to be won by drifting along."""
    turns = turns_to_end(game, rules)
    lead = game.score[OWN] - game.score[ENEMY]
    return turns <= SAFE_TURNS and lead + turns * (rules.goal_points[OWN] - rules.goal_points[ENEMY]) > 0


STRIKE_TURNS, THREAT_TURNS, HOME_TURNS = 9, 3, 4
"""How many turns ahead a raid is planned, enemies are seen coming, and paths home are searched."""


class Plans(NamedTuple):
    """The paths of the Patrols to the enemy HVA, of the enemies to the own one, and home; with buffers."""

    strike: state.IntArray
    threat: state.IntArray
    home: state.IntArray
    steps: NDArray[np.int64]
    prices: NDArray[np.int64]
    raiders: NDArray[np.int64]
    """(11,): 1 where a Patrol is on a raid."""
    targets: NDArray[np.int64]
    """(MOVES,): the sectors where the enemy HVA may go."""
    odds: NDArray[np.float64]
    """(MOVES,): the probabilities of the moves of an HVA under attack."""


def make_plans() -> Plans:
    """Allocate plans for the largest board."""
    sectors = end_of_sectors(MAX_RING)
    return Plans(
        make_paths(STRIKE_TURNS),
        make_paths(THREAT_TURNS),
        make_paths(HOME_TURNS),
        np.zeros((sectors, MOVES), np.int64),
        np.zeros(sectors, np.int64),
        np.zeros(state.SATELLITES, np.int64),
        np.zeros(MOVES, np.int64),
        np.zeros(MOVES),
    )


@jitable_call
def attack_kind(game: state.Record, side: int, number: int) -> int:
    """Return how a satellite attacks: by shots while it has ammo."""
    return state.SHOT if game.ammo[side, number] > 0 else state.COLLISION


@jitable_call
def find_strikes(
    game: state.Record, rules: state.Record, side: int, style: ScriptedStyle, plans: Plans, paths: state.IntArray
) -> None:
    """Find the paths of a side's satellites to the enemy's HVA."""
    kind = state.SHOT if rules.initial_ammo[side, 1] > 0 else state.COLLISION
    gain = (
        rules.engagement_odds[side, kind, state.SAME_SECTOR] - rules.engagement_odds[side, kind, state.ADJACENT_SECTOR]
    )
    premium = max(int(gain * style.premium), 0)
    target = sector_of(game, 1 - side, state.HVA)
    find_paths(rules, side, target, premium, plans.steps, plans.prices, paths)


@jitable_call
def can_strike(game: state.Record, rules: state.Record, side: int, number: int, price: int) -> bool:
    """Tell whether a satellite can pay for a path and for an attack in the same sector at its end."""
    cost = rules.engagement_cost[side, attack_kind(game, side, number), state.SAME_SECTOR]
    return is_active(game, side, number) and price < UNREACHABLE and price + cost <= game.fuel[side, number]


@jitable_call
def is_home(game: state.Record, side: int, number: int) -> bool:
    """Tell whether a satellite is about its own HVA: at most one ring and an eighth of a turn away."""
    sector, hva = sector_of(game, side, number), sector_of(game, side, state.HVA)
    ring, hva_ring = ring_of(sector), ring_of(hva)
    if abs(ring - hva_ring) > 1:
        return False
    turn = 1 << (MAX_RING + 1)  # azimuths of sector centres, in halves of a sector on the largest ring
    centre = (2 * azimuth_of(sector) + 1) << (MAX_RING - ring)
    away = (centre - ((2 * azimuth_of(hva) + 1) << (MAX_RING - hva_ring))) % turn
    return min(away, turn - away) * 8 <= turn


@jitable_call
def expected_guards(game: state.Record, side: int, style: ScriptedStyle) -> float:
    """Return how many guards a side's HVA is expected to have."""
    count = 0
    for number in range(1, state.SATELLITES):
        count += is_active(game, side, number) and is_home(game, side, number)
    return count * style.trust


@jitable_call
def count_incoming(game: state.Record, rules: state.Record, threat: state.IntArray) -> int:
    """Count the enemy Patrols that can attack the own HVA within the next turns."""
    count = 0
    for number in range(1, state.SATELLITES):
        for turns in range(len(threat)):
            if can_strike(game, rules, ENEMY, number, threat[turns, PRICE, game.sector[ENEMY, number]]):
                count += 1
                break
    return count


@jitable_call
def choose_raiders(
    game: state.Record, rules: state.Record, prices: state.IntArray, num_raiders: int, raiders: state.IntArray
) -> int:
    """Mark the Patrols for which a strike is cheapest, at most ``num_raiders``; return how many."""
    for number in range(state.SATELLITES):
        raiders[number] = 0
    for chosen in range(num_raiders):
        best = state.NOBODY
        for number in range(1, state.SATELLITES):
            price = prices[game.sector[OWN, number]]
            if not raiders[number] and can_strike(game, rules, OWN, number, price):
                if best == state.NOBODY or price < prices[game.sector[OWN, best]]:
                    best = number
        if best == state.NOBODY:
            return chosen
        raiders[best] = 1
    return num_raiders


@jitable_call
def diverted_fraction(odds: float, attacks: float) -> float:
    """Return the fraction of ``attacks`` that one guard is expected to divert."""
    if attacks <= 1.0:
        return odds
    return odds * (1.0 - GUARD_DECAY**attacks) / ((1.0 - GUARD_DECAY) * attacks)


@jitable_call
def strike_probability(rules: state.Record, attackers: int, guards: float) -> float:
    """Estimate the probability that raiders who arrive together destroy the enemy HVA."""
    kind = state.SHOT if rules.initial_ammo[OWN, 1] > 0 else state.COLLISION
    aimed = float(attackers)
    for _ in range(int(guards + 0.5)):
        aimed *= 1.0 - diverted_fraction(rules.engagement_odds[ENEMY, state.GUARDING, state.SAME_SECTOR], aimed)
    return 1.0 - (1.0 - rules.engagement_odds[OWN, kind, state.SAME_SECTOR]) ** aimed


@jitable_call
def plan_raid(
    game: state.Record,
    rules: state.Record,
    strike: state.IntArray,
    style: ScriptedStyle,
    num_raiders: int,
    raiders: state.IntArray,
) -> int:
    """Mark the raiders; return in how many turns they strike, ``NOBODY`` if no raid is worth it."""
    worth = kill_worth(game, rules, ENEMY, style)
    guards = expected_guards(game, ENEMY, style)
    best, best_value = state.NOBODY, -np.inf
    if worth > 0 and not may_rest(game, rules):
        for turns in range(min(len(strike), turns_to_end(game, rules))):
            count = choose_raiders(game, rules, strike[turns, PRICE], num_raiders, raiders)
            probability = strike_probability(rules, count, guards)
            fuel = 0
            for number in range(1, state.SATELLITES):
                if raiders[number]:
                    fuel += strike[turns, PRICE, game.sector[OWN, number]]
            value = probability * worth - fuel * rules.weight[OWN, 1] - style.haste * turns
            if count > 0 and probability >= style.threshold and value > best_value:
                best, best_value = turns, value
    choose_raiders(game, rules, strike[max(best, 0), PRICE], num_raiders if best != state.NOBODY else 0, raiders)
    return best


PROBABILITY_PER_POINT = 0.02
"""The probability of catching the enemy HVA for which a raider spends fuel worth a point."""


@jitable_call
def odds_after(game: state.Record, rules: state.Record, side: int, number: int, order: int, target: int) -> float:
    """Return the odds of a satellite's attack, after a move, on a target in a sector; 0 where it cannot attack."""
    sector = sector_of(game, side, number)
    distance = range_between(destination(sector, order), target)
    if distance == OUT_OF_RANGE or not can_step(rules, sector, order):
        return 0.0
    kind = attack_kind(game, side, number)
    cost = rules.move_cost[side, order] + rules.engagement_cost[side, kind, distance]
    return rules.engagement_odds[side, kind, distance] if cost <= game.fuel[side, number] else 0.0


@jitable_call
def hit_probability(
    game: state.Record, rules: state.Record, side: int, target: int, raid: state.IntArray, style: ScriptedStyle
) -> float:
    """Estimate the probability that a side's HVA is hit this turn in a sector, ``raid`` being the attackers' paths."""
    missed = 1.0
    for number in range(1, state.SATELLITES):
        sector = game.sector[1 - side, number]
        if is_active(game, 1 - side, number) and raid[0, PRICE, sector] < UNREACHABLE:
            expected = odds_after(game, rules, 1 - side, number, raid[0, MOVE, sector], target)
            best = expected
            for order in range(MOVES):
                best = max(best, odds_after(game, rules, 1 - side, number, order, target))
            missed *= 1.0 - expected - style.foresight * (best - expected)
    return 1.0 - missed


@jitable_call
def step_loss(
    game: state.Record, rules: state.Record, side: int, order: int, raid: state.IntArray, style: ScriptedStyle
) -> float:
    """Return the points that a side expects to lose by a move of its HVA under attack."""
    here = sector_of(game, side, state.HVA)
    cost = rules.move_cost[side, order]
    if not can_step(rules, here, order) or (
        cost + rules.station_keeping_cost[side] >= game.fuel[side, state.HVA] and order
    ):
        return np.inf
    there = destination(here, order)
    worth = kill_worth(game, rules, side, style)
    loss = hit_probability(game, rules, side, there, raid, style) * worth + cost * rules.weight[side, state.HVA]
    return loss if there == game.goal[side] else loss + rules.goal_points[side]


@jitable_call
def write_evasion(
    game: state.Record,
    rules: state.Record,
    side: int,
    raid: state.IntArray,
    style: ScriptedStyle,
    odds: NDArray[np.float64],
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
    remaining = script.uniform(key, 0)
    for order in range(MOVES):
        remaining -= odds[order]
        if remaining < 0:
            return order
    return state.NOOP


@jitable_call
def move_along(game: state.Record, number: int, paths: state.IntArray, reserve: int) -> int:
    """Return the first move of the cheapest path that leaves a reserve of fuel; of equals, the quickest."""
    sector = game.sector[OWN, number]
    best, move = UNREACHABLE, state.NOOP
    for turns in range(len(paths)):
        price = paths[turns, PRICE, sector]
        if price < best and price + reserve < game.fuel[OWN, number]:
            best, move = price, paths[turns, MOVE, sector]
    return move


@jitable_call
def move_hva(game: state.Record, rules: state.Record, plans: Plans, style: ScriptedStyle, key: np.uint64) -> int:
    """Return the HVA's move: an evasion of a strike, or back to its goal sector, or none."""
    here = sector_of(game, OWN, state.HVA)
    if hit_probability(game, rules, OWN, here, plans.threat, style) >= style.dodge:
        write_evasion(game, rules, OWN, plans.threat, style, plans.odds)
        return sample_move(plans.odds, key)
    if here == game.goal[OWN]:
        return state.NOOP
    find_paths(rules, OWN, int(np.int64(game.goal[OWN])), UNREACHABLE, plans.steps, plans.prices, plans.home)
    to_the_end = turns_to_end(game, rules) * rules.station_keeping_cost[OWN]
    return move_along(game, state.HVA, plans.home, min(to_the_end, game.fuel[OWN, state.HVA] // 2))


@jitable_call
def best_catch(
    game: state.Record,
    rules: state.Record,
    number: int,
    mask: state.IntArray,
    targets: state.IntArray,
    open_odds: NDArray[np.float64],
) -> int:
    """Return the move of a raider that is most likely to catch the enemy HVA where the others so far miss it."""
    best, best_value = state.NOOP, 0.0
    for order in range(MOVES):
        value = -rules.move_cost[OWN, order] * rules.weight[OWN, 1] * PROBABILITY_PER_POINT
        for i in range(MOVES):
            value += open_odds[i] * odds_after(game, rules, OWN, number, order, targets[i])
        if mask[order] and value > best_value:
            best, best_value = order, value
    return best


@jitable_call
def close_in(
    game: state.Record,
    rules: state.Record,
    masks: state.IntArray,
    plans: Plans,
    style: ScriptedStyle,
    orders: state.IntArray,
) -> None:
    """Choose raiders' moves greedily: each goes where it most likely catches an enemy HVA that those before it miss."""
    targets, open_odds = plans.targets, plans.odds  # that the HVA goes to each target and all raiders so far miss it
    write_evasion(game, rules, ENEMY, plans.strike, style, open_odds)
    for order in range(MOVES):
        targets[order] = destination(sector_of(game, ENEMY, state.HVA), order)
        open_odds[order] *= style.lead
    open_odds[state.NOOP] += 1.0 - style.lead
    for number in range(1, state.SATELLITES):
        if plans.raiders[number]:
            orders[number] = best_catch(game, rules, number, masks[number], targets, open_odds)
            for i in range(MOVES):
                open_odds[i] *= 1.0 - odds_after(game, rules, OWN, number, orders[number], targets[i])


@jitable_call
def decide_movement(
    game: state.Record,
    rules: state.Record,
    masks: state.IntArray,
    plans: Plans,
    style: ScriptedStyle,
    key: np.uint64,
    orders: state.IntArray,
) -> None:
    """Write the orders of a movement phase."""
    find_strikes(game, rules, OWN, style, plans, plans.strike)
    find_strikes(game, rules, ENEMY, style, plans, plans.threat)
    incoming = count_incoming(game, rules, plans.threat)
    raiders, num_active = plans.raiders, count_active(game, OWN)
    num_home = int(max(num_active * style.home_share, incoming * style.defenders_per_raider) + 0.5)
    turns = plan_raid(game, rules, plans.strike, style, max(num_active - num_home, 0), raiders)
    orders[state.HVA] = move_hva(game, rules, plans, style, key)
    if incoming > 0:
        shelter = destination(sector_of(game, OWN, state.HVA), orders[state.HVA])
        find_paths(rules, OWN, shelter, UNREACHABLE, plans.steps, plans.prices, plans.home)
    for number in range(1, state.SATELLITES):
        if raiders[number]:
            orders[number] = plans.strike[turns, MOVE, game.sector[OWN, number]]
        elif incoming > 0:
            orders[number] = move_along(game, number, plans.home, 0)
    if turns == 0:
        close_in(game, rules, masks, plans, style, orders)


GUARD_RISK = 0.5
"""The probability that an attack diverted by a guard destroys the guard."""
UNGUARDED = 0.8
"""The probability that an attack on the enemy HVA is not diverted."""


class Fight(NamedTuple):
    """The state of an engagement phase while its orders are chosen one by one."""

    threats: NDArray[np.float64]
    """(11,): the probability that each enemy hits the own HVA, if its attack is not diverted."""
    near: NDArray[np.int64]
    """(11,): 1 where an enemy can attack the own HVA now."""
    attackers: NDArray[np.int64]
    """(1,): how many enemies can attack the own HVA now."""
    alive: NDArray[np.float64]
    """(11,): the probability that each enemy survives the orders so far."""
    aimed: NDArray[np.float64]
    """(1,): the probability that an attack on the own HVA is not diverted by the guards so far."""


def make_fight() -> Fight:
    """Allocate the state of an engagement phase."""
    return Fight(
        np.zeros(state.SATELLITES),
        np.zeros(state.SATELLITES, np.int64),
        np.zeros(1, np.int64),
        np.zeros(state.SATELLITES),
        np.zeros(1),
    )


@jitable_call
def read_order(game: state.Record, number: int, order: int) -> tuple[int, int, int]:
    """Return the kind, the target and the range of a satellite's engagement order; a guard's target is its own HVA."""
    kind, target, sector = state.GUARDING, state.HVA, sector_of(game, OWN, state.HVA)
    if order != state.GUARD:
        kind = state.SHOT if order < state.COLLIDE else state.COLLISION
        target = order - (state.SHOOT if kind == state.SHOT else state.COLLIDE)
        sector = sector_of(game, ENEMY, target)
    return kind, target, range_between(sector_of(game, OWN, number), sector)


@jitable_call
def open_fight(game: state.Record, rules: state.Record, fight: Fight) -> None:
    """Write the state of an engagement phase before any order."""
    fight.attackers[0], fight.aimed[0] = 0, 1.0
    for number in range(state.SATELLITES):
        fight.threats[number] = 0.0
        distance = range_between(sector_of(game, ENEMY, number), sector_of(game, OWN, state.HVA))
        for kind in (state.SHOT, state.COLLISION):
            able = game.ammo[ENEMY, number] > 0 if kind == state.SHOT else number != state.HVA
            if able and distance != OUT_OF_RANGE and is_active(game, ENEMY, number):
                if rules.engagement_cost[ENEMY, kind, distance] <= game.fuel[ENEMY, number]:
                    odds = rules.engagement_odds[ENEMY, kind, distance]
                    fight.threats[number] = max(fight.threats[number], odds)
        fight.near[number] = fight.threats[number] > 0
        fight.attackers[0] += fight.near[number]
        fight.alive[number] = 1.0


@jitable_call
def loss_probability(fight: Fight, aimed: float, changed: int, threat: float) -> float:
    """Return the probability that the own HVA is hit, if the threat by one enemy changed."""
    missed = 1.0
    for number in range(state.SATELLITES):
        missed *= 1.0 - aimed * (threat if number == changed else fight.threats[number])
    return 1.0 - missed


@jitable_call
def aimed_after_guard(fight: Fight, odds: float) -> float:
    """Return the probability that an attack on the own HVA is not diverted after one more guard."""
    return fight.aimed[0] * (1.0 - diverted_fraction(odds, fight.attackers[0] * fight.aimed[0]))


@jitable_call
def threat_after_attack(game: state.Record, fight: Fight, target: int, kind: int, odds: float) -> float:
    """Return an enemy's threat after an attack on it: shots come first and all at once, then collisions."""
    prevented = kind == state.SHOT and game.ammo[ENEMY, target] == 0
    return fight.threats[target] * (1.0 - odds) if prevented else fight.threats[target]


@jitable_call
def guard_value(game: state.Record, rules: state.Record, number: int, odds: float, worth: float, fight: Fight) -> float:
    """Return the points that a Patrol gains by guarding, its cost apart."""
    aimed = aimed_after_guard(fight, odds)
    saved = loss_probability(fight, fight.aimed[0], state.NOBODY, 0.0) - loss_probability(
        fight, aimed, state.NOBODY, 0.0
    )
    diverted = min((fight.aimed[0] - aimed) * fight.attackers[0], 1.0)
    return saved * worth - diverted * GUARD_RISK * game.fuel[OWN, number] * rules.weight[OWN, 1]


@jitable_call
def order_value(
    game: state.Record, rules: state.Record, number: int, order: int, style: ScriptedStyle, fight: Fight
) -> float:
    """Return the points that a satellite's engagement order is expected to gain."""
    kind, target, distance = read_order(game, number, order)
    if distance == OUT_OF_RANGE:  # the mask allows what the position does not
        return 0.0
    cost, odds = rules.engagement_cost[OWN, kind, distance], rules.engagement_odds[OWN, kind, distance]
    weight = rules.weight[OWN, min(number, 1)]
    own_worth = kill_worth(game, rules, OWN, style)
    if kind == state.GUARDING:
        return guard_value(game, rules, number, odds, own_worth, fight) - cost * weight
    if target == state.HVA:
        value = odds * fight.alive[state.HVA] * kill_worth(game, rules, ENEMY, style)
    else:
        gain = game.fuel[ENEMY, target] * rules.weight[ENEMY, 1] + (style.danger if fight.near[target] else 0.0)
        threat = threat_after_attack(game, fight, target, kind, odds)
        saved = loss_probability(fight, fight.aimed[0], state.NOBODY, 0.0)
        saved -= loss_probability(fight, fight.aimed[0], target, threat)
        value = odds * fight.alive[target] * gain + saved * own_worth
    if kind == state.COLLISION:  # success destroys the collider too
        value -= odds * fight.alive[target] * (game.fuel[OWN, number] - cost) * weight
    return value - cost * weight


@jitable_call
def apply_order(game: state.Record, rules: state.Record, number: int, order: int, fight: Fight) -> None:
    """Update the state of the engagement phase for an order."""
    kind, target, distance = read_order(game, number, order)
    odds = rules.engagement_odds[OWN, kind, distance]
    if kind == state.GUARDING:
        fight.aimed[0] = aimed_after_guard(fight, odds)
        return
    fight.threats[target] = threat_after_attack(game, fight, target, kind, odds)
    # The enemy HVA may be guarded, which makes hits on it less likely than the odds say.
    fight.alive[target] *= 1.0 - (odds * UNGUARDED if target == state.HVA else odds)


@jitable_call
def decide_engagement(
    game: state.Record,
    rules: state.Record,
    masks: state.IntArray,
    style: ScriptedStyle,
    fight: Fight,
    orders: state.IntArray,
) -> None:
    """Write the orders of an engagement phase, greedily: for each satellite in turn the one with the highest expected gain."""
    open_fight(game, rules, fight)
    for number in range(state.SATELLITES):
        best, best_value = state.NOOP, 0.0
        for order in range(state.SHOOT, state.ORDERS):
            if masks[number, order]:
                value = order_value(game, rules, number, order, style, fight)
                if value > best_value:
                    best, best_value = order, value
        orders[number] = best
        if best != state.NOOP:
            apply_order(game, rules, number, best, fight)


@jitable_call
def decide_row(
    observation: state.IntArray,
    masks: state.IntArray,
    style: ScriptedStyle,
    key: np.uint64,
    game: state.Record,
    rules: state.Record,
    plans: Plans,
    fight: Fight,
    orders: state.IntArray,
) -> None:
    """Write the orders of one side, (11,), in either phase; the same key gives the same orders.

    ``observation``: tokens, ``masks``: (11, 28). ``game``, ``rules``, ``plans`` and ``fight`` are buffers; the steps in
    ``plans`` are those of the board.
    """
    for number in range(state.SATELLITES):
        orders[number] = state.NOOP
    script.read_game(observation, game, rules)
    if observation[script.MOVEMENT_PHASE]:
        decide_movement(game, rules, masks, plans, style, key, orders)
    else:
        decide_engagement(game, rules, masks, style, fight, orders)
    for number in range(state.SATELLITES):
        if not masks[number, orders[number]]:
            orders[number] = state.NOOP


@jit
def decide(
    observations: state.IntArray,
    masks: state.IntArray,
    style: ScriptedStyle,
    keys: NDArray[np.uint64],
    game: state.Record,
    rules: state.Record,
    plans: Plans,
    fight: Fight,
    orders: state.IntArray,
) -> None:
    """Write the orders of a batch, (n, 11), as ``decide_row`` does those of each row."""
    inner_ring, outer_ring = 0, 0
    for row in range(len(observations)):
        script.read_rules(observations[row], rules)
        if rules.inner_ring != inner_ring or rules.outer_ring != outer_ring:
            inner_ring, outer_ring = rules.inner_ring, rules.outer_ring
            write_steps(inner_ring, outer_ring, plans.steps)
        decide_row(observations[row], masks[row], style, keys[row], game, rules, plans, fight, orders[row])


class ScriptedAgent(script.SeededScript):
    """Guards its own HVA and raids the enemy's.

    The HVA stays in its goal sector and returns to it when displaced. A few Patrols stay at home; the others fly to
    the enemy HVA along the cheapest paths on which they arrive together, on the turn that balances cost and haste, if
    enough of them can pay for it. In the turn of the strike they spread over the sectors where that HVA may go. When
    enemies come within reach, the Patrols at home gather in the sector of their HVA, and if the strike is likely to
    hit, the HVA evades, at random so that it cannot be foreseen. In an engagement every satellite in turn is
    given the order with the highest expected gain in points: a shot, a collision, guarding, or none.

    Args:
        style: its parameters; the defaults were found by playing many variants against each other.
    """

    def __init__(self, style: ScriptedStyle | None = None) -> None:
        self.style = ScriptedStyle() if style is None else style
        self.name = script.describe_parameters("scripted", self.style)

    def act_seeded(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8], keys: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """Choose the orders of one decision phase; equal observations and equal keys give equal orders.

        Raises:
            ValueError: observations, masks or keys have another shape or type, or describe no board.
        """
        masks = check_masks(action_masks)
        seen, keys = script.check_observations(observations, len(masks)), check_keys(keys, len(masks))
        orders = np.empty(masks.shape[:2], np.int64)
        # Of this call alone: threads may share the agent.
        game, rules = state.records(state.GAME, 1), state.records(state.RULES, 1)
        decide(seen, masks, self.style, keys, game[0], rules[0], make_plans(), make_fight(), orders)
        return orders
