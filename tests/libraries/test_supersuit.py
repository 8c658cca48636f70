"""SuperSuit's wrappers and vector environments run on the parallel environment with masks in infos."""

import numpy as np
import pytest

supersuit = pytest.importorskip("supersuit")

from geo_patrol import geo_patrol_v0

WRAPPERS = [
    supersuit.flatten_v0,
    supersuit.normalize_obs_v0,
    supersuit.pad_observations_v0,
    supersuit.agent_indicator_v0,
    supersuit.clip_reward_v0,
    lambda env: supersuit.dtype_v0(env, np.float64),
    lambda env: supersuit.frame_stack_v1(env, 2),
    lambda env: supersuit.max_observation_v0(env, 2),
    lambda env: supersuit.sticky_actions_v0(env, 0.1),
]


@pytest.mark.parametrize("wrap", WRAPPERS)
@pytest.mark.parametrize("mask_in", ["info", "none"])
def test_wrappers(wrap, mask_in):
    env = wrap(geo_patrol_v0.parallel_env(config="case1", mask_in=mask_in))
    observations, _ = env.reset(seed=0)
    while env.agents:
        for side in env.agents:
            assert observations[side].shape == env.observation_space(side).shape
        observations, *_ = env.step({side: env.action_space(side).sample() for side in env.agents})


def test_wrappers_of_arrays_refuse_masks_in_observations():
    with pytest.raises(AssertionError, match="only allowed for Box and Discrete"):
        supersuit.frame_stack_v1(geo_patrol_v0.parallel_env(mask_in="obs"), 2)


@pytest.mark.parametrize("mask_in", ["info", "obs"])
def test_vector_environments_follow_masks(mask_in):
    env = supersuit.pettingzoo_env_to_vec_env_v1(geo_patrol_v0.parallel_env(config="case1", mask_in=mask_in))
    envs = supersuit.concat_vec_envs_v1(env, 2, num_cpus=0, base_class="gymnasium")
    observations, infos = envs.reset(seed=0)
    num_episodes = 0
    for _ in range(100):
        masks = observations["action_mask"] if mask_in == "obs" else [info["action_mask"] for info in infos]
        actions = np.stack([envs.action_space.sample(mask) for mask in masks])
        observations, _, terminations, _, infos = envs.step(actions)
        assert [info["illegal_orders"] for info in infos] == [0] * 4
        num_episodes += terminations.sum()
    assert num_episodes > 0
