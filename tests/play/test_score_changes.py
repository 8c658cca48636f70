"""Why scores rise and fall: the parts add up to the change, and name what was lost."""

import pytest
from positions import destroyed, guards

from geo_patrol import load_config, make_agent
from geo_patrol.play.live import LiveGame
from geo_patrol.play.telling import score_changes


def test_a_lost_hva_is_named_with_its_points():
    alpha, bravo = score_changes(destroyed().last_engagement(1))
    assert (alpha.hva_destroyed, alpha.goal) == (-64, 0)
    assert "HVA destroyed: -64 fuel points" in str(alpha)
    assert bravo.hva_destroyed == 0


def test_a_lost_patrol_costs_what_it_had_left_after_paying_for_its_order():
    alpha, bravo = score_changes(guards().last_engagement(1))
    assert str(alpha) == "alpha +8 (goal: +10, fuel spent: -2)"
    assert (bravo.patrol_count, bravo.patrols_destroyed) == (1, -10)  # 95 fuel were left, 9.5 points


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
