"""What follows from joint orders in one position: compiled functions on top of the engine's rules."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from geo_patrol.engine.engagement import pay_for_engagements
from geo_patrol.engine.legal import write_legal_orders
from geo_patrol.engine.state import (
    ALPHA,
    BRAVO,
    COLLIDE,
    ENGAGEMENT,
    MOVEMENT,
    NOBODY,
    NOOP,
    ORDERS,
    SATELLITES,
    SHOOT,
    SIDES,
    IntArray,
    Record,
    Records,
    Workspace,
    make_workspace,
)
from geo_patrol.engine.turn import move_satellites, play_drift, winner_of
from geo_patrol.jit import jit, jitable
from geo_patrol.solving.codes import Codec, decode_side, encode_side
from geo_patrol.solving.effects import Effects, pattern_of

TRANSITION = np.dtype(
    [
        ("row", "i8"),  # alpha's joint order
        ("column", "i8"),  # bravo's
        ("done", "i8"),
        ("code", "i8", (SIDES,)),  # of both sides in the next layer
        ("probability", "f8"),
        ("payoff", "f8", (2,)),  # alpha's score difference and outcome; the outcome only at the end
    ],
    align=True,
)
"""One possible result of the joint orders of both sides in an engagement phase."""


class Board(NamedTuple):
    """What the transitions of a layer need."""

    template: Records
    """(1,) ``GAME``: turn, phase and goals of the layer."""
    rules: Records
    """(1,)."""
    codec: Codec
    effects: Effects


@jitable
def list_joint_orders(legal: IntArray, fleet: int) -> NDArray[np.int64]:
    """Return every combination of the legal orders of one side, (n, 11), noops first; ``legal``: (11,) sets."""
    total = 1
    for number in range(fleet):
        count = 0
        for order in range(ORDERS):
            count += (legal[number] >> order) & 1
        total *= count
    joint = np.zeros((total, SATELLITES), np.int64)
    filled = 1
    for number in range(fleet):
        end = filled
        for order in range(NOOP + 1, ORDERS):
            if (legal[number] >> order) & 1:
                for i in range(filled):
                    joint[end] = joint[i]
                    joint[end, number] = order
                    end += 1
        filled = end
    return joint


@jitable
def set_position(games: Records, board: Board, codes: NDArray[np.int64]) -> None:
    """Write the position with these codes, (2,), to the first of ``games``."""
    games[0] = board.template[0]
    for side in range(SIDES):
        decode_side(codes[side], board.codec, side, games[0])


@jitable
def write_sets(games: Records, board: Board, workspace: Workspace) -> NDArray[np.int32]:
    """Return the sets of legal orders of the first of ``games``, (2, 11)."""
    legal = np.empty((SIDES, SATELLITES), np.int32)
    write_legal_orders(games[0], board.rules[0], workspace, legal)
    return legal


@jit
def list_moves(board: Board, side: int, codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the results of all joint moves of each configuration of a side.

    Returns:
        starts, (n + 1,), and codes: those of configuration i are ``starts[i]`` to ``starts[i + 1]`` - 1, in the order of
        ``list_joint_orders``.
    """
    workspace, games = make_workspace(board.rules[0].outer_ring), np.repeat(board.template, 2)
    orders, starts, ends = np.zeros((SIDES, SATELLITES), np.int64), [0], [np.int64(0) for _ in range(0)]
    for code in codes:
        decode_side(code, board.codec, side, games[0])
        games[0].phase = MOVEMENT
        legal = write_sets(games, board, workspace)
        for joint in list_joint_orders(legal[side], board.codec.fleets[side]):
            games[1] = games[0]
            orders[side] = joint
            move_satellites(games[1], board.rules[0], orders)
            ends.append(np.int64(encode_side(games[1], board.codec, side)))
        starts.append(len(ends))
    return np.array(starts), np.array(ends)


@jitable
def enact_effect(before: Record, game: Record, effects: Effects, index: int) -> None:
    """Carry out one result of an engagement in ``game``, a copy of ``before`` that has paid for it."""
    for satellite in range(SIDES * SATELLITES):
        side, number = satellite // SATELLITES, satellite % SATELLITES
        origin = effects.origin[index, satellite]
        if origin != satellite:
            game.sector[side, number] = before.sector[origin // SATELLITES, origin % SATELLITES]
        if (effects.destroyed[index] >> satellite) & 1:
            game.fuel[side, number] = 0
            game.destroyed[side, number] = 1


@jitable
def pay(game: Record, board: Board, orders: IntArray) -> None:
    """Pay for an engagement: fuel, and the ammo of all shots that take place; void orders become noop."""
    pay_for_engagements(game, board.rules[0], orders)
    for side in range(SIDES):
        for number in range(board.codec.fleets[side]):
            game.ammo[side, number] -= (orders[side, number] >= SHOOT) & (orders[side, number] < COLLIDE)


@jitable
def write_transition(transition: Record, game: Record, board: Board, goal_difference: int) -> None:
    """Write what a game is after the drift."""
    transition.done = game.done
    goals = game.goal_points[ALPHA] - game.goal_points[BRAVO]
    transition.payoff[0] = goals - goal_difference
    transition.payoff[1] = 0.0
    if game.done:
        winner = winner_of(game)
        transition.payoff[0] = game.score[ALPHA] - game.score[BRAVO] - goal_difference
        transition.payoff[1] = 0.0 if winner == NOBODY else 1.0 - 2.0 * winner
        return
    for side in range(SIDES):
        transition.code[side] = encode_side(game, board.codec, side)


@jitable
def list_transitions(
    games: Records, board: Board, joints: tuple[NDArray[np.int64], NDArray[np.int64]], transitions: Records
) -> tuple[Records, int]:
    """Write every possible result of all joint orders in an engagement phase.

    Args:
        games: (3,), the position first; the others are overwritten.
        board: the layer.
        joints: joint orders of both sides.
        transitions: where to write; a larger array is allocated if they do not fit.

    Returns:
        The transitions, and how many there are.
    """
    count, effects = 0, board.effects
    goal_difference = games[0].goal_points[ALPHA] - games[0].goal_points[BRAVO]
    orders = np.empty((SIDES, SATELLITES), np.int64)
    for row in range(len(joints[0])):
        for column in range(len(joints[1])):
            games[1] = games[0]
            orders[ALPHA], orders[BRAVO] = joints[0][row], joints[1][column]
            pay(games[1], board, orders)
            index = np.searchsorted(effects.patterns, pattern_of(games[1], board.codec, orders))
            for effect in range(effects.starts[index], effects.starts[index + 1]):
                if count == len(transitions):
                    transitions = np.concatenate((transitions, transitions))
                games[2] = games[1]
                enact_effect(games[1], games[2], effects, effect)
                play_drift(games[2], board.rules[0])
                transition = transitions[count]
                transition.row, transition.column = row, column
                transition.probability = effects.probability[effect]
                write_transition(transition, games[2], board, goal_difference)
                count += 1
    return transitions, count


@jitable
def joint_orders_of(games: Records, board: Board, workspace: Workspace) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the joint orders of both sides in the first of ``games``."""
    legal = write_sets(games, board, workspace)
    fleets = board.codec.fleets
    return list_joint_orders(legal[ALPHA], fleets[ALPHA]), list_joint_orders(legal[BRAVO], fleets[BRAVO])


@jit
def find_patterns(board: Board, codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the patterns of all engagements in positions; ``codes``: (n, 2)."""
    workspace, games = make_workspace(board.rules[0].outer_ring), np.repeat(board.template, 2)
    orders, patterns = np.empty((SIDES, SATELLITES), np.int64), {np.int64(0)}
    for i in range(len(codes)):
        set_position(games, board, codes[i])
        games[0].phase = ENGAGEMENT
        joints = joint_orders_of(games, board, workspace)
        if len(joints[0]) * len(joints[1]) > 1:
            for first in joints[0]:
                for second in joints[1]:
                    games[1] = games[0]
                    orders[ALPHA], orders[BRAVO] = first, second
                    pay(games[1], board, orders)
                    patterns.add(np.int64(pattern_of(games[1], board.codec, orders)))
    return np.array(list(patterns))


@jit
def list_ends(board: Board, codes: NDArray[np.int64], ends: Records) -> NDArray[np.int64]:
    """Return the codes of all positions that can follow engagements, (n, 2), each once or more; ``codes``: (n, 2)."""
    workspace, games = make_workspace(board.rules[0].outer_ring), np.repeat(board.template, 3)
    found = {(np.int64(-1), np.int64(-1))}
    for i in range(len(codes)):
        set_position(games, board, codes[i])
        ends, count = list_transitions(games, board, joint_orders_of(games, board, workspace), ends)
        for k in range(count):
            if not ends[k].done:
                found.add((np.int64(ends[k].code[0]), np.int64(ends[k].code[1])))
    found.discard((np.int64(-1), np.int64(-1)))
    pairs = np.empty((len(found), SIDES), np.int64)
    for i, pair in enumerate(found):
        pairs[i, 0], pairs[i, 1] = pair
    return pairs


@jit
def list_outcomes(
    board: Board, codes: NDArray[np.int64], transitions: Records
) -> tuple[NDArray[np.int64], NDArray[np.int64], Records]:
    """Return alpha's and bravo's joint orders in one position of an engagement phase, and all transitions.

    Args:
        board: the layer.
        codes: (2,), the position.
        transitions: a buffer.
    """
    games = np.repeat(board.template, 3)
    set_position(games, board, codes)
    joints = joint_orders_of(games, board, make_workspace(board.rules[0].outer_ring))
    transitions, count = list_transitions(games, board, joints, transitions)
    return joints[0], joints[1], transitions[:count]


@jit
def joint_moves(board: Board, codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return alpha's and bravo's joint orders in one position of a movement phase; ``codes``: (2,)."""
    games = np.repeat(board.template, 1)
    set_position(games, board, codes)
    return joint_orders_of(games, board, make_workspace(board.rules[0].outer_ring))


@jit
def write_positions(board: Board, codes: NDArray[np.int64], games: Records) -> None:
    """Write positions, (n, 2), as games, (n,)."""
    for i in range(len(codes)):
        set_position(games[i : i + 1], board, codes[i])
