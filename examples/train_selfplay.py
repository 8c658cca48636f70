"""Train a policy by self-play against a league of scripted agents and of its own past policies.

    pip install "geo_patrol[train]"
    python examples/train_selfplay.py --minutes 10 --out runs/first
    geo-patrol match policy:runs/first/policy.safetensors scripted

The same command continues an interrupted training. Every option is a field of ``geo_patrol.training.TrainingConfig``;
docs/training.md reports results. ``ppo_geo_patrol.py`` is PPO in a single file, to copy and change.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before the imports: docs/training.md, Threads

import argparse
import dataclasses
import sys
from collections.abc import Sequence
from typing import Any

from geo_patrol.errors import GeoPatrolError
from geo_patrol.training import TrainingConfig, train


def parse_args(argv: Sequence[str] | None = None) -> TrainingConfig:
    """Make a command-line option of every field of ``TrainingConfig``."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    for field in dataclasses.fields(TrainingConfig):
        default = " ".join(map(str, field.default)) if isinstance(field.default, tuple) else field.default
        note = "" if default in (None, "") else f" (default {default})"
        option = f"--{field.name.replace('_', '-')}"
        parser.add_argument(option, help=field.metadata["help"] + note, **_argument_type(field))
    arguments = {name: value for name, value in vars(parser.parse_args(argv)).items() if value is not None}
    try:
        return TrainingConfig(**{k: tuple(v) if isinstance(v, list) else v for k, v in arguments.items()})
    except GeoPatrolError as error:
        parser.error(str(error))


def _argument_type(field: dataclasses.Field[Any]) -> dict[str, Any]:
    if isinstance(field.default, bool):
        return {"action": argparse.BooleanOptionalAction}
    if isinstance(field.default, tuple):
        return {"nargs": "*", "metavar": "NAME"}
    types = {"total_timesteps": int, "initial_policy": str, "eval_config": str}
    return {"type": types.get(field.name, type(field.default)), "metavar": "VALUE"}


if __name__ == "__main__":
    try:
        train(parse_args())
    except GeoPatrolError as error:
        sys.exit(f"train_selfplay.py: {error}")
