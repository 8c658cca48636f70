"""The odds of an engagement, by resolving it many times."""

import numpy as np
from numpy.typing import NDArray

from geo_patrol.engine.engagement import resolve_engagements
from geo_patrol.engine.state import COLLISION, GUARDING, SATELLITES, SHOT, IntArray, Record, Records
from geo_patrol.jit import jit, jitable


@jitable
def destroyed_bits(outcomes: Records, count: int) -> int:
    """Return the satellites that outcomes destroy, as bits: side * 11 + number."""
    bits = 0
    for i in range(count):
        outcome = outcomes[i]
        side, attacker, target = int(outcome.side), int(outcome.attacker), int(outcome.target)
        if outcome.success and outcome.kind != GUARDING:
            bits |= 1 << ((1 - side) * SATELLITES + target)
            if outcome.kind == COLLISION:
                bits |= 1 << (side * SATELLITES + attacker)
    return bits


@jit
def resolve_repeatedly(
    game: Record,
    rules: Record,
    orders: IntArray,
    outcomes: Records,
    destroyed: NDArray[np.int64],
    kinds: NDArray[np.int64],
) -> None:
    """Resolve an engagement as often as ``destroyed`` is long.

    Args:
        game: the position after paying; only its random stream changes.
        rules: of the game.
        orders: (2, 11) legal orders that have been paid for.
        outcomes: (128,), overwritten.
        destroyed: (n,), receives the destroyed satellites of each resolution, see ``destroyed_bits``.
        kinds: (n, 3), receives the number of shots, collisions and guard outcomes.
    """
    for draw in range(len(destroyed)):
        count = resolve_engagements(game, rules, orders, outcomes)
        destroyed[draw] = destroyed_bits(outcomes, count)
        for kind in (SHOT, COLLISION, GUARDING):
            kinds[draw, kind] = 0
        for i in range(count):
            kinds[draw, outcomes[i].kind] += 1
