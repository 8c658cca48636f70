"""Values of positions by backward induction: one compiled function for each decision phase."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from geo_patrol.engine.state import ALPHA, BRAVO, SATELLITES, SIDES, IntArray, Records, make_workspace
from geo_patrol.jit import jit, jitable
from geo_patrol.solving.matrices import Floats, best_payoff, solve_matrix, worst_payoff
from geo_patrol.solving.transitions import Board, joint_orders_of, list_transitions, set_position

Moves = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Of one side: where the successors of each of its configurations start, and the indices of these successors."""

EQUILIBRIUM, RESPONSES, RESPONSES_TO_EQUILIBRIUM = 0, 1, 2


class Question(NamedTuple):
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


SOLVING = Question(EQUILIBRIUM, np.array([0, 1]))


@jitable
def evaluate(matrices: Floats, question: Question, rows: Floats, columns: Floats, values: Floats) -> float:
    """Write the values of one position, and return the largest duality gap.

    Args:
        matrices: (k, m, n), alpha's payoffs.
        question: what to compute.
        rows: (m,), the strategy of the agent as alpha; overwritten unless the question is ``RESPONSES``.
        columns: (n,), as bravo.
        values: (k,), written.
    """
    gap, count = 0.0, len(values)
    if question.kind == EQUILIBRIUM:
        for k in range(count):
            values[k], excess = solve_matrix(matrices[k], rows, columns)
            gap = max(gap, excess)
    elif question.kind == RESPONSES:
        for k in range(count // 2):
            values[k] = worst_payoff(matrices[k], rows)
            values[count // 2 + k] = best_payoff(matrices[count // 2 + k], columns)
    else:
        values[0], gap = solve_matrix(matrices[0], rows, columns)
        values[1] = worst_payoff(matrices[1], rows)
        values[2] = best_payoff(matrices[2], columns)
    return gap


@jitable
def joint_probabilities(joint: IntArray, probabilities: Floats, strategy: Floats) -> None:
    """Write the probability of each joint order, (n, 11), of satellites that choose independently, (11, 28)."""
    for i in range(len(joint)):
        strategy[i] = 1.0
        for number in range(SATELLITES):
            strategy[i] *= probabilities[number, joint[i, number]]


@jit
def value_movements(
    board: Board,
    codes: NDArray[np.int64],
    indices: NDArray[np.int64],
    moves: tuple[Moves, Moves],
    following: Floats,
    question: Question,
    probabilities: Floats,
) -> tuple[Floats, float]:
    """Return the values of positions in a movement phase, (n, k), and the largest duality gap.

    Args:
        board: the layer.
        codes: (n, 2), the positions.
        indices: (n, 2), the indices of their configurations, for ``moves``.
        moves: of both sides.
        following: (configurations of alpha, of bravo, k), the values of the positions in the engagement phase.
        question: what to compute.
        probabilities: (n, 2, 11, 28), of the agent's orders; without rows unless the question is ``RESPONSES``.
    """
    workspace, games = make_workspace(board.rules[0].outer_ring), np.repeat(board.template, 1)
    count, largest = len(question.payoffs), 0.0
    values = np.empty((len(indices), count))
    for index in range(len(indices)):
        i, j = indices[index, ALPHA], indices[index, BRAVO]
        own = moves[0][1][moves[0][0][i] : moves[0][0][i + 1]]
        others = moves[1][1][moves[1][0][j] : moves[1][0][j + 1]]
        matrices = np.empty((count, len(own), len(others)))
        for row in range(len(own)):
            for column in range(len(others)):
                for k in range(count):
                    matrices[k, row, column] = following[own[row], others[column], k]
        rows, columns = np.empty(len(own)), np.empty(len(others))
        if question.kind == RESPONSES:
            set_position(games, board, codes[index])
            joints = joint_orders_of(games, board, workspace)
            joint_probabilities(joints[0], probabilities[index, ALPHA], rows)
            joint_probabilities(joints[1], probabilities[index, BRAVO], columns)
        largest = max(largest, evaluate(matrices, question, rows, columns, values[index]))
    return values, largest


@jit
def value_engagements(
    board: Board,
    codes: NDArray[np.int64],
    next_codes: tuple[NDArray[np.int64], NDArray[np.int64]],
    following: Floats,
    question: Question,
    probabilities: Floats,
    transitions: Records,
) -> tuple[Floats, float]:
    """Return the values of positions in an engagement phase, (n, k), and the largest duality gap.

    Args:
        board: the layer.
        codes: (n, 2), the positions.
        next_codes: the codes of both sides' configurations in the next turn, ascending.
        following: (configurations of alpha, of bravo, k), the values of the positions of the next turn.
        question: what to compute.
        probabilities: as for ``value_movements``.
        transitions: a buffer.
    """
    workspace, games = make_workspace(board.rules[0].outer_ring), np.repeat(board.template, 3)
    count, largest = len(question.payoffs), 0.0
    values, index = np.empty((len(codes), count)), np.zeros(SIDES, np.int64)
    for position in range(len(codes)):
        set_position(games, board, codes[position])
        joints = joint_orders_of(games, board, workspace)
        transitions, ends = list_transitions(games, board, joints, transitions)
        matrices = np.zeros((count, len(joints[0]), len(joints[1])))
        for end in range(ends):
            transition = transitions[end]
            if not transition.done:
                index[ALPHA] = np.searchsorted(next_codes[0], transition.code[ALPHA])
                index[BRAVO] = np.searchsorted(next_codes[1], transition.code[BRAVO])
            for k in range(count):
                payoff = transition.payoff[question.payoffs[k]]
                if not transition.done:
                    payoff += following[index[ALPHA], index[BRAVO], k]
                matrices[k, transition.row, transition.column] += transition.probability * payoff
        rows, columns = np.empty(len(joints[0])), np.empty(len(joints[1]))
        if question.kind == RESPONSES:
            joint_probabilities(joints[0], probabilities[position, ALPHA], rows)
            joint_probabilities(joints[1], probabilities[position, BRAVO], columns)
        largest = max(largest, evaluate(matrices, question, rows, columns, values[position]))
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
