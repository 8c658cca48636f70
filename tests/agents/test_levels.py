"""Opponents in nine steps, and the rating of somebody who has played them."""

import math

import numpy as np
import pytest

from geo_patrol import Games, make_agent, play_match
from geo_patrol.agents.levels import rate, read_levels
from geo_patrol.agents.policy import PolicyAgent


def test_levels_rise_from_a_beginner_to_the_policy_itself():
    levels = read_levels()
    assert len(levels) == 9
    assert [one.rating for one in levels] == sorted(one.rating for one in levels)
    assert [one.missed for one in levels] == sorted((one.missed for one in levels), reverse=True)
    assert levels[-1].missed == 0


def test_a_level_has_a_number_and_a_name():
    assert make_agent("level:4").name == make_agent("level:Telstar").name == "level:telstar"


@pytest.mark.parametrize(("name", "text"), [("level:telstra", "telstar"), ("level:10", "1 to 9"), ("level:", "1 to 9")])
def test_an_unknown_level_is_refused(name, text):
    with pytest.raises(ValueError, match=text):
        make_agent(name)


def test_the_strongest_level_plays_as_the_policy():
    games = Games("geo_patrol", 50, seed=1)
    seen, masks = games.observe("tokens")[:, 0], games.action_masks()[:, 0]
    webb, policy = make_agent("level:webb"), PolicyAgent()
    actions = [agent.act(seen, masks, np.random.default_rng(1)) for agent in (webb, policy)]
    np.testing.assert_array_equal(*actions)
    np.testing.assert_allclose(webb.order_probabilities(seen, masks), policy.order_probabilities(seen, masks))


def test_a_satellite_misses_its_order_as_often_as_its_level_says():
    games = Games("geo_patrol", 500, seed=1)
    seen, masks = games.observe("tokens")[:, 0], games.action_masks()[:, 0]
    sputnik, policy = make_agent("level:sputnik"), PolicyAgent()
    given, all_orders = ((agent.act(seen, masks, np.random.default_rng(1)) != 0).mean() for agent in (sputnik, policy))
    assert given == pytest.approx(0.15 * all_orders, rel=0.15)


def test_a_level_beats_one_three_steps_below():
    assert play_match("level:7", "level:4", games=40, seed=3).summary().total.score > 0.7


def test_a_rating_is_near_that_of_opponents_beaten_half_of_the_time():
    rating = rate([(1070, 1), (1070, 0)] * 20)
    assert abs(rating.rating - 1070) < 5
    assert rating.low < 1000
    assert rating.high > 1140
    assert rating.games == 40


def test_a_rating_stays_finite_for_who_has_only_won_and_is_unknown_without_games():
    first, more = rate([(620, 1)]), rate([(620, 1)] * 20)
    assert 620 < first.rating < more.rating < 2100
    assert rate([]) is None


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("rating", [-5000.0, 5000.0, 1e-300])
def test_extreme_results_have_a_rating(rating):
    for results in ([(rating, 1.0)], [(rating, 0.0), (-rating, 1.0)] * 500, [(-5000.0, 0.0), (5000.0, 1.0)]):
        found = rate(results)
        assert all(map(math.isfinite, found))
        assert found.low <= found.rating <= found.high
