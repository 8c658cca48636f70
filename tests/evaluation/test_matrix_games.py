"""Mixed equilibria of games whose solutions are known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from geo_patrol.evaluation import equilibrium
from geo_patrol.evaluation.statistics import equilibrium_intervals


@pytest.mark.parametrize(
    ("payoffs", "value", "rows", "columns"),
    [
        ([[0, -1, 1], [1, 0, -1], [-1, 1, 0]], 0, [1 / 3] * 3, [1 / 3] * 3),  # rock, paper, scissors
        ([[1, -1], [-1, 1]], 0, [1 / 2] * 2, [1 / 2] * 2),  # matching pennies
        ([[3, 1], [0, 2]], 1.5, [1 / 2, 1 / 2], [1 / 4, 3 / 4]),
        ([[4, 2], [3, 1]], 2, [1, 0], [0, 1]),  # a saddle point
        ([[0, -2, 1], [2, 0, -1], [-1, 1, 0]], 0, [1 / 4, 1 / 4, 1 / 2], [1 / 4, 1 / 4, 1 / 2]),
        ([[1, 2, 3]], 1, [1], [1, 0, 0]),
        ([[0, 0], [0, 0]], 0, None, None),
        ([[-5e6]], -5e6, [1], [1]),
    ],
)
def test_known_games(payoffs, value, rows, columns):
    found = equilibrium(payoffs)
    assert found.value == pytest.approx(value, abs=1e-9)
    if rows is not None:
        np.testing.assert_allclose(found.rows, rows, atol=1e-9)
        np.testing.assert_allclose(found.columns, columns, atol=1e-9)


@given(arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=7), elements=st.floats(-10, 10, width=16)))
def test_no_deviation_from_the_equilibrium_gains(payoffs):
    found = equilibrium(payoffs)
    for mixture in (found.rows, found.columns):
        assert (mixture >= 0).all()
        assert mixture.sum() == pytest.approx(1)
    assert (found.rows @ payoffs).min() == pytest.approx(found.value, abs=1e-6)
    assert (payoffs @ found.columns).max() == pytest.approx(found.value, abs=1e-6)


@pytest.mark.parametrize("payoffs", [[], [1, 2], [[np.nan]], [[np.inf, 0]], np.zeros((2, 0))])
def test_wrong_payoffs(payoffs):
    with pytest.raises(ValueError, match=r"payoffs must be a matrix of finite numbers with rows and columns"):
        equilibrium(payoffs)


@pytest.mark.slow
def test_intervals_of_an_equilibrium_are_those_of_resampled_payoffs():
    generator = np.random.default_rng(1)
    samples = [np.array([[3, 1], [0, 2]]) + generator.normal(0, 0.1, (2, 2)) for _ in range(500)]
    intervals = equilibrium_intervals(samples)
    values = [equilibrium(sample).value for sample in samples]
    assert intervals.value == pytest.approx(np.quantile(values, (0.025, 0.975)), abs=1e-5)
    assert intervals.value[0] < 1.5 < intervals.value[1]
    for ends, strategy in ((intervals.rows, [1 / 2, 1 / 2]), (intervals.columns, [1 / 4, 3 / 4])):
        assert (ends[:, 0] < strategy).all()
        assert (strategy < ends[:, 1]).all()


def test_intervals_cover_all_equilibria_of_tied_payoffs():
    tied = equilibrium_intervals([np.zeros((2, 2))] * 100)
    assert tied.value == (0, 0)
    np.testing.assert_allclose(tied.rows, [[0, 1]] * 2)
    np.testing.assert_allclose(tied.columns, [[0, 1]] * 2)
    twins = equilibrium_intervals([np.array([[0, 0, 1], [0, 0, 1], [-1, -1, 0]])] * 100)
    np.testing.assert_allclose(twins.rows, [[0, 1], [0, 1], [0, 0]])
