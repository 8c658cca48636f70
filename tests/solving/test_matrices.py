"""Matrix games: against SciPy, and degenerate ones."""

import numpy as np
import pytest

from geo_patrol.solving.matrices import solve_matrix
from tests.solving.plain_solver import matrix_value


def random_matrix(rng):
    """Return a matrix of one of four kinds: any numbers, few different ones, payoffs of two scales, a sum of two parts."""
    rows, columns = rng.integers(1, 26, 2)
    kind = rng.integers(4)
    if kind == 0:
        return rng.normal(size=(rows, columns))
    if kind == 1:
        return rng.integers(-3, 4, (rows, columns)).astype(float)
    if kind == 2:
        return 100.0 * rng.integers(0, 2, (rows, columns)) + 0.01 * rng.normal(size=(rows, columns))
    return rng.normal(size=(rows, 1)) + rng.normal(size=columns)


def solved(matrix):
    matrix = np.array(matrix, float)
    rows, columns = np.empty(matrix.shape[0]), np.empty(matrix.shape[1])
    value, gap = solve_matrix(matrix, rows, columns)
    return value, gap, rows, columns


@pytest.mark.slow
def test_random_games_have_the_values_of_linear_programming():
    rng = np.random.default_rng(7)
    for _ in range(400):
        matrix = random_matrix(rng)
        value, gap, rows, columns = solved(matrix)
        assert value == pytest.approx(matrix_value(matrix), abs=1e-6)
        assert 0 <= gap + 1e-12 <= 1e-9
        for strategy in (rows, columns):
            assert strategy.min() >= 0
            assert strategy.sum() == pytest.approx(1, abs=1e-12)
        assert (rows @ matrix).min() == pytest.approx(value, abs=1e-9)
        assert (matrix @ columns).max() == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize(
    ("matrix", "expected", "strategy"),
    [
        ([[5.0]], 5, [1]),
        ([[1, -1], [-1, 1]], 0, [0.5, 0.5]),
        ([[0, -1, 1], [1, 0, -1], [-1, 1, 0]], 0, [1 / 3] * 3),
        ([[2, 2], [2, 2]], 2, [1, 0]),
        ([[3, 0], [1, 2]], 1.5, [0.25, 0.75]),
        ([[3, 0, 9], [1, 2, 9], [0, -1, 8]], 1.5, [0.25, 0.75, 0]),
    ],
)
def test_games_worked_out_by_hand(matrix, expected, strategy):
    value, gap, rows, _ = solved(matrix)
    assert value == pytest.approx(expected, abs=1e-12)
    assert gap < 1e-12
    assert rows == pytest.approx(strategy, abs=1e-12)


def test_payoffs_of_different_sizes_keep_the_certificate():
    rng = np.random.default_rng(3)
    for scale in (1e-6, 1e6):
        matrix = scale * rng.normal(size=(12, 15))
        assert solved(matrix)[1] <= 1e-12 * max(scale, 1)
