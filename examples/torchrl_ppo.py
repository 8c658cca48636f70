"""Train PPO of TorchRL against a mixture of agents, and let the trained network play a match.

pip install "geo_patrol[torchrl]"
python examples/torchrl_ppo.py 5  # minutes
"""

import importlib.util
import sys
import time

if importlib.util.find_spec("torchrl") is None:
    sys.exit('TorchRL is not installed: pip install "geo_patrol[torchrl]"')

import torch
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import RewardScaling, TransformedEnv
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from geo_patrol import play_match
from geo_patrol.adapters.torchrl import TorchRLEnv, make_actor
from geo_patrol.agents.networks import NetworkAgent, TorchNetwork

OPPONENTS = {"random": 1, "idle": 1, "raider": 2, "scripted": 4}


def train(minutes, num_games=128, seed=0):
    """Return a network that maps observations (n, 1591) to the logits of orders, (n, 308)."""
    torch.manual_seed(seed)
    games = TorchRLEnv("geo_patrol", num_games, opponent=OPPONENTS, seats="alternate")
    env = TransformedEnv(games, RewardScaling(loc=0, scale=0.02))
    env.set_seed(seed)
    trunk = nn.Sequential(nn.Linear(1591, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU())
    network = nn.Sequential(trunk, nn.Linear(256, 308))
    actor = make_actor(network)
    critic = TensorDictModule(nn.Sequential(trunk, nn.Linear(256, 1)), ["observation"], ["state_value"])
    advantage = GAE(gamma=0.99, lmbda=0.95, value_network=critic)
    loss = ClipPPOLoss(actor, critic, entropy_coeff=0.003, normalize_advantage=True)
    optimizer = torch.optim.Adam(loss.parameters(), lr=5e-4, eps=1e-5)
    end = time.monotonic() + 60 * minutes
    options = {"auto_register_policy_transforms": False}  # a policy without memory needs none
    for batch in Collector(env, actor, frames_per_batch=32 * num_games, total_frames=-1, **options):
        advantage(batch)
        rows = batch.flatten()
        for _ in range(3):
            for minibatch in rows[torch.randperm(len(rows))].split(1024):
                losses = loss(minibatch)
                optimizer.zero_grad()
                (losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]).backward()
                nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
                optimizer.step()
        if time.monotonic() > end:
            break
    return network


if __name__ == "__main__":
    network = train(minutes=float(sys.argv[1]) if len(sys.argv) > 1 else 5)
    agent = NetworkAgent("TorchRL", TorchNetwork(lambda onehot: network(onehot)))
    print(play_match(agent, "scripted", games=200, seed=0))
