"""A short run of ``scripts/fuzz.py``."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from geo_patrol import load_config
from geo_patrol.engine.observe import ENCODINGS, observation_bounds
from geo_patrol.engine.state import GUARD, NUM_SIDES, ORDERS, SATELLITES
from geo_patrol.envs.episodes import Episodes
from geo_patrol.game.game import Games

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
    result = run("--phases", "8000", "--seed", "1")
    assert result.returncode == 0, result.stdout + result.stderr
    line = (
        r"ok: ([\d,]+) phases on ([\d,]+) boards, ([\d,]+) outcomes, ([\d,]+) illegal orders, ([\d,]+) finished games"
    )
    phases, boards, outcomes, illegal, finished = (
        int(number.replace(",", "")) for number in re.match(line, result.stdout).groups()
    )
    assert phases >= 8000
    assert boards >= 10
    assert min(outcomes, illegal, finished) > 50
    assert len(result.stdout.splitlines()) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="measures resources as POSIX does")
def test_damaged_files_are_loaded_or_refused_within_bounds():
    script = SCRIPT.with_name("fuzz_files.py")
    command = [sys.executable, str(script), "--mutations", "300", "--seed", "1"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    loaded, refused = re.match(r"ok: 300 mutations, (\d+) loaded, (\d+) refused", result.stdout).groups()
    assert min(int(loaded), int(refused)) > 50


@pytest.mark.parametrize("arguments", [["--phases", "0"], ["--seed", "-1"], ["--phases", "many"]])
def test_wrong_arguments(arguments):
    result = run(*arguments)
    assert result.returncode == 2
    assert "error: " in result.stderr


def test_violation_is_reported_with_its_seed(script, monkeypatch, capsys):
    monkeypatch.setattr(script, "play_board", lambda *_: "fuel rose")
    assert script.fuzz(100, 17) == 1
    out = capsys.readouterr().out
    assert out == "VIOLATION on board 0, --seed 17: fuel rose\n"


def set_to(field, value, index=(0, 3)):
    """Return a function that changes an element of a game's record."""

    def change(game):
        game[field][index] = value

    return change


def end(game):
    game.done = 1


def pass_the_limit(game):
    game.turn = 51


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _: None, None),
        (set_to("fuel", 101), "fuel rose or fell below zero"),
        (set_to("fuel", -1), "fuel rose or fell below zero"),
        (set_to("ammo", 2), "ammo rose or fell below zero"),
        (set_to("ammo", -1), "ammo rose or fell below zero"),
        (set_to("destroyed", 1), "a destroyed satellite has fuel, or is whole again"),
        (set_to("sector", 0), "a satellite is off the board"),
        (set_to("sector", 31), "a satellite is off the board"),
        (set_to("goal", 16, 0), "the goals are not opposite, or off their ring"),
        (set_to("goal", 7, 1), "the goals are not opposite, or off their ring"),
        (end, "the phase, the end and its reasons contradict each other"),
        (pass_the_limit, "the turn limit was passed"),
        (set_to("score", -1, 0), "goal points fell, or the score is below them"),
        (set_to("goal_points", -1, 0), "goal points fell, or the score is below them"),
    ],
)
def test_invariants_of_a_game(script, change, message):
    batch = Games("geo_patrol", seed=1).state
    before = batch.games.copy()
    change(batch.games[0])
    checks = script.check_satellites, script.check_games
    assert script.first_violation(*(check(before, batch.games, batch.rules) for check in checks)) == message


@pytest.fixture
def played(script):
    """A batch after one phase, and the masks and the actions of that phase."""
    batch = Episodes(load_config("geo_patrol"), 2, "tokens")
    batch.outputs = batch.new_outputs(sampled=np.empty((batch.num_envs, 11), np.int64))
    batch.seed([1, 2])
    batch.reset()
    batch.describe(batch.outputs)
    masks = batch.outputs.masks.reshape(2, NUM_SIDES, SATELLITES, ORDERS).copy()
    actions = batch.outputs.sampled.reshape(2, NUM_SIDES, SATELLITES).copy()
    actions[1, 0, :3] = GUARD, -1, 2**40
    batch.step(actions.reshape(batch.num_envs, SATELLITES), batch.outputs)
    return batch, masks, actions


def test_invariants_of_results(script, played):
    batch, masks, actions = played
    assert batch.games.state.games["illegal_orders"].tolist() == [[0, 0], [3, 0]]
    assert script.first_violation(script.check_results(*played)) is None
    assert "miscounted" in script.first_violation(script.check_results(batch, masks, np.zeros_like(actions)))
    batch.outputs.results["reward"][2] += 1
    assert "rewards" in script.first_violation(script.check_results(*played))
    batch.outputs.results["terminated"][2] = True
    assert "not reported" in script.first_violation(script.check_results(*played))
    batch.games.state.games["outcome_count"] = 128
    assert "outcomes" in script.first_violation(script.check_results(*played))


def test_invariants_of_masks_and_sampled_actions(script, played):
    batch, _, _ = played
    assert script.first_violation(script.check_legality(batch)) is None
    batch.outputs.sampled[3, 5] = 40
    assert "sampled" in script.first_violation(script.check_legality(batch))
    batch.outputs.masks[3, 5, 0] = 0
    assert "mask" in script.first_violation(script.check_legality(batch))


def test_invariants_of_observations(script, played):
    batch, _, _ = played

    def violation():
        bounds = [observation_bounds(encoding, 5) for encoding in ENCODINGS]
        return script.first_violation(script.check_observations(batch, bounds, batch.new_outputs()))

    assert violation() is None
    batch.outputs.masks[-1] ^= 1
    assert violation() == "a game's outputs depend on the games before it"
    batch.outputs.tokens[1, 4] = -1
    assert violation() == "an observation is out of its bounds"


def test_observations_out_of_bounds(script):
    assert script.is_outside(np.full((2, 3), 2.0), np.array([2.0, 3.0, 1.0])).tolist() == [False, False, True]
    assert script.is_outside(np.array([[0.0, -1.0, np.nan]]), np.ones(3)).tolist() == [False, True, True]
