"""Training policies with PyTorch, the extra ``train``: self-play with a league, PPO, and best responses."""

from geo_patrol.errors import optional_import

with optional_import("train"):
    from geo_patrol.training.config import TrainingConfig
    from geo_patrol.training.selfplay import Evaluation, WinRateEstimate, train, train_best_response, train_runs

__all__ = ["Evaluation", "TrainingConfig", "WinRateEstimate", "train", "train_best_response", "train_runs"]
