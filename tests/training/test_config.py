"""Errors of settings name the setting and what is valid."""

import pytest
from pydantic import ValidationError

pytest.importorskip("torch")

from geo_patrol.base.errors import ConfigError
from geo_patrol.training import TrainingConfig


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"gamma": 1.5}, "gamma must be at most 1, got 1.5"),
        ({"gamma": "high"}, "gamma must be a number, got 'high'"),
        ({"learning_rate": float("nan")}, "learning_rate must be "),
        ({"num_envs": 0}, "num_envs must be at least 2, got 0"),
        ({"num_steps": True}, "num_steps must be an integer, got True"),
        ({"update_epochs": 2.0}, "update_epochs must be an integer, got 2.0"),
        ({"total_timesteps": 0}, "total_timesteps must be at least 1, got 0"),
        ({"num_envs": 4, "num_steps": 1}, "num_minibatches must be at most 4, the steps of an iteration, got 8"),
        ({"num_envs": 2, "config": ("case1", "case2")}, "num_envs must be at least 4, two per configuration, got 2"),
        ({"eval_games": 3}, "eval_games must be even: every second game swaps the sides, got 3"),
        ({"opponents": ()}, "opponents must have a length of at least 1, got ()"),
        ({"opponents": "raider"}, "opponents must be a list, got 'raider'"),
        (
            {"opponents": ("idle",), "opponent_weights": (0.0,)},
            "opponent_weights must be a weight for each of 1 opponents, none negative and not all 0, got [0.0]",
        ),
        (
            {"opponents": ("idle",), "opponent_weights": (1.0, 1.0)},
            "opponent_weights must be a weight for each of 1 opponents",
        ),
        ({"device": "tpu"}, "device must be 'auto', 'cpu', 'cuda' or 'mps', got 'tpu'"),
        ({"gama": 0.9}, "gama = 0.9: there is no such key; did you mean gamma?"),
    ],
)
def test_wrong_settings(settings, message):
    with pytest.raises(ConfigError) as caught:
        TrainingConfig(**settings)
    assert message in str(caught.value)


def test_a_config_is_frozen():
    with pytest.raises(ValidationError, match="Instance is frozen"):
        TrainingConfig().gamma = 0.9


def test_replaced_settings_are_checked():
    assert TrainingConfig(config=({"preset": "case1"}, "case2")).replace(gamma=0.9).config == (
        {"preset": "case1"},
        "case2",
    )
    with pytest.raises(ConfigError, match="gamma"):
        TrainingConfig().replace(gamma=2)
