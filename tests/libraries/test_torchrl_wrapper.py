"""TorchRL's own wrapper runs the parallel environment, masks included."""

import warnings

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torchrl")

from tensordict.nn import TensorDictModule
from torchrl.envs.libs.pettingzoo import PettingZooWrapper
from torchrl.envs.utils import check_env_specs
from torchrl.modules import MaskedCategorical

from geo_patrol import geo_patrol_satellites_v0, geo_patrol_v0

OPTIONS = [
    {},
    {"observation": "tokens"},
    {"mask_in": "info"},
    {"mask_in": "none", "reward": "outcome"},
    {"config": "case3", "max_cycles": 9},
]


def wrap(use_mask=False, **arguments):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PettingZoo in TorchRL is tested using version", UserWarning)
        return PettingZooWrapper(env=geo_patrol_v0.parallel_env(**arguments), use_mask=use_mask, seed=3)


@pytest.mark.parametrize("arguments", OPTIONS, ids=str)
@pytest.mark.parametrize("use_mask", [False, True])
def test_specs(arguments, use_mask):
    check_env_specs(wrap(use_mask, **arguments))


@pytest.mark.parametrize("mask_in", ["obs", "info"])
def test_random_rollouts_follow_the_masks(mask_in):
    env = wrap(config="case1", mask_in=mask_in)
    for _ in range(5):
        played = env.rollout(200)
        assert played["next", "done"][-1].item()
        for side in ("alpha", "bravo"):
            assert is_legal(played, side).all()
            assert played["next", side, "info", "illegal_orders"].sum() == 0


def test_a_policy_samples_from_the_masks():
    env = wrap(config="case1")
    played = env.rollout(200, TensorDictModule(sample_both, in_keys=env.observation_keys, out_keys=env.action_keys))
    assert played["next", "done"][-1].item()
    for side in ("alpha", "bravo"):
        assert is_legal(played, side).all()
        assert played["next", side, "info", "illegal_orders"].sum() == 0
    rewards = [played["next", side, "reward"].squeeze() for side in ("alpha", "bravo")]
    assert (rewards[0] == -rewards[1]).all()


def test_seeds():
    rollouts = [wrap(config="case1").rollout(6, noops) for _ in range(2)]
    assert (rollouts[0] == rollouts[1]).all()


@pytest.mark.parametrize("mask_in", ["obs", "info"])
def test_satellites_are_grouped_by_team(mask_in):
    env = geo_patrol_satellites_v0.parallel_env("case1", mask_in=mask_in, overrides={"both.odds.shoot": [1.0, 1.0]})
    teams = {side: [agent for agent in env.possible_agents if agent.startswith(side)] for side in ("alpha", "bravo")}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PettingZoo in TorchRL is tested using version", UserWarning)
        wrapped = PettingZooWrapper(env=env, group_map=teams, use_mask=True, seed=3)
    check_env_specs(wrapped)
    lost = 0
    for _ in range(5):
        played = wrapped.rollout(200)
        assert played["next", "done"][-1].item()
        for side in ("alpha", "bravo"):
            assert is_legal(played, side)[..., 0][played[side, "mask"]].all()
            lost += (~played["next", side, "mask"]).sum().item()
    assert lost > 0


def is_legal(played, side):
    return played[side, "action_mask"].gather(-1, played[side, "action"].unsqueeze(-1))


def sample_both(*seen):
    masks = [entry for entry in seen if entry.shape[-2:] == (11, 28)]
    return tuple(MaskedCategorical(logits=torch.zeros(mask.shape), mask=mask.bool()).sample() for mask in masks)


def noops(*groups):
    return tuple(torch.zeros((1, 11), dtype=torch.int64) for _ in groups)
