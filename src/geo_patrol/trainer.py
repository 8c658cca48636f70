"""The training script of the examples as a module, for the commands that train: there is one way to train a policy."""

import importlib.util
from pathlib import Path
from types import ModuleType

from geo_patrol.errors import optional_import

_SCRIPT = "train_selfplay.py"


def trainer_path() -> Path:
    """Return the file of the training script: inside an installed package, or at the top of a checkout."""
    package = Path(__file__).parent
    installed = package / "examples"
    return (installed if installed.is_dir() else package.parents[1] / "examples") / _SCRIPT


def load_trainer() -> ModuleType:
    """Return the training script as a module: its ``read_arguments(argv)`` and ``train(arguments)``.

    Raises:
        MissingPackageError: PyTorch is not installed.
    """
    with optional_import("train"):
        import torch  # noqa: F401, PLC0415 - an extra
    spec = importlib.util.spec_from_file_location("geo_patrol_train_selfplay", trainer_path())
    if spec is None or spec.loader is None:
        raise FileNotFoundError(f"{trainer_path()}: the training script is missing: install geo_patrol anew")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
