"""The counts and odds by which other implementations can check themselves are those of this one."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from geo_patrol import Game
from scripts.write_perft import walk

ROOT = Path(__file__).parents[1]
PERFT = json.loads((ROOT / "tests" / "golden" / "perft.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("preset", PERFT["playthroughs"])
def test_playthroughs_are_those_of_the_file(preset):
    assert json.loads(json.dumps(walk(preset))) == PERFT["playthroughs"][preset]


def all_orders(game):
    """Return all pairs of legal joint orders, (n, 2, 11)."""
    legal = [np.flatnonzero(row) for side in ("alpha", "bravo") for row in game.action_mask(side)]
    return np.array(list(itertools.product(*legal))).reshape(-1, 2, 11)


def test_the_first_positions_of_duel_counted_one_by_one():
    movement, engagement, next_movement, *_ = PERFT["reachable"]["duel"]
    start = Game("duel", seed=0)
    orders = all_orders(start)
    games = start.repeat(len(orders), same_chance=True)
    games.step(orders)
    moved = {key: games[i] for i, key in enumerate(games.position_keys())}
    assert (movement["positions"], movement["joint_order_pairs"]) == (1, len(orders))
    pairs, reached, goes_on = 0, set(), 0
    for game in moved.values():
        for joint in all_orders(game):
            pairs += 1
            ends = game.outcome_distribution(*joint).games
            keys = [key for key, is_over in zip(ends.position_keys(), ends.is_over, strict=True) if not is_over]
            reached.update(keys)
            goes_on += len(keys)
    assert (engagement["positions"], engagement["joint_order_pairs"]) == (len(moved), pairs)
    assert next_movement["positions"] == len(reached) < goes_on


def test_engagements_of_the_file_add_up():
    rows = [row for phases in PERFT["playthroughs"].values() for row in phases if row.get("engagement")]
    assert len(rows) > 30
    for row in rows:
        for side in ("alpha", "bravo"):
            destroyed = row["engagement"]["destroyed"][side]
            assert all(0 <= odds <= 1 for odds in destroyed)
            is_there = [i < len(row[side]) for i in range(len(destroyed))]
            assert not any(odds for odds, there in zip(destroyed, is_there, strict=True) if not there)
