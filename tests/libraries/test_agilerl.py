"""AgileRL's PPO runs on the vector environment as it is, follows its masks, and evolves."""

import warnings

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("agilerl")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from agilerl.algorithms import PPO
    from agilerl.rollouts.on_policy import collect_rollouts

from geo_patrol import make_vec

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")  # of tensordict, about how the library uses it
NUM_GAMES = 8


def make_agent(envs):
    spaces = envs.single_observation_space, envs.single_action_space
    return PPO(*spaces, num_envs=envs.num_envs, learn_step=32 * envs.num_envs, use_rollout_buffer=True)


@pytest.mark.parametrize("options", [{}, {"opponent": "scripted", "seats": "alternate"}], ids=str)
def test_collected_orders_are_legal_before_and_after_learning(options):
    envs = make_vec("case1", NUM_GAMES, autoreset="same_step", **options)
    agent = make_agent(envs)
    before = [parameter.detach().clone() for parameter in agent.actor.parameters()]
    for _ in range(2):
        collect_rollouts(agent, envs)
        steps = agent.rollout_buffer.buffer
        masks = steps["action_masks"].view(32, envs.num_envs, 11, 28).bool()
        assert masks.gather(-1, steps["actions"].long().unsqueeze(-1)).all()
        assert torch.isfinite(steps["log_probs"]).all()
        agent.learn()
    assert any(not torch.equal(old, new) for old, new in zip(before, agent.actor.parameters(), strict=True))
