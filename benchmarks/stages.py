"""The time of each stage of a step; the only benchmark that calls the engine's internals."""

import time
from typing import TYPE_CHECKING, Literal

import numpy as np

from geo_patrol.config.presets import load_config
from geo_patrol.engine.batch import Batch
from geo_patrol.engine.encodings import observation_dtype, observation_size, sector_slots
from geo_patrol.engine.legal_sets import write_masks
from geo_patrol.engine.observe import observe_games
from geo_patrol.engine.sample import sample_orders_of_games
from geo_patrol.engine.setup import reset_games
from geo_patrol.engine.state import ORDERS, SATELLITES, SIDES, IntArray, Records
from geo_patrol.engine.turn import play_orders
from geo_patrol.jit import jit

if TYPE_CHECKING:
    from collections.abc import Callable


@jit
def play_games(games: Records, rules: Records, legal: IntArray, orders: IntArray, outcomes: Records) -> None:
    """Play one phase of every game, without observations, masks and resets."""
    for i in range(len(games)):
        play_orders(games[i], rules[0], legal[i], orders[i], outcomes)


class StagedGames:
    """Games stepped in separate passes over the batch, one per stage; the vector environment does all in one pass."""

    def __init__(self, observation: Literal["onehot", "tokens"], games: int) -> None:
        batch = Batch(load_config("geo_patrol"), games)
        batch.seed(range(games))
        batch.reset()
        outer_ring = batch.config.board.outer_ring
        num_sectors, features = sector_slots(observation, outer_ring), batch.rule_figures(observation)
        shape = (games, SIDES, observation_size(observation, outer_ring))
        observations = np.zeros(shape, observation_dtype(observation))
        words = np.zeros((games * SIDES, SATELLITES, ORDERS), np.int8).view(np.int32)
        orders = np.zeros((games, SIDES, SATELLITES), np.int64)
        streams = np.zeros((games, 2), np.uint64)
        streams[:, 0] = np.arange(games)
        sets = batch.legal.reshape(games * SIDES, SATELLITES)

        def reset_finished() -> None:
            reset_games(batch.games, batch.scenario, batch.rules, batch.slots, batch.games["done"] != 0)

        self.stages: dict[str, Callable[[], None]] = {
            "sampling": lambda: sample_orders_of_games(batch.legal, streams, orders),
            "rules": lambda: play_games(batch.games, batch.rules, batch.legal, orders, batch.outcomes),
            "resets": reset_finished,
            "legal orders": batch.find_legal,
            "masks": lambda: write_masks(sets, words),
            "observations": lambda: observe_games(batch.games, batch.rules, num_sectors, features, observations),
        }

    def microseconds(self, seconds: float) -> dict[str, float]:
        """Play for some seconds; return the microseconds of each stage per step of the whole batch."""
        total = dict.fromkeys(self.stages, 0.0)
        steps = 0
        start = last = time.perf_counter()
        while last - start < seconds:
            for name, run_stage in self.stages.items():
                run_stage()
                now = time.perf_counter()
                total[name] += now - last
                last = now
            steps += 1
        return {name: elapsed / steps * 1e6 for name, elapsed in total.items()}
