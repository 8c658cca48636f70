"""The example trains, continues after an interruption, and its checkpoint plays."""

import csv
import importlib
from pathlib import Path

import pytest

pytest.importorskip("ray.rllib")

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
