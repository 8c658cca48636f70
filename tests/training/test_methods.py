"""Methods by name, and command lines of settings."""

import pytest

pytest.importorskip("torch")

from geo_patrol.base.errors import ConfigError
from geo_patrol.training.config import METHODS, TrainingConfig, configure, parse_settings


def test_settings_replace_those_of_the_method():
    config = configure("mmd", magnet_coef=0.1)
    assert (config.magnet_coef, config.self_play_fraction) == (0.1, 1.0)
    assert configure() == TrainingConfig()
    assert all(isinstance(configure(method), TrainingConfig) for method in METHODS)


def test_an_unknown_method_is_named():
    with pytest.raises(ConfigError, match="there is no method 'mdd'; did you mean 'mmd'"):
        configure("mdd")


def test_a_command_line():
    words = ["--method", "entropy", "--clip-coef", "0.1", "--opponents", "idle", "raider"]
    words += ["--opponent-weights", "1", "0.5", "--no-anneal-lr", "--initial-policy", "base"]
    config = parse_settings("what it does", words)
    assert config == configure(
        "entropy",
        clip_coef=0.1,
        opponents=("idle", "raider"),
        opponent_weights=(1.0, 0.5),
        anneal_lr=False,
        initial_policy="base",
    )


def test_wrong_settings_end_the_program(capsys):
    with pytest.raises(SystemExit):
        parse_settings("what it does", ["--opponents", "idle", "--opponent-weights", "1", "2"])
    assert "opponent_weights must be a weight for each of 1 opponents" in capsys.readouterr().err


def test_an_option_is_given_once(capsys):
    with pytest.raises(SystemExit):
        parse_settings("what it does", ["--gamma", "0.9", "--gamma", "0.8"])
    assert "argument --gamma: must be given once" in capsys.readouterr().err
