"""Train PPO of AgileRL against a mixture of agents, and let the trained network play a match.

pip install "geo_patrol[agilerl]"
python examples/agilerl_ppo.py 5  # minutes
"""

import importlib.util
import sys
import time

if importlib.util.find_spec("agilerl") is None:
    sys.exit('AgileRL is not installed: pip install "geo_patrol[agilerl]"')

import torch
from agilerl.algorithms import PPO
from agilerl.rollouts.on_policy import collect_rollouts
from gymnasium.wrappers.vector import TransformReward
from torch import nn

from geo_patrol import make_vec, play_match
from geo_patrol.agents.networks import NetworkAgent, TorchNetwork

OPPONENTS = {"random": 1, "idle": 1, "raider": 2, "scripted": 4}


def train(minutes, num_games=128, seed=0):
    """Return a network that maps observations (n, 1591) to the logits of orders, (n, 308)."""
    torch.manual_seed(seed)
    games = make_vec("geo_patrol", num_games, opponent=OPPONENTS, seats="alternate", autoreset="same_step")
    games.reset(seed=seed)
    envs = TransformReward(games, lambda rewards: 0.02 * rewards)
    agent = PPO(
        games.single_observation_space,
        games.single_action_space,
        num_envs=num_games,
        use_rollout_buffer=True,
        learn_step=32 * num_games,
        net_config={
            "latent_dim": 128,
            "encoder_config": {"hidden_size": [256], "activation": "ReLU"},
            "head_config": {"hidden_size": [256], "activation": "ReLU"},
        },
        lr=5e-4,
        gamma=0.99,
        gae_lambda=0.95,
        ent_coef=0.003,
        batch_size=1024,
        update_epochs=3,
    )
    state = {}
    end = time.monotonic() + 60 * minutes
    while True:
        _, *last = collect_rollouts(agent, envs, **state)
        state = dict(zip(("last_obs", "last_done", "last_scores", "last_info"), last, strict=True))
        agent.learn()
        if time.monotonic() > end:
            break
    games.close()
    return nn.Sequential(agent.actor.encoder, agent.actor.head_net.wrapped)


if __name__ == "__main__":
    network = train(minutes=float(sys.argv[1]) if len(sys.argv) > 1 else 5)
    agent = NetworkAgent("AgileRL", TorchNetwork(lambda onehot: network(onehot)))
    print(play_match(agent, "scripted", games=200, seed=0))
