"""Tensors are made of the arrays of steps without a copy, and steps are written into tensors."""

import numpy as np
import pytest

from geo_patrol import make_vec

torch = pytest.importorskip("torch")


def test_tensors_share_the_memory_of_arrays():
    envs = make_vec("geo_patrol", 256, opponent="random")
    observations, infos = envs.reset(seed=0)
    observations, _, terminations, _, infos = envs.step(torch.from_dlpack(envs.sample_actions()))
    for array in (observations, terminations, infos["score"], infos["action_mask"]):
        assert torch.from_dlpack(array).data_ptr() == array.__array_interface__["data"][0]
    assert torch.from_dlpack(observations).is_contiguous()
    assert not torch.from_dlpack(terminations).is_contiguous()


def test_a_rollout_is_written_by_the_steps():
    envs, twin = (make_vec("geo_patrol", 64, opponent="random", copy=copy) for copy in (False, True))
    for one in (envs, twin):
        one.reset(seed=0)
    rollout = torch.empty(4, 64, 1591)
    for step in range(4):
        _, _, _, _, infos = envs.step(envs.sample_actions(), out=rollout[step].numpy())
        observations, _, _, _, expected = twin.step(twin.sample_actions())
        assert np.array_equal(rollout[step].numpy(), observations)
        assert np.array_equal(torch.from_dlpack(infos["action_mask"]).numpy(), expected["action_mask"])
