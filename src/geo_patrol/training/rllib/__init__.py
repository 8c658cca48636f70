"""Self-play on RLlib, the extra ``rllib``: PPO against a league of scripted agents and past policies."""

from geo_patrol.errors import optional_import

with optional_import("rllib"):
    from geo_patrol.training.rllib.algorithm import LeaguePPO, LeaguePPOConfig, LeagueSettings, league_config
    from geo_patrol.training.rllib.evaluation import evaluate_against
    from geo_patrol.training.rllib.module import PolicyLearner, PolicyModule

__all__ = [
    "LeaguePPO",
    "LeaguePPOConfig",
    "LeagueSettings",
    "PolicyLearner",
    "PolicyModule",
    "evaluate_against",
    "league_config",
]
