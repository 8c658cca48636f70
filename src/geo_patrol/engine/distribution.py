"""The exact distribution of what an engagement leads to: the rules of ``engagement`` with every random draw enumerated.

Equal intermediate states are merged as soon as they arise. Satellites of both sides are numbered consecutively,
11 * side + number, as in ``Engagement``.
"""

import math
from collections import defaultdict
from itertools import combinations, product
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from geo_patrol.base.errors import OrderError
from geo_patrol.engine.engagement import (
    GUARD_DECAY,
    attack_probability,
    destroy,
    guard_probability,
    is_collision,
    is_shot,
    pay_for_engagements,
    target_of,
)
from geo_patrol.engine.state import (
    ENGAGEMENT,
    GAME,
    GUARD,
    HVA,
    NOOP,
    NUM_SIDES,
    SATELLITES,
    IntArray,
    Record,
    Records,
    copy_records,
    records,
)

MAX_BRANCHES = 1_000_000
"""Random branches that are followed at most; an engagement that has more is refused."""

Aims: TypeAlias = tuple[tuple[int, int], ...]
"""The target, 0 to 21, of each attacker, 0 to 21: (attacker, target) in the order of the attackers."""


class _CollisionState(NamedTuple):
    """The state of the collisions: what is left to happen, and what has happened."""

    waiting: Aims
    destroyed: int
    """Satellites as bits."""
    moved: tuple[tuple[int, int], ...]
    """(satellite, sector) of those that have moved, in the order of the satellites."""


class _Attempts:
    """The constants of one engagement that has been paid for, and the number of branches followed so far.

    Args:
        orders: (22,) of all satellites.
        odds: the probability of success of each satellite that has an order.
        sectors: where each satellite is.
    """

    def __init__(self, orders: list[int], odds: dict[int, float], sectors: list[int]) -> None:
        self.sectors, self.orders, self.odds = sectors, orders, odds
        self.guards = [s for s, order in enumerate(orders) if order == GUARD]
        self.shooters = [s for s, order in enumerate(orders) if is_shot(order)]
        self.colliders = [s for s, order in enumerate(orders) if is_collision(order)]
        self.branches = 0

    def count_branches(self, count: int) -> None:
        self.branches += count
        if self.branches > MAX_BRANCHES:
            raise OrderError(
                f"the engagement has more than {MAX_BRANCHES:,} random branches: it must have fewer guards, shots or collisions"
            )

    def ordered_aims(self, side: int) -> Aims:
        """Return the attacks of a side as ordered."""
        attackers = [s for s in (*self.shooters, *self.colliders) if s // SATELLITES == side]
        return tuple((s, (1 - side) * SATELLITES + target_of(self.orders[s])) for s in sorted(attackers))


def outcome_distribution(game: Record, rules: Record, orders: IntArray) -> tuple[Records, NDArray[np.float64]]:
    """Return the exact distribution of the positions after an engagement.

    Args:
        game: the position before paying; it stays as it is.
        rules: rules of the game.
        orders: (2, 11) legal orders; they stay as they are.

    Returns:
        Distinct records of the layout ``GAME``, (n,), after the engagement and before the drift, without random streams;
        and their probabilities, (n,), above 0, which sum to 1.

    Raises:
        OrderError: this is no engagement phase, or there are more than ``MAX_BRANCHES`` random branches.
    """
    if game.phase != ENGAGEMENT:
        raise OrderError("only an engagement phase has a distribution of outcomes")
    paid = records(GAME, 1)
    paid[0] = game
    orders = orders.copy()
    pay_for_engagements(paid[0], rules, orders)
    engagement = _Attempts(orders.ravel().tolist(), _find_odds(paid[0], rules, orders), paid[0].sector.ravel().tolist())
    ends = _follow_collisions(engagement, _start_collisions(engagement))
    return _write_positions(paid, rules, ends)


def _find_odds(game: Record, rules: Record, orders: IntArray) -> dict[int, float]:
    odds = {}
    for satellite, order in enumerate(orders.ravel().tolist()):
        side, number = divmod(satellite, SATELLITES)
        if order == GUARD:
            odds[satellite] = float(guard_probability(game, rules, side, number))
        elif order != NOOP:
            odds[satellite] = float(attack_probability(game, rules, side, number, order))
    return odds


class Effect(NamedTuple):
    """One possible result of an engagement, whatever the sectors are."""

    probability: float
    destroyed: int
    """Satellites as bits."""
    moved: tuple[tuple[int, int], ...]
    """(satellite, another one): the satellite ends in the sector that the other one was in before the engagement."""


def engagement_effects(orders: list[int], odds: dict[int, float]) -> list[Effect]:
    """Return all possible results of an engagement that has been paid for.

    Args:
        orders: (22,) of all satellites.
        odds: the probability of success of each satellite that has an order.

    Raises:
        OrderError: there are more than ``MAX_BRANCHES`` random branches.
    """
    engagement = _Attempts(orders, odds, list(range(NUM_SIDES * SATELLITES)))
    ends = _follow_collisions(engagement, _start_collisions(engagement))
    return [Effect(probability, end.destroyed, end.moved) for end, probability in ends.items()]


def _follow_guards(engagement: _Attempts, side: int) -> dict[Aims, float]:
    """Return the probabilities of the aims of a side's attacks after the other side's guards, in random order."""
    hva = (1 - side) * SATELLITES + HVA
    guards = frozenset(s for s in engagement.guards if s // SATELLITES != side)
    states = {(guards, engagement.ordered_aims(side)): 1.0}
    for _ in guards:
        following: dict[tuple[frozenset[int], Aims], float] = defaultdict(float)
        for (waiting, aims), probability in states.items():
            attackers = [attacker for attacker, target in aims if target == hva]
            engagement.count_branches(len(waiting) << len(attackers))
            for guard in waiting:
                likelihoods = _interceptions(engagement.odds[guard], len(attackers))
                for count, likelihood in enumerate(likelihoods):
                    for caught in combinations(attackers, count) if likelihood else ():
                        new_aims = tuple((a, guard if a in caught else target) for a, target in aims)
                        following[waiting - {guard}, new_aims] += probability * likelihood / len(waiting)
        states = following
    return {aims: probability for (_, aims), probability in states.items()}


def _interceptions(odds: float, attacks: int) -> list[float]:
    """Return the probability that a guard catches one given set of attacks, by the size of the set, 0 to ``attacks``.

    The attacks come in random order, so all sets of one size are equally likely.
    """
    sizes = [1.0] + [0.0] * attacks
    success = odds
    for attempt in range(attacks):
        for size in range(attempt + 1, 0, -1):
            sizes[size] = sizes[size] * (1 - success) + sizes[size - 1] * success
        sizes[0] *= 1 - success
        success *= GUARD_DECAY
    return [likelihood / math.comb(attacks, size) for size, likelihood in enumerate(sizes)]


def _start_collisions(engagement: _Attempts) -> dict[_CollisionState, float]:
    """Return the states after guards and shots."""
    moved = tuple((s, engagement.sectors[s // SATELLITES * SATELLITES + HVA]) for s in engagement.guards)
    colliders = set(engagement.colliders)
    states: dict[_CollisionState, float] = defaultdict(float)
    by_side = [_follow_guards(engagement, side) for side in range(NUM_SIDES)]
    for (aims_alpha, of_alpha), (aims_bravo, of_bravo) in product(by_side[0].items(), by_side[1].items()):
        aims = aims_alpha + aims_bravo
        waiting = tuple(pair for pair in aims if pair[0] in colliders)
        survival: dict[int, float] = {}
        for attacker, target in aims:
            if attacker not in colliders:
                survival[target] = survival.get(target, 1.0) * (1 - engagement.odds[attacker])
        hits = {0: of_alpha * of_bravo}
        for target, odds in survival.items():
            hits = {
                bits | hit << target: probability * likelihood
                for bits, probability in hits.items()
                for hit, likelihood in ((0, odds), (1, 1 - odds))
                if likelihood
            }
        engagement.count_branches(len(hits))
        for bits, probability in hits.items():
            states[_CollisionState(_still_possible(waiting, bits), bits, moved)] += probability
    return states


def _still_possible(waiting: Aims, destroyed: int) -> Aims:
    return tuple(pair for pair in waiting if not (destroyed >> pair[0] | destroyed >> pair[1]) & 1)


def _follow_collisions(engagement: _Attempts, states: dict[_CollisionState, float]) -> dict[_CollisionState, float]:
    """Return the states in which no collision remains; each is chosen uniformly from those that remain."""
    ends: dict[_CollisionState, float] = defaultdict(float)
    while states:
        following: dict[_CollisionState, float] = defaultdict(float)
        for state, probability in states.items():
            if not state.waiting:
                ends[state] += probability
                continue
            engagement.count_branches(2 * len(state.waiting))
            for pair in state.waiting:
                for end, likelihood in _collide(engagement, state, pair):
                    following[end] += probability * likelihood / len(state.waiting)
        states = following
    return ends


def _collide(
    engagement: _Attempts, state: _CollisionState, pair: tuple[int, int]
) -> list[tuple[_CollisionState, float]]:
    """Return what one attempt to collide leads to: failure and success, each with its probability if that is above 0."""
    collider, target = pair
    sectors = dict(state.moved)
    sectors[collider] = sectors.get(target, engagement.sectors[target])
    moved = tuple(sorted(sectors.items()))
    waiting = tuple(other for other in state.waiting if other != pair)
    wrecked = state.destroyed | 1 << collider | 1 << target
    odds = engagement.odds[collider]
    ends = [
        (_CollisionState(waiting, state.destroyed, moved), 1 - odds),
        (_CollisionState(_still_possible(waiting, wrecked), wrecked, moved), odds),
    ]
    return [(end, likelihood) for end, likelihood in ends if likelihood]


def _write_positions(
    paid: Records, rules: Record, ends: dict[_CollisionState, float]
) -> tuple[Records, NDArray[np.float64]]:
    """Carry out every end in a copy of the position, and merge equal positions."""
    positions = copy_records(paid, np.zeros(len(ends), np.int64))
    for field in ("rng_key", "rng_counter", "outcome_count"):
        positions[field] = 0
    sectors = positions["sector"].reshape(len(ends), -1)
    for i, end in enumerate(ends):
        for satellite, sector in end.moved:
            sectors[i, satellite] = sector
        if end.destroyed:
            position = positions[i]
            for satellite in range(NUM_SIDES * SATELLITES):
                if end.destroyed >> satellite & 1:
                    destroy(position, rules, *divmod(satellite, SATELLITES))
    keys = positions.view(f"V{positions.dtype.itemsize}")
    first: dict[bytes, int] = {}
    groups = [first.setdefault(bytes(key), len(first)) for key in keys]
    probabilities = np.zeros(len(first))
    np.add.at(probabilities, groups, list(ends.values()))
    chosen = np.unique(groups, return_index=True)[1]
    return copy_records(positions, chosen), probabilities
