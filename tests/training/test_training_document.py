"""The snippets of docs/training.md run."""

import re
import warnings
from pathlib import Path

import pytest

TEXT = (Path(__file__).parents[2] / "docs" / "training.md").read_text(encoding="utf-8")
LIBRARIES = {"Stable-Baselines3": "sb3_contrib", "TorchRL": "torchrl"}


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


@pytest.mark.parametrize("title", LIBRARIES)
def test_snippets(title):
    pytest.importorskip(LIBRARIES[title])
    pytest.importorskip("torch").set_num_threads(1)
    names = {}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PettingZoo in TorchRL is tested using version", UserWarning)
        for snippet in snippets(title):
            exec(snippet, names)
    if title == "Stable-Baselines3":
        assert names["model"].num_timesteps == 2_048
    else:
        is_legal = names["mask"].gather(-1, names["orders"].unsqueeze(-1))
        assert is_legal.all()
