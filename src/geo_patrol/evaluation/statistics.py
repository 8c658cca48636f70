"""Statistics of match results: intervals of rates, means and differences, sequential tests, ratings and equilibria."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from geo_patrol.base.errors import optional_import

MIN_PAIRS = 16
"""The smallest number of pairs after which the test accepts a hypothesis."""
NUM_PAIR_SCORES = 5
"""The first agent scores 0, 1/2, 1, 3/2 or 2 points in a pair."""
MEAN_SCORES = np.arange(NUM_PAIR_SCORES) / (NUM_PAIR_SCORES - 1)
"""The same per game."""
_PSEUDO_COUNT = 1.0

Hypothesis: TypeAlias = Literal["elo0", "elo1"]


class Rate(NamedTuple):
    """An estimate with its 95% interval: a share of games, a mean score per game, or a difference of two."""

    value: float
    """The estimate."""
    low: float
    """Lower end of the interval."""
    high: float
    """Upper end of the interval."""

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what ``to_dict`` returned."""
        return cls(data["win_rate"], *data["win_interval"])

    def to_dict(self) -> dict[str, Any]:
        """Return a win rate as plain data for JSON."""
        return {"win_rate": self.value, "win_interval": list(self.interval)}

    @property
    def interval(self) -> tuple[float, float]:
        """Both ends of the interval."""
        return self.low, self.high

    @property
    def interval_text(self) -> str:
        """The interval in percent: "47.6-61.3%"."""
        return f"{100 * self.low:.1f}-{self.high:.1%}"

    def __str__(self) -> str:
        """Return the estimate with its interval in percent: "54.5% (47.6-61.3%)"."""
        return f"{self.value:.1%} ({self.interval_text})"


def wilson_interval(successes: int, trials: int, confidence: float = 0.95) -> Rate:
    """Return a binomial proportion with its Wilson score interval, without continuity correction.

    Wilson 1927, "Probable inference, the law of succession, and statistical inference", JASA 22.

    Args:
        successes: number of successes.
        trials: number of trials.
        confidence: the level of the interval, between 0 and 1.

    Returns:
        The proportion with its interval; NaN, from 0 to 1, where there are no trials.

    Raises:
        ValueError: the counts or the level are invalid.
    """
    if not 0 <= successes <= trials or not 0 < confidence < 1:
        raise ValueError(
            f"0 <= successes <= trials and 0 < confidence < 1 must hold, got {successes!r}, {trials!r} and {confidence!r}"
        )
    if trials == 0:
        return Rate(math.nan, 0.0, 1.0)
    # Here and in student_quantile not SciPy's, which would double the installation; tests compare with it.
    return _score_interval(successes / trials, trials, normal_quantile(confidence))


def clustered_interval(clusters: Mapping[tuple[int, int], int], confidence: float = 0.95) -> Rate:
    """Return the proportion of successes in trials that come in clusters, such as pairs of games, with its interval.

    Games that share a seed are not independent. The interval is Wilson's for the number of independent trials that
    would have the same variance, as in survey statistics (Korn and Graubard 1998, "Confidence intervals for proportions
    with small expected number of positive counts estimated from survey data", Survey Methodology 24). The variance is
    estimated between clusters, plus one cluster as if its trials were independent; the quantile is Student's.

    Args:
        clusters: the number of clusters by their trials and successes.
        confidence: the level of the interval, between 0 and 1.

    Returns:
        The proportion with its interval, which is Wilson's where all clusters have one trial, or all trials the same result.

    Raises:
        ValueError: the counts or the level are invalid.
    """
    table = np.array([(*cluster, count) for cluster, count in clusters.items()], np.float64).reshape(-1, 3)
    sizes, wins, counts = table.T
    trials, successes, num_clusters = int(sizes @ counts), int(wins @ counts), int(counts.sum())
    independent = wilson_interval(successes, trials, confidence)
    if num_clusters in (trials, 1) or successes in (0, trials):
        return independent
    p = independent.value
    between = float(counts @ (wins - p * sizes) ** 2)
    variance = (between + p * (1 - p) * trials / num_clusters) / trials**2
    return _score_interval(p, p * (1 - p) / variance, student_quantile(confidence, num_clusters - 1))


def _score_interval(p: float, trials: float, z: float) -> Rate:
    """Return a proportion with Wilson's interval for a quantile."""
    centre = p + z * z / (2 * trials)
    margin = z * math.sqrt(p * (1 - p) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    low = 0.0 if p == 0 else (centre - margin) / scale  # rounding must not move the ends off 0 and 1
    high = 1.0 if p == 1 else (centre + margin) / scale
    return Rate(p, low, high)


def paired_interval(differences: ArrayLike, *, is_rate: bool = False, confidence: float = 0.95) -> Rate:
    """Return the mean of paired differences with its interval.

    Args:
        differences: (n,), such as those between two games with the same seed.
        is_rate: whether they are differences of successes, -1, 0 or 1. Then the interval is that of Agresti and Min (2005,
            "Simple improved confidence intervals for comparing matched proportions", Statistics in Medicine 24), which
            adds half a pair of each kind, so that a few equal pairs prove nothing; otherwise it is Student's.
        confidence: the level of the interval, between 0 and 1.
    """
    values = np.asarray(differences, np.float64)
    size, total, squares = len(values), float(values.sum()), float((values**2).sum())
    mean = total / size
    if is_rate:
        middle = total / (size + 2)
        margin = normal_quantile(confidence) * math.sqrt((squares + 1) / (size + 2) - middle**2) / math.sqrt(size + 2)
        return Rate(mean, max(middle - margin, -1.0), min(middle + margin, 1.0))
    if size == 1:
        return Rate(mean, -math.inf, math.inf)
    variance = max(squares - total**2 / size, 0.0) / (size - 1)
    margin = student_quantile(confidence, size - 1) * math.sqrt(variance / size)
    return Rate(mean, mean - margin, mean + margin)


def normal_quantile(confidence: float) -> float:
    """Return the half-width, in standard deviations, of a two-sided normal interval of a level."""
    return NormalDist().inv_cdf(0.5 + confidence / 2)


@lru_cache(maxsize=1024)
def student_quantile(confidence: float, degrees: int) -> float:
    """Return the half-width of a two-sided interval of Student's t distribution, to seven digits.

    Up to 100 degrees of freedom the distribution function, a finite sum (Abramowitz and Stegun, "Handbook of Mathematical
    Functions", 26.7.3 and 26.7.4), is inverted by bisection; from there on 26.7.5 is as exact.

    Args:
        confidence: the level of the interval, between 0 and 1.
        degrees: degrees of freedom, from 1 on.
    """
    if degrees <= _EXACT_DEGREES:
        low, high = 0.0, math.pi / 2  # of the angle whose tangent is t / sqrt(degrees)
        for _ in range(64):
            middle = (low + high) / 2
            low, high = (middle, high) if _student_coverage(middle, degrees) < confidence else (low, middle)
        return math.tan(low) * math.sqrt(degrees)
    z = normal_quantile(confidence)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return math.fsum(term / degrees**i for i, term in enumerate(terms))


_EXACT_DEGREES = 100


def _student_coverage(angle: float, degrees: int) -> float:
    """Return the probability that |t| is less than the tangent of an angle times the square root of the degrees of freedom."""
    cosine, is_odd = math.cos(angle), degrees % 2
    term, terms = (cosine if is_odd else 1.0), 0.0
    for k in range(1 + is_odd, degrees, 2):
        terms += term
        term *= cosine**2 * k / (k + 1)
    total = math.sin(angle) * terms
    return 2 / math.pi * (angle + total) if is_odd else total


def share_interval(values: ArrayLike, confidence: float = 0.95) -> Rate:
    """Return the mean of values from 0 to 1, such as games won, a draw counting half, with its interval.

    The interval is Wilson's for the number of trials, each 0 or 1, that would have the same variance. Of values that are
    0 or 1 it is Wilson's itself; otherwise one value is added to the variance as if it were 0 or 1, so that a few equal ones
    prove nothing.

    Args:
        values: (n,), at least one.
        confidence: the level of the interval, between 0 and 1.
    """
    each = np.asarray(values, np.float64)
    size, mean = len(each), float(each.mean())
    if np.isin(each, (0, 1)).all():
        return wilson_interval(round(float(each.sum())), size, confidence)
    variance = (float(((each - mean) ** 2).sum()) + mean * (1 - mean)) / size**2
    return _score_interval(mean, mean * (1 - mean) / variance, normal_quantile(confidence))


def difference_interval(first: Rate, second: Rate, comparisons: int = 1) -> Rate:
    """Return the difference of two independent estimates, the second less the first, with a 95% interval, from their own.

    The squares of the distances to the ends add up (Zou and Donner 2008, "Construction of confidence limits about effect
    measures: a general approach", Statistics in Medicine 27). From Wilson's intervals of two proportions that is Newcombe's
    (1998, "Interval estimation for the difference between independent proportions: comparison of eleven methods",
    Statistics in Medicine 17, method 10), which has a width even where both are 1.

    Args:
        first: an estimate; ends of its interval may be infinite.
        second: likewise.
        comparisons: of so many differences, the intervals together cover all with 95% (Bonferroni).
    """
    widening = normal_quantile(1 - 0.05 / comparisons) / normal_quantile(0.95)
    (p, p_low, p_high), (q, q_low, q_high) = first, second
    difference = q - p
    below, above = math.hypot(q - q_low, p_high - p), math.hypot(q_high - q, p - p_low)
    return Rate(difference, difference - widening * below, difference + widening * above)


def elo_to_score(elo: float) -> float:
    """Return the expected score per game at an Elo difference."""
    return 1 / (1 + 10 ** (-elo / 400))


def score_to_elo(score: float) -> float:
    """Return the Elo difference at an expected score per game; infinite at 0 and 1."""
    if score <= 0 or score >= 1:
        return math.inf if score >= 1 else -math.inf
    return -400 * math.log10(1 / score - 1)


# No maintained package has the pentanomial test.
@dataclass(frozen=True)
class Sprt:
    """A pentanomial sequential probability ratio test of ``elo0`` against ``elo1``.

    What is counted are pairs: two games with the same seed and the sides swapped, in which the first agent scores 0,
    1/2, 1, 3/2 or 2 points. So neither the advantage of a side, nor the random stream that both games share, nor draws
    need a model of their own. The hypotheses are that the expected score per game is that of an Elo difference of
    ``elo0``, or of ``elo1``. The log likelihood ratio is that of the generalised test in its normal approximation (Van
    den Bergh, "The generalized sequential probability ratio test for i.i.d. samples with finite support", as in the
    testing of chess engines),

        LLR = n (s1 - s0) (2 m - s0 - s1) / (2 v),

    with n pairs, mean m and variance v of a pair's mean score, and the hypotheses' scores s0 and s1. The test stops when
    LLR leaves ``(log(beta / (1 - alpha)), log((1 - beta) / alpha))``. The variance is estimated from the pairs with one
    pseudo-count per score, and nothing is accepted before ``MIN_PAIRS``, so that a short run of equal pairs decides
    nothing.

    Attributes:
        elo0: the Elo difference of the first agent over the second under the null hypothesis.
        elo1: the larger one under the alternative.
        alpha: the probability, at most, of accepting ``elo1`` where ``elo0`` is true.
        beta: the probability, at most, of accepting ``elo0`` where ``elo1`` is true.

    Raises:
        ValueError: a value is out of range.
    """

    elo0: float = 0.0
    elo1: float = 20.0
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        for name in ("elo0", "elo1"):
            value = getattr(self, name)
            if not math.isfinite(value) or abs(value) > 2000:
                raise ValueError(f"{name} must be a number of Elo points from -2000 to 2000, got {value!r}")
        if self.elo0 >= self.elo1:
            raise ValueError(f"elo0 must be less than elo1, got {self.elo0:g} and {self.elo1:g}")
        for name in ("alpha", "beta"):
            if not 0 < getattr(self, name) < 0.5:
                raise ValueError(f"{name} must be a probability above 0 and below 0.5, got {getattr(self, name)!r}")

    @property
    def bounds(self) -> tuple[float, float]:
        """The log likelihood ratios at which ``elo0`` and ``elo1`` are accepted."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def log_likelihood_ratios(self, counts: ArrayLike) -> NDArray[np.float64]:
        """Return the log likelihood ratios, (...), of counts of pairs by score, (..., 5); 0 where there are no pairs."""
        pairs = np.asarray(counts, np.float64)
        low, high = elo_to_score(self.elo0), elo_to_score(self.elo1)
        drift = 2 * (pairs @ MEAN_SCORES) - pairs.sum(axis=-1) * (low + high)  # 2 n m - n (s0 + s1)
        return np.asarray((high - low) * drift / (2 * pair_variance(pairs)), np.float64)

    def run(self, scores: ArrayLike) -> tuple[Hypothesis | None, int, NDArray[np.float64]]:
        """Test pairs in their order.

        Args:
            scores: (n,), see ``pair_scores``.

        Returns:
            The accepted hypothesis, or None; the number of pairs it took, or n; and the log likelihood ratio after each
            of these pairs.
        """
        categories = np.asarray(scores, np.int64)
        ratios = self.log_likelihood_ratios(np.cumsum(np.eye(NUM_PAIR_SCORES)[categories], axis=0))
        low, high = self.bounds
        decided = (ratios <= low) | (ratios >= high)
        decided[: MIN_PAIRS - 1] = False
        if not decided.any():
            return None, len(categories), ratios
        last = int(decided.argmax())
        return "elo1" if ratios[last] >= high else "elo0", last + 1, ratios[: last + 1]


def pair_variance(counts: ArrayLike) -> NDArray[np.float64]:
    """Return the variance of a pair's mean score, (...), from counts, (..., 5), with one pseudo-count per score."""
    padded = np.asarray(counts, np.float64) + _PSEUDO_COUNT
    total = padded.sum(axis=-1)
    return np.asarray(padded @ MEAN_SCORES**2 / total - (padded @ MEAN_SCORES / total) ** 2, np.float64)


def pair_scores(winner: ArrayLike) -> NDArray[np.int64]:
    """Return twice the first agent's score in every pair, (n,), 0 .. 4.

    Args:
        winner: (2 n,), of a match's games in order: 0 the first agent, 1 the second, -1 a draw.
    """
    points = np.array([2, 0, 1])[np.asarray(winner, np.int64)]  # -1, a draw, is the last entry
    return np.asarray(points.reshape(-1, 2).sum(axis=1), np.int64)


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
        alpha_advantage: advantage of playing alpha in this configuration.
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
        raise ValueError(f"confidence must be a level between 0 and 1, got {confidence!r}")
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
        raise ValueError(f"counts must have shape (K, K, 3) for two agents or more, got {table.shape}")
    if not np.isfinite(table).all() or (table < 0).any():
        raise ValueError("counts must be numbers of games, none negative")
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
    # Neither choix (Bradley-Terry) nor statsmodels (logistic regression) has that prior, without which an agent that wins every
    # game has no rating; choix has no draws and no sides, and statsmodels depends on pandas.

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


_NEGLIGIBLE = 1e-9  # smaller probabilities are rounding errors of the linear programme


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A Nash equilibrium in mixed strategies of a zero-sum game.

    Attributes:
        value: value of the game: the row player's expected payoff.
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
        raise ValueError(f"payoffs must be a matrix of finite numbers with rows and columns, got shape {matrix.shape}")
    value, rows, columns = _maximin(matrix)
    return Equilibrium(value, rows, columns)


@dataclass(frozen=True, eq=False)
class EquilibriumIntervals:
    """95% intervals of an equilibrium, by bootstrap percentiles; they cover the equilibria of each sample if it has several.

    Attributes:
        value: lower and upper end.
        rows: (m, 2), likewise.
        columns: (n, 2), likewise.
    """

    value: tuple[float, float]
    rows: NDArray[np.float64]
    columns: NDArray[np.float64]


def equilibrium_intervals(payoffs: Sequence[NDArray[np.float64]]) -> EquilibriumIntervals:
    """Return how an equilibrium varies between resampled payoffs, see ``equilibrium``.

    Args:
        payoffs: matrices (m, n) of bootstrap samples.
    """
    generator, values, rows, columns = np.random.default_rng(0), [], [], []
    for matrix in payoffs:
        scale = float(np.abs(matrix).max()) or 1.0
        _, row, column = _maximin(matrix + generator.uniform(-_TIE, _TIE, matrix.shape) * scale)
        values.append(row @ matrix @ column)
        rows.append(row)
        columns.append(column)
    low, high = np.quantile(values, _PERCENTILES).tolist()
    ends = (np.quantile(np.array(each), _PERCENTILES, axis=0).T for each in (rows, columns))
    return EquilibriumIntervals((low, high), *ends)


_PERCENTILES = (0.025, 0.975)
_TIE = 1e-6
"""Noise of payoffs, which chooses among several equilibria; ten times what the linear program takes for equal."""


def _maximin(matrix: NDArray[np.float64]) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """Return the value, the maximin strategy of the rows, and the minimax strategy of the columns.

    Maximise v subject to strategy @ matrix >= v; the columns' strategy is the solution of the dual.
    """
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
    rows, column_strategy = (
        np.where(each < _NEGLIGIBLE, 0.0, each) for each in (result.x[:count], -result.ineqlin.marginals)
    )
    return float(result.x[count]) * scale + 0.0, rows / rows.sum(), column_strategy / column_strategy.sum()
