"""Train a policy by self-play on RLlib, against a league of scripted agents and of its own past policies.

    pip install "geo_patrol[rllib]"
    python examples/rllib_selfplay.py --minutes 20 --env-runners 2
    geo-patrol match rllib:runs/rllib/checkpoint scripted

The same command continues an interrupted training. docs/train/rllib.md reports results.
"""

import argparse
import csv
import importlib.util
import sys
import time
from collections.abc import Sequence
from pathlib import Path

if importlib.util.find_spec("ray") is None:
    sys.exit('RLlib is not installed: pip install "geo_patrol[rllib]"')

import ray

from geo_patrol.training.rllib import LeaguePPO, evaluate_against, league_config
from geo_patrol.training.selfplay import Evaluation, write_curve

OPPONENTS = ("random", "raider:path=cheap,reach=sector", "scripted")


def parse_args(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", default="geo_patrol", help="preset or TOML file (default geo_patrol)")
    parser.add_argument("--minutes", type=float, default=20, help="training time in all, evaluations included")
    parser.add_argument("--total-steps", type=int, default=6_000_000, help="steps over which the settings decline")
    parser.add_argument("--env-runners", type=int, default=0, help="processes that sample; 0 samples in this one")
    parser.add_argument("--num-envs", type=int, default=512, help="environments in all")
    parser.add_argument("--learners", type=int, default=0, help="processes that learn; 0 learns in this one")
    parser.add_argument("--gpus-per-learner", type=float, default=0)
    parser.add_argument("--address", default="local", help="of a Ray cluster; local starts one here (default)")
    parser.add_argument("--eval-minutes", type=float, default=2, help="between evaluations")
    parser.add_argument("--eval-games", type=int, default=200, help="per opponent, an even number")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs/rllib"))
    return parser.parse_args(argv)


def build(args: argparse.Namespace) -> LeaguePPO:
    """Build the algorithm, and continue from its checkpoint if there is one."""
    num_envs = args.num_envs // max(args.env_runners, 1)
    config = (
        league_config(args.config, num_envs=num_envs, total_steps=args.total_steps)
        .env_runners(num_env_runners=args.env_runners)
        .learners(num_learners=args.learners, num_gpus_per_learner=args.gpus_per_learner)
        .training(train_batch_size_per_learner=16 * args.num_envs // max(args.learners, 1))
        .debugging(seed=args.seed, log_level="ERROR")
    )
    algorithm: LeaguePPO = config.build_algo()
    if (args.out / "checkpoint").exists():
        algorithm.restore_from_path(str(args.out.resolve() / "checkpoint"))
    return algorithm


def read_curve(path: Path) -> list[Evaluation]:
    """Return the evaluations before an interruption."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [
            Evaluation.from_row({name: float(value) for name, value in row.items()}) for row in csv.DictReader(file)
        ]


def train(args: argparse.Namespace) -> list[Evaluation]:
    """Train for the time that is left, and return the learning curve."""
    algorithm = build(args)
    curve = read_curve(args.out / "curve.csv")
    algorithm.train()  # compiles what is not compiled yet, before the clock starts
    start = time.perf_counter() - 60 * (curve[-1].minutes if curve else 0)
    minutes = evaluated = curve[-1].minutes if curve else 0.0
    while minutes < args.minutes:
        results = algorithm.train()
        minutes = (time.perf_counter() - start) / 60
        if minutes >= min(evaluated + args.eval_minutes, args.minutes):
            win_rates = evaluate_against(algorithm, OPPONENTS, games=args.eval_games, config=args.config)
            evaluated = (time.perf_counter() - start) / 60
            curve.append(Evaluation(round(evaluated, 3), algorithm.num_steps, win_rates))
            algorithm.save_to_path(str(args.out.resolve() / "checkpoint"))
            write_curve(args.out / "curve.csv", curve)
            scores = ", ".join(f"{name} {win_rate.value:.1%}" for name, win_rate in win_rates.items())
            past = int(results["league"]["past_policies"])
            print(f"{evaluated:6.2f} min {algorithm.num_steps:>10,} steps, {past} past policies: {scores}", flush=True)
    algorithm.stop()
    return curve


if __name__ == "__main__":
    arguments = parse_args()
    ray.init(arguments.address, include_dashboard=False, log_to_driver=False)
    train(arguments)
