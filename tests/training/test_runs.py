"""Several training runs on an executor: each is the run that a single process trains, and is not trained twice."""

import pytest

torch = pytest.importorskip("torch")


from rich.console import Console

from geo_patrol.agents.policy import read_weights
from geo_patrol.base.errors import ConfigError
from geo_patrol.training import train_best_response, train_runs
from tests.support.executors import InlineExecutor

QUIET = Console(quiet=True)


def test_seeds_are_trained_as_alone_and_only_once(small_config, tmp_path, monkeypatch):
    settings = small_config(total_timesteps=2 * 16 * 64)
    configs = [settings.replace(seed=seed, out=tmp_path / f"seed{seed}") for seed in (1, 2)]
    curves = train_runs(configs, "idle", executor=InlineExecutor(), console=QUIET)
    for config, curve in zip(configs, curves, strict=True):
        alone = config.replace(out=tmp_path / "alone" / config.out.name)
        (*_, expected) = train_best_response("idle", alone, QUIET)
        assert curve[-1].win_rates == expected.win_rates
        here, there = (read_weights(folder / "policy.safetensors") for folder in (alone.out, config.out))
        assert all((here[name] == there[name]).all() for name in here)
    assert {path.name for path in configs[0].out.iterdir()} >= {"curve.csv", "policy.safetensors", "checkpoint.pt"}

    def refuse(*_):
        raise AssertionError("trained again")

    monkeypatch.setattr("geo_patrol.training.selfplay.update_policy", refuse)
    again = train_runs(configs, "idle", executor=InlineExecutor(), console=QUIET)
    assert [curve[-1] for curve in again] == [curve[-1] for curve in curves]


def test_runs_in_the_same_folder_are_refused(small_config):
    with pytest.raises(ConfigError, match="two runs have the same folder"):
        train_runs([small_config(), small_config(seed=3)], executor=InlineExecutor())


def test_saved_policies_of_a_run_in_a_worker_come_back(small_config):
    config = small_config(save_policies=True)
    (curve,) = train_runs([config], "idle", executor=InlineExecutor(), console=QUIET)
    saved = {path.name for path in (config.out / "policies").iterdir()}
    assert saved >= {f"{point.steps:012d}.safetensors" for point in curve}
