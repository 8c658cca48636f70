"""Training methods by name: settings that differ from the defaults of ``TrainingConfig``; docs/training.md compares them."""

from collections.abc import Mapping
from typing import Any

from geo_patrol.errors import ConfigError, suggest
from geo_patrol.training.config import TrainingConfig

_SELF_PLAY = {"self_play_fraction": 1.0, "num_past_policies": 0}

METHODS: Mapping[str, Mapping[str, Any]] = {
    "league": {},
    "self-play": _SELF_PLAY,
    "mmd": {
        **_SELF_PLAY,
        "magnet_coef": 0.05,
        "ent_coef": 0.01,
        "learning_rate": 5e-4,
        "gae_lambda": 0.95,
    },
    "entropy": {
        **_SELF_PLAY,
        "ent_coef": 0.05,
        "anneal_ent_coef": False,
        "clip_coef": 0.05,
        "learning_rate": 5e-4,
        "gae_lambda": 0.95,
    },
}
"""``league``: PPO against scripts and past policies, with a tenth of self-play. ``self-play``: PPO against itself alone.
``mmd``: the same with a magnet, magnetic mirror descent (Sokota et al., arXiv 2206.05825). ``entropy``: self-play with a
strong entropy bonus that stays, small clipping and learning rate (Rudolph et al., arXiv 2502.08938)."""


def configure(method: str = "league", **settings: Any) -> TrainingConfig:
    """Make the settings of a run by a method; those that are given replace the method's.

    Raises:
        ConfigError: there is no such method, or a setting is wrong.
    """
    if method not in METHODS:
        hint = suggest(method, METHODS) or "."
        raise ConfigError(f"there is no method {method!r}{hint} The methods are: {', '.join(METHODS)}.")
    return TrainingConfig(**{**METHODS[method], **settings})
