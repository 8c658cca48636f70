"""Playing positions to the end, many at once, to judge orders."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.scripted.family import order_side
from geo_patrol.agents.scripted.paths import Paths
from geo_patrol.agents.scripted.raid_movement import Desk, make_desk
from geo_patrol.engine.drift import winner_of
from geo_patrol.engine.legal_sets import write_legal_sets
from geo_patrol.engine.rng import mix, stream_number
from geo_patrol.engine.state import NOBODY, SATELLITES, SIDES, IntArray, Record, Records
from geo_patrol.engine.turn import play_orders
from geo_patrol.engine.workspace import Workspace, make_workspace
from geo_patrol.jit import jit

_SHIFT_32 = np.uint64(32)
_ONE = np.uint64(1)
_MARGIN_SHARE, _MARGIN_SCALE = 0.05, 0.001


class Room(NamedTuple):
    """Room to play a game in."""

    legal: NDArray[np.int32]
    orders: NDArray[np.int64]
    scratch: Workspace
    desk: Desk
    outcomes: Records


@jit
def below(bits: np.uint64, count: int) -> int:
    """Return a number from 0 .. count - 1 by 64 random bits."""
    return int(np.int64(((bits >> _SHIFT_32) * np.uint64(count)) >> _SHIFT_32))


@jit
def make_room(outer_ring: int, outcomes: Records) -> Room:
    """Return room for games on a board of so many rings."""
    return Room(
        np.empty((SIDES, SATELLITES), np.int32),
        np.empty((SIDES, SATELLITES), np.int64),
        make_workspace(outer_ring),
        make_desk(),
        outcomes,
    )


@jit
def value_of(game: Record, side: int) -> float:
    """Return the value of a finished game to a side: 1 won, 0 lost, plus a small term for the margin."""
    winner = winner_of(game)
    outcome = 0.5 if winner == NOBODY else (1.0 if winner == side else 0.0)
    margin = float(game.score[side] - game.score[1 - side])
    return outcome + _MARGIN_SHARE * min(max(margin * _MARGIN_SCALE, -1.0), 1.0)


class Enemies(NamedTuple):
    """Models of the enemy, all alike likely."""

    tactics: Records
    """(m,): scripts, which order anew in every rollout."""
    orders: IntArray
    """(k, 11): first orders of other agents; they go on by the first of the tactics."""


@jit
def play_out(
    game: Record, rules: Record, paths: Paths, planner: int, own: Record, enemy: Record, key: np.uint64, room: Room
) -> float:
    """Play a game by scripts from the orders in ``room`` to its end; return its value to the side ``planner``."""
    while True:
        play_orders(game, rules, room.legal, room.orders, room.outcomes)
        if game.done:
            return value_of(game, planner)
        write_legal_sets(game, rules, room.scratch, room.legal)
        for side in range(SIDES):
            key = mix(key + _ONE)
            tactics = own if side == planner else enemy
            order_side(game, rules, room.legal, side, paths, tactics, key, room.desk, room.orders[side])


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
    """Judge candidates by playing them out: the n-th rollout of each meets the same enemy orders and the same chance.

    Args:
        root: (1,), the position; left alone.
        work: (1,), room for a game.
        rules: its rules.
        side: the planning side.
        paths: the tables of both sides.
        candidates: (c, 11) joint orders.
        tactics: (c,), by which of ``own_tactics`` the own side goes on after each.
        own_tactics: what the own side may go by.
        enemies: what the enemy may do.
        survivors: the numbers of the candidates that are judged.
        key: where all chance comes from.
        first: the number of the first rollout of each.
        count: rollouts for each.
        values: (c, rollouts), receives the value of each rollout.
        outcomes: room for one engagement.
    """
    room = make_room(rules.outer_ring, outcomes)
    game, models = work[0], len(enemies.tactics)
    expected = np.zeros(SATELLITES, np.int64)
    for number in range(first, first + count):
        chance = stream_number(key, np.uint64(number))
        model = below(chance, models + len(enemies.orders))
        enemy = enemies.tactics[model if model < models else 0]
        write_legal_sets(root[0], rules, room.scratch, room.legal)
        if model < models:
            order_side(root[0], rules, room.legal, 1 - side, paths, enemy, mix(chance), room.desk, expected)
        else:
            expected[:] = enemies.orders[model - models]
        for place in range(len(survivors)):
            candidate = survivors[place]
            work[0] = root[0]
            game.rng_key = mix(chance + _ONE)
            game.rng_counter = np.uint64(0)
            write_legal_sets(game, rules, room.scratch, room.legal)
            room.orders[side] = candidates[candidate]
            room.orders[1 - side] = expected
            own = own_tactics[tactics[candidate]]
            values[candidate, number] = play_out(game, rules, paths, side, own, enemy, chance, room)
