"""Train a population of policies, each a response to the equilibrium of those before it (PSRO).

    pip install "geo_patrol[train,stats]"
    python examples/train_psro.py --size 6 --total-timesteps 2000000 --out runs/population
    geo-patrol match policy:runs/population/mixture.safetensors policy:base

The same command continues a population that was interrupted or that is to grow. Every other option is a field of
``geo_patrol.training.TrainingConfig``: the settings of each response; ``--opponents`` are scripts that a response may meet.
docs/train/training.md explains the method.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before the imports: docs/train/training.md, Threads

import argparse
import importlib.util
import sys

if importlib.util.find_spec("torch") is None:
    sys.exit('PyTorch is not installed: pip install "geo_patrol[train,stats]"')

from geo_patrol.base.errors import GeoPatrolError
from geo_patrol.training.config import parse_settings
from geo_patrol.training.population import train_population


def main() -> None:
    """Parse arguments and train."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--policies", nargs="+", default=["base"])
    parser.add_argument("--size", type=int, default=10)
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--processes", type=int)
    parser.add_argument("--self-play", action="store_true")
    parser.add_argument("--floor", type=float)
    options, others = parser.parse_known_args()
    settings = (
        "--policies, names or files to begin with (base); --size, policies in the end (10); --games of a match (1000)"
    )
    more = (
        "--processes for matches; --self-play for Self-Play PSRO; --floor, what part of its opponents is uniform (0.05)"
    )
    config = parse_settings(f"{__doc__}\noptions of the population: {settings}; {more}.", others)
    train_population(config, **vars(options))


if __name__ == "__main__":
    try:
        main()
    except (GeoPatrolError, ValueError) as error:
        sys.exit(f"train_psro.py: {error}")
