"""A batch plays, game by game, what single games play: through auto-resets, and with drawn scenarios."""

from pathlib import Path

import numpy as np
import pytest

from geo_patrol import load_config
from geo_patrol.engine.batch import Batch
from geo_patrol.engine.sample import sample_orders
from geo_patrol.engine.state import GAME, RULES
from geo_patrol.engine.turn import REPORT, step_games

SCENARIOS = Path(__file__).parents[2] / "examples" / "random_scenarios.toml"
PHASES = 300


def play(config, seeds):
    """Play sampled orders with auto-reset; return every position, report and observation of each game."""
    batch = Batch(config, len(seeds))
    batch.seed(seeds)
    batch.reset()
    count = len(seeds)
    streams = np.zeros((count, 2), np.uint64)
    streams[:, 0] = seeds
    orders = np.zeros((count, 2, 11), np.int64)
    for place, mask in enumerate(batch.masks()):
        sample_orders(mask, np.uint64(seeds[place]), orders[place])
    masks = np.empty((count, 2, 11, 7), np.int32)
    figures = batch.rule_figures("tokens")
    observations = np.empty(batch.observe("tokens").shape, np.int16)
    reports = np.empty((count, REPORT), np.int64)
    track, episodes = [], np.zeros(count, int)
    for _ in range(PHASES):
        described = (0, figures, batch.legal, masks, observations, reports)
        step_games(batch.games, batch.rules, orders, batch.outcomes, *described, streams, orders)
        track.append((batch.games.copy(), reports.copy(), observations.copy(), masks.copy()))
        episodes += batch.games["done"]
        finished = batch.games["done"] != 0
        if finished.any():
            batch.reset(finished)
            for place, mask in enumerate(batch.masks()):
                if reports[place, 0]:
                    sample_orders(mask, np.uint64(seeds[place]), orders[place])
    return track, episodes


@pytest.mark.parametrize("config", ["geo_patrol", "case4", SCENARIOS])
def test_each_game_of_a_batch_is_the_single_game_with_its_seed(config):
    config = load_config(config)
    seeds = [5, 6, 7, 2**63 + 8, 9]
    together, episodes = play(config, seeds)
    assert episodes.min() > 3
    for place, seed in enumerate(seeds):
        alone, _ = play(config, [seed])
        for of_batch, single in zip(together, alone, strict=True):
            for ours, theirs in zip(of_batch, single, strict=True):
                assert ours[place].tobytes() == theirs[0].tobytes()


def test_a_finished_game_stays_as_it_is():
    batch = Batch(load_config("geo_patrol", {"turn_limit": 1}))
    batch.seed([1])
    batch.reset()
    idle = np.zeros((1, 2, 11), np.int64)
    masks = np.empty((1, 2, 11, 28), np.int8)
    described = (
        batch.rule_figures("tokens"),
        batch.legal,
        masks.view(np.int32),
        np.empty((1, 2, 249), np.int16),
        np.empty((1, REPORT), np.int64),
        np.zeros((1, 2), np.uint64),
        np.empty((0, 2, 11), np.int64),
    )
    for _ in range(2):
        step_games(batch.games, batch.rules, idle, batch.outcomes, 0, *described)
    assert batch.games["done"].all()
    over = batch.games.copy()
    step_games(batch.games, batch.rules, idle + 1, batch.outcomes, 0, *described)
    assert batch.games.tobytes() == over.tobytes()
    assert masks.sum() == 22, "noop alone is legal"


@pytest.mark.parametrize("layout", [GAME, RULES])
def test_records_have_no_padding_so_that_equal_games_are_equal_byte_by_byte(layout):
    assert layout.itemsize == sum(kind.itemsize for kind, *_ in layout.fields.values())
