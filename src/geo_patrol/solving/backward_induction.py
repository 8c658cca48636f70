"""All positions that a game can reach, turn by turn, and the backward induction over them."""

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from geo_patrol.base.errors import SolvingError
from geo_patrol.base.jit import has_cached_code, jit, jitable, jitable_call
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine import state
from geo_patrol.game.game import Games
from geo_patrol.solving.matrices import Floats, best_payoff, solve_matrix, worst_payoff
from geo_patrol.solving.transitions import (
    TRANSITION,
    Board,
    encode_side,
    find_patterns,
    joint_orders_of,
    list_ends,
    list_moves,
    list_transitions,
    make_codec,
    make_effects,
    next_board,
    set_position,
)

Moves = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Moves of one side: where the successors of each of its configurations start, and the indices of these successors."""

EQUILIBRIUM, RESPONSES, RESPONSES_TO_EQUILIBRIUM = 0, 1, 2


class Objective(NamedTuple):
    """What is computed of every position, from the same matrices of what follows.

    - ``EQUILIBRIUM``: each value is that of the game with the payoff of this number.
    - ``RESPONSES``: the first half of the values are those of bravo's best responses to an agent that plays alpha, the
      second half those of alpha's best responses to the agent as bravo.
    - ``RESPONSES_TO_EQUILIBRIUM``: the first value is that of the game, or what an agent takes for it; the others are those
      of bravo's best response to the agent as alpha and of alpha's to the agent as bravo, where the agent plays an
      equilibrium of the matrix of first values.
    """

    kind: int
    payoffs: NDArray[np.int64]
    """(k,), the payoff that each value is about: 0 score, 1 outcome."""


SOLVING = Objective(EQUILIBRIUM, np.array([0, 1]))


@jitable_call
def evaluate(matrices: Floats, objective: Objective, rows: Floats, columns: Floats, values: Floats) -> float:
    """Write the values of one position, and return the largest duality gap.

    Args:
        matrices: (k, m, n), alpha's payoffs.
        objective: what to compute.
        rows: (m,), the strategy of the agent as alpha; overwritten unless the objective is ``RESPONSES``.
        columns: (n,), as bravo.
        values: (k,), written.
    """
    gap, count = 0.0, len(values)
    if objective.kind == EQUILIBRIUM:
        for k in range(count):
            values[k], excess = solve_matrix(matrices[k], rows, columns)
            gap = max(gap, excess)
    elif objective.kind == RESPONSES:
        for k in range(count // 2):
            values[k] = worst_payoff(matrices[k], rows)
            values[count // 2 + k] = best_payoff(matrices[count // 2 + k], columns)
    else:
        values[0], gap = solve_matrix(matrices[0], rows, columns)
        values[1] = worst_payoff(matrices[1], rows)
        values[2] = best_payoff(matrices[2], columns)
    return gap


class OrderProbabilities(NamedTuple):
    """Probabilities of an agent's joint orders in n positions, as alpha and as bravo: mixtures of k products over satellites."""

    weights: Floats
    """(n, 2, k), of the components of each mixture; they sum to 1."""
    orders: Floats
    """(n, 2, k, 11, 28), of each satellite's orders by each component."""


@jitable
def joint_probabilities(joint: state.IntArray, weights: Floats, orders: Floats, strategy: Floats) -> None:
    """Write the probability of each joint order, (n, 11), by a mixture: (k,) weights and (k, 11, 28) order probabilities."""
    for i in range(len(joint)):
        strategy[i] = 0.0
        for component in range(len(weights)):
            product = weights[component]
            for number in range(state.SATELLITES):
                product *= orders[component, number, joint[i, number]]
            strategy[i] += product


@jitable_call
def movement_matrices(indices: NDArray[np.int64], moves: tuple[Moves, Moves], following: Floats) -> Floats:
    """Return the matrices of one position in a movement phase, (k, m, n); ``indices``: (2,), see ``value_movements``."""
    own = moves[0][1][moves[0][0][indices[0]] : moves[0][0][indices[0] + 1]]
    others = moves[1][1][moves[1][0][indices[1]] : moves[1][0][indices[1] + 1]]
    matrices = np.empty((following.shape[2], len(own), len(others)))
    for row in range(len(own)):
        for column in range(len(others)):
            for k in range(len(matrices)):
                matrices[k, row, column] = following[own[row], others[column], k]
    return matrices


@jitable_call
def engagement_matrices(
    transitions: state.Records,
    shape: tuple[int, int, int],
    next_codes: tuple[NDArray[np.int64], NDArray[np.int64]],
    following: Floats,
    payoffs: NDArray[np.int64],
) -> Floats:
    """Return the matrices of one position in an engagement phase, (k, m, n), from all of its transitions."""
    matrices, index = np.zeros(shape), np.zeros(state.NUM_SIDES, np.int64)
    for end in range(len(transitions)):
        transition = transitions[end]
        if not transition.done:
            index[state.ALPHA] = np.searchsorted(next_codes[0], transition.code[state.ALPHA])
            index[state.BRAVO] = np.searchsorted(next_codes[1], transition.code[state.BRAVO])
        for k in range(len(matrices)):
            payoff = transition.payoff[payoffs[k]]
            if not transition.done:
                payoff += following[index[state.ALPHA], index[state.BRAVO], k]
            matrices[k, transition.row, transition.column] += transition.probability * payoff
    return matrices


@jit
def value_movements(
    board: Board,
    codes: NDArray[np.int64],
    indices: NDArray[np.int64],
    moves: tuple[Moves, Moves],
    following: Floats,
    objective: Objective,
    probabilities: OrderProbabilities,
) -> tuple[Floats, float]:
    """Return the values of positions in a movement phase, (n, k), and the largest duality gap.

    Args:
        board: the layer.
        codes: (n, 2), the positions.
        indices: (n, 2), the indices of their configurations, for ``moves``.
        moves: moves of both sides.
        following: (configurations of alpha, of bravo, k), the values of the positions in the engagement phase.
        objective: what to compute.
        probabilities: of the agent's orders in these positions; of none unless the objective is ``RESPONSES``.
    """
    workspace, games = state.make_workspace(board.rules[0].outer_ring), np.repeat(board.template, 1)
    count, largest = len(objective.payoffs), 0.0
    weights, orders = probabilities
    values = np.empty((len(indices), count))
    for index in range(len(indices)):
        matrices = movement_matrices(indices[index], moves, following)
        rows, columns = np.empty(matrices.shape[1]), np.empty(matrices.shape[2])
        if objective.kind == RESPONSES:
            set_position(games, board, codes[index])
            joints = joint_orders_of(games, board, workspace)
            joint_probabilities(joints[0], weights[index, state.ALPHA], orders[index, state.ALPHA], rows)
            joint_probabilities(joints[1], weights[index, state.BRAVO], orders[index, state.BRAVO], columns)
        largest = max(largest, evaluate(matrices, objective, rows, columns, values[index]))
    return values, largest


@jit
def value_engagements(
    board: Board,
    codes: NDArray[np.int64],
    next_codes: tuple[NDArray[np.int64], NDArray[np.int64]],
    following: Floats,
    objective: Objective,
    probabilities: OrderProbabilities,
    transitions: state.Records,
) -> tuple[Floats, float]:
    """Return the values of positions in an engagement phase, (n, k), and the largest duality gap.

    Args:
        board: the layer.
        codes: (n, 2), the positions.
        next_codes: the codes of both sides' configurations in the next turn, ascending.
        following: (configurations of alpha, of bravo, k), the values of the positions of the next turn.
        objective: what to compute.
        probabilities: as for ``value_movements``.
        transitions: a buffer.
    """
    workspace, games = state.make_workspace(board.rules[0].outer_ring), np.repeat(board.template, 3)
    count, largest = len(objective.payoffs), 0.0
    weights, orders = probabilities
    values = np.empty((len(codes), count))
    for position in range(len(codes)):
        set_position(games, board, codes[position])
        joints = joint_orders_of(games, board, workspace)
        transitions, ends = list_transitions(games, board, joints, transitions)
        shape = count, len(joints[0]), len(joints[1])
        matrices = engagement_matrices(transitions[:ends], shape, next_codes, following, objective.payoffs)
        rows, columns = np.empty(len(joints[0])), np.empty(len(joints[1]))
        if objective.kind == RESPONSES:
            joint_probabilities(joints[0], weights[position, state.ALPHA], orders[position, state.ALPHA], rows)
            joint_probabilities(joints[1], weights[position, state.BRAVO], orders[position, state.BRAVO], columns)
        largest = max(largest, evaluate(matrices, objective, rows, columns, values[position]))
    return values, largest


@jit
def mark_moves(indices: NDArray[np.int64], moves: tuple[Moves, Moves], marks: NDArray[np.bool_]) -> None:
    """Mark every pair of configurations that moves lead to from positions with these indices, (n, 2)."""
    for pair in indices:
        own = moves[0][1][moves[0][0][pair[0]] : moves[0][0][pair[0] + 1]]
        others = moves[1][1][moves[1][0][pair[1]] : moves[1][0][pair[1] + 1]]
        for i in own:
            for j in others:
                marks[i, j] = True


CHUNK = 8192
"""Positions that a thread works on at a time."""
_BUFFER = 1024
_MOVES = state.RADIAL_OUT - state.NOOP + 1
"""Orders of a satellite in a movement phase, noop included."""

Codes = tuple[NDArray[np.int64], NDArray[np.int64]]
Probabilities = Callable[["Positions", NDArray[np.int64]], OrderProbabilities]
"""Gives the probabilities of an agent's orders in the positions with these numbers, (n,)."""
Valuer = Callable[..., tuple[Floats, float]]
"""Returns the values of positions of one phase, (n, k), and the largest duality gap."""


class Positions(NamedTuple):
    """The positions of one phase of one turn."""

    board: Board
    codes: Codes
    """The configurations of each side, ascending."""
    indices: NDArray[np.int32]
    """(n, 2): the positions, as indices of the two configurations; in ascending order."""

    def pairs(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the codes of some of the positions, (n, 2)."""
        return np.stack([self.codes[side][self.indices[numbers, side]] for side in range(state.NUM_SIDES)], axis=1)

    def spread(self, values: Floats) -> Floats:
        """Return values of the positions, (n, k), by the indices of both configurations; NaN where there is none."""
        table = np.full((len(self.codes[0]), len(self.codes[1]), values.shape[1]), np.nan)
        table[self.indices[:, 0], self.indices[:, 1]] = values
        return table


class TurnPositions(NamedTuple):
    """The positions of one turn."""

    movement: Positions
    moves: tuple[Moves, Moves]
    engagement: Positions


COMPILE_SECONDS = 30
"""That compiling the solver takes on a core, and the engine with it."""


def is_compiled() -> bool:
    """Return whether the solver's code is in the cache, so that the first solution does not wait for it."""
    return has_cached_code(value_engagements)


@dataclass(frozen=True)
class Limits:
    """What a computation may take.

    Attributes:
        max_positions: a game is refused that may have more, as soon as this is known: when the configurations of both sides
            after a movement make more pairs in all turns so far, or a side has more joint moves in a turn.
        threads: that work at the same time.
        report: called with what has been done; None: nothing is reported.
    """

    max_positions: int = 100_000_000
    threads: int = 1
    report: Callable[[str], None] | None = None

    def log(self, text: str) -> None:
        """Report what has been done."""
        if self.report is not None:
            self.report(text)


def start_of(config: GameConfig) -> tuple[state.Records, state.Records]:
    """Return the record of the starting position and that of the rules.

    Raises:
        SolvingError: they are sampled at each reset, or enemies are hidden.
    """
    if config.is_randomized:
        raise SolvingError(f"{config.title}: values are sampled at each reset; they must be single values")
    if config.hides_enemies:
        raise SolvingError(
            f"{config.title}: it has sensor ranges; only games in which both sides see everything are solved"
        )
    games, rules, *_ = Games(config, seed=0).state
    for field in ("rng_key", "rng_counter"):
        games[field] = 0
    return games, rules


def make_board(config: GameConfig, *, is_complete: bool = False) -> Board:
    """Return the board of the first phase, with the effects of noops alone; ``is_complete``: see ``Codec``."""
    start, rules = start_of(config)
    codec = make_codec(start[0], rules[0], is_complete=is_complete)
    return Board(start, rules, codec, make_effects({0}, codec, rules[0]))


def _sort(pairs: NDArray[np.int64]) -> tuple[Codes, NDArray[np.int32]]:
    """Return the configurations of each side and the positions of ``Positions``, from codes in any order, (n, 2)."""
    first, rows = np.unique(pairs[:, 0], return_inverse=True)
    second, columns = np.unique(pairs[:, 1], return_inverse=True)
    flat = np.unique(rows * len(second) + columns)
    return (first, second), np.stack(np.divmod(flat, len(second)), axis=1).astype(np.int32)


def _chunks(count: int) -> Iterator[NDArray[np.int64]]:
    for start in range(0, count, CHUNK):
        yield np.arange(start, min(start + CHUNK, count))


def _list_moves(movement: Positions) -> tuple[tuple[Moves, Moves], Codes]:
    """Return the joint moves of both sides, and the configurations that they lead to."""
    # Moves of one side do not depend on the other side's configuration: they are listed for each configuration instead of
    # each position, and the successors of a position are all pairs of them.
    moves: list[Moves] = []
    codes: list[NDArray[np.int64]] = []
    for side in range(state.NUM_SIDES):
        starts, ends = list_moves(movement.board, side, movement.codes[side])
        unique, successors = np.unique(ends, return_inverse=True)
        codes.append(unique)
        moves.append((starts, successors))
    return (moves[0], moves[1]), (codes[0], codes[1])


def _move(movement: Positions, moves: tuple[Moves, Moves], codes: Codes) -> Positions:
    """Return the positions that moves lead to."""
    marks = np.zeros((len(codes[0]), len(codes[1])), np.bool_)
    mark_moves(movement.indices.astype(np.int64), moves, marks)
    return Positions(next_board(movement.board), codes, np.argwhere(marks).astype(np.int32))


def _engage(engagement: Positions, pool: ThreadPoolExecutor, patterns: set[int]) -> tuple[Positions, Positions | None]:
    """Return an engagement phase with the effects of all its orders, and the positions that it leads to, if any."""
    board, count = engagement.board, len(engagement.indices)

    def find(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        return find_patterns(board, engagement.pairs(numbers))

    # Two passes: the first collects the patterns of all legal orders, so that the effects of new ones are computed once;
    # the second lists where they lead.
    known = len(patterns)
    for found in pool.map(find, _chunks(count)):
        patterns.update(found.tolist())
    if len(patterns) > known:
        board = board._replace(effects=make_effects(patterns, board.codec, board.rules[0]))

    def follow(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        return list_ends(board, engagement.pairs(numbers), state.records(TRANSITION, _BUFFER))

    ends = np.concatenate([*pool.map(follow, _chunks(count))])
    engagement = engagement._replace(board=board)
    return engagement, (Positions(next_board(board), *_sort(ends)) if len(ends) else None)


def list_turns(config: GameConfig, limits: Limits, *, is_complete: bool = False) -> list[TurnPositions]:
    """Return all positions that a game can reach.

    Args:
        config: the game.
        limits: what it may take.
        is_complete: whether positions differ by all that observations show, see ``Codec``.

    Raises:
        SolvingError: the game is too large, or its values are sampled.
    """
    board = make_board(config, is_complete=is_complete)
    patterns = {0}
    codes = np.array([[encode_side(board.template[0], board.codec, side) for side in range(state.NUM_SIDES)]])
    movement: Positions | None = Positions(board, *_sort(codes))
    turns: list[TurnPositions] = []
    count = bound = 0
    with ThreadPoolExecutor(limits.threads) as pool:
        while movement is not None:
            # Tables hold all pairs of configurations, and every joint move is listed: both are known before they are made.
            fleets = board.codec.fleets.tolist()
            listed = max(len(own) * _MOVES**fleet for own, fleet in zip(movement.codes, fleets, strict=True))
            if listed <= limits.max_positions:
                moves, ends = _list_moves(movement)
                bound += math.prod(map(len, movement.codes)) + math.prod(map(len, ends))
            if max(listed, bound) > limits.max_positions:
                raise SolvingError(
                    f"{config.title}: the first {len(turns) + 1} of {config.turn_limit} turns may have more than "
                    f"{limits.max_positions:,} positions: try less fuel, fewer turns, fewer Patrols or a smaller board"
                )
            engagement = _move(movement, moves, ends)
            count += len(movement.indices) + len(engagement.indices)
            limits.log(f"turn {len(turns) + 1}: {count:,} positions so far")
            engagement, following = _engage(engagement, pool, patterns)
            turns.append(TurnPositions(movement, moves, engagement))
            movement = following
    return turns


def no_probabilities(positions: Positions, numbers: NDArray[np.int64]) -> OrderProbabilities:  # noqa: ARG001 - a Probabilities
    """Return none: equilibria need no agent."""
    weights = np.empty((0, state.NUM_SIDES, 1))
    return OrderProbabilities(weights, np.empty((*weights.shape, state.SATELLITES, state.ORDERS)))


def go_back(
    turns: list[TurnPositions],
    objective: Objective,
    limits: Limits,
    probabilities: Probabilities = no_probabilities,
    believed: Sequence[Floats] = (),
    valuers: tuple[Valuer, Valuer] = (value_movements, value_engagements),
) -> Iterator[tuple[TurnPositions, Floats, Floats, float]]:
    """Yield the turns from the last to the first, with the values of their positions.

    Args:
        turns: the positions.
        objective: what to compute.
        limits: what it may take.
        probabilities: probabilities of an agent's orders.
        believed: (n,) each, of both phases of each turn: what replaces the first value of the positions.
        valuers: what computes the values, with the arguments of ``value_movements`` and of ``value_engagements``.

    Yields:
        The turn; values in its movement phase and in its engagement phase, (n, k) each; the largest duality gap.
    """
    following = np.empty((0, 0, len(objective.payoffs)))
    next_codes: Codes = (np.empty(0, np.int64), np.empty(0, np.int64))
    value_moves, value_engaged = valuers
    with ThreadPoolExecutor(limits.threads) as pool:
        for number, turn in reversed(list(enumerate(turns))):
            engage = partial(
                _engage_values, value_engaged, turn.engagement, next_codes, following, objective, probabilities
            )
            engaged, gap = _collect(pool.map(engage, _chunks(len(turn.engagement.indices))))
            if believed:
                engaged[:, 0] = believed[2 * number + 1]
            move = partial(_move_values, value_moves, turn, turn.engagement.spread(engaged), objective, probabilities)
            moved, other_gap = _collect(pool.map(move, _chunks(len(turn.movement.indices))))
            if believed:
                moved[:, 0] = believed[2 * number]
            following, next_codes = turn.movement.spread(moved), turn.movement.codes
            limits.log(f"turn {int(turn.movement.board.template['turn'][0]) + 1}: values known")
            yield turn, moved, engaged, max(gap, other_gap)


def _engage_values(
    value: Valuer,
    positions: Positions,
    next_codes: Codes,
    following: Floats,
    objective: Objective,
    probabilities: Probabilities,
    numbers: NDArray[np.int64],
) -> tuple[Floats, float]:
    arguments = objective, probabilities(positions, numbers), state.records(TRANSITION, _BUFFER)
    return value(positions.board, positions.pairs(numbers), next_codes, following, *arguments)


def _move_values(
    value: Valuer,
    turn: TurnPositions,
    following: Floats,
    objective: Objective,
    probabilities: Probabilities,
    numbers: NDArray[np.int64],
) -> tuple[Floats, float]:
    positions = turn.movement
    indices = positions.indices[numbers].astype(np.int64)
    arguments = objective, probabilities(positions, numbers)
    return value(positions.board, positions.pairs(numbers), indices, turn.moves, following, *arguments)


def _collect(results: Iterator[tuple[Floats, float]]) -> tuple[Floats, float]:
    """Return the values of all chunks, (n, k), and the largest gap."""
    values, gaps = zip(*results, strict=True)
    return np.concatenate(values), max(gaps)
