"""Record layouts: a game, its rules, an engagement outcome; and the codes that stand in them.

All arrays of a layout are fixed in size: two sides, eleven satellites a side. Satellites that a side does not have
are absent: sector 0 (the Earth), no fuel. One record is one game, so a copy of a record is a snapshot of a game.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

SIDES = 2
SATELLITES = 11
"""Satellites a side: the HVA, number 0, and Patrols 1 to 10."""
PATROLS = SATELLITES - 1
HVA = 0
ALPHA, BRAVO = 0, 1
NOBODY = -1
"""No side, no satellite."""

MOVEMENT, ENGAGEMENT, DRIFT = 0, 1, 2
"""Phases of a turn. A finished game stays in DRIFT."""

NOOP, PROGRADE, RETROGRADE, RADIAL_IN, RADIAL_OUT = range(5)
SHOOT = 5
COLLIDE = SHOOT + SATELLITES
GUARD = COLLIDE + SATELLITES
ORDERS = GUARD + 1
"""Order codes of one satellite: 0 noop, 1-4 moves, 5-15 shoot enemy 0-10, 16-26 collide with enemy 0-10, 27 guard."""

SAME_SECTOR, ADJACENT_SECTOR, OUT_OF_RANGE = 0, 1, 2
SHOT, COLLISION, GUARDING = 0, 1, 2
"""Kinds of engagement: the second index of engagement costs and odds."""

HVA_DESTROYED, HVA_OUT_OF_FUEL, WIN_SCORE, FORFEIT = 1, 4, 16, 64
"""Bit flags of the reasons why a game ended, for alpha; bravo's are shifted left by one bit."""
TURN_LIMIT = 256

NUM_RULE_FEATURES = 58
"""Features of an observation that describe the rules, see ``encodings``; they change at resets alone."""

# Ordered by width and without padding, so that equal games are equal byte by byte.
GAME = np.dtype(
    [
        ("rng_key", "u8"),
        ("rng_counter", "u8"),
        ("setup_key", "u8"),  # key of the separate stream from which the last reset sampled the rules
        ("turn", "i4"),  # turns completed; the turn being played is one more
        ("goal_points", "i4", (SIDES,)),  # so far
        ("score", "i4", (SIDES,)),  # goal points so far + fuel points when last scored
        ("illegal_orders", "i4", (SIDES,)),  # in the phase last played
        ("phase", "i2"),
        ("done", "i2"),
        ("reasons", "i2"),  # bits, see above
        ("goal", "i2", (SIDES,)),  # goal sectors
        ("sector", "i2", (SIDES, SATELLITES)),
        ("fuel", "i2", (SIDES, SATELLITES)),
        ("ammo", "i2", (SIDES, SATELLITES)),
        ("destroyed", "i1", (SIDES, SATELLITES)),
    ],
    align=True,
)
"""One game."""

# Fields are eight bytes wide up to the features, so that a record is also a row of words that a draw can write to.
RULES = np.dtype(
    [
        ("inner_ring", "i8"),
        ("outer_ring", "i8"),
        ("goal_ring", "i8"),
        ("turn_limit", "i8"),
        ("code_rules", "i8"),  # 1: as the published implementation, 0: as the books
        ("forfeit", "i8"),  # 1: an illegal order loses the game, 0: it is a noop
        ("formation", "i8", (SIDES, 1 + PATROLS)),  # number of Patrols, then the azimuth offset of each from the goal
        ("patrol_count", "i8", (SIDES,)),  # Patrols that take part, those nearest to the goal sector
        ("initial_fuel", "i8", (SIDES, 2)),  # HVA, Patrol
        ("initial_ammo", "i8", (SIDES, 2)),
        ("move_cost", "i8", (SIDES, 5)),  # by order code, noop to radial out
        ("station_keeping_cost", "i8", (SIDES,)),
        ("engagement_cost", "i8", (SIDES, 3, 2)),  # shot, collision, guarding x same, adjacent sector
        ("engagement_odds", "f8", (SIDES, 3, 2)),
        ("goal_points", "i8", (SIDES,)),  # a turn, HVA in its goal sector
        ("adjacent_points", "i8", (SIDES,)),  # a turn, HVA next to it
        ("win_score", "i8", (SIDES,)),
        ("automatic_weight", "i8", (SIDES,)),  # 1: a full fleet of Patrols is worth 100 points
        ("weight", "f8", (SIDES, 2)),  # points per unit of fuel: HVA, Patrol
        ("weight_numerator", "i8", (SIDES, 2)),  # the same exactly
        ("weight_denominator", "i8", (SIDES, 2)),
        ("onehot_features", "f4", (SIDES, NUM_RULE_FEATURES)),  # what observations hold of the rules, seen by each side
        ("token_features", "i2", (SIDES, NUM_RULE_FEATURES)),
    ],
    align=True,
)
"""The rules and the starting values of one game."""

OUTCOME = np.dtype(
    [
        ("kind", "i1"),  # SHOT, COLLISION or GUARDING
        ("side", "i1"),  # of the satellite that acts: the attacker, or the guard
        ("attacker", "i1"),  # -1: a guard with no attack to intercept
        ("guardian", "i1"),  # -1: not a guard's outcome
        ("target", "i1"),  # for a guard, the own HVA
        ("success", "i1"),
        ("probability", "f8"),
    ],
    align=True,
)
"""One outcome of an engagement. Attackers and targets are enemies of each other, a guard stands on the target's side."""

MAX_OUTCOMES = 128
"""Capacity for the outcomes of one engagement: ten guards facing eleven attackers, and their attacks, are 121."""

# Inside compiled code a record's fields are attributes with types of their own, which only the layouts above know.
Record: TypeAlias = Any
Records: TypeAlias = NDArray[np.void]
IntArray: TypeAlias = NDArray[np.integer[Any]]


def records(layout: np.dtype[Any], count: int) -> Records:
    """Allocate records, all zero, whose fields are attributes in compiled and in plain Python code.

    They are a plain array of ``np.record``: passing a ``np.recarray`` to compiled code takes eight times as long.
    """
    return np.zeros(count, np.dtype((np.record, layout)))
