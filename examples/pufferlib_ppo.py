"""Train PuffeRL, the PPO of PufferLib, against a mixture of agents, and let the trained network play a match.

pip install "geo_patrol[pufferlib]"
python examples/pufferlib_ppo.py 5  # minutes
"""

import importlib.util
import sys
import time

if importlib.util.find_spec("pufferlib") is None:
    sys.exit('PufferLib is not installed: pip install "geo_patrol[pufferlib]"')

import torch
from pufferlib.pufferl import PuffeRL
from torch import nn

from geo_patrol import play_match
from geo_patrol.adapters.pufferlib import PufferLibEnv, PufferOrderPolicy
from geo_patrol.agents.networks import NetworkAgent, TorchNetwork

OPPONENTS = {"random": 1, "idle": 1, "raider": 2, "scripted": 4}
SETTINGS = {
    "bptt_horizon": 32, "batch_size": "auto", "minibatch_size": 1024, "max_minibatch_size": 1024, "update_epochs": 3,
    "optimizer": "adam", "learning_rate": 5e-4, "anneal_lr": False, "adam_beta1": 0.9, "adam_beta2": 0.999,
    "adam_eps": 1e-5, "gamma": 0.99, "gae_lambda": 0.95, "clip_coef": 0.2, "vf_coef": 0.5, "vf_clip_coef": 10.0,
    "max_grad_norm": 0.5, "ent_coef": 0.003, "vtrace_rho_clip": 1, "vtrace_c_clip": 1, "prio_alpha": 0.0,
    "prio_beta0": 1.0, "total_timesteps": 10**9, "checkpoint_interval": 10**9, "data_dir": "runs", "env": "geo_patrol",
    "device": "cpu", "cpu_offload": False, "use_rnn": False, "compile": False, "precision": "float32",
    "torch_deterministic": True,
}  # fmt: skip


class ScaledEnv(PufferLibEnv):
    """PuffeRL clips rewards to -1 .. 1."""

    def step(self, actions):
        step = super().step(actions)
        self.rewards *= 0.02
        return step


def train(minutes, num_games=128, seed=0):
    """Return a network that maps observations (n, 1591) to the logits of orders, (n, 308)."""
    torch.manual_seed(seed)
    env = ScaledEnv("geo_patrol", num_games, opponent=OPPONENTS, seats="alternate")
    encoder = nn.Sequential(nn.Linear(1591, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU())
    policy = PufferOrderPolicy(encoder, hidden_size=256)
    trainer = PuffeRL(SETTINGS | {"seed": seed}, env, policy)
    end = time.monotonic() + 60 * minutes
    while True:
        trainer.evaluate()
        trainer.train()
        if time.monotonic() > end:
            break
    trainer.utilization.stop()
    env.close()
    return nn.Sequential(policy.encoder, policy.actor)


if __name__ == "__main__":
    network = train(minutes=float(sys.argv[1]) if len(sys.argv) > 1 else 5)
    agent = NetworkAgent("PufferLib", TorchNetwork(lambda onehot: network(onehot)))
    print(play_match(agent, "scripted", games=200, seed=0))
