"""Tianshou collects from many games as one vector environment, and trains a policy whose orders are all legal."""

import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("tianshou")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from tianshou.data import Collector, VectorReplayBuffer

from geo_patrol import make_vec
from geo_patrol.adapters.tianshou import OrderCritic, TianshouVectorEnv, make_policy

OPTIONS = [{}, {"observation": "tokens"}, {"opponent": {"random": 1, "scripted": 1}, "seats": "alternate"}]
NUM_GAMES = 4


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_it_plays_what_the_vector_environment_plays(options):
    env = TianshouVectorEnv("case1", NUM_GAMES, **options)
    envs = make_vec("case1", NUM_GAMES, autoreset="same_step", **options)
    env.seed(3)
    ours, _ = env.reset()
    theirs, extras = envs.reset(seed=3)
    num_over = 0
    for _ in range(60):
        assert (ours.observation == theirs).all()
        assert (ours.action_mask == extras["action_mask"]).all()
        actions = envs.sample_actions()
        ours, rewards, terminations, truncations, infos = env.step(actions)
        theirs, their_rewards, their_terminations, their_truncations, extras = envs.step(actions)
        assert (rewards == their_rewards).all()
        assert (terminations == their_terminations).all()
        assert (truncations == their_truncations).all()
        assert [info["outcome"] for info in infos] == extras["finished_episode"]["outcome"].tolist()
        over = np.flatnonzero(terminations)
        if len(over) > 0:
            assert (ours.observation[over] == extras["final_obs"][over]).all()
            ours[over], _ = env.reset(over)
        num_over += len(over)
    assert num_over > 0


def test_attributes():
    env = TianshouVectorEnv("case1", NUM_GAMES, opponent="random")
    assert len(env) == NUM_GAMES
    assert env.action_space[0] == env.envs.single_action_space
    assert env.observation_space == [env.envs.single_observation_space] * NUM_GAMES
    assert env.get_env_attr("num_games", [1, 2]) == [NUM_GAMES] * 2
    env.set_env_attr("note", 7)
    assert env.envs.note == 7
    with pytest.raises(ValueError, match="leave id out"):
        env.set_env_attr("note", 8, [0])


def test_the_sides_of_a_game_belong_together():
    env = TianshouVectorEnv("case1", NUM_GAMES)
    env.reset()
    for call in (lambda: env.reset([0]), lambda: env.step(np.zeros((1, 11), np.int64), [3])):
        with pytest.raises(ValueError, match="are the sides of a game: select both or neither"):
            call()


@pytest.mark.parametrize("options", OPTIONS[::2], ids=str)
@pytest.mark.parametrize("amount", [{"n_step": 320}, {"n_episode": 10}], ids=str)
def test_a_collector_orders_nothing_illegal(options, amount):
    env = TianshouVectorEnv("case1", NUM_GAMES, **options)
    buffer = VectorReplayBuffer(1000 * len(env), len(env))
    collector = Collector(make_policy(torch.nn.Linear(1591, 308)), env, buffer)
    collector.reset()
    statistics = collector.collect(**amount)
    assert statistics.n_collected_episodes >= 10
    assert statistics.n_collected_steps == len(buffer)
    steps, _ = buffer.sample(0)
    assert steps.info.illegal_orders.sum() == 0
    assert steps.obs.action_mask[np.arange(len(steps))[:, None], np.arange(11), steps.act].all()
    assert (np.abs(steps.info.outcome[steps.terminated]) <= 1).all()
    assert (steps.info.outcome[~steps.terminated] == 0).all()


def test_log_probs_are_those_of_all_orders_together():
    env = TianshouVectorEnv("case1", NUM_GAMES)
    observations, _ = env.reset()
    batch = make_policy(torch.nn.Linear(1591, 308))(type(observations)(obs=observations, info={}))
    assert batch.act.shape == (2 * NUM_GAMES, 11)
    assert batch.dist.log_prob(batch.act).shape == (2 * NUM_GAMES,)
    assert OrderCritic(torch.nn.Linear(1591, 1))(observations).shape == (2 * NUM_GAMES, 1)
