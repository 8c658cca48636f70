"""Train a policy by self-play against a league of scripted agents and of its own past policies.

    pip install "geo_patrol[train]"
    python examples/train_selfplay.py --minutes 10 --out runs/first
    geo-patrol match policy:runs/first/policy.safetensors scripted

The same command continues an interrupted training. Every option is a field of ``geo_patrol.training.TrainingConfig``;
``--method`` chooses other methods. docs/train/training.md reports results. ``ppo_geo_patrol.py`` is PPO in a single file, to copy
and change.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before the imports: docs/train/training.md, Threads

import importlib.util
import sys

if importlib.util.find_spec("torch") is None:
    sys.exit('PyTorch is not installed: pip install "geo_patrol[train]"')

from geo_patrol.base.errors import GeoPatrolError
from geo_patrol.training import train
from geo_patrol.training.config import parse_settings

if __name__ == "__main__":
    try:
        train(parse_settings(__doc__))
    except GeoPatrolError as error:
        sys.exit(f"train_selfplay.py: {error}")
