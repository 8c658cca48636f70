"""Navigation in a timeline, and live games."""

import numpy as np
import pytest

from geo_patrol import AgentError, Game, load_config, make_agent
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


def test_the_same_seed_plays_the_same_game():
    one, other, third = live_game(), live_game(), live_game(seed=6)
    for live in (one, other, third):
        while not live.is_over:
            live.advance()
    assert one.game == other.game
    assert one.game != third.game


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
    calls = []
    live = LiveGame(
        load_config("case1"),
        (make_agent("scripted"), make_agent("idle")),
        1,
        [lambda *arguments: calls.append(arguments)],
    )
    while not live.is_over:
        live.advance()
    live.advance()
    assert [phase for _, phase in calls] == live.timeline.phases
    assert {id(game) for game, _ in calls} == {id(live)}
    assert any(phase.orders[0] for _, phase in calls)


def test_agents_that_fail_are_named():
    class Broken:
        name, observation = "broken", "tokens"

        def reset(self, new_games):
            pass

        def act(self, observations, action_masks, generator):
            return self.answer()

    broken = Broken()
    live = LiveGame(load_config("case1"), (broken, make_agent("idle")), 1)
    broken.answer = lambda: 1 / 0
    with pytest.raises(AgentError, match="agent 'broken': act raised ZeroDivisionError"):
        live.advance()
    broken.answer = lambda: np.zeros(3)
    with pytest.raises(AgentError, match=r"agent 'broken': act must return orders of shape \(1, 11\), got \(3,\)"):
        live.advance()
    broken.answer = lambda: np.full((1, 11), 27)  # illegal orders are noops
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
