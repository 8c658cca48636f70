"""The rules and the solver give the same as plain Python, without compilation."""

import inspect
import json
import os
import subprocess
import sys

import pytest


def play():
    import numpy as np

    from geo_patrol.flight import SpaceshipCommander, random_mission_with_witness, solve

    drawn = random_mission_with_witness(np.random.default_rng(0))
    out = [[drawn.witness.order_codes, drawn.witness.score_sheet, str(drawn.witness)]]
    for name, turns in (("sample", 3), ("base_camp", 4), ("courier", 3), ("sample_probe", 25)):
        solution = solve(name, {"turns": turns}, max_states=500)
        out.append([solution.score, solution.flight.order_codes, solution.bound])
    env = SpaceshipCommander("sample")
    env.reset()
    for action in (28, 0, 3, 20):
        observation, reward, *_ = env.step(action)
        out.append([observation.tolist(), reward])
    return out


@pytest.mark.slow
def test_flights_and_solutions_are_the_same_without_compilation():
    code = f"import json\n{inspect.getsource(play)}\nprint(json.dumps(play()))"
    command = [sys.executable, "-W", "error", "-c", code]
    ran = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | {"NUMBA_DISABLE_JIT": "1"}
    )
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == json.loads(json.dumps(play()))
