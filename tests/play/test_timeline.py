"""Timelines and snapshots."""

import pytest

from geo_patrol import Game, Order
from geo_patrol.game.timeline import Snapshot, Timeline
from tests.support.positions import arranged, guards, played, shots


def test_a_timeline_keeps_copies_of_its_own():
    game = Game(seed=1)
    timeline = Timeline(game)
    phase = game.step(alpha="P1 radial_in")
    timeline.append(phase)
    game.step()
    assert [position.phase for position in timeline] == ["movement", "engagement"]
    assert timeline.phases == [phase]
    assert phase.orders == ((Order(1, "radial_in"),), ())
    assert timeline[0].satellite("alpha", 1).sector == 29
    assert not timeline.is_complete


def test_snapshots_hold_the_orders_and_outcomes_before_them():
    timeline = shots()
    assert timeline.snapshot(0).last_phase is None
    snapshot = timeline.snapshot(-1)
    assert snapshot.last_phase is timeline.phases[0]
    assert [outcome.success for outcome in snapshot.outcomes] == [True] * 3 + [False] * 3
    assert snapshot.outcomes_turn == 7
    assert [(point.turns, point.alpha) for point in snapshot.scores] == [(6, 200), (7, snapshot.game.scores["alpha"])]
    with pytest.raises(IndexError):
        timeline.snapshot(2)


def test_outcomes_stay_until_the_next_engagement():
    timeline = played(arranged(), ("", ""), ("", ""), ("", ""))
    game = shots()[-1]
    timeline = played(game, ("", ""))
    assert timeline.snapshot(1).outcomes == ()
    longer = shots()
    game = longer[-1].copy()
    for _ in range(2):
        longer.append(game.step())
    assert len(longer.snapshot(2).outcomes) == 6
    assert longer.snapshot(3).outcomes == ()
    assert [longer.next_engagement(index) for index in (0, 1)] == [1, None]
    assert [longer.previous_engagement(index) for index in (3, 1)] == [1, None]


def test_scores_are_recorded_turn_by_turn():
    game = Game(seed=1)
    timeline = Timeline(game)
    while not game.is_over:
        timeline.append(game.step())
    assert timeline.is_complete
    points = timeline.snapshot(-1).scores
    assert [point.turns for point in points] == list(range(game.turn + 1))
    assert (points[-1].alpha, points[-1].bravo) == (game.scores["alpha"], game.scores["bravo"])
    assert len(timeline.snapshot(4).scores) == 3


def test_a_forfeit_counts_at_once():
    saved = Game({"extends": "geo_patrol", "illegal_orders": "forfeit"}, seed=1)
    timeline = Timeline(saved)
    after = saved.save()
    after["position"] |= {"phase": "drift", "done": True, "reasons": 64, "score": [0, after["position"]["score"][1]]}
    timeline.append(saved.step()._replace(after=Game.restore(after)))
    assert [point.alpha for point in timeline.snapshot(-1).scores][-1] == 0


def test_the_snapshot_of_a_single_position_shows_its_last_outcomes():
    game = guards()[-1]
    snapshot = Snapshot.of(game)
    assert (snapshot.game, snapshot.last_phase, snapshot.outcomes_turn) == (game, None, 7)
    assert len(snapshot.outcomes) == 6
