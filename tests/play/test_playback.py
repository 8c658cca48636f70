"""Navigation in a timeline, and live games."""

import numpy as np
import pytest

from geo_patrol import AgentError, Game, load_config, make_agent
from geo_patrol.agents.basic import IdleAgent
from geo_patrol.game.timeline import Timeline
from geo_patrol.play.live import LiveGame
from geo_patrol.play.playback import Playback
from tests.support.positions import arranged, played, shots


def live_game(seed=4, config="case1", agents=("scripted", "random")):
    return LiveGame(load_config(config), tuple(agent and make_agent(agent) for agent in agents), seed)


def test_a_live_game_is_played_on_while_it_is_watched():
    live = live_game()
    playback = Playback(live.timeline, live.advance)
    for _ in range(3000):
        playback.tick(0.2)
    assert live.is_over
    assert playback.index == len(live.timeline) - 1
    assert not playback.is_playing
    assert not playback.is_moving


def test_orders_of_a_live_game_replay_it():
    live = live_game(config="geo_patrol", agents=("scripted", "scripted"))
    while not live.is_over:
        live.advance()
    game = Game("geo_patrol", seed=live.seed)
    for phase in live.timeline.phases:
        assert game == phase.before
        assert game.step(*phase.orders).outcomes == phase.outcomes
    assert game == live.game


def test_observers_are_notified_of_every_phase():
    calls, live = [], live_game(agents=("scripted", "idle"))
    live.observers.append(lambda *arguments: calls.append(arguments))
    while not live.is_over:
        live.advance()
    live.advance()
    assert [phase for _, phase in calls] == live.timeline.phases
    assert {id(game) for game, _ in calls} == {id(live)}
    assert any(phase.orders[0] for _, phase in calls)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda: 1 / 0, "agent 'idle': act raised ZeroDivisionError"),
        (lambda: np.zeros(3), r"agent 'idle': act must return orders of shape \(1, 11\), got \(3,\)"),
    ],
)
def test_agents_that_fail_are_named(answer, message, monkeypatch):
    live = live_game(agents=("idle", "idle"))
    monkeypatch.setattr(IdleAgent, "act", lambda *_: answer())
    with pytest.raises(AgentError, match=message):
        live.advance()


def test_illegal_orders_of_agents_are_noops(monkeypatch):
    live = live_game(agents=("idle", "idle"))
    monkeypatch.setattr(IdleAgent, "act", lambda *_: np.full((1, 11), 27))
    live.advance()
    assert live.timeline.phases[0].orders == ((), ())


def test_steps_pause_and_go_back_and_forth():
    live = live_game()
    playback = Playback(live.timeline, live.advance)
    playback.forward()
    assert (playback.index, playback.progress, playback.is_playing) == (1, 0.0, False)
    playback.forward()
    assert (playback.index, playback.progress) == (1, 1.0)
    playback.forward()
    playback.forward()
    assert playback.snapshot.last_phase is live.timeline.phases[1]
    playback.back()
    assert (playback.index, playback.progress) == (1, 1.0)
    playback.back()
    playback.back()
    assert playback.index == 0
    playback.forward()
    assert len(live.timeline) == 3
    playback.tick(100)
    assert playback.index == 1
    playback.toggle()
    playback.tick(100)
    assert playback.index == 2


def test_turns_engagements_and_ends_are_jumped_to():
    live = live_game()
    playback = Playback(live.timeline, live.advance)
    playback.next_turn()
    assert (playback.snapshot.game.turn, playback.snapshot.game.phase) == (2, "movement")
    playback.next_turn()
    playback.previous_turn()
    assert (playback.snapshot.game.turn, playback.snapshot.game.phase) == (2, "movement")
    playback.next_engagement()
    first = playback.index
    assert playback.snapshot.last_phase.outcomes
    assert playback.progress == 0
    playback.next_engagement()
    assert playback.index > first
    playback.previous_engagement()
    assert playback.index == first
    playback.previous_engagement()
    assert playback.index == 0
    for _ in range(200):
        playback.next_engagement()
    assert live.is_over
    assert playback.index == len(live.timeline) - 1
    playback.seek(0.5)
    assert playback.index == round((len(live.timeline) - 1) / 2)
    playback.to_end()
    playback.toggle()
    assert (playback.index, playback.is_playing) == (0, True)


def test_speed():
    timeline = played(arranged(), ("", ""), ("", ""))
    playback = Playback(timeline)
    for _ in range(10):
        playback.faster()
    assert playback.speed == 8
    for _ in range(10):
        playback.slower()
    assert playback.speed == 0.25
    playback.forward()
    playback.tick(1.0)
    assert playback.progress == pytest.approx(0.25 / 1.2 / 0.8)


def test_a_recording_ends_where_it_ends():
    playback = Playback(shots())
    playback.tick(100)
    playback.tick(100)
    playback.tick(100)
    assert (playback.index, playback.is_playing) == (1, False)
    playback.forward()
    assert playback.index == 1
    lonely = Playback(Timeline(Game(seed=1)))
    lonely.next_engagement()
    lonely.next_turn()
    lonely.previous_turn()
    lonely.previous_engagement()
    assert lonely.index == 0
