"""Statistics of match results: intervals of win rates, and sequential probability ratio tests."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

MIN_PAIRS = 16
"""The smallest number of pairs after which the test accepts a hypothesis."""
NUM_PAIR_SCORES = 5
"""The first agent scores 0, 1/2, 1, 3/2 or 2 points in a pair."""
MEAN_SCORES = np.arange(NUM_PAIR_SCORES) / (NUM_PAIR_SCORES - 1)
"""The same per game."""
_PSEUDO_COUNT = 1.0

Hypothesis: TypeAlias = Literal["elo0", "elo1"]


def wilson_interval(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the Wilson score interval of a binomial proportion, without continuity correction.

    Wilson 1927, "Probable inference, the law of succession, and statistical inference", JASA 22.

    Args:
        successes: number of successes.
        trials: number of trials.
        confidence: the level of the interval, between 0 and 1.

    Returns:
        Lower and upper end; 0 and 1 where there are no trials.

    Raises:
        ValueError: the counts or the level are invalid.
    """
    if not 0 <= successes <= trials or not 0 < confidence < 1:
        raise ValueError(f"{successes!r} of {trials!r} at {confidence!r}: give 0 <= successes <= trials, 0 < level < 1")
    if trials == 0:
        return 0.0, 1.0
    return _score_interval(successes / trials, trials, normal_quantile(confidence))


def clustered_interval(clusters: Mapping[tuple[int, int], int], confidence: float = 0.95) -> tuple[float, float]:
    """Return an interval of the proportion of successes in trials that come in clusters, such as pairs of games.

    Games that share a seed are not independent. The interval is Wilson's for the number of independent trials that
    would have the same variance, as in survey statistics (Korn and Graubard 1998, "Confidence intervals for proportions
    with small expected number of positive counts estimated from survey data", Survey Methodology 24). The variance is
    estimated between clusters, plus one cluster as if its trials were independent; the quantile is Student's.

    Args:
        clusters: the number of clusters by their trials and successes.
        confidence: the level of the interval, between 0 and 1.

    Returns:
        Lower and upper end; Wilson's where all clusters have one trial, or all trials the same result.

    Raises:
        ValueError: the counts or the level are invalid.
    """
    table = np.array([(*cluster, count) for cluster, count in clusters.items()], np.float64).reshape(-1, 3)
    sizes, wins, counts = table.T
    trials, successes, num_clusters = int(sizes @ counts), int(wins @ counts), int(counts.sum())
    low, high = wilson_interval(successes, trials, confidence)
    if num_clusters in (trials, 1) or successes in (0, trials):
        return low, high
    p = successes / trials
    between = float(counts @ (wins - p * sizes) ** 2)
    variance = (between + p * (1 - p) * trials / num_clusters) / trials**2
    return _score_interval(p, p * (1 - p) / variance, student_quantile(confidence, num_clusters - 1))


def _score_interval(p: float, trials: float, z: float) -> tuple[float, float]:
    """Return Wilson's interval of a proportion for a quantile."""
    centre = p + z * z / (2 * trials)
    margin = z * math.sqrt(p * (1 - p) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    low = 0.0 if p == 0 else (centre - margin) / scale  # rounding must not move the ends off 0 and 1
    high = 1.0 if p == 1 else (centre + margin) / scale
    return low, high


def normal_quantile(confidence: float) -> float:
    """Return the half-width, in standard deviations, of a two-sided normal interval of a level."""
    return NormalDist().inv_cdf(0.5 + confidence / 2)


def student_quantile(confidence: float, degrees: int) -> float:
    """Return the half-width of a two-sided interval of Student's t distribution, accurate to 0.1 % from 5 degrees on.

    Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.5.
    """
    z = normal_quantile(confidence)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return math.fsum(term / degrees**i for i, term in enumerate(terms))


def elo_to_score(elo: float) -> float:
    """Return the expected score per game at an Elo difference."""
    return 1 / (1 + 10 ** (-elo / 400))


def score_to_elo(score: float) -> float:
    """Return the Elo difference at an expected score per game; infinite at 0 and 1."""
    if score <= 0 or score >= 1:
        return math.inf if score >= 1 else -math.inf
    return -400 * math.log10(1 / score - 1)


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
                raise ValueError(f"{name} = {value!r}: give Elo points from -2000 to 2000")
        if self.elo0 >= self.elo1:
            raise ValueError(f"elo0 = {self.elo0:g} and elo1 = {self.elo1:g}: give a smaller elo0 and a larger elo1")
        for name in ("alpha", "beta"):
            if not 0 < getattr(self, name) < 0.5:
                raise ValueError(f"{name} = {getattr(self, name)!r}: give a probability above 0 and below 0.5")

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
