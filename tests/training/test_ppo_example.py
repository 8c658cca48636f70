"""The single-file examples of PPO run, and their agents play by their names."""

import ast
import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

EXAMPLES = Path(__file__).parents[2] / "examples"
EXAMPLE, SATELLITES = EXAMPLES / "ppo_geo_patrol.py", EXAMPLES / "mappo_satellites.py"
SMALL = ["--num-envs", "16", "--num-steps", "8", "--eval-games", "2", "--device", "cpu", "--config", "case1"]


def run(*command, folder):
    result = subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_a_short_training(tmp_path):
    output = run(EXAMPLE, *SMALL, "--minutes", "0.05", folder=tmp_path)
    assert re.search(r"time: environment \d+%, sampling \d+%, optimising \d+%", output)
    assert "saved runs/ppo_geo_patrol/agent.pt, which plays as runs/ppo_geo_patrol/agent.py:TrainedAgent" in output
    for opponent in ("random", "raider", "scripted"):
        assert f"final evaluation: 2 games against {opponent}" in output
    match = ["-m", "geo_patrol", "match", f"{EXAMPLE}:TrainedAgent", "random", "--config", "case1", "--games", "2"]
    assert "ppo" in run(*match, folder=tmp_path)


@pytest.mark.parametrize(("option", "number"), [("--no-self-play", signal.SIGKILL), ("--self-play", signal.SIGINT)])
def test_the_same_seed_gives_the_same_weights_with_and_without_an_interruption(option, number, tmp_path):
    command = [EXAMPLE, *SMALL, option, "--total-timesteps", "12800", "--save-seconds", "0", "--out"]
    run(*command, "one", folder=tmp_path)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, "-u", *command, "two"], cwd=tmp_path, **pipes)
    assert process.stdout is not None
    for line in process.stdout:  # the first one comes after ten iterations, which are 1,280 steps
        if line.startswith("global_step=1,280"):
            break
    process.send_signal(number)
    _, errors = process.communicate()
    told = "\nstopped; the same command continues from its checkpoint\n"
    assert errors == (told if number == signal.SIGINT else "")
    assert (tmp_path / "two" / "checkpoint.pt").exists()
    changed = [sys.executable, *command, "two", "--gamma", "0.9"]
    refused = subprocess.run(changed, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert "of a training with --gamma 0.995: give another --out, or this --gamma" in refused.stderr
    assert "two: continues at global_step=" in run(*command, "two", folder=tmp_path)
    first, second = (torch.load(tmp_path / name / "agent.pt", weights_only=True) for name in ("one", "two"))
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_the_agent_of_any_folder_plays_the_same_games_for_a_seed(tmp_path):
    run(EXAMPLE, *SMALL, "--minutes", "0.02", "--out", "there/one", folder=tmp_path)
    match = ["-m", "geo_patrol", "match", "there/one/agent.py:TrainedAgent", "random", "--config", "case1"]
    command = [*match, "--games", "8", "--seed", "1", "--json", "-"]
    tables = [json.loads(run(*command, folder=tmp_path)) for _ in range(2)]
    first, second = ({k: v for k, v in table["summary"].items() if "second" not in k} for table in tables)
    assert first == second
    weights = (tmp_path / "there" / "one" / "agent.pt").read_bytes()
    again = [sys.executable, EXAMPLE, *SMALL, "--out", "there/one"]
    refused = subprocess.run(again, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert "there/one/agent.pt exists: give another --out, or remove it" in refused.stderr
    assert (tmp_path / "there" / "one" / "agent.pt").read_bytes() == weights


@pytest.mark.parametrize(("method", "view"), [("mappo", "side"), ("joint", "side"), ("mappo", "own"), ("ippo", "own")])
def test_a_short_training_of_satellites(method, view, tmp_path):
    options = ["--method", method, "--view", view, "--minutes", "0.03", "--clock", "cpu"]
    output = run(SATELLITES, *SMALL, *options, folder=tmp_path)
    for opponent in ("random", "raider", "scripted"):
        assert f"2 games against {opponent}: win rate" in output


def test_a_training_of_satellites_continues_by_its_method(tmp_path):
    command = [SATELLITES, *SMALL, "--method", "ippo", "--minutes"]
    run(*command, "0.03", folder=tmp_path)
    result = tmp_path / "runs" / "mappo_satellites" / "result.json"
    first = json.loads(result.read_text())
    output = run(*command, f"{first['minutes'] + 0.02}", folder=tmp_path)
    assert f"continues at global_step={first['steps']:,}" in output
    assert json.loads(result.read_text())["steps"] > first["steps"]
    other = [sys.executable, SATELLITES, *SMALL, "--method", "mappo"]
    refused = subprocess.run(other, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert "is a training by ippo: give another --out, or --method" in refused.stderr


@pytest.mark.parametrize("example", [EXAMPLE, SATELLITES], ids=lambda path: path.name)
def test_it_imports_only_public_names(example):
    tree = ast.parse(example.read_text(encoding="utf-8"))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not [module for module in modules if module.startswith("geo_patrol.")]
