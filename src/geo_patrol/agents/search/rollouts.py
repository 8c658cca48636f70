"""Candidate orders by scripts and mutations, and rollouts: positions played to the end of the game by scripts."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.scripted.paths import Paths
from geo_patrol.agents.scripted.raid_orders import RaidPlan, make_raid_plan, order_side
from geo_patrol.engine.legal import count_legal, nth_legal, write_legal_orders
from geo_patrol.engine.rng import mix, stream_number
from geo_patrol.engine.state import (
    NOBODY,
    NOOP,
    SATELLITES,
    SIDES,
    IntArray,
    Record,
    Records,
    Workspace,
    make_workspace,
)
from geo_patrol.engine.turn import play_orders, winner_of
from geo_patrol.jit import jit, jitable, jitable_call

MAX_CHANGES = 3
"""Satellites whose order one mutation changes, at most."""
_SHIFT_32 = np.uint64(32)
_ONE = np.uint64(1)
_MARGIN_WEIGHT, _MARGIN_SCALE = 0.05, 0.001


class Decision(NamedTuple):
    """A decision: the position, the models of the enemy, and the candidates with the values of their rollouts."""

    root: Records
    """(1,), the position; not modified."""
    rules: Records
    """(1,), its rules."""
    side: int
    """The planning side."""
    paths: Paths
    candidates: IntArray
    """(c, 11) joint orders."""
    tactics: IntArray
    """(c,), the index of the script in ``own_tactics`` that continues after each."""
    own_tactics: Records
    """Scripts of the own side."""
    enemy_tactics: Records
    """(m,): scripts that the enemy may be, which choose anew in every rollout."""
    enemy_orders: IntArray
    """(k, 11): first orders of other agents, as probable as each script; the first of the scripts continues."""
    key: np.uint64
    """The random key of all rollouts."""
    values: NDArray[np.float64]
    """(c, rollouts), receives the value of each rollout."""
    work: Records
    """(1,), the buffer of a game."""
    outcomes: Records
    """The buffer of an engagement."""


class RolloutBuffers(NamedTuple):
    """The buffers of a game."""

    legal: NDArray[np.int32]
    orders: NDArray[np.int64]
    workspace: Workspace
    plan: RaidPlan


@jitable
def below(bits: np.uint64, count: int) -> int:
    """Return a number from 0 .. count - 1 by 64 random bits."""
    return int(np.int64(((bits >> _SHIFT_32) * np.uint64(count)) >> _SHIFT_32))


@jitable_call
def is_known(candidates: IntArray, tactics: IntArray, count: int) -> bool:
    """Tell whether the candidate at index ``count`` equals one before it."""
    for other in range(count):
        same = tactics[other] == tactics[count]
        for number in range(SATELLITES):
            same = same and candidates[other, number] == candidates[count, number]
        if same:
            return True
    return False


@jitable
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
    write_legal_orders(game, rules, make_workspace(rules.outer_ring), legal)
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


@jitable
def value_of(game: Record, side: int) -> float:
    """Return the value of a finished game to a side: 1 won, 0 lost, plus a small term for the margin."""
    winner = winner_of(game)
    outcome = 0.5 if winner == NOBODY else (1.0 if winner == side else 0.0)
    margin = float(game.score[side] - game.score[1 - side])
    return outcome + _MARGIN_WEIGHT * min(max(margin * _MARGIN_SCALE, -1.0), 1.0)


@jitable_call
def play_out(decision: Decision, own: Record, enemy: Record, key: np.uint64, buffers: RolloutBuffers) -> float:
    """Play the game in ``work`` by scripts from the orders in ``buffers`` to its end; return its value."""
    game, rules = decision.work[0], decision.rules[0]
    while True:
        play_orders(game, rules, buffers.legal, buffers.orders, decision.outcomes[:0], decision.outcomes)
        if game.done:
            return value_of(game, decision.side)
        write_legal_orders(game, rules, buffers.workspace, buffers.legal)
        for side in range(SIDES):
            key = mix(key + _ONE)
            tactics = own if side == decision.side else enemy
            orders = buffers.orders[side]
            order_side(game, rules, buffers.legal, side, decision.paths, tactics, key, buffers.plan, orders)


@jit
def roll_out(decision: Decision, survivors: IntArray, first: int, count: int) -> None:
    """Play rollouts of candidates; the n-th of each meets the same enemy orders and the same random numbers.

    ``survivors``: indices of the candidates to evaluate; ``first``: the number of the first rollout of each;
    ``count``: rollouts of each.
    """
    root, rules, side = decision.root[0], decision.rules[0], decision.side
    workspace, plan = make_workspace(rules.outer_ring), make_raid_plan()
    legal, orders = np.empty((SIDES, SATELLITES), np.int32), np.empty((SIDES, SATELLITES), np.int64)
    buffers = RolloutBuffers(np.empty_like(legal), orders, workspace, plan)
    write_legal_orders(root, rules, workspace, legal)
    game, num_scripts = decision.work[0], len(decision.enemy_tactics)
    enemy_orders = np.zeros(SATELLITES, np.int64)
    for number in range(first, first + count):
        key = stream_number(decision.key, np.uint64(number))
        model = below(key, num_scripts + len(decision.enemy_orders))
        enemy = decision.enemy_tactics[model if model < num_scripts else 0]
        if model < num_scripts:
            order_side(root, rules, legal, 1 - side, decision.paths, enemy, mix(key), plan, enemy_orders)
        else:
            enemy_orders[:] = decision.enemy_orders[model - num_scripts]
        for candidate in survivors:
            decision.work[0] = decision.root[0]
            game.rng_key = mix(key + _ONE)
            game.rng_counter = np.uint64(0)
            buffers.legal[:] = legal
            orders[side] = decision.candidates[candidate]
            orders[1 - side] = enemy_orders
            own = decision.own_tactics[decision.tactics[candidate]]
            decision.values[candidate, number] = play_out(decision, own, enemy, key, buffers)
