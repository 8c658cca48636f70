"""Agents where enemies are hidden: they get what their side knows, or say that they cannot play."""

import numpy as np
import pytest

from geo_patrol import Game, Games, SolvingError, make_agent, play_match, play_out
from geo_patrol.agents.basic import StatelessPlanner
from geo_patrol.agents.protocol import compute_actions
from geo_patrol.play.text_game import TextAgent
from geo_patrol.solving import solve
from tests.support.positions import elsewhere

CONFIG = "geo_patrol_hidden"


class Peeker(StatelessPlanner):
    """Keeps the games that it is given, and holds."""

    name = "peeker"

    def __init__(self):
        self.games = []

    def plan(self, games, sides, observations, action_masks, generator):
        self.games += zip(games, sides.tolist(), strict=True)
        return np.zeros((len(games), 11), np.int64)


def test_planners_get_what_their_side_knows():
    peeker, games = Peeker(), Games(CONFIG, 3, seed=1)
    while games.turn.max() < 4:
        before = games.copy()
        play_out(games, peeker, "raider", max_phases=1)
        for game, (given, side) in zip((before[i] for i in range(3)), peeker.games, strict=True):
            assert side == 0
            assert not given.hides_enemies
            assert given.key == game.seen_by("alpha").key
            assert given.out_of_sight or game.turn == 1
        peeker.games.clear()


@pytest.mark.parametrize(
    "name", ["random", "turtle", "raider", "mixed", "scripted", "policy:base", "level:webb", "search:rollouts=20"]
)
def test_agents_play(name):
    result = play_match(name, "raider", config=CONFIG, games=4, seed=3)
    assert result.summary().total.illegal_orders == (0, 0)


def midgame():
    """Return a game in a movement phase in which alpha sees some of bravo's satellites."""
    game = play_out(Games(CONFIG, 1, seed=3), "idle", "scripted", max_phases=6)[0]
    assert 0 < len(game.seen_by("alpha").out_of_sight) < 11
    return game


def first_order(prompt):
    """Answer with orders that depend on the whole prompt."""
    lines = prompt.split("Legal orders:\n")[1].splitlines()
    return "\n".join(line.split(" (")[0].replace(":", "") for line in lines[: 1 + sum(map(ord, prompt)) % len(lines)])


@pytest.mark.parametrize("name", ["scripted", "raider", "policy:base", "level:webb", "search:rollouts=20", "text"])
def test_agents_decide_by_what_their_side_knows(name):
    game, agent = midgame(), TextAgent(first_order) if name == "text" else make_agent(name)
    orders = [
        compute_actions(
            agent,
            name,
            one.observation("alpha", agent.observation)[None],
            one.action_mask("alpha")[None],
            np.random.default_rng(1),
            lambda one=one: [one],
        )
        for one in (game, elsewhere(game, "alpha"))
    ]
    assert (orders[0] == orders[1]).all()


def test_scripts_read_all_but_the_features_of_sight():
    game = Game(CONFIG, seed=1)
    agent = make_agent("scripted")
    observations = game.as_games().observe("tokens")[:, 0]
    masks = game.action_mask("alpha")[None]
    keys = np.array([7], np.uint64)
    orders = agent.act_seeded(observations, masks, keys)
    assert (orders == agent.act_seeded(observations[:, :249], masks, keys)).all()


def test_exact_solutions_refuse():
    with pytest.raises(SolvingError, match="it has sensor ranges; only games in which both sides see everything"):
        solve("duel", overrides={"both.sensor_range": 1})
