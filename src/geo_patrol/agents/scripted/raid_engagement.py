"""How scripts of the raiding family engage: attacks on the enemy HVA, guards of the own one, shots at Patrols."""

from geo_patrol.agents.scripted.paths import NEARBY
from geo_patrol.engine.legality import range_between
from geo_patrol.engine.state import (
    ADJACENT_SECTOR,
    COLLIDE,
    GUARD,
    HVA,
    NOOP,
    OUT_OF_RANGE,
    SAME_SECTOR,
    SATELLITES,
    SHOOT,
    SHOT,
    IntArray,
    Record,
)
from geo_patrol.jit import jitable


@jitable
def pays_to_destroy(game: Record, rules: Record, side: int) -> bool:
    """Tell whether the destruction of the enemy HVA, which ends the game, would win it."""
    lost = game.fuel[1 - side, HVA] * rules.weight[1 - side, HVA]
    return bool(game.score[side] > game.score[1 - side] - lost)


@jitable
def attack_on_hva(game: Record, legal: int, side: int, number: int, reach: int) -> int:
    """Return the order by which a satellite attacks the enemy HVA: a shot before a collision; NOOP if it cannot."""
    if reach == NEARBY or game.sector[side, number] == game.sector[1 - side, HVA]:
        if (legal >> (SHOOT + HVA)) & 1:
            return SHOOT + HVA
        if (legal >> (COLLIDE + HVA)) & 1:
            return COLLIDE + HVA
    return NOOP


@jitable
def shot_at_patrol(game: Record, rules: Record, legal: int, side: int, number: int) -> int:
    """Return the shot at an enemy Patrol that is expected to take most fuel from it; NOOP if there is none."""
    best, best_value = NOOP, 0.0
    if (legal >> (SHOOT + 1)) & ((1 << (SATELLITES - 1)) - 1) == 0:
        return NOOP
    for target in range(1, SATELLITES):
        if (legal >> (SHOOT + target)) & 1:
            is_here = game.sector[side, number] == game.sector[1 - side, target]
            odds = rules.engagement_odds[side, SHOT, SAME_SECTOR if is_here else ADJACENT_SECTOR]
            if odds * game.fuel[1 - side, target] > best_value:
                best, best_value = SHOOT + target, odds * game.fuel[1 - side, target]
    return best


@jitable
def count_attackers(game: Record, side: int) -> int:
    """Count the enemy Patrols in the sector of a side's HVA or next to it."""
    count, hva = 0, int(game.sector[side, HVA])
    for number in range(1, SATELLITES):
        if game.fuel[1 - side, number] > 0:
            count += range_between(int(game.sector[1 - side, number]), hva) != OUT_OF_RANGE
    return count


@jitable
def add_guards(game: Record, legal: IntArray, side: int, num_guards: int, orders: IntArray) -> None:
    """Let up to ``num_guards`` Patrols that have no order yet guard: those in the HVA's sector first."""
    for from_afar in range(2):
        for number in range(1, SATELLITES):
            is_here = game.sector[side, number] == game.sector[side, HVA]
            if (
                num_guards > 0
                and orders[number] == NOOP
                and (legal[side, number] >> GUARD) & 1
                and is_here != from_afar
            ):
                orders[number] = GUARD
                num_guards -= 1


@jitable
def order_engagement(
    game: Record, rules: Record, legal: IntArray, side: int, tactics: Record, orders: IntArray
) -> None:
    """Write a side's orders of an engagement phase, (11,), which is all noop; ``legal``: (2, 11), sets.

    Satellites that can attack the enemy HVA do; as many Patrols guard the own one as there are attackers; the others
    shoot at Patrols.
    """
    if not tactics.raids:
        add_guards(game, legal, side, SATELLITES, orders)
        return
    strikes = pays_to_destroy(game, rules, side)
    for number in range(SATELLITES):
        allowed = int(legal[side, number])
        if tactics.patrols_first:
            orders[number] = shot_at_patrol(game, rules, allowed, side, number)
        if strikes and orders[number] == NOOP:
            orders[number] = attack_on_hva(game, allowed, side, number, tactics.reach)
    attackers = count_attackers(game, side)
    add_guards(game, legal, side, attackers, orders)
    for number in range(SATELLITES):
        if (
            attackers > 0
            and orders[number] == NOOP
            and range_between(int(game.sector[side, number]), int(game.sector[side, HVA])) != OUT_OF_RANGE
        ):
            orders[number] = shot_at_patrol(game, rules, int(legal[side, number]), side, number)
