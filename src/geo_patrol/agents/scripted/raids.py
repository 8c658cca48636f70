"""Planning of raids against the enemy HVA: the raiders, and the turn of the strike."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.scripted.pathfinding import MOVES, PRICE, UNREACHABLE, end_of_sectors, find_paths, make_paths
from geo_patrol.agents.scripted.valuation import (
    ENEMY,
    NOBODY,
    OWN,
    Style,
    is_active,
    kill_worth,
    may_rest,
    sector_of,
    turns_to_end,
)
from geo_patrol.board import MAX_RING, azimuth_of, ring_of
from geo_patrol.engine.engagement import GUARD_DECAY
from geo_patrol.engine.state import (
    ADJACENT_SECTOR,
    COLLISION,
    GUARDING,
    HVA,
    SAME_SECTOR,
    SATELLITES,
    SHOT,
    IntArray,
    Record,
)
from geo_patrol.jit import jitable_call

STRIKE_TURNS, THREAT_TURNS, HOME_TURNS = 9, 3, 4
"""How many turns ahead a raid is planned, enemies are seen coming, and paths home are searched."""


class Plans(NamedTuple):
    """The paths of the Patrols to the enemy HVA, of the enemies to the own one, and home; with buffers."""

    strike: IntArray
    threat: IntArray
    home: IntArray
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
        np.zeros(SATELLITES, np.int64),
        np.zeros(MOVES, np.int64),
        np.zeros(MOVES),
    )


@jitable_call
def attack_kind(game: Record, side: int, number: int) -> int:
    """Return how a satellite attacks: by shots while it has ammo."""
    return SHOT if game.ammo[side, number] > 0 else COLLISION


@jitable_call
def find_strikes(game: Record, rules: Record, side: int, style: Style, plans: Plans, paths: IntArray) -> None:
    """Find the paths of a side's satellites to the enemy's HVA."""
    kind = SHOT if rules.initial_ammo[side, 1] > 0 else COLLISION
    gain = rules.engagement_odds[side, kind, SAME_SECTOR] - rules.engagement_odds[side, kind, ADJACENT_SECTOR]
    premium = max(int(gain * style.premium), 0)
    target = sector_of(game, 1 - side, HVA)
    find_paths(rules, side, target, premium, plans.steps, plans.prices, paths)


@jitable_call
def can_strike(game: Record, rules: Record, side: int, number: int, price: int) -> bool:
    """Tell whether a satellite can pay for a path and for an attack in the same sector at its end."""
    cost = rules.engagement_cost[side, attack_kind(game, side, number), SAME_SECTOR]
    return is_active(game, side, number) and price < UNREACHABLE and price + cost <= game.fuel[side, number]


@jitable_call
def is_home(game: Record, side: int, number: int) -> bool:
    """Tell whether a satellite is about its own HVA: at most one ring and an eighth of a turn away."""
    sector, hva = sector_of(game, side, number), sector_of(game, side, HVA)
    ring, hva_ring = ring_of(sector), ring_of(hva)
    if abs(ring - hva_ring) > 1:
        return False
    turn = 1 << (MAX_RING + 1)  # azimuths of sector centres, in halves of a sector on the largest ring
    centre = (2 * azimuth_of(sector) + 1) << (MAX_RING - ring)
    away = (centre - ((2 * azimuth_of(hva) + 1) << (MAX_RING - hva_ring))) % turn
    return min(away, turn - away) * 8 <= turn


@jitable_call
def expected_guards(game: Record, side: int, style: Style) -> float:
    """Return how many guards a side's HVA is expected to have."""
    count = 0
    for number in range(1, SATELLITES):
        count += is_active(game, side, number) and is_home(game, side, number)
    return count * style.trust


@jitable_call
def count_incoming(game: Record, rules: Record, threat: IntArray) -> int:
    """Count the enemy Patrols that can attack the own HVA within the next turns."""
    count = 0
    for number in range(1, SATELLITES):
        for turns in range(len(threat)):
            if can_strike(game, rules, ENEMY, number, threat[turns, PRICE, game.sector[ENEMY, number]]):
                count += 1
                break
    return count


@jitable_call
def choose_raiders(game: Record, rules: Record, prices: IntArray, num_raiders: int, raiders: IntArray) -> int:
    """Mark the Patrols for which a strike is cheapest, at most ``num_raiders``; return how many."""
    for number in range(SATELLITES):
        raiders[number] = 0
    for chosen in range(num_raiders):
        best = NOBODY
        for number in range(1, SATELLITES):
            price = prices[game.sector[OWN, number]]
            if not raiders[number] and can_strike(game, rules, OWN, number, price):
                if best == NOBODY or price < prices[game.sector[OWN, best]]:
                    best = number
        if best == NOBODY:
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
def strike_probability(rules: Record, attackers: int, guards: float) -> float:
    """Estimate the probability that raiders who arrive together destroy the enemy HVA."""
    kind = SHOT if rules.initial_ammo[OWN, 1] > 0 else COLLISION
    aimed = float(attackers)
    for _ in range(int(guards + 0.5)):
        aimed *= 1.0 - diverted_fraction(rules.engagement_odds[ENEMY, GUARDING, SAME_SECTOR], aimed)
    return 1.0 - (1.0 - rules.engagement_odds[OWN, kind, SAME_SECTOR]) ** aimed


@jitable_call
def plan_raid(game: Record, rules: Record, strike: IntArray, style: Style, num_raiders: int, raiders: IntArray) -> int:
    """Mark the raiders; return in how many turns they strike, ``NOBODY`` if no raid is worth it."""
    worth = kill_worth(game, rules, ENEMY, style)
    guards = expected_guards(game, ENEMY, style)
    best, best_value = NOBODY, -np.inf
    if worth > 0 and not may_rest(game, rules):
        for turns in range(min(len(strike), turns_to_end(game, rules))):
            count = choose_raiders(game, rules, strike[turns, PRICE], num_raiders, raiders)
            probability = strike_probability(rules, count, guards)
            fuel = 0
            for number in range(1, SATELLITES):
                if raiders[number]:
                    fuel += strike[turns, PRICE, game.sector[OWN, number]]
            value = probability * worth - fuel * rules.weight[OWN, 1] - style.haste * turns
            if count > 0 and probability >= style.threshold and value > best_value:
                best, best_value = turns, value
    choose_raiders(game, rules, strike[max(best, 0), PRICE], num_raiders if best != NOBODY else 0, raiders)
    return best
