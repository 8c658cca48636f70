"""Bradley-Terry ratings on the Elo scale, with an advantage of playing alpha.

The model: the expected score of agent i as alpha against agent j is ``1 / (1 + 10 ** (-(r_i - r_j + a) / 400))``, with
ratings r and alpha's advantage a. A win scores 1, a draw 1/2. This is a logistic regression. Its likelihood has no
maximum if an agent won or lost every game, so it has Jeffreys' prior (Firth 1993, "Bias reduction of maximum likelihood
estimates", Biometrika 80), which keeps all ratings finite, removes the first-order bias, and vanishes as games are added.

Intervals are those of the normal approximation. Where the games are given, the covariance is the sandwich estimator
clustered by seed (Liang and Zeger 1986, "Longitudinal data analysis using generalized linear models", Biometrika 73), so
games that share a seed need not be independent and draws vary less than wins and losses. From counts alone it is the
inverse of the Fisher information, which takes games as independent, and a draw as half a win and half a loss.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from geo_patrol.errors import optional_import
from geo_patrol.evaluation.statistics import normal_quantile

_PRIOR_VARIANCE = 0.25
"""The variance of one game between equals."""
ELO = 400 / math.log(10)
"""Elo points per unit of log odds."""

_Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings of K agents, in Elo points; their mean is 0.

    Attributes:
        elo: (K,) ratings.
        intervals: (K, 2), lower and upper ends.
        alpha_advantage: of playing alpha in this configuration.
        alpha_interval: its lower and upper end.
        confidence: level of all intervals.
        expected: (K, K), the expected score of row as alpha against column.
        covariance: (K, K), of the ratings; the variance of a difference is c_ii + c_jj - 2 c_ij.
        groups: the strongly connected components of "scored against". The difference between two groups is only known
            to be large, and its interval is meaningless.
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
        """Return the first agent's rating minus the second's, and the interval of the difference."""
        cov = self.covariance
        gap = float(self.elo[first] - self.elo[second])
        variance = cov[first, first] + cov[second, second] - 2 * cov[first, second]
        margin = normal_quantile(self.confidence) * math.sqrt(max(variance, 0.0))
        return gap, gap - margin, gap + margin


def fit_ratings(counts: ArrayLike, confidence: float = 0.95, *, games: NDArray[np.int64] | None = None) -> Ratings:
    """Fit ratings to the results of games.

    Args:
        counts: (K, K, 3): of the games of row as alpha against column as bravo, the number that alpha won, that were
            drawn, and that bravo won. The diagonal, an agent against itself, only informs about the sides.
        confidence: level of the intervals.
        games: (n, 4), the games that were counted: alpha, bravo, the index of the result in ``counts``, and a number of
            the seed; games with the same one may depend on each other.

    Raises:
        ValueError: counts are invalid, or agents are not connected by games.
        MissingPackageError: SciPy is missing.
    """
    table = _check_counts(counts)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence = {confidence!r}: give a level between 0 and 1")
    size = len(table)
    alphas, bravos = np.nonzero(table.sum(axis=2))
    num_games = table[alphas, bravos].sum(axis=1)
    scores = table[alphas, bravos, 0] + table[alphas, bravos, 1] / 2
    basis = _centred_basis(size)  # (K, K - 1): ratings = basis @ parameters sum to 0
    design = np.hstack([basis[alphas] - basis[bravos], np.ones((len(alphas), 1))])
    _check_connected(table.sum(axis=2))
    parameters = _fit(design, num_games, scores)
    inverse = np.linalg.inv(_information(design, num_games, parameters))
    if games is not None:
        weights = num_games * _bernoulli_variance(design @ parameters)
        cells = np.full((size, size), -1)
        cells[alphas, bravos] = np.arange(len(alphas))
        meat = _clustered_scores(design, weights, cells[games[:, 0], games[:, 1]], 1 - games[:, 2] / 2, games[:, 3])
        inverse = inverse @ meat @ inverse
    covariance = inverse * ELO**2
    elo = basis @ parameters[:-1] * ELO
    elo_covariance = basis @ covariance[:-1, :-1] @ basis.T
    advantage = float(parameters[-1] * ELO)
    z = normal_quantile(confidence)
    side_margin = z * math.sqrt(covariance[-1, -1])
    margin = z * np.sqrt(np.diag(elo_covariance))
    return Ratings(
        elo=elo,
        intervals=np.stack([elo - margin, elo + margin], axis=1),
        alpha_advantage=advantage,
        alpha_interval=(advantage - side_margin, advantage + side_margin),
        confidence=confidence,
        expected=_logistic((elo[:, None] - elo[None, :] + advantage) / ELO),
        covariance=elo_covariance,
        groups=_group(table),
    )


def _clustered_scores(
    design: _Floats, weights: _Floats, cells: NDArray[np.int64], scores: _Floats, seeds: NDArray[np.int64]
) -> _Floats:
    """Return the covariance of the gradient of the likelihood, estimated between seeds.

    A pairing in which one agent won every game says nothing about how its games vary. So the variance of each pairing's
    scores is the model's, times the ratio of the observed variance to that of a binomial with the observed mean, both
    with ``_PRIOR_VARIANCE`` added.

    Args:
        design: (pairings, parameters).
        weights: (pairings,), the model's variance of the sum of scores.
        cells: (n,), the pairing of each game.
        scores: (n,), of alpha: 0, 1/2 or 1.
        seeds: (n,), numbers of seeds, from 0.
    """
    num_games = np.bincount(cells, minlength=len(design))
    means = np.bincount(cells, scores, len(design)) / num_games
    scale = weights / (num_games * means * (1 - means) + _PRIOR_VARIANCE)
    residuals = np.zeros((int(seeds.max()) + 1, design.shape[1]))
    np.add.at(residuals, seeds, (np.sqrt(scale[cells]) * (scores - means[cells]))[:, None] * design[cells])
    num_seeds = len(residuals)
    between = residuals.T @ residuals * (num_seeds / max(num_seeds - 1, 1))
    return np.asarray(between + design.T @ ((scale * _PRIOR_VARIANCE)[:, None] * design), np.float64)


def _check_counts(counts: ArrayLike) -> _Floats:
    table = np.array(counts, np.float64)
    if table.ndim != 3 or table.shape[0] != table.shape[1] or table.shape[2] != 3 or len(table) < 2:
        raise ValueError(f"counts of shape {table.shape}: give (K, K, 3) for K agents, two or more")
    if not np.isfinite(table).all() or (table < 0).any():
        raise ValueError("counts: give numbers of games, 0 or more")
    return table


def _check_connected(games: _Floats) -> None:
    """Raise ValueError unless the numbers of games, (K, K), identify ratings and the advantage of a side."""
    count, labels = _components(games, "weak")
    if count > 1:
        raise ValueError(f"counts: no games connect agents {np.flatnonzero(labels == 0).tolist()} with the others")
    if not (games * games.T).any():
        raise ValueError("counts: no two agents played each other from both sides: the sides cannot be compared")


def _group(table: _Floats) -> tuple[tuple[int, ...], ...]:
    """Return the strongly connected components of "scored against"."""
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
        weights = games * _bernoulli_variance(logits)
        leverages = weights * np.einsum("ij,jk,ik->i", design, np.linalg.pinv(information), design)
        probabilities = _logistic(logits)
        gradient = design.T @ (scores - games * probabilities + leverages * (0.5 - probabilities))
        return -float(likelihood + np.linalg.slogdet(information)[1] / 2), -gradient

    with optional_import("stats"):
        from scipy.optimize import minimize  # noqa: PLC0415 - an extra
    start = np.zeros(design.shape[1])
    result: Any = minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-6})
    return np.asarray(result.x, np.float64)


def _information(design: _Floats, games: _Floats, parameters: _Floats) -> _Floats:
    weights = games * _bernoulli_variance(design @ parameters)
    return np.asarray(design.T @ (weights[:, None] * design), np.float64)


def _logistic(logits: _Floats) -> _Floats:
    return np.asarray(np.exp(-np.logaddexp(0, -logits)), np.float64)


def _bernoulli_variance(logits: _Floats) -> _Floats:
    """Return p (1 - p) without losing it to rounding where p is nearly 1."""
    return _logistic(logits) * _logistic(-logits)
