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
from geo_patrol import Game, make_agent
from geo_patrol.base.validation import parse_model
from geo_patrol.replays.odds import PublishedOdds, count_outcomes

rich = dict([("both.patrols.fuel", 10000), ("both.patrols.weight", 1), ("both.points.win", 1000000)])
with open(DATA) as file:
    odds = [item | dict(draws=50) for item in json.load(file)]
for item in odds:
    item["destroyed_counts"] = item["outcome_counts_guard_shoot_collide"] = dict([("", 50)])
print(json.dumps([
    Game(seed=1, overrides=rich).scores,
    make_agent("random").act(None, np.ones((20, 11, 28), np.int8), np.random.default_rng(0)).tolist(),
    [[sorted(counter.items()) for counter in count_outcomes(parse_model(PublishedOdds, item, ""))] for item in odds],
]))
"""


def run(**variables):
    environment = os.environ | variables
    result = subprocess.run([sys.executable, "-c", PLAY], capture_output=True, text=True, check=True, env=environment)
    return json.loads(result.stdout)


@pytest.mark.slow
def test_large_values_odds_and_random_orders_are_the_same_without_compilation():
    compiled = run()
    assert compiled[0] == {"alpha": 100_100, "bravo": 100_100}
    assert run(NUMBA_DISABLE_JIT="1") == compiled
