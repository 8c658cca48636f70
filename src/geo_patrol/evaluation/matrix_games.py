"""The mixed equilibrium of a measured payoff matrix."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from geo_patrol.errors import optional_import

_NEGLIGIBLE = 1e-9  # a share as small as this is a linear programme's rounding


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """The best that two players can do who choose at random, each not knowing the other's choice.

    Attributes:
        value: what the player of the rows gets on average when both mix so, in the payoffs' unit.
        rows: (m,), how often to choose each row; no choice of columns makes the average less than ``value``.
        columns: (n,), how often to choose each column; no choice of rows makes the average more than ``value``.
    """

    value: float
    rows: NDArray[np.float64]
    columns: NDArray[np.float64]


def equilibrium(payoffs: ArrayLike) -> Equilibrium:
    """Find a mixed equilibrium of a zero-sum game by linear programmes.

    Where several mixtures are equally good, one of them is returned; the value is always the same.

    Args:
        payoffs: (m, n), what the player of the rows gets, and the player of the columns loses: rows and columns are
            agents, an entry is a mean payoff, such as wins less losses a game.

    Raises:
        ValueError: payoffs are no such matrix.
        MissingPackageError: SciPy is missing.
    """
    matrix = np.array(payoffs, np.float64)
    if matrix.ndim != 2 or matrix.size == 0 or not np.isfinite(matrix).all():
        raise ValueError(f"payoffs of shape {matrix.shape}: give a matrix of finite numbers with rows and columns")
    value, rows = _best_mixture(matrix)
    _, columns = _best_mixture(-matrix.T)
    return Equilibrium(value, rows, columns)


def _best_mixture(matrix: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """Mix the rows so that the worst column is as good as can be: maximise v, mixture @ matrix >= v."""
    with optional_import("stats"):
        from scipy.optimize import linprog  # noqa: PLC0415 - an extra
    count, columns = matrix.shape
    scale = float(np.abs(matrix).max()) or 1.0
    result: Any = linprog(
        c=np.append(np.zeros(count), -1.0),
        A_ub=np.hstack([-matrix.T / scale, np.ones((columns, 1))]),
        b_ub=np.zeros(columns),
        A_eq=np.append(np.ones(count), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * count + [(None, None)],
        method="highs",
    )
    assert result.success, result.message  # a matrix game always has a solution
    mixture = np.where(result.x[:count] < _NEGLIGIBLE, 0.0, result.x[:count])
    return float(result.x[count]) * scale + 0.0, mixture / mixture.sum()
