"""Train PPO of Tianshou against a mixture of agents, and let the trained network play a match.

pip install "geo_patrol[tianshou]"
python examples/tianshou_ppo.py 5  # minutes
"""

import importlib.util
import sys
import time

if importlib.util.find_spec("tianshou") is None:
    sys.exit('Tianshou is not installed: pip install "geo_patrol[tianshou]"')

import torch
from tianshou.algorithm import PPO
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.trainer import OnPolicyTrainerParams
from torch import nn

from geo_patrol import play_match
from geo_patrol.adapters.tianshou import OrderCritic, TianshouVectorEnv, make_policy
from geo_patrol.agents.networks import NetworkAgent, TorchNetwork

OPPONENTS = {"random": 1, "idle": 1, "raider": 2, "scripted": 4}


def train(minutes, num_games=128, seed=0):
    """Return a network that maps observations (n, 1591) to the logits of orders, (n, 308)."""
    torch.manual_seed(seed)
    env = TianshouVectorEnv("geo_patrol", num_games, opponent=OPPONENTS, seats="alternate")
    env.seed(seed)
    trunk = nn.Sequential(nn.Linear(1591, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU())
    network = nn.Sequential(trunk, nn.Linear(256, 308))
    algorithm = PPO(
        policy=make_policy(network),
        critic=OrderCritic(nn.Sequential(trunk, nn.Linear(256, 1))),
        optim=AdamOptimizerFactory(lr=5e-4, eps=1e-5),
        return_scaling=True,
        ent_coef=0.003,
        max_grad_norm=0.5,
        gamma=0.99,
        gae_lambda=0.95,
    )
    num_steps = 32 * num_games
    collector = Collector(algorithm, env, VectorReplayBuffer(num_steps, num_games), raise_on_nan_in_buffer=False)
    params = OnPolicyTrainerParams(
        training_collector=collector,
        epoch_num_steps=num_steps,
        collection_step_num_env_steps=num_steps,
        update_step_num_repetitions=3,
        batch_size=1024,
        verbose=False,
        show_progress=False,
    )
    trainer = algorithm.create_trainer(params)
    trainer.reset()
    end = time.monotonic() + 60 * minutes
    while True:
        trainer.execute_epoch()
        if time.monotonic() > end:
            break
    env.close()
    return network


if __name__ == "__main__":
    network = train(minutes=float(sys.argv[1]) if len(sys.argv) > 1 else 5)
    agent = NetworkAgent("Tianshou", TorchNetwork(lambda onehot: network(onehot)))
    print(play_match(agent, "scripted", games=200, seed=0))
