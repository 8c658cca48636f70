"""Every example runs, and prints what it is meant to show."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from geo_patrol import Game, load_config

EXAMPLES = Path(__file__).parents[1] / "examples"
SHOWN = {
    "game_by_hand.py": "bravo's HVA is lost in",
    "gymnasium_solo.py": "mean outcome:",
    "q_learning_spaceship.py": "learned: 21 points, best: 21 (proved), 100%",
    "random_agents_parallel.py": "returns: {'alpha':",
    "scripted_agent_aec.py": "winner: bravo",
    "solve_a_mission.py": "proved: 23 points, no flight has more than 23",
    "text_agent.py": "0 phases without a readable answer",
    "two_agents_in_a_window.py": "episode 1: alpha wins in turn",
}


NEED_LIBRARIES = sorted({path.name for path in EXAMPLES.glob("*.py")} - SHOWN.keys())
"""Those run in tests/training, tests/libraries and tests/rllib."""


@pytest.mark.slow
@pytest.mark.parametrize("example", SHOWN)
def test_example_runs(example, tmp_path):
    result = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / example], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert SHOWN[example] in result.stdout


@pytest.mark.parametrize("example", NEED_LIBRARIES)
def test_an_example_says_in_a_line_how_to_install_its_library(example, tmp_path):
    program = [sys.executable, "-S", EXAMPLES / example]  # -S: without installed packages
    result = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert re.fullmatch(r"[\w-]+ is not installed: pip install \"geo_patrol\[[\w,]+\]\"\n", result.stderr)


def test_the_help_of_an_example_needs_no_library():
    program = [sys.executable, "-S", EXAMPLES / "sb3_ppo.py", "--help"]  # -S: without installed packages
    result = subprocess.run(program, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "training time in minutes" in result.stdout


def test_random_scenarios_differ_from_game_to_game():
    config = load_config(EXAMPLES / "random_scenarios.toml")
    fleets = {tuple(len(Game(config, seed=seed).satellites(side)) for side in ("alpha", "bravo")) for seed in range(40)}
    assert len(fleets) > 10
    assert {
        len(Game(config, seed=seed, overrides={"both.patrols.count": 5}).satellites("alpha")) for seed in range(9)
    } == {6}
