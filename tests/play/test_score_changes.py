"""Why scores rise and fall: the parts add up to the change, and name what was lost."""

import pytest

from geo_patrol import Game, load_config, make_agent
from geo_patrol.play.live import LiveGame
from geo_patrol.play.telling import aim_tab, score_changes, score_sums
from tests.support.positions import arrange, destroyed, guards
from tests.support.strategies import small


def test_a_lost_hva_is_named_with_its_points():
    alpha, bravo = score_changes(destroyed().last_engagement(1))
    assert (alpha.hva_destroyed, alpha.goal) == (-64, 0)
    assert "HVA destroyed: -64 fuel points" in str(alpha)
    assert bravo.hva_destroyed == 0


def test_a_lost_patrol_costs_what_it_had_left_after_paying_for_its_order():
    alpha, bravo = score_changes(guards().last_engagement(1))
    assert str(alpha) == "alpha +8 (goal: +10, fuel spent: -2)"
    assert (bravo.patrol_count, bravo.patrols_destroyed) == (1, -10)  # 95 fuel were left, 9.5 points


def test_points_for_patrols_are_told_apart_from_those_of_the_goal():
    config = small(odds={"collide": [1, 1]}, points={"patrol": 20})
    game = arrange(config, {0: 15, 1: 1}, {0: 23, 1: 1})
    alpha, bravo = score_changes(game.step(alpha=["P1 collide P1"]))
    assert (alpha.goal, alpha.enemy_patrols, bravo.enemy_patrols) == (10, 20, 20)
    assert "enemy Patrols destroyed: +20" in str(alpha)
    assert "enemy Patrol lost" in str(aim_tab(game))
    assert "enemy Patrol lost" not in str(aim_tab(Game("case1")))


def test_points_for_patrols_are_part_of_the_sums_of_a_game():
    config = load_config("case1", {"both.points.patrol": 5, "both.odds.collide": [1, 1]})
    live = LiveGame(config, (make_agent("scripted"), make_agent("raider")), 3)
    while not live.is_over:
        live.advance()
    for sums, side in zip(score_sums(live.timeline), ("alpha", "bravo"), strict=True):
        enemy = "bravo" if side == "alpha" else "alpha"
        lost = sum(one.destroyed for one in live.timeline[-1].satellites(enemy)[1:])
        assert sums.enemy_patrols == 5 * lost
        assert (sums.forfeit, sums.end) == (0, live.timeline[-1].scores[side])


@pytest.mark.parametrize("preset", ["geo_patrol", "case3", "od2d"])
def test_the_reasons_add_up_to_the_change_of_the_score(preset):
    live = LiveGame(load_config(preset), (make_agent("scripted"), make_agent("raider")), 3)
    turns = lost = 0
    while not live.is_over:
        live.advance()
        if live.timeline.phases[-1].name == "movement":
            continue
        engagement = live.timeline.last_engagement(len(live.timeline) - 1)
        for change in score_changes(engagement):
            assert change.total == engagement.after.scores[change.side] - engagement.before.scores[change.side]
            assert change.patrols_destroyed <= 0
            assert change.fuel_spent <= 1  # rounding
            lost += change.patrol_count
        turns += 1
    assert turns > 5
    assert lost > 0
