"""Errors of settings name the setting and what is valid."""

import pytest

pytest.importorskip("torch")

from geo_patrol.errors import ConfigError
from geo_patrol.training import TrainingConfig


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"gamma": 1.5}, "gamma = 1.5: must be a number from 0 to 1"),
        ({"gamma": "high"}, "gamma = 'high': must be a number"),
        ({"learning_rate": float("nan")}, "learning_rate = nan: must be a number"),
        ({"num_envs": 0}, "num_envs = 0: must be a whole number from 2 to 1,048,576"),
        ({"num_steps": True}, "num_steps = True: must be a whole number"),
        ({"update_epochs": 2.0}, "update_epochs = 2.0: must be a whole number"),
        ({"total_timesteps": 0}, "total_timesteps = 0: must be a whole number of at least 1"),
        ({"minutes": -1}, "minutes = -1: must be a number"),
        ({"num_envs": 4, "num_steps": 1}, "num_minibatches = 8: at most 4, the steps of an iteration"),
        ({"num_envs": 2, "config": ("case1", "case2")}, "num_envs = 2: at least 4, two per configuration"),
        ({"eval_games": 3}, "eval_games = 3: must be even"),
        ({"opponents": ()}, "opponents is empty: name at least one"),
        ({"opponents": "raider"}, "opponents = 'raider': must be a tuple, such as ('raider',)"),
        ({"opponents": ("idle",), "opponent_weights": (0.0,)}, "opponent_weights must be 1, one for each, got (0.0,)"),
        ({"opponents": ("idle",), "opponent_weights": (1.0, 1.0)}, "opponent_weights must be 1, got (1.0, 1.0)"),
        ({"magnet_coef": -1.0}, "magnet_coef = -1.0: must be a number from 0 to 10"),
        ({"out": "runs"}, "out = 'runs': must be a Path"),
        ({"device": "tpu"}, "device = 'tpu': choose auto, cpu, cuda, mps"),
    ],
)
def test_wrong_settings(settings, message):
    with pytest.raises(ConfigError) as caught:
        TrainingConfig(**settings)
    assert message in str(caught.value)


def test_a_config_is_frozen():
    with pytest.raises(AttributeError, match="cannot assign"):
        TrainingConfig().gamma = 0.9
