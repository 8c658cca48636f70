"""Rollouts: positions played to the end of the game by scripts."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.scripted.family import order_side
from geo_patrol.agents.scripted.paths import Paths
from geo_patrol.agents.scripted.raid_movement import RaidPlan, make_raid_plan
from geo_patrol.engine.drift import winner_of
from geo_patrol.engine.legal_sets import write_legal_sets
from geo_patrol.engine.rng import mix, stream_number
from geo_patrol.engine.state import NOBODY, SATELLITES, SIDES, IntArray, Record, Records
from geo_patrol.engine.turn import play_orders
from geo_patrol.engine.workspace import Workspace, make_workspace
from geo_patrol.jit import jit

_SHIFT_32 = np.uint64(32)
_ONE = np.uint64(1)
_MARGIN_WEIGHT, _MARGIN_SCALE = 0.05, 0.001


class RolloutBuffers(NamedTuple):
    """The buffers of a game."""

    legal: NDArray[np.int32]
    orders: NDArray[np.int64]
    workspace: Workspace
    plan: RaidPlan
    outcomes: Records


@jit
def below(bits: np.uint64, count: int) -> int:
    """Return a number from 0 .. count - 1 by 64 random bits."""
    return int(np.int64(((bits >> _SHIFT_32) * np.uint64(count)) >> _SHIFT_32))


@jit
def make_buffers(outer_ring: int, outcomes: Records) -> RolloutBuffers:
    """Allocate the buffers for games on a board."""
    return RolloutBuffers(
        np.empty((SIDES, SATELLITES), np.int32),
        np.empty((SIDES, SATELLITES), np.int64),
        make_workspace(outer_ring),
        make_raid_plan(),
        outcomes,
    )


@jit
def value_of(game: Record, side: int) -> float:
    """Return the value of a finished game to a side: 1 won, 0 lost, plus a small term for the margin."""
    winner = winner_of(game)
    outcome = 0.5 if winner == NOBODY else (1.0 if winner == side else 0.0)
    margin = float(game.score[side] - game.score[1 - side])
    return outcome + _MARGIN_WEIGHT * min(max(margin * _MARGIN_SCALE, -1.0), 1.0)


class Enemies(NamedTuple):
    """Models of the enemy, all with equal probabilities."""

    tactics: Records
    """(m,): scripts, which choose anew in every rollout."""
    orders: IntArray
    """(k, 11): first orders of other agents; the first of the scripts continues."""


@jit
def play_out(
    game: Record,
    rules: Record,
    paths: Paths,
    planner: int,
    own: Record,
    enemy: Record,
    key: np.uint64,
    buffers: RolloutBuffers,
) -> float:
    """Play a game by scripts from the orders in ``buffers`` to its end; return its value to the side ``planner``."""
    while True:
        play_orders(game, rules, buffers.legal, buffers.orders, buffers.outcomes)
        if game.done:
            return value_of(game, planner)
        write_legal_sets(game, rules, buffers.workspace, buffers.legal)
        for side in range(SIDES):
            key = mix(key + _ONE)
            tactics = own if side == planner else enemy
            order_side(game, rules, buffers.legal, side, paths, tactics, key, buffers.plan, buffers.orders[side])


@jit
def order_enemy(
    game: Record,
    rules: Record,
    side: int,
    paths: Paths,
    enemies: Enemies,
    model: int,
    key: np.uint64,
    buffers: RolloutBuffers,
    orders: IntArray,
) -> None:
    """Write the first orders of a model of the enemy, (11,); models are numbered, scripts first."""
    num_scripts = len(enemies.tactics)
    if model < num_scripts:
        write_legal_sets(game, rules, buffers.workspace, buffers.legal)
        order_side(game, rules, buffers.legal, side, paths, enemies.tactics[model], key, buffers.plan, orders)
    else:
        orders[:] = enemies.orders[model - num_scripts]


@jit
def roll_out(
    root: Records,
    work: Records,
    rules: Record,
    side: int,
    paths: Paths,
    candidates: IntArray,
    tactics: IntArray,
    own_tactics: Records,
    enemies: Enemies,
    survivors: IntArray,
    key: np.uint64,
    first: int,
    count: int,
    values: NDArray[np.float64],
    outcomes: Records,
) -> None:
    """Play rollouts of candidates; the n-th of each meets the same enemy orders and the same random numbers.

    Args:
        root: (1,), the position; not modified.
        work: (1,), the buffer of a game.
        rules: its rules.
        side: the planning side.
        paths: the tables of both sides.
        candidates: (c, 11) joint orders.
        tactics: (c,), the index of the script in ``own_tactics`` that continues after each.
        own_tactics: scripts of the own side.
        enemies: models of the enemy.
        survivors: indices of the candidates to evaluate.
        key: the random key of all rollouts.
        first: the number of the first rollout of each.
        count: rollouts of each.
        values: (c, rollouts), receives the value of each rollout.
        outcomes: the buffer of an engagement.
    """
    buffers = make_buffers(rules.outer_ring, outcomes)
    game, num_scripts = work[0], len(enemies.tactics)
    enemy_orders = np.zeros(SATELLITES, np.int64)
    for number in range(first, first + count):
        rollout_key = stream_number(key, np.uint64(number))
        model = below(rollout_key, num_scripts + len(enemies.orders))
        order_enemy(root[0], rules, 1 - side, paths, enemies, model, mix(rollout_key), buffers, enemy_orders)
        enemy = enemies.tactics[model if model < num_scripts else 0]
        for candidate in survivors:
            work[0] = root[0]
            game.rng_key = mix(rollout_key + _ONE)
            game.rng_counter = np.uint64(0)
            write_legal_sets(game, rules, buffers.workspace, buffers.legal)
            buffers.orders[side] = candidates[candidate]
            buffers.orders[1 - side] = enemy_orders
            own = own_tactics[tactics[candidate]]
            values[candidate, number] = play_out(game, rules, paths, side, own, enemy, rollout_key, buffers)
