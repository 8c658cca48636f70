"""Agents that give the probabilities of their orders choose with these probabilities."""

import numpy as np
import pytest

from geo_patrol import Game
from geo_patrol.agents import make_agent
from geo_patrol.agents.protocol import ProbabilisticAgent

GAMES = 4_000


@pytest.mark.parametrize("name", ["random", "idle", "turtle", "raider:path=cheap", "policy:base", "policy:base,greedy"])
def test_probabilities_are_the_frequencies_of_orders(name):
    game = Game(seed=3)
    game.step("P1 radial_in; P10 prograde", "P3 retrograde")
    agent = make_agent(name)
    if not isinstance(agent, ProbabilisticAgent):
        pytest.skip(f"{name} is a mixture, which remembers what it drew")
    observation, mask = game.observation("alpha", agent.observation), game.action_mask("alpha")
    probabilities = agent.order_probabilities(observation[None], mask[None])
    assert probabilities.shape == (1, 11, 28)
    assert np.allclose(probabilities.sum(axis=2), 1, atol=1e-12, rtol=0)
    assert not probabilities[0][mask == 0].any()
    observations, masks = np.repeat(observation[None], GAMES, axis=0), np.repeat(mask[None], GAMES, axis=0)
    orders = agent.act(observations, masks, np.random.default_rng(1))
    frequencies = np.eye(28)[orders].mean(axis=0)
    assert np.abs(frequencies - probabilities[0]).max() < 5 * 0.5 / np.sqrt(GAMES)


@pytest.mark.parametrize("name", ["mixed", "search:1ms", "raider:dodge=0.5", "scripted"])
def test_agents_whose_orders_are_not_independent_have_none(name):
    assert not isinstance(make_agent(name), ProbabilisticAgent)
