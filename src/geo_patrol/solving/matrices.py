"""Equilibria of zero-sum matrix games in compiled code: saddle points, iterated dominance, then the simplex method.

``solve_matrix`` certifies every result: it measures how much each player could gain against the two strategies in the
whole matrix, so an error of the steps before would show as a duality gap. The millions of small matrices of a game take
30 µs each, with SciPy's ``linprog`` 2 ms.
"""

import numpy as np
from numpy.typing import NDArray

from geo_patrol.base.jit import jit, jitable, jitable_call

Floats = NDArray[np.float64]

_OPTIMAL = 1e-14  # reduced costs that count as zero; payoffs are scaled to 1 .. 2
_SMALLEST_PIVOT = 1e-11
_TIE = 1e-13
_RETRY = 1e-13  # gap, as a part of the largest payoff, from which the game is also solved from the other side
_GREEDY_PIVOTS = 4  # per row and column; afterwards Bland's rule, which cannot cycle


@jitable
def worst_payoff(matrix: Floats, rows: Floats) -> float:
    """Return what a strategy of the rows receives from the best response of the columns."""
    lowest = np.inf
    for j in range(matrix.shape[1]):
        payoff = 0.0
        for i in range(matrix.shape[0]):
            payoff += rows[i] * matrix[i, j]
        lowest = min(lowest, payoff)
    return lowest


@jitable
def best_payoff(matrix: Floats, columns: Floats) -> float:
    """Return what the best response of the rows receives from a strategy of the columns."""
    highest = -np.inf
    for i in range(matrix.shape[0]):
        payoff = 0.0
        for j in range(matrix.shape[1]):
            payoff += matrix[i, j] * columns[j]
        highest = max(highest, payoff)
    return highest


@jitable
def find_saddle_point(matrix: Floats, rows: Floats, columns: Floats) -> bool:
    """Write pure strategies if both players have one that is optimal; return whether they do."""
    lower, upper, best_row, best_column = -np.inf, np.inf, 0, 0
    for i in range(matrix.shape[0]):
        lowest = matrix[i].min()
        if lowest > lower:
            lower, best_row = lowest, i
    for j in range(matrix.shape[1]):
        highest = matrix[:, j].max()
        if highest < upper:
            upper, best_column = highest, j
    if lower < upper:
        return False
    rows[best_row] = columns[best_column] = 1.0
    return True


@jitable_call
def remove_dominated(matrix: Floats, own: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows among ``own`` that no other one dominates weakly in the columns ``others``; of equal rows, one."""
    survives = np.ones(len(own), np.bool_)
    for i in range(len(own)):
        for k in range(len(own)):
            if i == k or not survives[k]:
                continue
            is_dominated = True
            for j in others:
                if matrix[own[i], j] > matrix[own[k], j]:
                    is_dominated = False
                    break
            if is_dominated:
                survives[i] = False
                break
    return own[survives]


@jitable_call
def make_tableau(matrix: Floats, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Floats:
    """Return the tableau of the column player's programme: maximise sum(y) subject to payoffs @ y <= 1, y >= 0."""
    lowest, highest = np.inf, -np.inf
    for i in rows:
        for j in columns:
            lowest, highest = min(lowest, matrix[i, j]), max(highest, matrix[i, j])
    scale = highest - lowest if highest > lowest else 1.0
    tableau = np.zeros((len(rows) + 1, len(columns) + 1))
    for i in range(len(rows)):
        for j in range(len(columns)):
            tableau[i, j] = 1.0 + (matrix[rows[i], columns[j]] - lowest) / scale
        tableau[i, -1] = 1.0
    for j in range(len(columns)):
        tableau[-1, j] = -1.0
    return tableau


@jitable
def choose_pivot(
    tableau: Floats, is_greedy: bool, basic: NDArray[np.int64], nonbasic: NDArray[np.int64]
) -> tuple[int, int]:
    """Return row and column of the next pivot, or -1, -1 at the optimum."""
    column, smallest = -1, -_OPTIMAL
    for j in range(tableau.shape[1] - 1):
        reduced = tableau[-1, j]
        if is_greedy and reduced < smallest:
            column, smallest = j, reduced
        elif not is_greedy and reduced < -_OPTIMAL and (column < 0 or nonbasic[j] < nonbasic[column]):
            column = j
    if column < 0:
        return -1, -1
    row, lowest = -1, np.inf
    for i in range(tableau.shape[0] - 1):
        if tableau[i, column] > _SMALLEST_PIVOT:
            ratio = tableau[i, -1] / tableau[i, column]
            if is_greedy:
                is_better = tableau[i, column] > tableau[row, column]  # a large pivot is accurate
                if ratio < lowest - _TIE or (ratio <= lowest + _TIE and is_better):
                    row, lowest = i, min(ratio, lowest)
            elif ratio < lowest or (ratio == lowest and basic[i] < basic[row]):
                row, lowest = i, ratio
    return row, column


@jitable
def pivot(tableau: Floats, row: int, column: int) -> None:
    """Exchange a basic and a nonbasic variable."""
    inverse = 1.0 / tableau[row, column]
    for j in range(tableau.shape[1]):
        tableau[row, j] *= inverse
    tableau[row, column] = inverse
    for i in range(tableau.shape[0]):
        factor = tableau[i, column]
        if i != row and factor != 0.0:
            tableau[i, column] = 0.0
            for j in range(tableau.shape[1]):
                tableau[i, j] -= factor * tableau[row, j]


@jitable_call
def solve_for_ones(system: Floats) -> Floats:
    """Solve ``system @ x = 1`` by Gaussian elimination with partial pivoting; it is overwritten."""
    size = len(system)
    solution = np.ones(size)
    for k in range(size):
        best = k + np.abs(system[k:, k]).argmax()
        if system[best, k] == 0.0:
            continue
        for j in range(k, size):
            system[k, j], system[best, j] = system[best, j], system[k, j]
        solution[k], solution[best] = solution[best], solution[k]
        for i in range(k + 1, size):
            factor = system[i, k] / system[k, k]
            for j in range(k + 1, size):
                system[i, j] -= factor * system[k, j]
            solution[i] -= factor * solution[k]
    for k in range(size - 1, -1, -1):
        for j in range(k + 1, size):
            solution[k] -= system[k, j] * solution[j]
        solution[k] = solution[k] / system[k, k] if system[k, k] != 0.0 else 0.0
    return solution


@jitable_call
def write_strategy(support: NDArray[np.int64], weights: Floats, strategy: Floats) -> None:
    """Write the probabilities of the orders in the support; the weights are theirs up to a factor."""
    for i in range(len(strategy)):
        strategy[i] = 0.0
    for i in range(len(support)):
        strategy[support[i]] = max(weights[i], 0.0)
    strategy /= strategy.sum()


@jitable_call
def run_simplex(
    payoffs: Floats, own: NDArray[np.int64], others: NDArray[np.int64], rows: Floats, columns: Floats
) -> None:
    """Find the optimal basis of the tableau ``payoffs``, and write the strategies that it means.

    The pivots only find the basis; the strategies are computed from it anew, free of the rounding errors of the pivots.
    """
    m, n = len(own), len(others)
    tableau = payoffs.copy()
    basic, nonbasic = np.arange(n, n + m), np.arange(n)  # columns are numbered from 0, the slacks of rows from n
    limit = _GREEDY_PIVOTS * (m + n)
    for count in range(10 * limit):
        row, column = choose_pivot(tableau, count < limit, basic, nonbasic)
        if row < 0:
            break
        pivot(tableau, row, column)
        basic[row], nonbasic[column] = nonbasic[column], basic[row]
    tight, used = nonbasic[nonbasic >= n] - n, basic[basic < n]
    system = np.empty((len(tight), len(used)))
    for i in range(len(tight)):
        for j in range(len(used)):
            system[i, j] = payoffs[tight[i], used[j]]
    write_strategy(own[tight], solve_for_ones(system.T.copy()), rows)
    write_strategy(others[used], solve_for_ones(system), columns)


@jit
def solve_matrix(matrix: Floats, rows: Floats, columns: Floats) -> tuple[float, float]:
    """Find an equilibrium of a zero-sum game.

    Args:
        matrix: (m, n), what the row player receives and the column player pays.
        rows: (m,), receives the row player's strategy.
        columns: (n,), receives the column player's.

    Returns:
        The value, and the duality gap: how much the two players could gain in all by deviating.
    """
    rows[:] = 0.0
    columns[:] = 0.0
    if not find_saddle_point(matrix, rows, columns):
        own, others = np.arange(len(rows)), np.arange(len(columns))
        negated = -matrix.T
        size = 0
        while len(own) + len(others) != size:
            size = len(own) + len(others)
            own = remove_dominated(matrix, own, others)
            others = remove_dominated(negated, others, own)
        run_simplex(make_tableau(matrix, own, others), own, others, rows, columns)
        lowest, highest = worst_payoff(matrix, rows), best_payoff(matrix, columns)
        if highest - lowest > _RETRY * max(np.abs(matrix).max(), 1.0):
            run_simplex(make_tableau(negated, others, own), others, own, columns, rows)
    lowest, highest = worst_payoff(matrix, rows), best_payoff(matrix, columns)
    return (lowest + highest) / 2, highest - lowest
