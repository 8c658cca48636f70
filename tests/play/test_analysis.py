"""What decided a game: chances that end as the game did, and better orders that are better when they are played out."""

import numpy as np
import pytest

from geo_patrol import Game, load_config, make_agent
from geo_patrol.agents.policy import PolicyAgent
from geo_patrol.game.notation import Order
from geo_patrol.play.analysis import MOMENTS, analyse, chance_of
from geo_patrol.play.live import LiveGame


@pytest.fixture(scope="module")
def timeline():
    agents = make_agent("level:3"), make_agent("level:7")
    live = LiveGame(load_config("geo_patrol", {"turn_limit": 6}), agents, 5)
    while not live.is_over:
        live.advance()
    return live.timeline


@pytest.mark.slow
@pytest.mark.parametrize("side", ["alpha", "bravo"])
def test_an_analysis_has_a_chance_for_every_position_and_moments_in_order(timeline, side):
    steps = list(analyse(timeline, side))
    assert [one.done for one in steps] == sorted(one.done for one in steps)
    last = steps[-1]
    assert last.done == last.total
    assert len(last.chances) == len(timeline)
    assert last.chances[-1] == {side: 1.0, None: 0.5}.get(timeline[-1].winner, 0.0)
    assert len(last.moments) <= MOMENTS
    assert [one.position for one in last.moments] == sorted(one.position for one in last.moments)
    for moment in last.moments:
        game = timeline[moment.position]
        assert game.is_legal(side, moment.better)
        assert moment.given.satellite == moment.better.satellite
        assert moment.given != moment.better
        assert moment.after > moment.before


def test_the_chances_of_both_sides_add_up_to_one(timeline):
    policy = PolicyAgent()
    alpha, bravo = (chance_of(policy, list(timeline), side) for side in ("alpha", "bravo"))
    assert alpha.shape == (len(timeline),)
    assert np.all((alpha >= 0) & (bravo >= 0))
    np.testing.assert_allclose(alpha + bravo, 1, atol=1e-6)


def last_turn(**overrides):
    """Return the last engagement of a game, in which a Patrol of alpha is beside the enemy HVA."""
    config = load_config("geo_patrol", {"turn_limit": 1, **overrides})
    position = Game(config, seed=1).position.model_dump() | {"phase": "engagement"}
    position["sector"][0][1] = position["sector"][1][0]
    return LiveGame(config, (None, make_agent("idle")), start=Game.from_position(position, config, seed=1))


def test_a_side_that_can_win_at_once_is_told_how():
    live = last_turn()
    while not live.is_over:
        live.advance()
    *_, last = analyse(live.timeline, "alpha")
    (moment,) = last.moments
    assert (moment.better.satellite, moment.better.target) == (1, 0)
    assert moment.after > 0.7 > moment.before
    assert last.chances[moment.position] == moment.before, "the curve and the moment tell the same"
    assert last.best is None, "it gave no order"
    *_, hinted = analyse(live.timeline, "alpha", {moment.position: ()})
    assert hinted.moments == (), "a hint had proposed to do nothing"


def test_a_side_that_won_is_told_its_best_order():
    """To hold would have drawn."""
    live = last_turn(**{"both.odds.shoot": [1.0, 1.0]})
    live.play(((Order.parse("P1 shoot HVA"),), ()))
    assert live.timeline.winner == "alpha"
    *_, won = analyse(live.timeline, "alpha")
    assert (won.best.position, str(won.best.better), won.best.given.action) == (0, "P1 shoot HVA", "noop")
    assert won.best.after == 1.0 > won.best.before
    *_, lost = analyse(live.timeline, "bravo")
    assert lost.best is None
