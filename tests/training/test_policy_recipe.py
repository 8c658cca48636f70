"""The recipe of the shipped weights: all of its stages, hardly trained."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("scipy")

from geo_patrol import play_match

SCRIPT = Path(__file__).parents[2] / "scripts" / "train_policy.py"


def test_all_stages_run_and_are_not_repeated(tmp_path):
    policy = tmp_path / "base.safetensors"
    command = [sys.executable, SCRIPT, "--out", tmp_path / "stages", "--policy", policy]
    command += ["--scale", "0.0002", "--population-size", "3", "--cases", "case1"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    for config in ("case1", "skirmish", "duel"):
        assert len(play_match(f"policy:{policy}", "random", config=config, games=2, seed=0)) == 2
    trained = policy.read_bytes()
    again = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert again.stdout.count("this training is complete") == 32  # three of them in one folder
    assert policy.read_bytes() == trained
