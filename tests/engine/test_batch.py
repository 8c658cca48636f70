"""Each game of a batch equals a single game, through resets and with sampled rules."""

from pathlib import Path

import numpy as np
import pytest
from numpy.lib.recfunctions import structured_to_unstructured

from geo_patrol import load_config
from geo_patrol.engine.state import GAME, RULES
from geo_patrol.envs.episodes import Episodes

SCENARIOS = Path(__file__).parents[2] / "examples" / "random_scenarios.toml"
PHASES = 300


def play(config, seeds):
    """Play sampled actions with resets; return the states and outputs of each game, and how many episodes ended."""
    batch = Episodes(config, len(seeds), "tokens")
    batch.seed(seeds)
    batch.reset()
    outputs = batch.new_outputs(sampled=np.empty((batch.num_envs, 11), np.int64))
    batch.describe(outputs)
    track, episodes = [], np.zeros(len(seeds), int)
    for _ in range(PHASES):
        batch.step(outputs.sampled, outputs)
        results, statistics = map(structured_to_unstructured, (outputs.results, outputs.statistics))
        written = (results, statistics, batch.observations(outputs), outputs.masks)
        track.append((batch.games.state.games.copy(), *(array.reshape(len(seeds), 2, -1).copy() for array in written)))
        finished = batch.records["is_over"] != 0
        episodes += finished
        if finished.any():
            batch.reset(np.flatnonzero(finished))
            batch.describe(outputs, finished)
    return track, episodes


@pytest.mark.parametrize("config", ["geo_patrol", "case4", SCENARIOS])
def test_each_game_of_a_batch_is_the_single_game_with_its_seed(config):
    config = load_config(config)
    seeds = [5, 6, 7, 2**63 + 8, 9]
    together, episodes = play(config, seeds)
    assert episodes.min() > 3
    for i, seed in enumerate(seeds):
        alone, _ = play(config, [seed])
        for of_batch, single in zip(together, alone, strict=True):
            for ours, theirs in zip(of_batch, single, strict=True):
                assert ours[i].tobytes() == theirs[0].tobytes()


def test_a_finished_game_does_not_change():
    batch = Episodes(load_config("geo_patrol", {"turn_limit": 1}), 1, "tokens")
    batch.seed([1])
    batch.reset()
    batch.describe(batch.outputs)
    games = batch.games.state.games
    idle = np.zeros((2, 11), np.int64)
    assert [batch.step(idle, batch.outputs) for _ in range(2)] == [0, 1]
    assert games["done"].all()
    over = games.copy()
    assert batch.step(idle + 1, batch.outputs) == 0
    assert games.tobytes() == over.tobytes()
    assert batch.outputs.masks.sum() == 22, "noop is the only legal order"
    assert batch.outputs.results["terminated"].all()


def test_shards_play_what_the_whole_batch_plays():
    config = load_config("case2")
    whole, sharded = Episodes(config, 9, "onehot"), Episodes(config, 9, "onehot")
    shards = [sharded.shard(0, 4), sharded.shard(4, 9)]
    for batch in (whole, sharded):
        batch.outputs = batch.new_outputs(sampled=np.empty((batch.num_envs, 11), np.int64))
        batch.seed(range(9))
        batch.reset()
        batch.describe(batch.outputs)
    for _ in range(40):
        actions = whole.outputs.sampled.copy()
        count = whole.step(actions, whole.outputs)
        assert sum(sharded.step(actions, sharded.outputs, shard) for shard in shards) == count
        assert whole.games.state.games.tobytes() == sharded.games.state.games.tobytes()
        assert np.array_equal(whole.outputs.onehot, sharded.outputs.onehot)
        assert np.array_equal(whole.outputs.sampled, sharded.outputs.sampled)


@pytest.mark.parametrize("layout", [GAME, RULES])
def test_records_have_no_padding_so_that_equal_games_are_equal_byte_by_byte(layout):
    assert layout.itemsize == sum(kind.itemsize for kind, *_ in layout.fields.values())
