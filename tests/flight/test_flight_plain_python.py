"""The rules and the solver give the same as plain Python, without compilation."""

import json
import os
import subprocess
import sys

import pytest

PLAY = """
import json
import numpy as np
from geo_patrol.flight import SpaceshipCommander, random_mission_with_witness, solve
out = []
for seed in range(2):
    drawn = random_mission_with_witness(np.random.default_rng(seed))
    out.append([drawn.witness.order_codes, drawn.witness.score_sheet, str(drawn.witness)])
for name, turns in (("sample", 4), ("base_camp", 4), ("courier", 3), ("sample_probe", 25)):
    solution = solve(name, {"turns": turns}, max_states=3000)
    out.append([solution.score, solution.flight.order_codes, solution.bound])
env = SpaceshipCommander("sample")
env.reset()
for action in (28, 0, 3, 20):
    observation, reward, *_ = env.step(action)
    out.append([observation.tolist(), reward])
print(json.dumps(out))
"""


def run(**variables):
    command = [sys.executable, "-W", "error", "-c", PLAY]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | variables)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.slow
def test_flights_and_solutions_are_the_same_without_compilation():
    assert run(NUMBA_DISABLE_JIT="1") == run()
