"""Sequential tests of two agents."""

import math

import numpy as np
import pytest

from geo_patrol import play_match
from geo_patrol.evaluation import play_sprt
from geo_patrol.evaluation.chunks import CHUNK_PAIRS

pytestmark = pytest.mark.usefixtures("without_workers")


def test_a_sequential_test_stops_at_the_first_game_that_decides():
    one = play_sprt("random", "random", elo1=100, seed=2)
    assert one.verdict == "elo0"
    games = min(len(one.match), 2 * CHUNK_PAIRS)  # a match of these alone is the first chunk of the longer one
    alone = play_match("random", "random", games=2 * CHUNK_PAIRS, seed=2)
    np.testing.assert_array_equal(one.match.winner[:games], alone.winner[:games])
    low, _ = one.test.bounds
    assert one.ratios[-1] <= low
    assert (one.ratios[15:-1] > low).all()
    assert one.counts.sum() == len(one.ratios) == len(one.match) // 2
    mean, below, above = one.score
    assert below < mean < above


def test_a_sequential_test_ends_without_a_result_after_its_last_game():
    result = play_sprt("random", "random", elo1=2, max_games=40, seed=1)
    assert result.verdict is None
    assert len(result.match) == 40
    assert result.to_dict()["accepted"] is None


def test_the_better_agent_is_found():
    result = play_sprt("scripted", "idle", seed=1)
    assert (result.verdict, len(result.match)) == ("elo1", 32)
    assert result.to_dict()["elo"][0] is None  # nothing was lost: infinite
    assert math.isfinite(result.ratios[-1])
