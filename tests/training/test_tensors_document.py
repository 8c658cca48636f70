"""The snippets of docs/train/tensors.md run, and what it says of memory holds."""

import re
from pathlib import Path

import numpy as np
import pytest

from geo_patrol import make_vec

torch = pytest.importorskip("torch")

TEXT = (Path(__file__).parents[2] / "docs" / "train" / "tensors.md").read_text(encoding="utf-8")
PYTORCH, WRAPPER, BUFFERS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


def test_tensors_share_the_memory_of_arrays():
    names = {}
    exec(PYTORCH, names)
    assert names["rewards"].dtype is torch.float32
    assert names["infos"]["illegal_orders"].sum() == 0
    for array in (names["observations"], names["terminations"], names["infos"]["score"], names["infos"]["action_mask"]):
        assert torch.from_dlpack(array).data_ptr() == array.__array_interface__["data"][0]
    assert torch.from_dlpack(names["observations"]).is_contiguous()
    assert not torch.from_dlpack(names["terminations"]).is_contiguous()


def test_the_wrapper_of_gymnasium():
    pytest.importorskip("array_api_compat")
    names = {"torch": torch}
    exec("import geo_patrol\n" + WRAPPER, names)
    assert isinstance(names["observations"], torch.Tensor)
    assert isinstance(names["infos"]["finished_episode"]["return"], torch.Tensor)


def test_a_rollout_is_written_by_the_steps():
    names = {"torch": torch}
    exec("import geo_patrol\n" + BUFFERS, names)
    envs = make_vec("geo_patrol", 256, opponent="random")
    observations, infos = envs.reset(seed=0)
    masks = torch.from_dlpack(names["infos"]["action_mask"])
    for step in range(33):
        assert np.array_equal(names["rollout"][step].numpy(), observations)
        last = infos
        observations, *_, infos = envs.step(envs.sample_actions())
    assert np.array_equal(masks.numpy(), last["action_mask"])
    assert envs.step(torch.zeros(256, 11, dtype=torch.int64))[0].shape == observations.shape
