"""Bradley-Terry ratings: they recover known strengths, with intervals of the stated confidence."""

import numpy as np
import pytest
from scipy.special import expit

from geo_patrol.evaluation import fit_ratings
from geo_patrol.evaluation.statistics import ELO


def expected(elo, advantage):
    gaps = np.subtract.outer(elo, elo)
    return expit((gaps + advantage) / ELO)


def draw_counts(probabilities, games, draw_rate, generator):
    """Sample the results of games with expected mean scores; a fraction of the rarer results are draws."""
    draws = 2 * draw_rate * np.minimum(probabilities, 1 - probabilities)
    results = np.stack([probabilities - draws / 2, draws, 1 - probabilities - draws / 2], axis=-1)
    return generator.multinomial(games, results)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("elo", "advantage", "games"),
    [([0, 50, 100, 150], 30, 50), ([-300, 0, 100, 900], -80, 200), ([0, 0], 0, 20)],
)
def test_intervals_cover_known_strengths_at_their_level(elo, advantage, games):
    """95% of all intervals contain the true value: of ratings, differences and the advantage of a side."""
    elo = np.array(elo) - np.mean(elo)
    generator = np.random.default_rng(1)
    probabilities, simulations = expected(elo, advantage), 200
    held = {"rating": [], "difference": [], "side": []}
    errors = []
    for _ in range(simulations):
        ratings = fit_ratings(draw_counts(probabilities, games, 0, generator))
        errors.append(ratings.elo - elo)
        low, high = ratings.intervals.T
        held["rating"] += list((low <= elo) & (elo <= high))
        held["side"].append(ratings.alpha_interval[0] <= advantage <= ratings.alpha_interval[1])
        for first in range(len(elo)):
            for second in range(first):
                _, low, high = ratings.difference(first, second)
                held["difference"].append(low <= elo[first] - elo[second] <= high)
    for what, covered in held.items():
        assert 0.91 < np.mean(covered) < 0.985, what
    spread = np.std(errors, axis=0) / np.sqrt(simulations)
    assert (np.abs(np.mean(errors, axis=0)) < 5 * spread).all()  # and they are not biased


def test_draws_make_intervals_conservative():
    elo = np.array([-60.0, 0.0, 60.0])
    generator = np.random.default_rng(2)
    covered = []
    for _ in range(100):
        ratings = fit_ratings(draw_counts(expected(elo, 0), 100, 0.8, generator))
        covered += list((ratings.intervals[:, 0] <= elo) & (elo <= ratings.intervals[:, 1]))
    assert np.mean(covered) >= 0.95


def play_pairs(probabilities, pairs, draw_rate, generator):
    """Sample the results of pairs of games with the sides swapped, decided by the same random number."""
    size = len(probabilities)
    first, second = np.triu_indices(size, 1)
    games = []
    for seed, uniform in enumerate(generator.random((pairs, len(first)))):
        for alpha, bravo in ((first, second), (second, first)):
            p = probabilities[alpha, bravo]
            draws = 2 * draw_rate * np.minimum(p, 1 - p)
            result = (uniform > p - draws / 2).astype(int) + (uniform > p + draws / 2)
            games.append(np.stack([alpha, bravo, result, np.full(len(first), seed)], axis=1))
    table = np.concatenate(games)
    counts = np.zeros((size, size, 3), int)
    np.add.at(counts, tuple(table[:, :3].T), 1)
    return counts, table


@pytest.mark.slow
@pytest.mark.parametrize("draw_rate", [0, 0.6])
def test_intervals_account_for_correlated_pairs_and_for_draws(draw_rate):
    elo, advantage, generator = np.array([-120.0, 0.0, 120.0]), 40, np.random.default_rng(3)
    sides, differences, naive = [], [], []
    for _ in range(300):
        counts, games = play_pairs(expected(elo, advantage), 60, draw_rate, generator)
        ratings = fit_ratings(counts, games=games)
        sides.append(ratings.alpha_interval[0] <= advantage <= ratings.alpha_interval[1])
        for i in range(3):
            _, low, high = ratings.difference(i, (i + 1) % 3)
            differences.append(low <= elo[i] - elo[(i + 1) % 3] <= high)
        low, high = fit_ratings(counts).alpha_interval
        naive.append(low <= advantage <= high)
    assert 0.91 < np.mean(sides) < 0.985
    assert 0.91 < np.mean(differences) < 0.985
    if draw_rate == 0:
        assert np.mean(naive) < 0.9


def test_an_agent_that_won_every_game_has_a_wide_interval_however_its_games_depend_on_each_other():
    generator = np.random.default_rng(4)
    counts, games = play_pairs(expected(np.array([0.0, 0.0, 3000.0]), 0), 60, 0, generator)
    with_games, without = fit_ratings(counts, games=games), fit_ratings(counts)
    np.testing.assert_allclose(np.ptp(with_games.intervals[2]), np.ptp(without.intervals[2]), rtol=0.2)


def test_other_levels():
    counts = draw_counts(expected(np.array([0.0, 100.0]), 0), 100, 0, np.random.default_rng(3))
    half, highest = (np.ptp(fit_ratings(counts, level).intervals, axis=1) for level in (0.5, 0.99))
    np.testing.assert_allclose(highest / half, 2.5758 / 0.67449, rtol=1e-4)


def test_ratings_of_many_games_equal_the_elo_of_their_win_rate():
    counts = np.zeros((2, 2, 3))
    counts[0, 1], counts[1, 0] = (70_000, 0, 30_000), (30_000, 0, 70_000)
    ratings = fit_ratings(counts)
    gap, low, high = ratings.difference(0, 1)
    assert gap == pytest.approx(400 * np.log10(7 / 3), abs=0.01)
    assert low < gap < high < gap + 5
    assert ratings.alpha_advantage == pytest.approx(0, abs=1e-3)
    assert ratings.expected[0, 1] == pytest.approx(0.7, abs=1e-4)
    assert ratings.elo.sum() == pytest.approx(0, abs=1e-9)


def test_a_draw_is_half_a_win():
    with_draws, decided = np.zeros((2, 2, 2, 3))
    with_draws[0, 1], with_draws[1, 0] = (20, 40, 10), (10, 40, 20)
    decided[0, 1], decided[1, 0] = (40, 0, 30), (30, 0, 40)
    np.testing.assert_allclose(fit_ratings(with_draws).elo, fit_ratings(decided).elo, atol=1e-3)


def test_the_advantage_of_a_side_is_rated():
    counts = np.zeros((2, 2, 3))
    counts[0, 1] = counts[1, 0] = (8_000, 0, 2_000)  # alpha wins, whoever it is
    ratings = fit_ratings(counts)
    np.testing.assert_allclose(ratings.elo, 0, atol=1e-3)
    assert ratings.alpha_advantage == pytest.approx(400 * np.log10(4), abs=0.5)


def test_an_agent_that_always_wins_has_a_finite_rating_and_a_group_of_its_own():
    counts = np.zeros((3, 3, 3))
    for other in (1, 2):
        counts[0, other], counts[other, 0] = (100, 0, 0), (0, 0, 100)
    counts[1, 2] = counts[2, 1] = (50, 0, 50)
    ratings = fit_ratings(counts)
    assert 500 < ratings.difference(0, 1)[0] < 3000
    assert sorted(ratings.groups) == [(0,), (1, 2)]
    counts[0, 1, 2] = 1  # one loss, and they can be compared
    assert fit_ratings(counts).groups == ((0, 1, 2),)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (np.zeros((2, 3, 3)), r"counts must have shape \(K, K, 3\) for two agents or more, got \(2, 3, 3\)"),
        (np.ones((1, 1, 3)), "for two agents or more"),
        (-np.ones((2, 2, 3)), "numbers of games, none negative"),
        (np.full((2, 2, 3), np.nan), "numbers of games, none negative"),
        (np.zeros((2, 2, 3)), r"no games connect agents \[0\] with the others"),
        (np.array([[[0, 0, 0], [5, 0, 5]], [[0, 0, 0], [0, 0, 0]]]), "from both sides"),
    ],
)
def test_wrong_counts(counts, message):
    with pytest.raises(ValueError, match=message):
        fit_ratings(counts)


def test_wrong_level():
    with pytest.raises(ValueError, match=r"confidence must be a level between 0 and 1, got 95"):
        fit_ratings(np.ones((2, 2, 3)), confidence=95)
