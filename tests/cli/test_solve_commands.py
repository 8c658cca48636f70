"""``geo-patrol solve``, ``odds`` and ``exploit --exact``."""

import json
from functools import partial

import pytest

from geo_patrol import Game, play_match
from geo_patrol.solving.backward_induction import is_compiled
from tests.support.commands import run as run_command
from tests.support.positions import arrange
from tests.support.strategies import small

TWO_TURNS = ("--set", "turn_limit=2", "--set", "both.patrols.fuel=9")

run = partial(run_command, columns=120)


@pytest.mark.slow
def test_a_game_is_solved_and_its_solution_plays(tmp_path):
    path, report = tmp_path / "small.safetensors", tmp_path / "small.json"
    ran = run("solve", "duel", *TWO_TURNS, "--out", path, "--json", report)
    assert ran.exit_code == 0, ran.stderr
    data = json.loads(report.read_text())
    assert data["value"] == pytest.approx({"score": 0, "outcome": 0}, abs=1e-9)
    assert data["certified_gap"] <= 1e-9
    assert f"{data['states']:,} positions" in ran.stdout
    assert "value for alpha: score difference +0.0000, wins minus losses +0.0000" in ran.stdout
    assert "turn 2: values known" in ran.stderr
    played = run("match", f"solved:{path}", "random", "-c", "duel", *TWO_TURNS, "--games", 20, "--seed", 1)
    assert played.exit_code == 0, played.stderr
    assert f"solved:{path}" in played.stdout
    exact = run("exploit", f"solved:{path}", "--exact", "-c", "duel", *TWO_TURNS)
    assert exact.stdout.splitlines()[-1].split() == ["outcome", "+0.0000", "+0.0000", "0.0000"]


def test_a_game_that_is_too_large_is_refused_in_one_line():
    ran = run("solve", "geo_patrol")
    assert ran.exit_code == 2
    assert ran.stderr.startswith("geo-patrol: 22 satellites: games of 10 at most can be solved")
    assert ran.stderr.count("\n") == 1


def test_exact_exploitability_of_an_agent(tmp_path):
    ran = run("exploit", "random", "--exact", "-c", "duel", *TWO_TURNS, "--json", tmp_path / "x.json")
    assert ran.exit_code == 0, ran.stderr
    data = json.loads((tmp_path / "x.json").read_text())["exploitability"]["outcome"]
    assert data["mean"] == pytest.approx((data["as_bravo"] - data["as_alpha"]) / 2)
    assert 0.1 < data["mean"] <= 1
    refused = run("exploit", "scripted", "--exact", "-c", "duel")
    assert refused.exit_code == 2
    assert "agent 'scripted' cannot be solved exactly" in refused.stderr
    assert "which random, idle, turtle, raider, policy, level, solved:FILE and your own networks give" in refused.stderr


@pytest.mark.parametrize("is_compiled", [False, True])
def test_the_time_that_compilation_takes_is_told(is_compiled, monkeypatch):
    monkeypatch.setattr("geo_patrol.solving.backward_induction.is_compiled", lambda: is_compiled)
    ran = run("solve", "duel", *TWO_TURNS)
    assert ran.exit_code == 0
    assert ("first, once, about 30 s to compile the solver" in ran.stderr) is not is_compiled


def test_code_that_has_run_is_in_the_cache():
    run("solve", "duel", *TWO_TURNS)
    assert is_compiled()


@pytest.fixture
def position(tmp_path):
    odds = {"shoot": [0.5, 0.5], "collide": [1, 1], "guard": [0.8, 0.8]}
    game = arrange(small(odds=odds), {0: 15, 1: (16, 60, 1)}, {0: 16, 1: (16, 60, 1), 2: (16, 60, 1)})
    path = tmp_path / "position.json"
    path.write_text(json.dumps(game.save()))
    return path


def test_odds_of_a_saved_game(position, tmp_path):
    ran = run("odds", position, "--alpha", "P1 shoot HVA", "--bravo", "P1 guard", "--json", tmp_path / "odds.json")
    assert ran.exit_code == 0, ran.stderr
    data = json.loads((tmp_path / "odds.json").read_text())
    assert data["destroyed"] == pytest.approx({"bravo:HVA:0": 0.1, "bravo:Patrol:1": 0.4})
    assert sum(result["probability"] for result in data["results"]) == pytest.approx(1, abs=1e-12)
    assert [line.split() for line in ran.stdout.splitlines() if line.startswith("nobody")] == [["nobody", "50.00%"]]


def test_odds_of_a_replay(tmp_path):
    path = tmp_path / "games.jsonl"
    play_match("random", "random", config="duel", games=2, seed=3, save=path)
    ran = run("odds", path, "--turn", 1)
    assert ran.exit_code == 0, ran.stderr
    assert ran.stdout.startswith("Duel, turn 1\n")
    assert "--turn 9: game 0 has no engagement phase" in run("odds", path, "--turn", 9).stderr
    assert "must say which turn's engagement is meant" in run("odds", path).stderr


def test_bad_input_is_one_line(position, tmp_path):
    wrong = tmp_path / "wrong.json"
    wrong.write_text("[1]")
    movement = tmp_path / "movement.json"
    movement.write_text(json.dumps(Game("duel").save()))
    for arguments, message in (
        ((position, "--alpha", "P1 shoot P9"), "bravo has no P9"),
        ((position, "--turn", 3), "a saved game is a single position"),
        ((wrong,), "not a saved game"),
        ((tmp_path / "none.json",), "No such file"),
        ((movement,), "only an engagement phase"),
    ):
        ran = run("odds", *arguments)
        assert ran.exit_code == 2
        assert message in ran.stderr
        assert ran.stderr.count("\n") == 1
