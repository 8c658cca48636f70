"""The example of behaviour cloning learns the orders of recorded games."""

import importlib
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


@pytest.fixture
def example(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLE.parent))
    return importlib.import_module("behavior_cloning")


def test_without_arguments_it_records_games_itself(example, monkeypatch, capsys):
    learned = []

    def play_few(alpha, bravo, *, games, **options):
        return play_match(alpha, bravo, games=min(games, 20), **options)

    def clone_once(folder, agent, epochs):
        learned.append((agent, epochs))
        return clone(folder, agent, 1)

    clone = example.clone
    monkeypatch.setattr(example, "play_match", play_few)
    monkeypatch.setattr(example, "clone", clone_once)
    example.main([])
    assert learned == [("policy:base", 8)]
    assert "epoch 1: 20 games, loss" in capsys.readouterr().out


def test_it_says_in_a_line_what_it_cannot_learn_from(example, tmp_path):
    play_match("random", "idle", config="case1", games=2, seed=1, save=tmp_path / "games.jsonl.gz")
    for folder, agent, message in [
        (tmp_path / "missing", "random", "there is no such file or folder"),
        (tmp_path, "nobody", "no decisions of 'nobody'"),
    ]:
        with pytest.raises(SystemExit, match=message):
            example.main([str(folder), agent])
