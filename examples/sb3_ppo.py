"""Train MaskablePPO of sb3-contrib against a mixture of agents, save its network, and let it play a match.

pip install "geo_patrol[sb3]"
python examples/sb3_ppo.py 5  # minutes
geo-patrol match torch:sb3_ppo.pt scripted
"""

import argparse
import importlib.util
import sys
import time

OPPONENTS = {"random": 1, "idle": 1, "raider": 2, "scripted": 4}


def train(minutes, num_games=128, seed=0):
    """Return a network that maps observations (n, 1591) to the logits of orders, (n, 308)."""
    # Imported here, so that --help needs none of them.
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.vec_env import VecNormalize
    from torch import nn

    from geo_patrol.adapters.sb3 import OrderPolicy, make_sb3_vec

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
        print(f"{model.num_timesteps:,} steps, {max(end - time.monotonic(), 0) / 60:.1f} minutes left", flush=True)
        if time.monotonic() > end:
            break
    env.close()
    return nn.Sequential(model.policy.mlp_extractor.policy_net, model.policy.action_net)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("minutes", nargs="?", type=float, default=5.0, help="training time in minutes (default 5)")
    parser.add_argument("--out", default="sb3_ppo.pt", help="file of the network (default sb3_ppo.pt)")
    arguments = parser.parse_args()
    if importlib.util.find_spec("sb3_contrib") is None:
        sys.exit('sb3-contrib is not installed: pip install "geo_patrol[sb3]"')
    network = train(arguments.minutes)

    import torch

    from geo_patrol import play_match
    from geo_patrol.agents.networks import NetworkAgent, load_torch_network

    class Policy(torch.nn.Module):
        """Its parameter has the name of the encoding that it reads."""

        def __init__(self):
            super().__init__()
            self.network = network

        def forward(self, onehot: torch.Tensor):
            return self.network(onehot)

    torch.jit.script(Policy().eval()).save(arguments.out)
    print(f"saved {arguments.out}")
    print(play_match(NetworkAgent("MaskablePPO", load_torch_network(arguments.out)), "scripted", games=200, seed=0))
