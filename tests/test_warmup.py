"""Compiling ahead."""

import os
import subprocess
import sys

import pytest

from tests.support.commands import run

USE = """
import numba.core.event
from geo_patrol import ExactBoard, geo_patrol_v0, load_config, make_agent, make_vec, play_match, solve
from geo_patrol.agents import SolvedAgent

class Compiled(numba.core.event.Listener):
    def on_start(self, event):
        raise SystemExit(f"compiled: {event.data['dispatcher'].py_func.__qualname__}")

    def on_end(self, event): ...

numba.core.event.register("numba:compile", Compiled())
env = geo_patrol_v0.parallel_env()
env.reset(seed=0)
env.step(env.sample_actions())
for options in ({}, {"observation": "tokens"}, {"opponent": "random"}, {"opponent": "scripted"}):
    envs = make_vec("case1", 2, **options)
    envs.reset(seed=0)
    envs.step(envs.sample_actions())
play_match("scripted", "random", games=2, seed=0)
duel = load_config("duel", {"turn_limit": 1})
play_match(SolvedAgent(solve(duel)), "random", config=duel, games=2, seed=0)
ExactBoard(duel).exploitability(make_agent("random"))
"""


@pytest.mark.slow
def test_warmup_compiles_what_environments_matches_and_solutions_call():
    result = run("warmup")
    assert result.exit_code == 0, result.output
    assert len(result.stdout.splitlines()) == 6
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    use = subprocess.run([sys.executable, "-c", USE], capture_output=True, text=True, check=False, env=environment)
    assert use.returncode == 0, use.stderr


@pytest.mark.slow
def test_warmup_for_a_gpu_says_in_one_line_what_is_missing():
    result = subprocess.run(
        [sys.executable, "-m", "geo_patrol", "warmup", "--device", "cuda"], capture_output=True, text=True, check=False
    )
    assert result.returncode == 2
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert "pip install 'geo_patrol[cuda]'" in line or "there is no GPU" in line
