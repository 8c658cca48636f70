"""Command-line options for every setting of a training run."""

import argparse
import dataclasses
from collections.abc import Sequence
from typing import Any

from geo_patrol.errors import GeoPatrolError
from geo_patrol.training.config import TrainingConfig
from geo_patrol.training.methods import METHODS, configure


def parse_settings(description: str | None, argv: Sequence[str] | None = None) -> TrainingConfig:
    """Read ``--method`` and an option for every field of ``TrainingConfig``; errors end the program with a message.

    Args:
        description: what ``--help`` says first.
        argv: the arguments; those of the process by default.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    methods = ", ".join(METHODS)
    parser.add_argument("--method", metavar="NAME", help=f"other defaults: {methods} (default league)")
    for field in dataclasses.fields(TrainingConfig):
        default = " ".join(map(str, field.default)) if isinstance(field.default, tuple) else field.default
        note = "" if default in (None, "") else f" (default {default})"
        option = f"--{field.name.replace('_', '-')}"
        parser.add_argument(option, help=field.metadata["help"] + note, **_argument_type(field))
    provided = {name: value for name, value in vars(parser.parse_args(argv)).items() if value is not None}
    arguments: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in provided.items()}
    try:
        return configure(**arguments)
    except GeoPatrolError as error:
        parser.error(str(error))


def _argument_type(field: dataclasses.Field[Any]) -> dict[str, Any]:
    if isinstance(field.default, bool):
        return {"action": argparse.BooleanOptionalAction}
    types = {"total_timesteps": int, "initial_policy": str, "eval_config": str, "opponent_weights": float}
    if isinstance(field.default, tuple):
        return {"nargs": "*", "metavar": "NAME", "type": types.get(field.name, str)}
    return {"type": types.get(field.name, type(field.default)), "metavar": "VALUE"}
