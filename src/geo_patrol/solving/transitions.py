"""The configuration of one side as one integer: sectors, fuel and ammo of its satellites, and its points.

A position is a pair of such codes. Turn, phase and goal sectors are those of all positions of a layer.
"""

import functools
import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from geo_patrol.base.board import prograde
from geo_patrol.base.errors import SolvingError
from geo_patrol.base.jit import jit, jitable
from geo_patrol.engine import state
from geo_patrol.engine.distribution import Effect, engagement_effects
from geo_patrol.engine.engagement import destroy, kind_of, pay_for_engagements, range_of, target_of
from geo_patrol.engine.legal import write_legal_orders
from geo_patrol.engine.turn import move_satellites, play_drift, winner_of

MAX_SATELLITES = 10
"""Largest number of satellites of both sides together."""


class Codec(NamedTuple):
    """How configurations become integers: in mixed radix."""

    fleets: NDArray[np.int64]
    """(2,), satellites of each side, its HVA included."""
    radices: NDArray[np.int64]
    """(2, 11, 3): sectors, fuel and ammo of each satellite."""
    point_radices: NDArray[np.int64]
    """(2, 2): goal points, those for Patrols included, and fuel points when last scored."""
    is_complete: bool
    """Whether a code holds all that observations show: the last score, and where satellites without fuel are. None of
    these influences what follows."""


def make_codec(game: state.Record, rules: state.Record, *, is_complete: bool) -> Codec:
    """Return the codec of a game.

    Args:
        game: its starting position.
        rules: its rules.
        is_complete: see ``Codec``.

    Raises:
        SolvingError: the fleets are too large.
    """
    fleets = 1 + np.array(rules.patrol_count, np.int64)
    if fleets.sum() > MAX_SATELLITES:
        raise SolvingError(f"{fleets.sum()} satellites: games of {MAX_SATELLITES} at most can be solved")
    radices, point_radices = (
        np.ones((state.NUM_SIDES, state.SATELLITES, 3), np.int64),
        np.ones((state.NUM_SIDES, 2), np.int64),
    )
    for side in range(state.NUM_SIDES):
        fleet = fleets[side]
        radices[side, :fleet, 0] = 2 << int(rules.outer_ring)
        radices[side, :fleet, 1] = game.fuel[side, :fleet] + 1
        radices[side, :fleet, 2] = game.ammo[side, :fleet] + 1
        turns = int(rules.turn_limit) + 1
        prizes = (fleets[1 - side] - 1) * rules.patrol_points[side]
        point_radices[side, 0] = turns * max(rules.goal_points[side], rules.adjacent_points[side]) + prizes + 1
        point_radices[side, 1] = game.score[side] + 1 if is_complete else 1
        if math.prod(radices[side].ravel().tolist() + point_radices[side].tolist()) >= 1 << 63:
            raise SolvingError("the tanks are too large: a side has more than 2^63 configurations; try less fuel")
    return Codec(fleets, radices, point_radices, is_complete)


@jitable
def encode_side(game: state.Record, codec: Codec, side: int) -> int:
    """Return the code of a side's configuration."""
    # A number in mixed radix: sector, fuel and ammo of each satellite are its digits. Patrols without fuel do nothing any
    # more, so where and with how much ammo they drift does not matter: such configurations share a code, and are solved
    # once.
    code: int = 0
    for number in range(codec.fleets[side]):
        is_gone = number != state.HVA and game.fuel[side, number] <= 0 and not codec.is_complete
        radices = codec.radices[side, number]
        code = code * radices[0] + (0 if is_gone else game.sector[side, number])
        code = code * radices[1] + game.fuel[side, number]
        code = code * radices[2] + (0 if is_gone else game.ammo[side, number])
    code = code * codec.point_radices[side, 0] + game.goal_points[side]
    if codec.is_complete:
        code = code * codec.point_radices[side, 1] + (game.score[side] - game.goal_points[side])
    return code


@jitable
def decode_side(code: int, codec: Codec, side: int, game: state.Record) -> None:
    """Write a side's configuration to a game."""
    fuel_points = 0
    if codec.is_complete:
        code, fuel_points = divmod(code, codec.point_radices[side, 1])
    code, goal_points = divmod(code, codec.point_radices[side, 0])
    game.goal_points[side] = goal_points
    game.score[side] = goal_points + fuel_points
    for number in range(codec.fleets[side] - 1, -1, -1):
        radices = codec.radices[side, number]
        code, game.ammo[side, number] = divmod(code, radices[2])
        code, game.fuel[side, number] = divmod(code, radices[1])
        code, game.sector[side, number] = divmod(code, radices[0])


_DIGIT = 2 * state.ORDERS  # an order and a range


class Effects(NamedTuple):
    """The results of the patterns; those of pattern p are ``starts[p]`` to ``starts[p + 1]`` - 1."""

    patterns: NDArray[np.int64]
    """(p,), ascending: see ``pattern_of``."""
    starts: NDArray[np.int64]
    """(p + 1,)."""
    probability: NDArray[np.float64]
    """(n,)."""
    destroyed: NDArray[np.int64]
    """(n,), satellites as bits."""
    origin: NDArray[np.int8]
    """(n, 22), the satellite in whose former sector each satellite ends: itself if it does not move."""


@jitable
def pattern_of(game: state.Record, codec: Codec, orders: state.IntArray) -> int:
    """Return orders that have been paid for, (2, 11), and the range of each as one number."""
    # What an engagement leads to depends on who attacks whom and at which range, not on the sectors themselves. There are
    # thousands of patterns where there are millions of positions, so that the distribution of each is computed once.
    pattern = 0
    for side in range(state.NUM_SIDES):
        for number in range(codec.fleets[side]):
            order, distance = orders[side, number], 0
            if order != state.NOOP:
                target_side = side if order == state.GUARD else 1 - side
                distance = range_of(game.sector[side, number], game.sector[target_side, target_of(order)])
            pattern = pattern * _DIGIT + 2 * order + distance
    return pattern


def make_effects(patterns: Iterable[int], codec: Codec, rules: state.Record) -> Effects:
    """Work out the results of patterns."""
    ordered = sorted(patterns)
    starts, probability, destroyed, origin = [0], [], [], []
    for pattern in ordered:
        for effect in _find_effects(*_read_pattern(pattern, codec, rules)):
            probability.append(effect.probability)
            destroyed.append(effect.destroyed)
            origin.append(list(range(state.NUM_SIDES * state.SATELLITES)))
            for satellite, other in effect.moved:
                origin[-1][satellite] = other
        starts.append(len(probability))
    return Effects(
        np.array(ordered, np.int64),
        np.array(starts, np.int64),
        np.array(probability),
        np.array(destroyed, np.int64),
        np.array(origin, np.int8).reshape(-1, state.NUM_SIDES * state.SATELLITES),
    )


@functools.lru_cache(100_000)
def _find_effects(orders: tuple[int, ...], odds: tuple[tuple[int, float], ...]) -> list[Effect]:
    return engagement_effects(list(orders), dict(odds))


def _read_pattern(
    pattern: int, codec: Codec, rules: state.Record
) -> tuple[tuple[int, ...], tuple[tuple[int, float], ...]]:
    """Return the orders of a pattern, (22,), and each satellite that has one with its odds."""
    orders, odds = [state.NOOP] * (state.NUM_SIDES * state.SATELLITES), {}
    for side in reversed(range(state.NUM_SIDES)):
        for number in reversed(range(int(codec.fleets[side]))):
            pattern, digit = divmod(pattern, _DIGIT)
            order, distance = divmod(digit, 2)
            if order != state.NOOP:
                satellite = side * state.SATELLITES + number
                orders[satellite] = order
                odds[satellite] = float(rules.engagement_odds[side, kind_of(order), distance])
    return tuple(orders), tuple(odds.items())


TRANSITION = np.dtype(
    [
        ("row", "i8"),  # alpha's joint order
        ("column", "i8"),  # bravo's
        ("done", "i8"),
        ("code", "i8", (state.NUM_SIDES,)),  # of both sides in the next layer
        ("probability", "f8"),
        ("payoff", "f8", (2,)),  # alpha's score difference and outcome; the outcome only at the end
    ],
    align=True,
)
"""One possible result of the joint orders of both sides in an engagement phase."""


class Board(NamedTuple):
    """What the transitions of a layer need."""

    template: state.Records
    """(1,) ``GAME``: turn, phase and goals of the layer."""
    rules: state.Records
    """(1,)."""
    codec: Codec
    effects: Effects


def next_board(board: Board) -> Board:
    """Return the board of the following phase."""
    template = board.template.copy()
    if template["phase"][0] == state.MOVEMENT:
        template["phase"] = state.ENGAGEMENT
    else:
        template["phase"] = state.MOVEMENT
        template["turn"] += 1
        template["goal"] = [[prograde(int(goal)) for goal in template["goal"][0]]]
    return board._replace(template=template)


@jitable
def list_joint_orders(legal: state.IntArray, fleet: int) -> NDArray[np.int64]:
    """Return every combination of the legal orders of one side, (n, 11), noops first; ``legal``: (11,) sets."""
    total = 1
    for number in range(fleet):
        count = 0
        for order in range(state.ORDERS):
            count += (legal[number] >> order) & 1
        total *= count
    joint = np.zeros((total, state.SATELLITES), np.int64)
    filled = 1
    for number in range(fleet):
        end = filled
        for order in range(state.NOOP + 1, state.ORDERS):
            if (legal[number] >> order) & 1:
                for i in range(filled):
                    state.copy_row(joint[i], joint[end])
                    joint[end, number] = order
                    end += 1
        filled = end
    return joint


@jitable
def set_position(games: state.Records, board: Board, codes: NDArray[np.int64]) -> None:
    """Write the position with these codes, (2,), to the first of ``games``."""
    games[0] = board.template[0]
    for side in range(state.NUM_SIDES):
        decode_side(codes[side], board.codec, side, games[0])


@jitable
def write_sets(games: state.Records, board: Board, workspace: state.Workspace) -> NDArray[np.int32]:
    """Return the sets of legal orders of the first of ``games``, (2, 11)."""
    legal = np.empty((state.NUM_SIDES, state.SATELLITES), np.int32)
    write_legal_orders(games[0], board.rules[0], workspace, legal)
    return legal


@jit
def list_moves(board: Board, side: int, codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the results of all joint moves of each configuration of a side.

    Returns:
        starts, (n + 1,), and codes: those of configuration i are ``starts[i]`` to ``starts[i + 1]`` - 1, in the order of
        ``list_joint_orders``.
    """
    workspace, games = state.make_workspace(board.rules[0].outer_ring), np.repeat(board.template, 2)
    orders, starts, ends = np.zeros((state.NUM_SIDES, state.SATELLITES), np.int64), [0], [np.int64(0) for _ in range(0)]
    for code in codes:
        decode_side(code, board.codec, side, games[0])
        games[0].phase = state.MOVEMENT
        legal = write_sets(games, board, workspace)
        for joint in list_joint_orders(legal[side], board.codec.fleets[side]):
            games[1] = games[0]
            state.copy_row(joint, orders[side])
            move_satellites(games[1], board.rules[0], orders)
            ends.append(np.int64(encode_side(games[1], board.codec, side)))
        starts.append(len(ends))
    return np.array(starts), np.array(ends)


@jitable
def enact_effect(before: state.Record, game: state.Record, rules: state.Record, effects: Effects, index: int) -> None:
    """Carry out one result of an engagement in ``game``, a copy of ``before`` that has paid for it."""
    for satellite in range(state.NUM_SIDES * state.SATELLITES):
        side, number = satellite // state.SATELLITES, satellite % state.SATELLITES
        origin = effects.origin[index, satellite]
        if origin != satellite:
            game.sector[side, number] = before.sector[origin // state.SATELLITES, origin % state.SATELLITES]
        if (effects.destroyed[index] >> satellite) & 1:
            destroy(game, rules, side, number)


@jitable
def write_transition(transition: state.Record, game: state.Record, board: Board, goal_difference: int) -> None:
    """Write what a game is after the drift."""
    transition.done = game.done
    goals = game.goal_points[state.ALPHA] - game.goal_points[state.BRAVO]
    transition.payoff[0] = goals - goal_difference
    transition.payoff[1] = 0.0
    if game.done:
        winner = winner_of(game)
        transition.payoff[0] = game.score[state.ALPHA] - game.score[state.BRAVO] - goal_difference
        transition.payoff[1] = 0.0 if winner == state.NOBODY else 1.0 - 2.0 * winner
        return
    for side in range(state.NUM_SIDES):
        transition.code[side] = encode_side(game, board.codec, side)


@jitable
def list_transitions(
    games: state.Records, board: Board, joints: tuple[NDArray[np.int64], NDArray[np.int64]], transitions: state.Records
) -> tuple[state.Records, int]:
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
    goal_difference = games[0].goal_points[state.ALPHA] - games[0].goal_points[state.BRAVO]
    orders = np.empty((state.NUM_SIDES, state.SATELLITES), np.int64)
    for row in range(len(joints[0])):
        for column in range(len(joints[1])):
            games[1] = games[0]
            state.copy_row(joints[0][row], orders[state.ALPHA])
            state.copy_row(joints[1][column], orders[state.BRAVO])
            pay_for_engagements(games[1], board.rules[0], orders)
            index = np.searchsorted(effects.patterns, pattern_of(games[1], board.codec, orders))
            for effect in range(effects.starts[index], effects.starts[index + 1]):
                if count == len(transitions):
                    transitions = np.concatenate((transitions, transitions))
                games[2] = games[1]
                enact_effect(games[1], games[2], board.rules[0], effects, effect)
                play_drift(games[2], board.rules[0])
                transition = transitions[count]
                transition.row, transition.column = row, column
                transition.probability = effects.probability[effect]
                write_transition(transition, games[2], board, goal_difference)
                count += 1
    return transitions, count


@jitable
def joint_orders_of(
    games: state.Records, board: Board, workspace: state.Workspace
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the joint orders of both sides in the first of ``games``."""
    legal = write_sets(games, board, workspace)
    fleets = board.codec.fleets
    return list_joint_orders(legal[state.ALPHA], fleets[state.ALPHA]), list_joint_orders(
        legal[state.BRAVO], fleets[state.BRAVO]
    )


@jit
def find_patterns(board: Board, codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the patterns of all engagements in positions; ``codes``: (n, 2)."""
    workspace, games = state.make_workspace(board.rules[0].outer_ring), np.repeat(board.template, 2)
    orders, patterns = np.empty((state.NUM_SIDES, state.SATELLITES), np.int64), {np.int64(0)}
    for i in range(len(codes)):
        set_position(games, board, codes[i])
        games[0].phase = state.ENGAGEMENT
        joints = joint_orders_of(games, board, workspace)
        if len(joints[0]) * len(joints[1]) > 1:
            for first in joints[0]:
                for second in joints[1]:
                    games[1] = games[0]
                    state.copy_row(first, orders[state.ALPHA])
                    state.copy_row(second, orders[state.BRAVO])
                    pay_for_engagements(games[1], board.rules[0], orders)
                    patterns.add(np.int64(pattern_of(games[1], board.codec, orders)))
    return np.array(list(patterns))


@jit
def list_ends(board: Board, codes: NDArray[np.int64], ends: state.Records) -> NDArray[np.int64]:
    """Return the codes of all positions that can follow engagements, (n, 2), each once or more; ``codes``: (n, 2)."""
    workspace, games = state.make_workspace(board.rules[0].outer_ring), np.repeat(board.template, 3)
    found = {(np.int64(-1), np.int64(-1))}
    for i in range(len(codes)):
        set_position(games, board, codes[i])
        ends, count = list_transitions(games, board, joint_orders_of(games, board, workspace), ends)
        for k in range(count):
            if not ends[k].done:
                found.add((np.int64(ends[k].code[0]), np.int64(ends[k].code[1])))
    found.discard((np.int64(-1), np.int64(-1)))
    pairs = np.empty((len(found), state.NUM_SIDES), np.int64)
    for i, pair in enumerate(found):
        pairs[i, 0], pairs[i, 1] = pair
    return pairs


@jit
def list_outcomes(
    board: Board, codes: NDArray[np.int64], transitions: state.Records
) -> tuple[NDArray[np.int64], NDArray[np.int64], state.Records]:
    """Return alpha's and bravo's joint orders in one position of an engagement phase, and all transitions.

    Args:
        board: the layer.
        codes: (2,), the position.
        transitions: a buffer.
    """
    games = np.repeat(board.template, 3)
    set_position(games, board, codes)
    joints = joint_orders_of(games, board, state.make_workspace(board.rules[0].outer_ring))
    transitions, count = list_transitions(games, board, joints, transitions)
    return joints[0], joints[1], transitions[:count]


@jit
def joint_moves(board: Board, codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return alpha's and bravo's joint orders in one position of a movement phase; ``codes``: (2,)."""
    games = np.repeat(board.template, 1)
    set_position(games, board, codes)
    return joint_orders_of(games, board, state.make_workspace(board.rules[0].outer_ring))


@jit
def write_positions(board: Board, codes: NDArray[np.int64], games: state.Records) -> None:
    """Write positions, (n, 2), as games, (n,)."""
    for i in range(len(codes)):
        set_position(games[i : i + 1], board, codes[i])
