"""The arithmetic of PPO."""

import math

import pytest

torch = pytest.importorskip("torch")

from geo_patrol.training.network import sample_actions
from geo_patrol.training.ppo import RolloutBuffer, explained_variance, update_policy

GAMMA, GAE_LAMBDA = 0.97, 0.9


def test_advantages_equal_a_plain_loop():
    generator = torch.Generator().manual_seed(1)
    rollout = RolloutBuffer(7, 5, torch.device("cpu"))
    rollout.rewards = torch.randn((7, 5), generator=generator)
    rollout.values = torch.randn((8, 5), generator=generator)
    rollout.dones = torch.rand((7, 5), generator=generator) < 0.3
    advantages = rollout.advantages(GAMMA, GAE_LAMBDA)
    for env in range(5):
        for step in range(7):
            total, weight = 0.0, 1.0
            for later in range(step, 7):
                done = bool(rollout.dones[later, env])
                next_value = 0.0 if done else float(rollout.values[later + 1, env])
                delta = float(rollout.rewards[later, env]) + GAMMA * next_value - float(rollout.values[later, env])
                total += weight * delta
                weight *= GAMMA * GAE_LAMBDA
                if done:
                    break
            assert advantages[step, env] == pytest.approx(total, abs=1e-5)


def test_an_update_makes_rewarded_orders_more_likely(make_trainer):
    trainer = make_trainer(num_steps=8, num_minibatches=4, config=("geo_patrol",))
    network, optimizer, rollout = trainer.state.network, trainer.state.optimizer, trainer.rollout
    rollout.collect(network, trainer.envs)
    target = rollout.actions[:, :, 1:].eq(0).float().mean(2)  # the more Patrols do nothing, the better
    rollout.rewards[:] = target - target.mean()
    rollout.values[:] = 0
    rollout.dones[:] = True
    before = sample_actions(network, rollout.observations.flatten(0, 1), rollout.masks.flatten(0, 1))[0]
    for group in optimizer.param_groups:
        group["lr"] = 0.003
    for _ in range(5):
        metrics = update_policy(network, optimizer, rollout, trainer.config, 0.0)
    after = sample_actions(network, rollout.observations.flatten(0, 1), rollout.masks.flatten(0, 1))[0]
    assert after[:, 1:].eq(0).float().mean() > before[:, 1:].eq(0).float().mean() + 0.02
    names = {"policy_loss", "value_loss", "entropy", "approx_kl", "clipfrac", "explained_variance"}
    assert metrics.keys() == names
    assert all(map(math.isfinite, metrics.values()))


def test_explained_variance():
    returns = torch.tensor([1.0, 2.0, 4.0])
    assert explained_variance(returns, returns) == 1
    assert explained_variance(torch.zeros(3), returns) == pytest.approx(0)
    assert math.isnan(explained_variance(returns, torch.ones(3)))
