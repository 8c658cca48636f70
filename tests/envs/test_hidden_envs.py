"""Environments of a configuration that hides enemies."""

import numpy as np
import pytest

from geo_patrol import Game, Games, geo_patrol_satellites_v0, geo_patrol_v0, make_vec, observation_names, play_out
from geo_patrol.base.sides import SIDES
from geo_patrol.envs.single import SoloGeoPatrol
from tests.support.positions import elsewhere

CONFIG = "geo_patrol_hidden"
NAMES = observation_names("tokens", hides_enemies=True)
NOOPS = np.zeros(11, np.int64)


def played(env, phases, seed=0):
    """Reset an environment and play a number of phases with sampled actions; return what the last one returned."""
    returned = env.reset(seed=seed)
    for _ in range(phases):
        returned = env.step(env.sample_actions())
    return returned


def test_an_enemy_out_of_sight_is_observed_where_it_would_have_drifted():
    env = geo_patrol_v0.parallel_env(config=CONFIG, observation="tokens")
    env.reset(seed=1)
    moves = np.array([0, 3, *[0] * 9])  # Patrol 1 radial in
    observations, *_ = env.step({"alpha": NOOPS, "bravo": moves})
    alpha = dict(zip(NAMES, observations["alpha"]["observation"].tolist(), strict=True))
    bravo = dict(zip(NAMES, observations["bravo"]["observation"].tolist(), strict=True))
    assert alpha["enemy_patrol_1_fuel"] == 100
    assert bravo["own_patrol_1_fuel"] == 90
    assert alpha["enemy_patrol_1_unseen"] == alpha["enemy_hva_unseen"] == 1
    assert alpha["own_sensor_range"] == alpha["enemy_sensor_range"] == 2


@pytest.mark.parametrize("encoding", ["onehot", "tokens"])
def test_the_state_holds_everything(encoding):
    env = geo_patrol_v0.parallel_env(config=CONFIG, observation=encoding)
    envs = make_vec(CONFIG, 1, observation=encoding)
    played(env, 9, seed=4)
    played(envs, 9, seed=4)
    open_game = Game.from_position(env.game().position, "geo_patrol")
    assert (env.state() == open_game.observation("alpha", "onehot")).all()
    assert (envs.state()[0] == env.state()).all()
    assert env.state_space.contains(env.state())


@pytest.mark.parametrize("reward", ["score", "outcome"])
def test_rewards_of_a_side_add_up_to_the_result(reward):
    env = geo_patrol_v0.parallel_env(config=CONFIG, reward=reward)
    cancels_out = []
    for seed in range(4):
        env.reset(seed=seed)
        total = dict.fromkeys(SIDES, 0.0)
        while env.agents:
            _, rewards, *_ = env.step(env.sample_actions())
            total = {side: total[side] + rewards[side] for side in SIDES}
            cancels_out.append(sum(rewards.values()) == 0)
        scores, returns = env.game().scores, env.game().returns
        difference = scores["alpha"] - scores["bravo"]
        assert total["alpha"] == (difference if reward == "score" else returns["alpha"])
        assert total["bravo"] == -total["alpha"]
    assert all(cancels_out) == (reward == "outcome")


def test_infos_have_the_enemys_score_as_far_as_it_is_known():
    env = geo_patrol_v0.parallel_env(config=CONFIG)
    env.reset(seed=1)
    env.step({"alpha": NOOPS, "bravo": np.array([3] + [0] * 10)})  # bravo's HVA leaves its goal, unseen
    *_, infos = env.step({"alpha": NOOPS, "bravo": NOOPS})
    scores = env.game().scores
    assert infos["alpha"]["score"] == infos["alpha"]["enemy_score"] == scores["alpha"] == 210
    assert infos["bravo"]["score"] == scores["bravo"] == 193
    assert infos["bravo"]["enemy_score"] == 210


def test_an_episode_from_a_position_keeps_what_the_sides_know():
    source = geo_patrol_v0.parallel_env(config=CONFIG)
    played(source, 5, seed=3)
    game = source.game()
    env = geo_patrol_v0.parallel_env(config=CONFIG)
    observations, _ = env.reset(options={"game": game})
    for side in SIDES:
        assert (observations[side]["observation"] == game.observation(side)).all()
        assert env.game().seen_by(side).key == game.seen_by(side).key
    orders = source.sample_actions()
    (_, rewards, *_, infos), (_, expected, *_, expected_infos) = env.step(orders), source.step(orders)
    assert (rewards, infos.keys()) == (expected, expected_infos.keys())
    seen = game.seen_by("alpha")
    env.reset(options={"game": seen})  # a position like any other, of which both sides know everything
    assert env.game().out_of_sight == {}
    assert env.game().seen_by("bravo").out_of_sight == {}
    envs = make_vec(CONFIG, 2)
    envs.reset(options={"games": Games.from_games([game, game])})
    assert envs.game(1).seen_by("alpha").key == game.seen_by("alpha").key


def test_the_gymnasium_environment_draws_what_its_side_knows():
    env = SoloGeoPatrol(CONFIG, opponent="idle", seat="bravo", render_mode="ansi")
    env.reset(seed=1)
    for _ in range(3):
        env.step(env.sample_action())
    assert env.render() == str(env.game().seen_by("bravo"))
    assert "last seen in turn" in env.render()
    both = geo_patrol_v0.parallel_env(config=CONFIG, render_mode="ansi")
    played(both, 3)
    assert both.render() == str(both.game())
    assert "last seen" not in both.render()


def started(kind, game):
    """Return all that alpha gets of an environment that starts from a game."""
    if kind == "vector":
        env = make_vec(CONFIG, 1, opponent="idle", mask_in="info")
        return env.reset(options={"games": game.as_games()})
    if kind == "gymnasium":
        env = SoloGeoPatrol(CONFIG, opponent="idle", render_mode="rgb_array")
        returned = env.reset(options={"game": game})
        return *returned, env.action_masks(), env.render().tobytes()
    if kind == "aec":
        env = geo_patrol_v0.env(config=CONFIG)
        env.reset(options={"game": game})
        return env.last(), env.unwrapped.action_masks("alpha")
    make = geo_patrol_v0.parallel_env if kind == "parallel" else geo_patrol_satellites_v0.parallel_env
    env = make(config=CONFIG)
    observations, infos = env.reset(options={"game": game})
    agents = [agent for agent in observations if agent.startswith("alpha")]
    return [(observations[agent], infos[agent], env.action_masks(agent)) for agent in agents]


@pytest.mark.parametrize("kind", ["parallel", "aec", "gymnasium", "satellites", "vector"])
def test_what_a_side_gets_does_not_depend_on_where_enemies_out_of_sight_are(kind):
    game = play_out(Games(CONFIG, 1, seed=3), "idle", "scripted", max_phases=6)[0]
    assert 0 < len(game.seen_by("alpha").out_of_sight) < 11
    with np.printoptions(threshold=100_000):
        assert repr(started(kind, elsewhere(game, "alpha"))) == repr(started(kind, game))


def test_environments_without_sensor_ranges_have_the_spaces_that_they_had():
    env = geo_patrol_v0.parallel_env(observation="tokens")
    assert env.observation_space("alpha")["observation"].shape == (249,)
    assert geo_patrol_v0.parallel_env().state_space.shape == (1591,)
    assert "known" not in played_save(env)


def played_save(env):
    played(env, 3)
    return env.save()["games"][0]
