"""The sequential probability ratio test: its error rates, and where it stops."""

import math

import numpy as np
import pytest

from geo_patrol.evaluation import Sprt, pair_scores
from geo_patrol.evaluation.statistics import MIN_PAIRS, elo_to_score, score_to_elo

SIMULATIONS = 1000


def pair_probabilities(elo, side, draw_rate):
    """Return the probabilities of the five kinds of pairs at a mean score of ``elo``, where sides and draws matter."""

    def mixed(shift):
        pair = np.zeros(5)
        games = []
        for advantage in (side, -side):
            score = elo_to_score(shift + advantage)
            draw = 2 * draw_rate * min(score, 1 - score)
            games.append((1 - score - draw / 2, draw, score - draw / 2))
        for one, first in enumerate(games[0]):
            for two, second in enumerate(games[1]):
                pair[one + two] += first * second
        return pair

    low, high = -1000.0, 1000.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if mixed(middle) @ np.arange(5) / 4 < elo_to_score(elo) else (low, middle)
    return mixed(low)


def verdicts(test, probabilities, pairs, seed):
    """Run many tests at once; return the fractions that accept elo0 and elo1."""
    generator = np.random.default_rng(seed)
    low, high = test.bounds
    counts = np.zeros((SIMULATIONS, 5))
    verdict = np.zeros(SIMULATIONS, np.int64)
    for played in range(1, pairs + 1):
        counts[np.arange(SIMULATIONS), generator.choice(5, SIMULATIONS, p=probabilities)] += 1
        if played >= MIN_PAIRS:
            ratios = test.log_likelihood_ratios(counts)
            verdict[(verdict == 0) & (ratios >= high)] = 1
            verdict[(verdict == 0) & (ratios <= low)] = -1
            if verdict.all():
                break
    return (verdict == -1).mean(), (verdict == 1).mean()


@pytest.mark.parametrize(
    ("elo0", "elo1", "side", "draw_rate", "pairs"),
    [
        (0, 50, 0, 0, 2000),
        (0, 50, 150, 0.3, 2000),
        (0, 100, 0, 0, 600),
        (200, 300, 0, 0.1, 1500),
        (-20, 20, 50, 0, 2500),
    ],
)
def test_error_rates_over_a_thousand_runs(elo0, elo1, side, draw_rate, pairs):
    """At most 5%, as the bounds promise, plus three standard errors of a thousand runs."""
    test = Sprt(elo0, elo1)
    tolerance = 3 * math.sqrt(0.05 * 0.95 / SIMULATIONS)
    right, wrong = verdicts(test, pair_probabilities(elo0, side, draw_rate), pairs, seed=1)
    assert wrong <= 0.05 + tolerance
    assert right >= 0.9
    wrong, right = verdicts(test, pair_probabilities(elo1, side, draw_rate), pairs, seed=2)
    assert wrong <= 0.05 + tolerance
    assert right >= 0.9


def test_smaller_errors_take_more_pairs():
    probabilities = pair_probabilities(50, 0, 0)
    generator = np.random.default_rng(1)
    needed = {0.05: [], 0.01: []}
    for _ in range(50):
        kinds = generator.choice(5, 4000, p=probabilities)
        for error, pairs in needed.items():
            pairs.append(Sprt(0, 50, error, error).run(kinds)[1])
    assert np.mean(needed[0.01]) > 1.3 * np.mean(needed[0.05])


def test_a_run_stops_at_its_first_crossing():
    kinds = np.random.default_rng(1).choice(5, 3000, p=pair_probabilities(100, 0, 0))
    test = Sprt(0, 50)
    verdict, pairs, ratios = test.run(kinds)
    assert verdict == "elo1"
    assert len(ratios) == pairs < 3000
    assert ratios[-1] >= test.bounds[1]
    assert (ratios[MIN_PAIRS - 1 : -1] < test.bounds[1]).all()
    assert test.run(kinds[:pairs])[:2] == ("elo1", pairs)
    assert test.run(kinds[: pairs - 1])[:2] == (None, pairs - 1)
    assert test.run(4 - kinds)[0] == "elo0"


def test_a_few_equal_pairs_decide_nothing():
    test = Sprt(0, 400)
    assert test.run([4] * (MIN_PAIRS - 1))[0] is None
    assert test.run([4] * MIN_PAIRS)[:2] == ("elo1", MIN_PAIRS)
    assert test.run([])[:2] == (None, 0)


def test_ratio_of_the_formula():
    counts = np.array([100, 200, 400, 250, 150])
    test = Sprt(0, 20)
    padded = counts + 1
    values = np.arange(5) / 4
    variance = np.average(values**2, weights=padded) - np.average(values, weights=padded) ** 2
    mean, n, s0, s1 = np.average(values, weights=counts), counts.sum(), elo_to_score(0), elo_to_score(20)
    assert test.log_likelihood_ratios(counts) == pytest.approx(n * (s1 - s0) * (2 * mean - s0 - s1) / (2 * variance))
    assert test.bounds == pytest.approx((math.log(0.05 / 0.95), math.log(0.95 / 0.05)))


def test_kinds_of_pairs():
    assert pair_scores([0, 0, 0, 1, -1, 0, -1, -1, 1, 1, -1, 1]).tolist() == [4, 2, 3, 2, 0, 1]


@pytest.mark.parametrize("elo", [-300, 0, 20])
def test_scores_of_elo(elo):
    assert score_to_elo(elo_to_score(elo)) == pytest.approx(elo)
    assert score_to_elo(0) == -math.inf
    assert score_to_elo(1) == math.inf


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"elo0": 20, "elo1": 20}, "elo0 must be less than elo1, got 20 and 20"),
        ({"elo0": float("nan")}, "elo0 must be a number of Elo points from -2000 to 2000, got nan"),
        ({"alpha": 0}, "alpha must be a probability above 0 and below 0.5, got 0"),
        ({"beta": 0.5}, "beta must be a probability above 0 and below 0.5, got 0.5"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        Sprt(**arguments)
