"""What compiled code works on: the records of a game, its rules and an outcome, and the arrays of many games.

A game is one structured record with two sides of eleven satellites, whatever its configuration. Satellites that a side
does not have are absent: sector 0 (the Earth), no fuel. A copy of a record is a copy of the game.

Compiled functions take many arrays. They are grouped in NamedTuples, whose fields compiled code reads by name at no
cost: ``State`` for the games, ``Workspace`` for temporary arrays.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from geo_patrol.base.jit import jitable

NUM_SIDES = 2
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

SAME_SECTOR, ADJACENT_SECTOR = 0, 1
"""Ranges of an engagement: the last index of its costs and odds."""
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
        ("turn", "i4"),  # turns completed; the turn being played is one more. The last turn of a game is not counted
        ("outcome_count", "i4"),  # outcomes of the phase last played
        ("goal_points", "i4", (NUM_SIDES,)),  # so far, those for destroyed Patrols included
        ("score", "i4", (NUM_SIDES,)),  # these points so far + fuel points when last scored
        ("illegal_orders", "i2", (NUM_SIDES,)),  # in the phase last played
        ("phase", "i2"),
        ("done", "i2"),
        ("reasons", "i2"),  # bits, see above
        ("goal", "i2", (NUM_SIDES,)),  # goal sectors
        ("sector", "i2", (NUM_SIDES, SATELLITES)),
        ("fuel", "i2", (NUM_SIDES, SATELLITES)),
        ("ammo", "i2", (NUM_SIDES, SATELLITES)),
        ("destroyed", "i1", (NUM_SIDES, SATELLITES)),
    ],
    align=True,
)
"""One game."""

# Fields are eight bytes wide up to the features, so that a record is also a row of words that a draw can write to.
RULES = np.dtype(
    [
        ("variant", "i8"),  # index of the configuration's variant that is played, -1 if it has none
        ("inner_ring", "i8"),
        ("outer_ring", "i8"),
        ("goal_ring", "i8"),
        ("turn_limit", "i8"),
        ("code_rules", "i8"),  # 1: as the published implementation, 0: as the books
        ("forfeit", "i8"),  # 1: an illegal order loses the game, 0: it is a noop
        ("sensor_range", "i8", (NUM_SIDES,)),  # steps in which a side sees enemies; 0: it sees everything
        # Number of Patrols, then the azimuth offset from the goal of each, and of those that a larger count adds.
        ("formation", "i8", (NUM_SIDES, 1 + PATROLS)),
        ("patrol_count", "i8", (NUM_SIDES,)),  # Patrols that take part, those nearest to the goal sector
        ("initial_fuel", "i8", (NUM_SIDES, 2)),  # HVA, Patrol without a value of its own
        ("initial_ammo", "i8", (NUM_SIDES, 2)),
        ("patrol_fuel", "i8", (NUM_SIDES, PATROLS)),  # of each Patrol
        ("patrol_ammo", "i8", (NUM_SIDES, PATROLS)),
        ("move_cost", "i8", (NUM_SIDES, 5)),  # by order code, noop to radial out
        ("station_keeping_cost", "i8", (NUM_SIDES,)),
        ("engagement_cost", "i8", (NUM_SIDES, 3, 2)),  # shot, collision, guarding x same, adjacent sector
        ("engagement_odds", "f8", (NUM_SIDES, 3, 2)),
        ("goal_points", "i8", (NUM_SIDES,)),  # a turn, HVA in its goal sector
        ("adjacent_points", "i8", (NUM_SIDES,)),  # a turn, HVA next to it
        ("patrol_points", "i8", (NUM_SIDES,)),  # for each Patrol that the enemy loses
        ("win_score", "i8", (NUM_SIDES,)),
        ("automatic_weight", "i8", (NUM_SIDES,)),  # 1: a full fleet of Patrols is worth 100 points
        ("weight", "f8", (NUM_SIDES, 2)),  # points per unit of fuel: HVA, Patrol
        ("weight_numerator", "i8", (NUM_SIDES, 2)),  # the same exactly
        ("weight_denominator", "i8", (NUM_SIDES, 2)),
        # What observations hold of the rules, seen by each side.
        ("onehot_features", "f4", (NUM_SIDES, NUM_RULE_FEATURES)),
        ("token_features", "i2", (NUM_SIDES, NUM_RULE_FEATURES)),
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

SIGHTINGS = np.dtype([("phase", "i4", (NUM_SIDES, SATELLITES))], align=True)
"""The decision phase, see ``sight.phase_number``, in which each satellite was last seen by the other side."""

CHOICES = np.dtype(
    [
        ("stream", "u8", (2,)),  # key and counter of the random stream from which actions are sampled
        ("legal", "i4", (NUM_SIDES, SATELLITES)),  # legal orders of each satellite as bits: bit k for order code k
    ],
    align=True,
)
"""What the satellites of one game may choose from, beside its record: legal orders, and where random ones come from."""

MAX_OUTCOMES = 128
"""Capacity for the outcomes of one engagement: ten guards facing eleven attackers, and their attacks, are 121."""

# Inside compiled code the fields of a record are attributes, whose types only the layouts above know.
Record: TypeAlias = Any
Records: TypeAlias = NDArray[np.void]
IntArray: TypeAlias = NDArray[np.integer[Any]]


def records(layout: np.dtype[Any], count: int) -> Records:
    """Allocate records, all zero, whose fields are attributes in compiled and in plain Python code.

    They are a plain array of ``np.record``: unpacking a ``np.recarray`` for compiled code takes far longer.
    """
    return np.zeros(count, np.dtype((np.record, layout)))


def copy_records(source: Records, rows: NDArray[np.int64] | None = None) -> Records:
    """Return a copy of records, or of those at some rows.

    NumPy copies records field by field; as plain bytes they are copied up to thirty times faster.
    """
    if rows is None:
        copied: Records = np.frombuffer(bytearray(source.tobytes()), source.dtype)
        return copied
    taken: Records = source.view(f"V{source.dtype.itemsize}").take(rows).view(source.dtype)
    return taken


def join_records(parts: Sequence[Records]) -> Records:
    """Return records of the same layout one after the other, copied as bytes too."""
    joined: Records = np.frombuffer(bytearray(b"".join(part.tobytes() for part in parts)), parts[0].dtype)
    return joined


class Sight(NamedTuple):
    """What the sides know of each other, where a configuration hides enemies; otherwise without rows. See ``sight``.

    It is no part of ``State``: each array that is passed to a compiled function takes time, and few games hide anything.
    """

    beliefs: Records
    """(2 * n,) of layout ``GAME``: 2 * i and 2 * i + 1 are game i as alpha and as bravo know it, without random stream."""
    sightings: Records
    """(n,) of layout ``SIGHTINGS``."""


NO_SIGHT = Sight(records(GAME, 0), records(SIGHTINGS, 0))


def make_sight(num_games: int) -> Sight:
    """Allocate what the sides know of games, all zero."""
    return Sight(records(GAME, NUM_SIDES * num_games), records(SIGHTINGS, num_games))


class State(NamedTuple):
    """Games side by side, as compiled code takes them.

    Loops over games take the fields out of it once: every access counts a reference of the array, atomically, which makes
    threads wait for each other. For the same reason the arrays of one game are fields of records: a view of a record
    counts no references, a view of an array does.
    """

    games: Records
    """(n,) of layout ``GAME``."""
    rules: Records
    """(n,) of layout ``RULES``; (1,) where all games have the same."""
    choices: Records
    """(n,) of layout ``CHOICES``."""


def make_state(num_games: int, num_rules: int) -> State:
    """Allocate the arrays of games, all zero."""
    return State(
        records(GAME, num_games),
        records(RULES, num_rules),
        records(CHOICES, num_games),
    )


_OUTCOME_RECORD = np.dtype((np.record, OUTCOME))


def make_outcomes() -> Records:
    """Allocate the array to which engagements write their outcomes, (128,) of layout ``OUTCOME``."""
    return np.zeros(MAX_OUTCOMES, _OUTCOME_RECORD)


class Workspace(NamedTuple):
    """Temporary arrays, allocated once for a loop over games. Functions of one game leave them as they find them."""

    occupancy: NDArray[np.int32]
    """(sectors,), zero: the satellites in each sector, as bits."""
    neighbours: NDArray[np.int64]
    """(2, 11, 2), overwritten: the satellites in the sector of each satellite, and in those adjacent to it, as bits."""
    nearness: NDArray[np.int32]
    """(sectors,), zero: flags of the sectors that hold an HVA or are adjacent to one."""
    positions: NDArray[np.int64]
    """(2, 11, 3), overwritten: relative sectors and nearness flags of each satellite, see ``observe``."""
    random_bits: NDArray[np.uint64]
    """(2, 11), overwritten."""
    orders: NDArray[np.int64]
    """(2, 11), overwritten: the orders of both sides of one game."""


@jitable
def make_workspace(outer_ring: int) -> Workspace:
    """Allocate the temporary arrays for games on a board with so many rings."""
    sectors = 1 << (outer_ring + 2)  # two rings more than there are: reads beyond the outer ring need no test
    return Workspace(
        np.zeros(sectors, np.int32),
        np.empty((NUM_SIDES, SATELLITES, 2), np.int64),
        np.zeros(sectors, np.int32),
        np.empty((NUM_SIDES, SATELLITES, 3), np.int64),
        np.empty((NUM_SIDES, SATELLITES), np.uint64),
        np.empty((NUM_SIDES, SATELLITES), np.int64),
    )


@jitable
def copy_row(source: IntArray, target: IntArray) -> None:
    """Copy the values of a side's satellites, (11,). A slice assignment takes seconds to compile, for its error messages."""
    for number in range(SATELLITES):
        target[number] = source[number]
