"""Training policies with PyTorch, the extra ``train``: self-play with a league, PPO, and best responses."""

from geo_patrol.errors import optional_import

with optional_import("train"):
    from geo_patrol.training.config import TrainingConfig
    from geo_patrol.training.evaluation import Evaluation, WinRate
    from geo_patrol.training.runs import train_runs
    from geo_patrol.training.selfplay import train, train_best_response

__all__ = ["Evaluation", "TrainingConfig", "WinRate", "train", "train_best_response", "train_runs"]
