"""The single-file PPO example runs, and its agent plays by its name."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

EXAMPLE = Path(__file__).parents[2] / "examples" / "ppo_geo_patrol.py"


def run(*command, folder):
    result = subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_a_short_training(tmp_path):
    small = ["--minutes", "0.05", "--num-envs", "16", "--num-steps", "8", "--eval-games", "2", "--device", "cpu"]
    output = run(EXAMPLE, *small, "--config", "case1", folder=tmp_path)
    assert "saved runs/ppo_geo_patrol/agent.pt" in output
    for opponent in ("random", "raider", "scripted"):
        assert f"final evaluation: 2 games against {opponent}" in output
    match = ["-m", "geo_patrol", "match", f"{EXAMPLE}:TrainedAgent", "random", "--config", "case1", "--games", "2"]
    assert "ppo" in run(*match, folder=tmp_path)


def test_it_imports_only_public_names():
    tree = ast.parse(EXAMPLE.read_text(encoding="utf-8"))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not [module for module in modules if module.startswith("geo_patrol.")]
