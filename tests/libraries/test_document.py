"""The snippets of docs/train/libraries.md run."""

import re
import warnings
from pathlib import Path

import pytest

TEXT = (Path(__file__).parents[2] / "docs" / "train" / "libraries.md").read_text(encoding="utf-8")
LIBRARIES = {
    "AgileRL": "agilerl",
    "SuperSuit": "supersuit",
    "Stable-Baselines3": "sb3_contrib",
    "TorchRL": "torchrl",
    "Tianshou": "tianshou",
    "PufferLib": "pufferlib",
    "OpenSpiel": "pyspiel",
}


@pytest.mark.parametrize("title", LIBRARIES)
def test_snippets(title, tmp_path, monkeypatch):
    pytest.importorskip(LIBRARIES[title])
    monkeypatch.chdir(tmp_path)
    section = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", TEXT, re.DOTALL | re.MULTILINE)[1]
    snippets = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    assert snippets
    names = {}
    with warnings.catch_warnings():  # the libraries warn of classes of their own
        warnings.simplefilter("ignore")
        for snippet in snippets:
            exec(snippet, names)
    if title == "Stable-Baselines3":
        assert names["model"].num_timesteps == 2_048
    if title == "TorchRL":
        assert names["batch"]["next", "illegal_orders"].sum() == 0
        assert names["orders"].shape == names["alive"].shape == (len(names["played"]), 11)
    if title == "AgileRL":
        assert names["scores"]
    if title == "SuperSuit":
        assert names["observations"].shape == (8, 3182)
        assert sum(info["illegal_orders"] for info in names["infos"]) == 0
    if title == "Tianshou":
        assert names["statistics"].train_step == 1024
    if title == "OpenSpiel":
        assert names["solver"].average_policy() is not None
        assert names["state"].current_player() == 0
    if title == "PufferLib":
        assert names["episodes"]
        assert sum(episode["illegal_orders"] for episode in names["episodes"]) == 0
