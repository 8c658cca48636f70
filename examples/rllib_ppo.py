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
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig

from geo_patrol import play_match
from geo_patrol.agents.networks import NetworkAgent, TorchNetwork
from geo_patrol.envs.adapters.rllib import BatchEnvRunner, ppo_config

OPPONENTS = {"random": 1, "idle": 1, "raider": 2, "scripted": 4}


class ScaledRewards(BatchEnvRunner):
    """Rewards of about 1."""

    def shape_rewards(self, rewards, infos):
        return 0.02 * rewards


def train(minutes, num_games=128, seed=0):
    """Return a network that maps observations (n, 1591) to the logits of orders, (n, 308)."""
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
    module = algorithm.env_runner.module

    def network(onehot):
        observations = {"observation": onehot, "action_mask": torch.ones(len(onehot), 11, 28)}
        return module.forward_inference({Columns.OBS: observations})[Columns.ACTION_DIST_INPUTS]

    return network


if __name__ == "__main__":
    network = train(minutes=float(sys.argv[1]) if len(sys.argv) > 1 else 5)
    agent = NetworkAgent("RLlib", TorchNetwork(network))
    print(play_match(agent, "scripted", games=200, seed=0))
