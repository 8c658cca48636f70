"""Candidates: the joint orders of scripts, and mutations of them."""

import numpy as np

from geo_patrol.agents.scripted.family import order_side
from geo_patrol.agents.scripted.paths import Paths
from geo_patrol.agents.scripted.raid_movement import make_raid_plan
from geo_patrol.agents.search.rollouts import below
from geo_patrol.engine.legal_sets import write_legal_sets
from geo_patrol.engine.rng import stream_number
from geo_patrol.engine.sample import count_legal, nth_legal, read_mask
from geo_patrol.engine.state import NOOP, SATELLITES, SIDES, IntArray, Record, Records
from geo_patrol.engine.workspace import make_workspace
from geo_patrol.jit import jit

MAX_CHANGES = 3
"""Satellites whose order one mutation changes, at most."""


@jit
def is_known(candidates: IntArray, tactics: IntArray, count: int) -> bool:
    """Tell whether the candidate at index ``count`` equals one before it."""
    for other in range(count):
        same = tactics[other] == tactics[count]
        for number in range(SATELLITES):
            same = same and candidates[other, number] == candidates[count, number]
        if same:
            return True
    return False


@jit
def mutate(legal: IntArray, key: np.uint64, orders: IntArray) -> None:
    """Replace the orders of a few satellites by random legal ones."""
    for change in range(1 + below(stream_number(key, np.uint64(0)), MAX_CHANGES)):
        number = below(stream_number(key, np.uint64(2 * change + 1)), SATELLITES)
        choices = int(legal[number])
        choice = below(stream_number(key, np.uint64(2 * change + 2)), count_legal(choices))
        orders[number] = nth_legal(choices, choice)


@jit
def propose_by_scripts(
    game: Record,
    rules: Record,
    side: int,
    paths: Paths,
    mask: IntArray,
    own_tactics: Records,
    num_proposals: int,
    key: np.uint64,
    candidates: IntArray,
    tactics: IntArray,
) -> int:
    """Write the orders of scripts, each in turn, and return the number of distinct candidates.

    ``mask``: (11,), sets of the orders that the agent may give; ``num_proposals``: how often a script is called.
    """
    legal, plan = np.empty((SIDES, SATELLITES), np.int32), make_raid_plan()
    write_legal_sets(game, rules, make_workspace(rules.outer_ring), legal)
    for number in range(SATELLITES):
        legal[side, number] &= mask[number]
    count = 0
    for asked in range(num_proposals):
        tactic = asked % len(own_tactics)
        orders = candidates[count]
        script_key = stream_number(key, np.uint64(asked))
        order_side(game, rules, legal, side, paths, own_tactics[tactic], script_key, plan, orders)
        tactics[count] = tactic
        for number in range(SATELLITES):
            if not (legal[side, number] >> orders[number]) & 1:
                orders[number] = NOOP
        count += not is_known(candidates, tactics, count)
    return count


@jit
def add_mutations(
    mask: IntArray, parents: int, count: int, key: np.uint64, candidates: IntArray, tactics: IntArray
) -> int:
    """Fill up the candidates after the first ``count`` with mutations of the first ``parents``; return their number."""
    for tried in range(2 * (len(candidates) - count)):
        if count == len(candidates):
            break
        parent = tried % parents
        candidates[count], tactics[count] = candidates[parent], tactics[parent]
        mutate(mask, stream_number(key, np.uint64(tried)), candidates[count])
        count += not is_known(candidates, tactics, count)
    return count


@jit
def read_masks(masks: IntArray) -> IntArray:
    """Return the masks of one side, (11, 28), as sets, (11,)."""
    sets = np.empty(SATELLITES, np.int64)
    for number in range(SATELLITES):
        sets[number] = read_mask(masks[number])
    return sets
