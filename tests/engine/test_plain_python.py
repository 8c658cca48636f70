"""The engine's source gives the same results as plain Python, without compilation."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

DATA = str(Path(__file__).parents[1] / "data" / "reference_odds.json")
PLAY = f"""
DATA = {DATA!r}
import json
import numpy as np
from geo_patrol import Game, geo_patrol_v0, make_agent, make_vec
from geo_patrol.base.validation import parse_model
from geo_patrol.replays.odds import PublishedOdds, count_outcomes

def plain(returned):
    if isinstance(returned, dict):
        return dict((key, plain(value)) for key, value in returned.items())
    return returned.tolist() if isinstance(returned, np.ndarray) else [plain(part) for part in returned]

rich = dict([("both.patrols.fuel", 10000), ("both.patrols.weight", 1), ("both.points.win", 1000000)])
with open(DATA) as file:
    odds = [item | dict(draws=50) for item in json.load(file)]
for item in odds:
    item["destroyed_counts"] = item["outcome_counts_guard_shoot_collide"] = dict([("", 50)])
results = [
    Game(seed=1, overrides=rich).scores,
    make_agent("random").act(None, np.ones((20, 11, 28), np.int8), np.random.default_rng(0)).tolist(),
    [[sorted(counter.items()) for counter in count_outcomes(parse_model(PublishedOdds, item, ""))] for item in odds],
]
env = geo_patrol_v0.parallel_env(config="case2", observation="tokens")
env.reset(seed=99)
for _ in range(24):
    if env.agents:
        env.step(env.sample_actions())
results.append(env.save())
for options in (
    dict(autoreset="next_step", observation="onehot", mask_in="obs"),
    dict(autoreset="same_step", opponent=dict(random=1, idle=1), seats="alternate"),
    dict(autoreset="disabled", reward="outcome"),
):
    envs = make_vec("case1", 2, **(dict(observation="tokens", max_cycles=5) | options))
    results.append(plain(envs.reset(seed=3)))
    for _ in range(8):
        actions = envs.sample_actions()
        actions[0, 1:4] = [-(2**63), 28, 2**63 - 1]
        returned = envs.step(actions)
        results.append(plain(returned))
        over = returned[2] | returned[3]
        if options["autoreset"] == "disabled" and over.any():
            results.append(plain(envs.reset(options=dict(reset_mask=over))))
print(json.dumps(results))
"""


def run(**variables):
    environment = os.environ | variables
    result = subprocess.run(
        [sys.executable, "-W", "error", "-W", "ignore::DeprecationWarning", "-c", PLAY],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    return json.loads(result.stdout)


@pytest.mark.slow
def test_odds_orders_and_games_are_the_same_without_compilation():
    compiled = run()
    assert compiled[0] == {"alpha": 100_100, "bravo": 100_100}
    assert compiled[3]["games"][0]["chance"]["counter"] > 0
    assert run(NUMBA_DISABLE_JIT="1") == compiled
