"""Bradley-Terry ratings on the Elo scale, with the advantage of playing alpha.

The model: agent i as alpha scores, on average, ``1 / (1 + 10 ** (-(r_i - r_j + a) / 400))`` against agent j, where r are
the ratings and a is alpha's advantage. A win is a score of 1, a draw one of 1/2: it counts as half a win for
each. This is a logistic regression; its likelihood has no maximum where somebody won or lost every game, so Jeffreys'
prior is put on it (Firth 1993, "Bias reduction of maximum likelihood estimates", Biometrika 80), which keeps all
ratings finite, takes the first-order bias away, and vanishes as games are added.

Intervals are those of the normal approximation, from the curvature of the likelihood. They take games as
independent and a draw as half a win and half a loss, which overstates its spread: with many draws they are wider than
need be.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from geo_patrol.errors import optional_import

ELO = 400 / math.log(10)
"""Elo points in one unit of log odds."""

_Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings of K agents, in Elo points; their mean is 0.

    Attributes:
        elo: (K,) ratings.
        intervals: (K, 2), lower and upper ends.
        alpha_advantage: what playing alpha is worth in this configuration.
        alpha_interval: its lower and upper end.
        confidence: the level of all intervals.
        expected: (K, K), the mean score that the model expects of row as alpha against column.
        covariance: (K, K), of the ratings; the variance of a difference is c_ii + c_jj - 2 c_ij.
        groups: agents of which each has scored against each, perhaps by way of others. Between two groups one side
            never scored: their distance is then only known to be large, and its interval means nothing.
    """

    elo: _Floats
    intervals: _Floats
    alpha_advantage: float
    alpha_interval: tuple[float, float]
    confidence: float
    expected: _Floats
    covariance: _Floats
    groups: tuple[tuple[int, ...], ...]

    def difference(self, first: int, second: int) -> tuple[float, float, float]:
        """Return how many points the first agent is above the second, and the interval of that."""
        cov = self.covariance
        gap = float(self.elo[first] - self.elo[second])
        variance = cov[first, first] + cov[second, second] - 2 * cov[first, second]
        reach = _reach(self.confidence) * math.sqrt(max(variance, 0.0))
        return gap, gap - reach, gap + reach


def rate(counts: ArrayLike, confidence: float = 0.95) -> Ratings:
    """Fit ratings to the results of games.

    Args:
        counts: (K, K, 3): of the games of row as alpha against column as bravo, how many alpha won, how many were
            drawn, how many bravo won. The diagonal, an agent against itself, tells of the sides alone.
        confidence: the level of the intervals.

    Raises:
        ValueError: counts are none, or agents are not connected by games.
        MissingPackageError: SciPy is missing.
    """
    table = _check_counts(counts)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence = {confidence!r}: give a level between 0 and 1")
    size = len(table)
    alphas, bravos = np.nonzero(table.sum(axis=2))
    games = table[alphas, bravos].sum(axis=1)
    scores = table[alphas, bravos, 0] + table[alphas, bravos, 1] / 2
    basis = _centred_basis(size)  # (K, K - 1): ratings = basis @ parameters sum to 0
    design = np.hstack([basis[alphas] - basis[bravos], np.ones((len(games), 1))])
    _check_connected(table.sum(axis=2))
    parameters = _fit(design, games, scores)
    covariance = np.linalg.inv(_information(design, games, parameters)) * ELO**2
    elo = basis @ parameters[:-1] * ELO
    of_elo = basis @ covariance[:-1, :-1] @ basis.T
    advantage = float(parameters[-1] * ELO)
    reach = _reach(confidence)
    side_reach = reach * math.sqrt(covariance[-1, -1])
    margin = reach * np.sqrt(np.diag(of_elo))
    return Ratings(
        elo=elo,
        intervals=np.stack([elo - margin, elo + margin], axis=1),
        alpha_advantage=advantage,
        alpha_interval=(advantage - side_reach, advantage + side_reach),
        confidence=confidence,
        expected=_logistic((elo[:, None] - elo[None, :] + advantage) / ELO),
        covariance=of_elo,
        groups=_group(table),
    )


def _check_counts(counts: ArrayLike) -> _Floats:
    table = np.array(counts, np.float64)
    if table.ndim != 3 or table.shape[0] != table.shape[1] or table.shape[2] != 3 or len(table) < 2:
        raise ValueError(f"counts of shape {table.shape}: give (K, K, 3) for K agents, two or more")
    if not np.isfinite(table).all() or (table < 0).any():
        raise ValueError("counts: give numbers of games, 0 or more")
    return table


def _check_connected(games: _Floats) -> None:
    """Make sure that ratings and the advantage of a side can be told from the games, (K, K)."""
    count, labels = _components(games, "weak")
    if count > 1:
        raise ValueError(f"counts: no games connect agents {np.flatnonzero(labels == 0).tolist()} with the others")
    if not (games * games.T).any():
        raise ValueError("counts: no two agents played each other from both sides: the sides cannot be compared")


def _group(table: _Floats) -> tuple[tuple[int, ...], ...]:
    """Group agents of which each scored, by way of others perhaps, against each of its group."""
    scored = table[:, :, 0] + table[:, :, 1] + (table[:, :, 2] + table[:, :, 1]).T  # (K, K): row against column
    count, labels = _components(scored, "strong")
    return tuple(tuple(np.flatnonzero(labels == group).tolist()) for group in range(count))


def _components(links: _Floats, connection: str) -> tuple[int, NDArray[np.int32]]:
    with optional_import("stats"):
        from scipy.sparse.csgraph import connected_components  # noqa: PLC0415 - an extra
    count, labels = connected_components(links > 0, connection=connection)
    return int(count), labels


def _centred_basis(size: int) -> _Floats:
    """Return an orthonormal basis of the vectors that sum to 0, (K, K - 1)."""
    full = np.linalg.qr(np.hstack([np.ones((size, 1)), np.eye(size)[:, 1:]]))[0]
    return np.asarray(full[:, 1:], np.float64)


def _fit(design: _Floats, games: _Floats, scores: _Floats) -> _Floats:
    """Maximise the likelihood with Jeffreys' prior."""

    def loss(parameters: _Floats) -> tuple[float, _Floats]:
        logits = design @ parameters
        likelihood = scores @ logits - games @ np.logaddexp(0, logits)
        information = _information(design, games, parameters)
        weights = games * _spread(logits)
        leverages = weights * np.einsum("ij,jk,ik->i", design, np.linalg.pinv(information), design)
        chances = _logistic(logits)
        slope = design.T @ (scores - games * chances + leverages * (0.5 - chances))
        return -float(likelihood + np.linalg.slogdet(information)[1] / 2), -slope

    with optional_import("stats"):
        from scipy.optimize import minimize  # noqa: PLC0415 - an extra
    start = np.zeros(design.shape[1])
    result: Any = minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-6})
    return np.asarray(result.x, np.float64)


def _information(design: _Floats, games: _Floats, parameters: _Floats) -> _Floats:
    weights = games * _spread(design @ parameters)
    return np.asarray(design.T @ (weights[:, None] * design), np.float64)


def _logistic(logits: _Floats) -> _Floats:
    return np.asarray(np.exp(-np.logaddexp(0, -logits)), np.float64)


def _spread(logits: _Floats) -> _Floats:
    """Return p (1 - p) without losing it to rounding where p is nearly 1."""
    return _logistic(logits) * _logistic(-logits)


def _reach(confidence: float) -> float:
    return NormalDist().inv_cdf(0.5 + confidence / 2)
