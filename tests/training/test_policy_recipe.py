"""The recipe of the shipped weights: all of its stages, hardly trained."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("scipy")

import numpy as np

from geo_patrol import play_match
from geo_patrol.agents.policy import read_weights, write_weights
from research.train_policy import average

ROOT = Path(__file__).parents[2]


def test_all_stages_run_and_are_not_repeated(tmp_path):
    policy = tmp_path / "base.safetensors"
    command = [sys.executable, "-m", "research.train_policy", "--out", tmp_path / "stages", "--policy", policy]
    command += ["--scale", "0.0002", "--population-size", "3", "--cases", "case1"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    for config in ("case1", "skirmish", "duel"):
        assert len(play_match(f"policy:{policy}", "random", config=config, games=2, seed=0)) == 2
    trained = policy.read_bytes()
    again = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert again.stdout.count("this training is complete") == 32  # three of them in one folder
    assert policy.read_bytes() == trained


def test_policies_are_averaged(random_weights, tmp_path):
    before, after, between = (tmp_path / f"{name}.safetensors" for name in ("before", "after", "between"))
    write_weights(before, random_weights)
    write_weights(after, {name: array + 1 for name, array in random_weights.items()})
    average(before, after, 0.25, between)
    averaged = read_weights(between)
    assert all(np.allclose(averaged[name], array + 0.25) for name, array in random_weights.items())
