"""Play random legal orders in many games behind wrappers of SuperSuit.

pip install "geo_patrol[supersuit]"
python examples/supersuit_random.py 200  # steps
"""

import importlib.util
import sys

if importlib.util.find_spec("supersuit") is None:
    sys.exit('SuperSuit is not installed: pip install "geo_patrol[supersuit]"')

import numpy as np
import supersuit

from geo_patrol import geo_patrol_v0


def make_envs(num_games=16):
    """Return a vector environment, with two rows for each game, whose observations are two phases, (num_envs, 3182)."""
    env = supersuit.frame_stack_v1(geo_patrol_v0.parallel_env(mask_in="info"), 2)
    env = supersuit.pettingzoo_env_to_vec_env_v1(env)
    return supersuit.concat_vec_envs_v1(env, num_games, num_cpus=0, base_class="gymnasium")


def play(envs, num_steps):
    """Return how many episodes ended, and how many orders were illegal."""
    _, infos = envs.reset(seed=0)
    num_episodes = num_illegal = 0
    for _ in range(num_steps):
        actions = np.stack([envs.action_space.sample(info["action_mask"]) for info in infos])
        _, _, terminations, _, infos = envs.step(actions)
        num_episodes += int(terminations.sum())
        num_illegal += sum(info["illegal_orders"] for info in infos)
    return num_episodes, num_illegal


if __name__ == "__main__":
    num_steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print("{} episodes, {} illegal orders".format(*play(make_envs(), num_steps)))
