"""The snippets of docs/train/rllib.md run."""

import re
from pathlib import Path

import pytest

pytest.importorskip("ray.rllib")

pytestmark = pytest.mark.filterwarnings("ignore:.*Overriding environment")
TEXT = (Path(__file__).parents[2] / "docs" / "train" / "rllib.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_snippets(snippet, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(snippet, {"print": lambda *_: None})
