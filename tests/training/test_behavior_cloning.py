"""The example of behaviour cloning learns the orders of recorded games."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

from geo_patrol import play_match

EXAMPLE = Path(__file__).parents[2] / "examples" / "behavior_cloning.py"


def test_a_clone_of_a_script(tmp_path):
    play_match("scripted", "random", games=60, seed=1, save=tmp_path / "games.jsonl.gz")
    command = [sys.executable, EXAMPLE, tmp_path, "scripted", "3"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    losses = [float(loss) for loss in re.findall(r"60 games, loss ([\d.]+)", result.stdout)]
    assert len(losses) == 3
    assert losses[-1] < losses[0]
    assert "<MatchResult cloned against random, GEO Patrol, 1,000 games" in result.stdout
