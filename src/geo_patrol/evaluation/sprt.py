"""A sequential probability ratio test of which of two agents is the better one, on side-swapped pairs of games.

The model is pentanomial: what counts is a pair, two games with the same seed and the sides swapped, in which the first
agent scores 0, 1/2, 1, 3/2 or 2 points. So neither the advantage of a side nor the chance that both games share, nor
draws, need a model of their own. The hypotheses are that the first agent's mean score a game is that of an Elo
difference of ``elo0``, or of ``elo1``. The log likelihood ratio is that of the generalised test in its normal
approximation (Van den Bergh, "The generalized sequential probability ratio test for i.i.d. samples with finite
support", as chess engines are tested),

    LLR = n (s1 - s0) (2 m - s0 - s1) / (2 v),

with n pairs, mean m and variance v of a pair's mean score, s0 and s1 the hypotheses' scores. The test stops when LLR leaves
``(log(beta / (1 - alpha)), log((1 - beta) / alpha))``. The variance is estimated from the pairs; one pair of every kind
is added for that, and no answer is given before ``MIN_PAIRS``, so that a short run of equal pairs decides nothing.
"""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

MIN_PAIRS = 16
"""Pairs before which the test gives no answer."""
KINDS = 5
"""Kinds of pairs: the first agent scores 0, 1/2, 1, 3/2 or 2 points."""
POINTS = np.arange(KINDS) / (KINDS - 1)
"""The first agent's mean score a game in each kind of pair."""
_PSEUDO_PAIRS = 1.0

Verdict: TypeAlias = Literal["elo0", "elo1"] | None
"""The hypothesis that is accepted; None while the question is open."""


def elo_score(elo: float) -> float:
    """Return the mean score a game that goes with an Elo difference."""
    return 1 / (1 + 10 ** (-elo / 400))


def score_elo(score: float) -> float:
    """Return the Elo difference that goes with a mean score a game; infinite at 0 and 1."""
    if score <= 0 or score >= 1:
        return math.inf if score >= 1 else -math.inf
    return -400 * math.log10(1 / score - 1)


@dataclass(frozen=True)
class Sprt:
    """A test of ``elo0`` against ``elo1``.

    Attributes:
        elo0: the Elo difference, of the first agent over the second, that is to be rejected if it is ``elo1``.
        elo1: the larger one.
        alpha: the chance at most of accepting ``elo1`` where ``elo0`` is true.
        beta: the chance at most of accepting ``elo0`` where ``elo1`` is true.

    Raises:
        ValueError: they make no test.
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
                raise ValueError(f"{name} = {getattr(self, name)!r}: give a chance above 0 and below 0.5")

    @property
    def bounds(self) -> tuple[float, float]:
        """The log likelihood ratios at which ``elo0`` and ``elo1`` are accepted."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def ratios(self, counts: ArrayLike) -> NDArray[np.float64]:
        """Return log likelihood ratios.

        Args:
            counts: (..., 5), how many pairs of each kind there were.

        Returns:
            (...), 0 where there are no pairs.
        """
        pairs = np.asarray(counts, np.float64)
        low, high = elo_score(self.elo0), elo_score(self.elo1)
        drift = 2 * (pairs @ POINTS) - pairs.sum(axis=-1) * (low + high)  # 2 n m - n (s0 + s1)
        return np.asarray((high - low) * drift / (2 * pair_variance(pairs)), np.float64)

    def run(self, kinds: ArrayLike) -> tuple[Verdict, int, NDArray[np.float64]]:
        """Test pairs in their order.

        Args:
            kinds: (n,), the kind of every pair, 0 .. 4: twice the first agent's score.

        Returns:
            The verdict, after how many pairs it fell (n if it did not), and the ratios after each of those.
        """
        given = np.asarray(kinds, np.int64)
        ratios = self.ratios(np.cumsum(np.eye(KINDS)[given], axis=0))
        low, high = self.bounds
        decided = (ratios <= low) | (ratios >= high)
        decided[: MIN_PAIRS - 1] = False
        if not decided.any():
            return None, len(given), ratios
        last = int(decided.argmax())
        return "elo1" if ratios[last] >= high else "elo0", last + 1, ratios[: last + 1]


def pair_variance(counts: ArrayLike) -> NDArray[np.float64]:
    """Return the variance of a pair's mean score, (...), from counts, (..., 5), and one more pair of every kind."""
    padded = np.asarray(counts, np.float64) + _PSEUDO_PAIRS
    total = padded.sum(axis=-1)
    return np.asarray(padded @ POINTS**2 / total - (padded @ POINTS / total) ** 2, np.float64)


def pair_kinds(winner: ArrayLike) -> NDArray[np.int64]:
    """Return the kinds of pairs, (n,), twice the first agent's score.

    Args:
        winner: (2 n,), of a match's games in order: 0 the first agent, 1 the second, -1 nobody.
    """
    halves = np.array([2, 0, 1])[np.asarray(winner, np.int64)]  # -1, nobody, is the last one
    return np.asarray(halves.reshape(-1, 2).sum(axis=1), np.int64)
