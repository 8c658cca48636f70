"""A short run of ``scripts/fuzz.py``."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "fuzz.py"


def run(*arguments, **environ):
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments],
        env=os.environ | environ,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("fuzz", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_random_phases_violate_no_invariant():
    result = run("--phases", "6000", "--seed", "1")
    assert result.returncode == 0, result.stdout + result.stderr
    line = (
        r"ok: ([\d,]+) phases on ([\d,]+) boards, ([\d,]+) outcomes, ([\d,]+) illegal orders, ([\d,]+) finished games"
    )
    phases, boards, outcomes, illegal, finished = (
        int(number.replace(",", "")) for number in re.match(line, result.stdout).groups()
    )
    assert phases >= 6000
    assert boards >= 10
    assert min(outcomes, illegal, finished) > 50
    assert len(result.stdout.splitlines()) == 1


@pytest.mark.parametrize("arguments", [["--phases", "0"], ["--seed", "-1"], ["--phases", "many"]])
def test_wrong_arguments(arguments):
    result = run(*arguments)
    assert result.returncode == 2
    assert "error: " in result.stderr


def test_violation_is_reported_with_its_seed(script, monkeypatch, capsys):
    monkeypatch.setattr(script, "play_board", lambda *_: 5)
    assert script.fuzz(100, 17) == 1
    out = capsys.readouterr().out
    assert out == "VIOLATION on board 0, --seed 17: the goals are not opposite, or off their ring\n"


def test_every_invariant_is_checked(script):
    import numpy as np

    from geo_patrol import Game

    def fault(change):
        batch = Game(seed=1)._batch
        game = batch.games[0]
        fuel, ammo = game.fuel.copy(), game.ammo.copy()
        change(game)
        return script.find_fault(game, batch.rules[0], fuel, ammo)

    def set_to(field, value, index=(0, 3)):
        def change(game):
            game[field][index] = value

        return change

    def end(game):
        game.done = 1

    def pass_the_limit(game):
        game.turn = 51

    assert fault(lambda _: None) == script.FINE
    assert fault(set_to("fuel", 101)) == fault(set_to("fuel", -1)) == 0
    assert fault(set_to("ammo", 2)) == fault(set_to("ammo", -1)) == 1
    assert fault(set_to("destroyed", 1)) == 3
    assert fault(set_to("sector", 0)) == fault(set_to("sector", 31)) == 4
    assert fault(set_to("goal", 16, 0)) == fault(set_to("goal", 7, 1)) == 5
    assert fault(end) == 6
    assert fault(pass_the_limit) == 7
    assert fault(set_to("score", -1, 0)) == 8
    assert not script.is_within(np.full((2, 3), 2.0), np.array([2.0, 3.0, 1.0]))
    assert script.is_within(np.full((2, 3), 1.0), np.array([2.0, 3.0, 1.0]))
