"""Replay files for the tests, made once in a process."""

import json
from functools import cache

import numpy as np

from geo_patrol import Game, RecordingError
from geo_patrol.replays import Recorder, ReplayReader
from tests.support.strategies import random_orders, small

ENDINGS = ("jsonl", "jsonl.gz", "jsonl.zst")


def record(path, config="geo_patrol", *, seed=1, phases=1000, names=("ann", "bob"), orders_seed=0):
    """Record a game of random orders; return the game as it ended."""
    game, generator = Game(config, seed=seed), np.random.default_rng(orders_seed)
    with Recorder(path, game.config) as recorder:
        recorder.begin(seed=seed, alpha=names[0], bravo=names[1])
        for _ in range(phases):
            if game.is_over:
                break
            orders = random_orders(game, generator)
            recorder.record(**orders)
            game.step(**orders)
    return game


@cache
def short_lines():
    """Return the lines of a short game with engagements of all kinds, as bytes."""
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "game.jsonl"
        config = small(
            2, preset="case1", top={"turn_limit": 3, "board": {"inner_ring": 1, "goal_ring": 1, "outer_ring": 1}}
        )
        record(path, config, seed=5, orders_seed=3)
        lines = path.read_bytes().splitlines(keepends=True)
    text = b"".join(lines)
    assert all(action in text for action in (b'"shoot"', b'"collide"', b'"guard"'))
    return lines


def short_game():
    """Return the lines of a short game as plain data."""
    return [json.loads(line) for line in short_lines()]


def write_lines(path, lines):
    """Write lines given as plain data."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def read(path):
    """Return the games of a file, and its faults."""
    reader = ReplayReader(path)
    return list(reader), reader.faults


def read_tolerantly(path):
    """Return the games of a file and its faults; no games if the file cannot be read."""
    try:
        return read(path)
    except RecordingError as error:
        return [], [str(error)]
