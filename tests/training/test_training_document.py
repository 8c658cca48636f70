"""The snippets of docs/train/training.md run."""

import re
from pathlib import Path

import pytest

TEXT = (Path(__file__).parents[2] / "docs" / "train" / "training.md").read_text(encoding="utf-8")


def snippets(title):
    section = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", TEXT, re.DOTALL | re.MULTILINE)[1]
    return re.findall(r"```python\n(.*?)```", section, re.DOTALL)


def test_self_play(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    (snippet,) = snippets("Self-play")
    names = {}
    exec(snippet.replace("minutes=10", "total_timesteps=8192, num_evaluations=1, eval_games=2, num_threads=1"), names)
    assert (tmp_path / "runs" / "first" / "policy.safetensors").exists()
    assert names["curve"][-1].win_rates.keys() == {"random", "raider", "scripted"}
