"""Files that earlier versions wrote stay readable, and their games play as they did."""

import json
from pathlib import Path

import numpy as np

from geo_patrol import Game
from geo_patrol.replays import ReplayReader, check

DATA = Path(__file__).parents[1] / "data"


def test_files_of_format_1():
    replays = list(ReplayReader(DATA / "replay_format_1.jsonl.gz"))
    assert [replay.config.title for replay in replays] == ["Case 1: three rounds"] * 2
    assert [replay.agents for replay in replays] == [("scripted", "random"), ("random", "scripted")]
    assert [check(replay) for replay in replays] == [None, None]
    assert [len(replay.phases) for replay in replays] == [2 * replay.end.turns for replay in replays]


def test_a_saved_game_of_version_1_goes_on_as_it_did():
    """The file holds a game with sampled fuel, and the same game four phases later."""
    files = json.loads((DATA / "saved_game_1.json").read_text())
    game = Game.restore(files["saved"])
    for seed in range(20, 24):
        rng = np.random.default_rng(seed)
        masks = {side: game.action_mask(side) for side in ("alpha", "bravo")}
        orders = {
            side: np.array([0 if rng.random() < 0.7 else rng.choice(np.flatnonzero(row)) for row in mask])
            for side, mask in masks.items()
        }
        game.step(**orders)
    assert game == Game.restore(files["after"])
    assert game.save()["version"] == 2
