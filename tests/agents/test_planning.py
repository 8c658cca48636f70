"""Agents that plan: all callers pass them copies of the games, which reveal and change nothing of the originals."""

import numpy as np
import pytest

from geo_patrol import load_config, make_agent, make_vec, play_match
from geo_patrol.agents.basic import RandomAgent
from geo_patrol.agents.isolation import agent as isolation
from geo_patrol.agents.isolation.agent import IsolatedAgent
from geo_patrol.agents.protocol import compute_actions, copy_games, is_planner
from geo_patrol.envs.single import SoloGeoPatrol
from geo_patrol.game.game import Games
from geo_patrol.play.live import LiveGame


class Planner(RandomAgent):
    """Checks its arguments, plays the games to their end, and returns legal orders."""

    name = "planner"

    def __init__(self):
        self.calls = []

    act_seeded = None  # the vector environment must not take it for a seeded agent

    def act(self, observations, action_masks, generator):
        raise AssertionError("act")

    def plan(self, games, sides, observations, action_masks, generator):
        assert len(games) == len(sides) == len(observations) == len(action_masks)
        for game, side, observation, mask in zip(games, sides, observations, action_masks, strict=True):
            name = ("alpha", "bravo")[side]
            np.testing.assert_array_equal(game.observation(name, "tokens"), observation)
            np.testing.assert_array_equal(game.action_mask(name), mask)
        self.calls.append(games)
        while not games[0].is_over:
            games[0].step()
        return RandomAgent.act(self, observations, action_masks, generator)


@pytest.fixture
def planner():
    return Planner()


def test_agents_with_a_method_plan_are_planners():
    assert is_planner(make_agent("search"))
    assert is_planner(Planner())
    assert not any(is_planner(make_agent(name)) for name in ("random", "scripted", "mixed", "policy:base"))


def test_copies_have_random_streams_of_their_own_from_the_generator(planner):
    batch = Games("geo_patrol", 3, seed=1)
    before = batch.state.games.tobytes()
    for _ in range(2):
        seen, masks = batch.observe("tokens")[:, 1], batch.action_masks()[:, 1]
        compute_actions(planner, "planner", seen, masks, np.random.default_rng(5), lambda: copy_games(batch), 1)
    assert batch.state.games.tobytes() == before
    first, second = planner.calls
    assert first[1:] == second[1:]
    for row, game in enumerate(first[1:], start=1):
        assert game.is_same_position(batch[row])
        assert game != batch[row]


@pytest.mark.parametrize("first", [True, False])
def test_matches_pass_games(planner, first):
    agents = (planner, "random") if first else ("random", planner)
    play_match(*agents, games=4, seed=1, overrides={"turn_limit": 3})
    assert {len(games) for games in planner.calls} == {2}


def test_the_environments_pass_games(planner):
    solo = SoloGeoPatrol(opponent=planner, config="geo_patrol", overrides={"turn_limit": 2})
    solo.reset(seed=3)
    solo.step(solo.sample_action())
    vector = make_vec("geo_patrol", 3, opponent=planner, overrides={"turn_limit": 2})
    vector.reset(seed=3)
    for _ in range(6):
        vector.step(vector.sample_actions())
    vector.close()
    assert {len(games) for games in planner.calls} == {1, 3}


def test_live_games_pass_games(planner):
    live = LiveGame(load_config("geo_patrol"), (planner, make_agent("idle")), seed=4)
    live.advance()
    live.advance()
    assert [games[0].is_over for games in planner.calls] == [True, True]
    assert not live.is_over


@pytest.mark.slow
def test_an_agent_in_a_process_of_its_own_receives_games(monkeypatch):
    for limit in ("CALL_SECONDS", "START_SECONDS"):
        monkeypatch.setattr(isolation, limit, 300.0)
    agent = IsolatedAgent(f"{__file__}:Planner", move_time=0.01)
    there = play_match(agent, "random", games=4, seed=1, overrides={"turn_limit": 2})
    agent.close()
    assert is_planner(agent)
    here = Planner()
    here.name = agent.name  # its generator depends on it
    np.testing.assert_array_equal(
        there.scores, play_match(here, "random", games=4, seed=1, overrides={"turn_limit": 2}).scores
    )
