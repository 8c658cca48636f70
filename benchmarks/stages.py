"""The time of each stage of a step, from calls of a batch of games that leave outputs out."""

import time
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from geo_patrol.config.presets import load_config
from geo_patrol.envs.episodes import Episodes

_REPETITIONS = 3


class StagedGames:
    """Games that are stepped and described with and without each output: a stage takes the difference."""

    def __init__(self, observation: Literal["onehot", "tokens"], games: int) -> None:
        self._games = batch = Episodes(load_config("geo_patrol"), games, observation)
        whole, sampled = batch.new_outputs(), np.empty((batch.num_envs, 11), np.int64)
        none = {"masks": whole.masks[:0], "onehot": whole.onehot[:0], "tokens": whole.tokens[:0]}
        self._results = whole._replace(**none)
        self._sampling = self._results._replace(sampled=sampled)
        self._masks = self._results._replace(masks=whole.masks)
        self._observations = self._results._replace(onehot=whole.onehot, tokens=whole.tokens)
        batch.seed(range(games))
        batch.reset()

    def _step(self) -> dict[str, float]:
        """Play one step in pieces; return the seconds of each stage."""
        batch = self._games
        legal_orders = _fastest(lambda: batch.describe(self._results))
        sampling = _fastest(lambda: batch.describe(self._sampling))
        masks = _fastest(lambda: batch.describe(self._masks))
        observations = _fastest(lambda: batch.describe(self._observations))
        played = _seconds(lambda: batch.step(self._sampling.sampled, self._results))  # finds legal orders as well
        resets = _seconds(self._reset_finished)
        return {
            "sampling": sampling - legal_orders,
            "rules": played - legal_orders,
            "resets": resets,
            "legal orders": legal_orders,
            "masks": masks - legal_orders,
            "observations": observations - legal_orders,
        }

    def _reset_finished(self) -> None:
        over = np.flatnonzero(self._games.games.is_over)
        if len(over) > 0:
            self._games.reset(over)

    def microseconds(self, seconds: float) -> dict[str, float]:
        """Play for some seconds; return the mean microseconds of each stage per step of the whole batch."""
        steps = []
        stop = time.perf_counter() + seconds
        while not steps or time.perf_counter() < stop:
            steps.append(self._step())
        return {stage: float(np.mean([step[stage] for step in steps])) * 1e6 for stage in steps[0]}


def _seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _fastest(call: Callable[[], Any]) -> float:
    """Return the seconds of the fastest of a few calls."""
    return min(_seconds(call) for _ in range(_REPETITIONS))
