"""Train MaskablePPO of sb3-contrib against a mixture of agents, and let the trained network play a match.

pip install "geo_patrol[sb3]"
python examples/sb3_ppo.py 5  # minutes

``train_maskable_ppo.py`` also changes opponents while it trains, evaluates, and plots the learning curve.
"""

import sys
import time

from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecNormalize
from torch import nn

from geo_patrol import play_match
from geo_patrol.agents.networks import NetworkAgent, TorchNetwork
from geo_patrol.envs.adapters.sb3 import OrderPolicy, make_sb3_vec

OPPONENTS = {"random": 1, "idle": 1, "raider": 2, "scripted": 4}


def train(minutes, num_games=128, seed=0):
    """Return a network that maps observations (n, 1591) to the logits of orders, (n, 308)."""
    env = make_sb3_vec("geo_patrol", num_games, opponent=OPPONENTS, seats="alternate", reward="score")
    model = MaskablePPO(
        OrderPolicy,
        VecNormalize(env, norm_obs=False, gamma=0.99),
        n_steps=32,
        batch_size=1024,
        n_epochs=3,
        learning_rate=5e-4,
        ent_coef=0.003,
        policy_kwargs={"net_arch": [256, 256], "activation_fn": nn.ReLU},
        device="cpu",
        seed=seed,
    )
    end = time.monotonic() + 60 * minutes
    while True:
        model.learn(32 * num_games, reset_num_timesteps=False)
        if time.monotonic() > end:
            break
    env.close()
    return nn.Sequential(model.policy.mlp_extractor.policy_net, model.policy.action_net)


if __name__ == "__main__":
    network = train(minutes=float(sys.argv[1]))
    agent = NetworkAgent("MaskablePPO", TorchNetwork(lambda onehot: network(onehot)))
    print(play_match(agent, "scripted", games=200, seed=0))
