"""Mixed equilibria of zero-sum matrix games, such as measured payoff matrices."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from geo_patrol.errors import optional_import

_NEGLIGIBLE = 1e-9  # smaller probabilities are rounding errors of the linear programme


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A Nash equilibrium in mixed strategies of a zero-sum game.

    Attributes:
        value: of the game: the row player's expected payoff.
        rows: (m,), the row player's mixed strategy; no column makes its expected payoff less than ``value``.
        columns: (n,), the column player's mixed strategy; no row makes the expected payoff more than ``value``.
    """

    value: float
    rows: NDArray[np.float64]
    columns: NDArray[np.float64]


def equilibrium(payoffs: ArrayLike) -> Equilibrium:
    """Find a mixed equilibrium of a zero-sum game by linear programming.

    If there are several, one of them is returned; the value is unique.

    Args:
        payoffs: (m, n), the row player's payoffs, which the column player loses: rows and columns are agents, an entry
            is a mean payoff, such as wins minus losses per game.

    Raises:
        ValueError: it is not a matrix of finite numbers.
        MissingPackageError: SciPy is missing.
    """
    matrix = np.array(payoffs, np.float64)
    if matrix.ndim != 2 or matrix.size == 0 or not np.isfinite(matrix).all():
        raise ValueError(f"payoffs of shape {matrix.shape}: give a matrix of finite numbers with rows and columns")
    value, rows = _maximin(matrix)
    _, columns = _maximin(-matrix.T)
    return Equilibrium(value, rows, columns)


def _maximin(matrix: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """Return the value and the maximin strategy of the rows: maximise v subject to strategy @ matrix >= v."""
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
    strategy = np.where(result.x[:count] < _NEGLIGIBLE, 0.0, result.x[:count])
    return float(result.x[count]) * scale + 0.0, strategy / strategy.sum()
