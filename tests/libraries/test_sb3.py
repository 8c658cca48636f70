"""The games as a Stable-Baselines3 vector environment, and MaskablePPO trained on it."""

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.distributions import MaskableMultiCategoricalDistribution
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

from geo_patrol import make_vec
from geo_patrol.adapters.sb3 import OrderPolicy, SB3OrderDistribution, SB3VecEnv, make_sb3_vec

torch.set_num_threads(1)  # tiny networks: threads would wait for each other
SMALL = {
    "n_steps": 16,
    "batch_size": 64,
    "n_epochs": 2,
    "policy_kwargs": {"net_arch": [16]},
    "seed": 0,
    "device": "cpu",
}


class Watch(BaseCallback):
    """Counts orders that were illegal by the masks or according to the engine."""

    def __init__(self):
        super().__init__()
        self.orders = self.outside_mask = self.illegal = self.episodes = 0

    def _on_step(self):
        actions, masks = self.locals["actions"], self.locals["action_masks"].reshape(-1, 11, 28)
        self.orders += actions.size
        self.outside_mask += int((~np.take_along_axis(masks, actions[..., None], axis=2)).sum())
        for info in self.locals["infos"]:
            if "episode" in info:
                self.episodes += 1
                self.illegal += info["episode"]["illegal_orders"]
        return True


def play(env, steps, see):
    for _ in range(steps):
        see(*env.step(np.array(env.env_method("sample_actions"))))


# The environment


def test_steps_are_those_of_the_vector_environment():
    env = make_sb3_vec("case1", 8, opponent="random", seats="alternate")
    beside = make_vec("case1", 8, opponent="random", seats="alternate", autoreset="same_step")
    env.seed(5)
    assert (env.reset() == beside.reset(seed=5)[0]).all()
    ended = 0
    for _ in range(200):
        actions = beside.sample_actions()
        observations, rewards, dones, infos = env.step(actions)
        expected = beside.step(actions)
        assert (observations == expected[0]).all()
        assert rewards.dtype == np.float32
        assert (rewards == expected[1]).all()
        assert (dones == (expected[2] | expected[3])).all()
        for row in range(8):
            assert bool(infos[row]) == dones[row]
            if dones[row]:
                ended += 1
                finished, info = expected[4]["finished_episode"], infos[row]
                assert (info["terminal_observation"] == expected[4]["final_obs"][row]).all()
                assert info["TimeLimit.truncated"] is False
                assert info["is_success"] == (finished["outcome"][row] == 1)
                assert info["episode"]["r"] == finished["return"][row]
                assert info["episode"]["l"] == finished["length"][row]
                assert info["episode"]["t"] > 0
                for name in ("score", "enemy_score", "reasons", "outcome", "illegal_orders", "seat", "opponent"):
                    assert info["episode"][name] == finished[name][row]
    assert ended > 20


def test_arrays_that_a_step_returned_do_not_change():
    env = make_sb3_vec("case1", 4, opponent="random")
    env.reset()
    steps = []
    play(env, 60, lambda *result: steps.append((result, [np.copy(array) for array in result[:3]])))
    for (observations, rewards, dones, _), copies in steps:
        assert (observations == copies[0]).all()
        assert (rewards == copies[1]).all()
        assert (dones == copies[2]).all()
    infos = [result[3] for result, _ in steps]
    infos[0][0]["written"] = True
    assert "written" not in infos[0][1]
    assert "written" not in infos[1][0]


def test_truncation_is_reported():
    env = make_sb3_vec("geo_patrol", 2, opponent="idle", max_cycles=3)
    env.reset()
    seen = []
    play(env, 3, lambda _, __, dones, infos: seen.append((dones, infos)))
    assert [dones.tolist() for dones, _ in seen] == [[False] * 2] * 2 + [[True] * 2]
    assert [info["TimeLimit.truncated"] for info in seen[-1][1]] == [True, True]


def test_masks_in_observations():
    env = make_sb3_vec("case1", 3, opponent="random", mask_in="obs", max_cycles=2)
    masks = env.reset()["action_mask"]
    assert (masks.reshape(3, 308) == get_action_masks(env)).all()
    env.step(np.zeros((3, 11), np.int64))
    _, _, dones, infos = env.step(np.zeros((3, 11), np.int64))
    assert dones.all()
    assert infos[0]["terminal_observation"]["action_mask"].shape == (11, 28)


def test_seeds():
    def first_steps(env):
        observations = [env.reset()]
        play(env, 5, lambda seen, *_: observations.append(seen))
        return np.array(observations)

    env = make_sb3_vec("case1", 4, opponent="random")
    env.seed(9)
    once, onward = first_steps(env), first_steps(env)
    env.seed(9)
    assert (first_steps(env) == once).all()
    assert (onward != once).any()


def test_self_play_has_two_environments_per_game():
    env = make_sb3_vec("case1", 3)
    assert env.num_envs == 6
    env.seed(2)
    assert (env.reset() == make_vec("case1", 3).reset(seed=2)[0]).all()
    assert env.seed(2) == list(range(2, 8))


def test_masks_are_found_by_the_library():
    env = make_sb3_vec("case1", 5, opponent="random")
    env.reset()
    assert is_masking_supported(env)
    masks = get_action_masks(env)
    assert masks.shape == (5, 308)
    assert masks.dtype == np.bool_
    assert (masks == env.action_masks()).all()
    assert (np.array(env.env_method("action_masks", indices=[3, 1])) == masks[[3, 1]]).all()
    assert (env.env_method("action_masks", indices=2)[0] == masks[2]).all()


def test_attributes_and_methods():
    env = make_sb3_vec("case1", 2, opponent="random")
    assert env.get_attr("render_mode") == [None, None]
    assert env.get_attr("num_games", indices=1) == [2]
    env.env_method("set_opponents", {"idle": 1})
    env.set_opponents({"idle": 1, "scripted": 2})
    assert env.envs.opponent_names == ("random", "idle", "scripted")
    env.set_attr("note", 7)
    assert env.get_attr("note") == [7, 7]
    assert not env.has_attr("nothing")
    with pytest.raises(ValueError, match=r"env_method\('set_opponents'\): indices = 0: all environments are one"):
        env.env_method("set_opponents", "idle", indices=0)
    with pytest.raises(ValueError, match=r"set_attr\('note'\): indices = \[1\]: all environments are one"):
        env.set_attr("note", 8, indices=[1])


def test_invalid_input():
    with pytest.raises(ValueError, match="'next_step': Stable-Baselines3 needs autoreset=\"same_step\""):
        SB3VecEnv(make_vec("case1", 2))
    with pytest.raises(ValueError, match="there is no agent 'nobody'"):
        make_sb3_vec("case1", 2, opponent="nobody")
    env = make_sb3_vec("case1", 2, opponent="random")
    env.reset()
    with pytest.raises(RuntimeError, match="call step_async before step_wait"):
        env.step_wait()
    with pytest.raises(ValueError, match=r"actions must be \(2, 11\) order codes, got shape \(3, 11\)"):
        env.step(np.zeros((3, 11), np.int64))
    env.close()
    with pytest.raises(RuntimeError, match="closed"):
        env.reset()


def test_wrappers_of_the_library():
    env = VecNormalize(VecMonitor(VecMonitorless(make_sb3_vec("case1", 4, opponent="random"))), norm_obs=False)
    env.reset()
    lengths = []
    play(env, 100, lambda *step: lengths.extend(info["episode"]["l"] for info in step[3] if info))
    assert lengths


def VecMonitorless(env):  # noqa: N802 - VecMonitor warns of an environment that is monitored already
    env.env_is_wrapped = lambda *_, **__: [False] * env.num_envs
    return env


# Training


@pytest.mark.parametrize("policy", ["MlpPolicy", OrderPolicy], ids=str)
@pytest.mark.parametrize("arguments", [{}, {"observation": "tokens"}, {"seats": "both", "opponent": None}], ids=str)
def test_maskable_ppo_trains_and_orders_nothing_illegal(policy, arguments):
    env = make_sb3_vec("case1", 8, **{"opponent": {"random": 1, "scripted": 1}, "seats": "alternate"} | arguments)
    model, watch = MaskablePPO(policy, env, **SMALL), Watch()
    before = [parameter.detach().clone() for parameter in model.policy.parameters()]
    model.learn(16 * env.num_envs * 6, callback=watch)
    assert watch.orders == 16 * env.num_envs * 6 * 11
    assert (watch.outside_mask, watch.illegal) == (0, 0)
    assert watch.episodes > 20
    assert any((old != new).any() for old, new in zip(before, model.policy.parameters(), strict=True))
    assert len(model.ep_info_buffer) > 0
    assert len(model.ep_success_buffer) > 0


def test_the_same_seed_trains_the_same_policy():
    def trained():
        model = MaskablePPO(OrderPolicy, make_sb3_vec("case1", 8, opponent="random"), **SMALL)
        model.learn(512)
        return torch.cat([parameter.detach().flatten() for parameter in model.policy.parameters()])

    assert (trained() == trained()).all()


def test_evaluation_of_the_library():
    env = make_sb3_vec("case1", 4, opponent="random")
    model = MaskablePPO(OrderPolicy, env, **SMALL)
    returns, lengths = evaluate_policy(model, env, n_eval_episodes=10, return_episode_rewards=True)
    assert len(returns) == len(lengths) == 10


def test_a_saved_policy_plays_the_same(tmp_path):
    env = make_sb3_vec("case1", 4, opponent="random")
    model = MaskablePPO(OrderPolicy, env, **SMALL)
    model.save(tmp_path / "policy.zip")
    loaded = MaskablePPO.load(tmp_path / "policy.zip", device="cpu")
    observations, masks = env.reset(), get_action_masks(env)
    orders = [each.predict(observations, action_masks=masks, deterministic=True)[0] for each in (model, loaded)]
    assert (orders[0] == orders[1]).all()


# The policy


def test_order_distribution_is_that_of_the_library():
    torch.manual_seed(0)
    logits = torch.randn(50, 308, requires_grad=True)
    masks = torch.rand(50, 11, 28) < 0.2
    masks[..., 0] = True
    ours, theirs = SB3OrderDistribution(), MaskableMultiCategoricalDistribution([28] * 11)
    found = []
    for distribution in (ours, theirs):
        distribution.proba_distribution(logits)
        for mask in (None, masks.reshape(50, 308)):
            distribution.apply_masking(mask)
            orders = distribution.mode()
            log_prob, entropy = distribution.log_prob(orders), distribution.entropy()
            (gradient,) = torch.autograd.grad((log_prob + entropy).sum(), logits, retain_graph=True)
            found.append([orders, log_prob, entropy, gradient])
    for mine, other in zip(found[:2], found[2:], strict=True):
        assert (mine[0] == other[0]).all()
        for one, another in zip(mine[1:], other[1:], strict=True):
            torch.testing.assert_close(one, another)


def test_order_distribution_samples_by_its_probabilities():
    torch.manual_seed(0)
    logits = torch.randn(1, 308)
    masks = torch.rand(1, 308) < 0.3
    masks.view(11, 28)[:, 0] = True
    distribution = SB3OrderDistribution().proba_distribution(logits.expand(20_000, 308))
    distribution.apply_masking(masks.expand(20_000, 308))
    samples = distribution.sample()
    frequencies = torch.nn.functional.one_hot(samples, 28).double().mean(dim=0)
    expected = torch.softmax(logits.masked_fill(~masks, -torch.inf).view(11, 28), dim=1)
    assert (frequencies[~masks.view(11, 28)] == 0).all()
    assert (frequencies - expected).abs().max() < 0.02
