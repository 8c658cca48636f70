"""Files that earlier versions wrote stay readable, and their games play as they did."""

from pathlib import Path

from geo_patrol.replays import ReplayReader, check

DATA = Path(__file__).parents[1] / "data"


def test_files_of_format_1():
    replays = list(ReplayReader(DATA / "replay_format_1.jsonl.gz"))
    assert [replay.config.title for replay in replays] == ["Case 1: three rounds"] * 2
    assert [replay.agents for replay in replays] == [("scripted", "random"), ("random", "scripted")]
    assert [check(replay) for replay in replays] == [None, None]
    assert [len(replay.phases) for replay in replays] == [2 * replay.end.turns for replay in replays]
