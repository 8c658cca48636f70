"""Training policies with PyTorch, the extra ``train``: self-play with a league, PPO, and best responses.

Names are imported when they are first used, as ``responses`` begins its checks without PyTorch.
"""

import importlib
from typing import TYPE_CHECKING, Any

from geo_patrol.base.errors import optional_import

if TYPE_CHECKING:
    from geo_patrol.training.config import TrainingConfig
    from geo_patrol.training.selfplay import Evaluation, train, train_best_response, train_runs

__all__ = ["Evaluation", "TrainingConfig", "train", "train_best_response", "train_runs"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        with optional_import("train"):
            return getattr(importlib.import_module("geo_patrol.training.selfplay"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
