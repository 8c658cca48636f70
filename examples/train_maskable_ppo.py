"""Train MaskablePPO, first against the random agent, then against the scripted one, and plot its win rates.

    pip install "geo_patrol[sb3]"
    python examples/train_maskable_ppo.py --minutes 9.5 --seed 0

writes the policy (maskable_ppo.zip) and the learning curve (maskable_ppo.png). docs/libraries.md reports results.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before the imports: docs/training.md, Threads

import argparse
import importlib.util
import sys
import time
from pathlib import Path

if importlib.util.find_spec("sb3_contrib") is None:
    sys.exit('sb3-contrib is not installed: pip install "geo_patrol[sb3]"')

import matplotlib as mpl
import numpy as np
import torch
from matplotlib.figure import Figure
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import VecNormalize
from torch import nn

from geo_patrol import play_match
from geo_patrol.envs.adapters.sb3 import OrderPolicy, make_sb3_vec

EVAL_OPPONENTS = ("random", "scripted")
STAGES = ((0.0, {"random": 1}), (0.07, {"scripted": 3, "idle": 1}))
"""Opponents to train against, each from a fraction of the training time on."""
LEARNING_RATE = 7e-4


class Trunk(BaseFeaturesExtractor):
    """Layers shared by the policy and the value function, which halves the cost."""

    def __init__(self, space, width=256):
        super().__init__(space, width)
        self.layers = nn.Sequential(nn.Linear(space.shape[0], width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())

    def forward(self, observations):
        return self.layers(observations)


class PolicyAgent:
    """The policy as an agent that plays matches; it samples its orders, as a mixed strategy is stronger in this game."""

    name = "MaskablePPO"
    observation = "onehot"
    stateless = True

    def __init__(self, model):
        self.model = model

    def reset(self, new_games):
        pass

    def act(self, observations, action_masks, generator):
        with torch.random.fork_rng():  # the same games for a seed, and a training that goes on undisturbed
            torch.manual_seed(int(generator.integers(1 << 63)))
            orders, _ = self.model.predict(observations, action_masks=action_masks.reshape(len(action_masks), -1))
        return orders


class Clock:
    """The training time, and the learning rate, which is annealed over it."""

    def __init__(self, minutes):
        self.seconds = 60 * minutes
        self.restart()

    def restart(self):
        self.start = time.perf_counter()

    @property
    def elapsed(self):
        return time.perf_counter() - self.start

    @property
    def progress(self):
        return min(self.elapsed / self.seconds, 1.0)

    def learning_rate(self, _):
        return LEARNING_RATE * max(1 - self.progress, 0.05)


class TrainingCallback(BaseCallback):
    """Changes opponents, evaluates, shows progress, and stops the training when its time is over."""

    def __init__(self, clock, seed, games, evaluations):
        super().__init__()
        self.clock, self.match_seed, self.games = clock, 1000 * seed, games
        self.evaluation_at = list(np.linspace(0, 1, evaluations + 1)[1:])
        self.stages = list(STAGES)
        self.history = {opponent: [] for opponent in EVAL_OPPONENTS}  # (steps, win rate, lower end, upper end)
        self.progress = Progress(
            TextColumn("training"),
            BarColumn(),
            TextColumn("{task.fields[status]}"),
            TimeRemainingColumn(),
            console=Console(width=110),
        )
        self.task = self.progress.add_task("training", total=1.0, status="")

    def _on_training_start(self):
        self.evaluate(self.games)  # which compiles the scripted agent
        self.clock.restart()

    def _on_rollout_start(self):
        while self.stages and self.clock.progress >= self.stages[0][0]:
            _, opponents = self.stages.pop(0)
            self.training_env.env_method("set_opponents", opponents)
            self.progress.console.print(f"{self.num_timesteps:>9,} steps: training against {', '.join(opponents)}")
        if self.clock.progress >= self.evaluation_at[0]:
            self.evaluation_at = [fraction for fraction in self.evaluation_at if fraction > self.clock.progress] or [
                1.0
            ]
            self.evaluate(self.games)
        speed = self.num_timesteps / self.clock.elapsed
        self.progress.update(
            self.task, completed=self.clock.progress, status=f"{self.num_timesteps:,} steps, {speed:,.0f} per second"
        )

    def _on_step(self):
        return self.clock.progress < 1

    def evaluate(self, games):
        """Play games against every evaluation opponent, half of them from each side."""
        results = []
        for opponent in EVAL_OPPONENTS:
            self.match_seed += 1
            total = play_match(PolicyAgent(self.model), opponent, games=games, seed=self.match_seed).summary().total
            self.history[opponent].append((self.num_timesteps, total.win_rate, *total.win_interval))
            low, high = total.win_interval
            results.append(f"{opponent} {total.win_rate:6.1%} ({low:.1%}-{high:.1%})")
        self.progress.console.print(f"{self.num_timesteps:>9,} steps: win rate against {', '.join(results)}")


def plot(history, path, title):
    """Plot the win rates over the steps, with their 95% Wilson intervals."""
    mpl.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    for opponent, points in history.items():
        steps, win_rate, low, high = np.array(points).T
        axes.plot(steps / 1e6, 100 * win_rate, marker=".", label=f"against {opponent}")
        axes.fill_between(steps / 1e6, 100 * low, 100 * high, alpha=0.2)
    axes.set(xlabel="million steps", ylabel="games won, %", ylim=(-2, 102), title=title)
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right", frameon=False)
    figure.savefig(path, dpi=120)


def train(minutes, seed, threads, games, evaluations):
    """Train for a number of minutes, and return the model and its learning curve."""
    torch.set_num_threads(threads)
    env = make_sb3_vec("geo_patrol", num_games=128, opponent="random", seats="alternate", reward="score")
    env.reset()
    env.step(np.zeros((env.num_envs, 11), np.int64))  # compiles what is not compiled, before the clock starts
    env = VecNormalize(env, norm_obs=False, gamma=0.99)  # scales rewards
    clock = Clock(minutes)
    callback = TrainingCallback(clock, seed, games, evaluations)
    model = MaskablePPO(
        OrderPolicy,
        env,
        learning_rate=clock.learning_rate,
        n_steps=32,
        batch_size=512,
        n_epochs=3,
        gamma=0.99,
        gae_lambda=0.95,
        ent_coef=0.003,
        policy_kwargs={"features_extractor_class": Trunk, "net_arch": []},
        seed=seed,
        device="cpu",
    )
    with callback.progress:
        model.learn(total_timesteps=10**12, callback=callback)
        console = callback.progress.console
        console.print(f"final evaluation: {5 * games:,} games against each of {', '.join(EVAL_OPPONENTS)}")
        callback.evaluate(5 * games)
    env.close()
    return model, callback.history


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=9.5, help="how long to train (default 9.5)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1, help="threads of the network (default 1)")
    parser.add_argument("--games", type=int, default=200, help="games of each evaluation (default 200)")
    parser.add_argument("--evaluations", type=int, default=20, help="how often to evaluate (default 20)")
    parser.add_argument("--out", type=Path, default=Path(), help="folder for the policy and the curve")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    model, history = train(arguments.minutes, arguments.seed, arguments.threads, arguments.games, arguments.evaluations)
    model.save(arguments.out / "maskable_ppo.zip")
    title = f"MaskablePPO on GEO Patrol, {arguments.minutes:g} minutes"
    plot(history, arguments.out / "maskable_ppo.png", title)
    print(f"saved {arguments.out / 'maskable_ppo.zip'} and {arguments.out / 'maskable_ppo.png'}")


if __name__ == "__main__":
    main()
