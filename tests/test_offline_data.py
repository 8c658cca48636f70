"""The reference scores of the data set for offline learning are those of its games."""

import pytest

from geo_patrol import play_match
from research.offline_data import HIGHEST, LOWEST, Reference, normalized, record


def test_reference_scores_are_those_of_the_match(tmp_path):
    result = play_match("raider", "scripted", games=6, seed=3)
    reference = record("raider", 6, 3, tmp_path)
    assert reference.mean_return == pytest.approx((result.scores[:, 0] - result.scores[:, 1]).mean(), abs=0.01)
    assert reference.win_rate == pytest.approx((result.winner == 0).mean())
    assert (reference.games, reference.size) == (6, (tmp_path / "raider.jsonl.gz").stat().st_size)


def test_normalized_scores():
    values = {"decisions": 1, "games": 2, "standard_error": 0, "win_rate": 0, "size": 0}
    references = [
        Reference(agent=LOWEST, mean_return=-20, **values),
        Reference(agent=HIGHEST, mean_return=80, **values),
    ]
    assert [normalized(mean, references) for mean in (-20, 5, 80, 105)] == [0, 25, 100, 125]
