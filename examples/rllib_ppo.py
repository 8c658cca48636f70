"""Train PPO of RLlib against a mixture of agents, and let the trained network play a match.

pip install "geo_patrol[rllib]"
python examples/rllib_ppo.py 5  # minutes
"""

import importlib.util
import sys
import time

if importlib.util.find_spec("ray") is None:
    sys.exit('RLlib is not installed: pip install "geo_patrol[rllib]"')

import ray
import torch
from ray.rllib.core.columns import Columns
from ray.rllib.core.models.base import ACTOR, ENCODER_OUT
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig

from geo_patrol import play_match
from geo_patrol.adapters.rllib import BatchEnvRunner, ppo_config
from geo_patrol.agents.networks import NetworkAgent, TorchNetwork

OPPONENTS = {"random": 1, "idle": 1, "raider": 2, "scripted": 4}


class Network(torch.nn.Module):
    """Maps observations (n, 1591) to the logits of orders, (n, 308)."""

    def __init__(self, module):
        super().__init__()
        self.encoder, self.head = module.encoder, module.pi

    def forward(self, onehot):
        return self.head(self.encoder({Columns.OBS: onehot})[ENCODER_OUT][ACTOR])


class ScaledRewards(BatchEnvRunner):
    """Rewards of about 1."""

    def shape_rewards(self, rewards, infos):
        return 0.02 * rewards


def train(minutes, num_games=128, seed=0):
    """Return a trained network."""
    ray.init("local", include_dashboard=False, log_to_driver=False, ignore_reinit_error=True)
    config = ppo_config("geo_patrol", num_games, opponent=OPPONENTS, seats="alternate")
    config.env_runners(env_runner_cls=ScaledRewards, num_env_runners=0)
    config.rl_module(model_config=DefaultModelConfig(fcnet_hiddens=[256, 256], fcnet_activation="relu"))
    config.training(train_batch_size_per_learner=32 * num_games, minibatch_size=1024, num_epochs=3)
    algorithm = config.debugging(seed=seed, log_level="ERROR").build_algo()
    end = time.monotonic() + 60 * minutes
    while True:
        algorithm.train()
        if time.monotonic() > end:
            break
    return Network(algorithm.env_runner.module)


if __name__ == "__main__":
    network = train(minutes=float(sys.argv[1]) if len(sys.argv) > 1 else 5)
    agent = NetworkAgent("RLlib", TorchNetwork(network))
    print(play_match(agent, "scripted", games=200, seed=0))
