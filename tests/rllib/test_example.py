"""The examples train; self-play continues after an interruption, and its checkpoint plays."""

import csv
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("ray.rllib")
import torch

from geo_patrol import play_match

pytestmark = pytest.mark.filterwarnings("ignore:.*Overriding environment")
EXAMPLES = Path(__file__).parents[2] / "examples"
SHORT = ["--config", "case1", "--num-envs", "16", "--eval-games", "2", "--eval-minutes", "0.001"]


def test_a_short_training_and_its_continuation(tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    example = importlib.import_module("rllib_selfplay")
    out, minutes, curves = tmp_path / "new" / "run", 0.001, []
    for _ in range(2):
        curve = example.train(example.parse_args([*SHORT, "--minutes", str(minutes), "--out", str(out)]))
        minutes = curve[-1].minutes + 0.001
        with (out / "curve.csv").open(newline="") as file:
            curves.append(list(csv.DictReader(file)))
    assert curves[1][: len(curves[0])] == curves[0]
    assert int(curves[1][-1]["steps"]) > int(curves[0][-1]["steps"])
    assert "1 past policies: random " in capsys.readouterr().out
    assert len(play_match(f"rllib:{out}/checkpoint", "random", config="case1", games=2)) == 2


def test_a_network_of_ppo_plays_a_match(tmp_path):
    example = [sys.executable, EXAMPLES / "rllib_ppo.py", "0"]  # minutes: a single iteration
    result = subprocess.run(example, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "<MatchResult RLlib against scripted, GEO Patrol, 200 games" in result.stdout


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
def test_a_network_of_ppo_is_saved_as_torchscript(tmp_path, monkeypatch):
    """As research.libraries does, for other numbers of observations than the traced one."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    network = importlib.import_module("rllib_ppo").train(minutes=0)
    torch.jit.trace(network.eval(), torch.zeros(2, 1591)).save(tmp_path / "network.pt")
    onehot = torch.rand(5, 1591)
    assert torch.equal(torch.jit.load(tmp_path / "network.pt")(onehot), network(onehot))
