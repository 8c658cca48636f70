"""PufferLib plays many games as a native environment, and trains a policy whose orders are all legal."""

import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("pufferlib")

with warnings.catch_warnings():  # of NumPy and PyTorch, about how the library uses them
    warnings.simplefilter("ignore")
    import pufferlib.vector
    from pufferlib.pytorch import sample_logits

from geo_patrol import make_vec
from geo_patrol.adapters.pufferlib import PufferLibEnv, PufferOrderPolicy, split_observations

OPTIONS = [{}, {"observation": "tokens"}, {"opponent": {"random": 1, "scripted": 1}, "seats": "alternate"}]
NUM_GAMES = 4


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_it_plays_what_the_vector_environment_plays(options):
    env = PufferLibEnv("case1", NUM_GAMES, seed=3, **options)
    envs = make_vec("case1", NUM_GAMES, autoreset="same_step", **options)
    ours, infos = env.reset()
    theirs, extras = envs.reset(seed=3)
    num_over = 0
    for _ in range(60):
        features, masks = split_observations(torch.as_tensor(ours))
        assert (features.numpy() == theirs).all()
        assert (masks.numpy() == extras["action_mask"]).all()
        actions = envs.sample_actions()
        ours, rewards, terminals, truncations, infos = env.step(actions.astype(np.int32))
        theirs, their_rewards, their_terminals, their_truncations, extras = envs.step(actions)
        assert (rewards == their_rewards.astype(np.float32)).all()
        assert (terminals == their_terminals).all()
        assert (truncations == their_truncations).all()
        finished, statistics = extras["_finished_episode"], extras["finished_episode"]
        if finished.any():
            (info,) = infos
            assert info["return"] == statistics["return"][finished].mean()
            assert info["outcome"] == statistics["outcome"][finished].mean()
        else:
            assert infos == []
        num_over += finished.sum()
    assert num_over > 0


def test_observations_are_in_their_space():
    for observation in ("onehot", "tokens"):
        env = PufferLibEnv("case1", NUM_GAMES, observation=observation)
        observations, _ = env.reset(seed=0)
        assert observations.dtype == env.single_observation_space.dtype
        assert all(env.single_observation_space.contains(row) for row in observations)


def test_several_in_the_buffers_of_the_library():
    kwargs = {"config": "case1", "num_games": NUM_GAMES}
    vecenv = pufferlib.vector.make(PufferLibEnv, env_kwargs=kwargs, backend=pufferlib.vector.Serial, num_envs=2)
    observations, _ = vecenv.reset(seed=0)
    assert observations.shape == (4 * NUM_GAMES, 1591 + 308)
    assert all(env.observations.base is vecenv.observations for env in vecenv.envs)
    before = observations.copy()
    observations, rewards, *_ = vecenv.step(np.zeros((4 * NUM_GAMES, 11), np.int32))
    assert (observations != before).any(axis=1).all()
    assert rewards.shape == (4 * NUM_GAMES,)
    vecenv.close()


def test_the_policy_orders_nothing_illegal():
    env = PufferLibEnv("case1", NUM_GAMES)
    observations, _ = env.reset(seed=0)
    policy, episodes = PufferOrderPolicy(torch.nn.Linear(1591, 8), hidden_size=8), []
    for _ in range(60):
        logits, values = policy(torch.as_tensor(observations))
        actions, log_probs, entropies = sample_logits(logits)
        assert values.shape == (2 * NUM_GAMES, 1)
        assert torch.isfinite(log_probs).all()
        assert torch.isfinite(entropies).all()
        observations, *_, infos = env.step(actions.numpy())
        episodes += infos
    assert len(episodes) > 0
    assert sum(info["illegal_orders"] for info in episodes) == 0


def test_illegal_orders_are_counted():
    env = PufferLibEnv("case1", NUM_GAMES, max_cycles=3)
    env.reset(seed=0)
    for _ in range(3):
        *_, truncations, infos = env.step(np.full((2 * NUM_GAMES, 11), 16))
    assert truncations.all()
    assert infos[0]["illegal_orders"] > 0
