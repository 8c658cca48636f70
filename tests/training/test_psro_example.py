"""The example trains a population whose mixture plays."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("scipy")

from geo_patrol import play_match

EXAMPLE = Path(__file__).parents[2] / "examples" / "train_psro.py"
SMALL = [
    "--config",
    "case1",
    "--size",
    "2",
    "--games",
    "4",
    "--processes",
    "1",
    "--num-envs",
    "16",
    "--eval-games",
    "2",
    "--total-timesteps",
    "1000",
    "--self-play",
    "--floor",
    "0.1",
]


def test_the_example_trains_a_population(tmp_path):
    command = [sys.executable, EXAMPLE, *SMALL, "--out", tmp_path / "population"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    mixture = f"policy:{tmp_path}/population/mixture.safetensors"
    assert len(play_match(mixture, "random", config="case1", games=2, seed=0)) == 2
