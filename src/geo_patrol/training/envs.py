"""The environments of a training run: for each configuration some against the league and some of self-play."""

import itertools
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.config.presets import load_config
from geo_patrol.engine.state import SIDES
from geo_patrol.envs.vector import VectorGeoPatrol, make_vec
from geo_patrol.training.config import TrainingConfig
from geo_patrol.training.league import League
from geo_patrol.training.network import NetworkAgent

_SEED_STRIDE = 1_000_003  # between the vector environments of a run


class TrainingEnvs:
    """Several vector environments, stepped as one batch.

    Attributes:
        num_envs: rows of the batch.
        observations: (num_envs, 249) int16, the current observations.
        masks: (num_envs, 11, 28) int8, the current action masks.
        score_coef: reward of 100 points of score, beside the outcome's 1 or -1.
        seconds: time spent in steps of the environments, opponents included.
    """

    def __init__(self, config: TrainingConfig, league: League[NetworkAgent], seed: int) -> None:
        self.league, self.score_coef, self.seconds = league, config.score_coef, 0.0
        self.envs = _make_envs(config, league)
        bounds = np.cumsum([0, *(env.num_envs for env in self.envs)])
        self._rows = [slice(start, stop) for start, stop in itertools.pairwise(bounds)]
        self.num_envs = int(bounds[-1])
        first = [env.reset(seed=seed + _SEED_STRIDE * i) for i, env in enumerate(self.envs)]
        self.observations = np.concatenate([observations for observations, _ in first])
        self.masks = np.concatenate([infos["action_mask"] for _, infos in first])

    def step(self, actions: NDArray[np.int64]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Play one decision phase of all games.

        Returns:
            Rewards and dones, (num_envs,). A win is 1; a score difference counts ``score_coef`` for 100 points, as
            the outcome alone is so rare at first that learning takes off much later.
        """
        rewards, dones = np.empty(self.num_envs, np.float32), np.empty(self.num_envs, np.bool_)
        for env, rows in zip(self.envs, self._rows, strict=True):
            start = time.perf_counter()
            self.observations[rows], rewards[rows], dones[rows], _, infos = env.step(actions[rows])
            self.masks[rows] = infos["action_mask"]
            self.seconds += time.perf_counter() - start
            episode, finished = infos["finished_episode"], infos["_finished_episode"]
            rewards[rows] = self.score_coef * rewards[rows] / 100 + np.where(finished, episode["outcome"], 0)
            if env.opponent_names and finished.any():
                names = [env.opponent_names[index] for index in episode["opponent"][finished]]
                self.league.record(names, episode["outcome"][finished])
        return rewards, dones

    def resample_opponents(self) -> None:
        """Let games that begin from now on take their opponents from the league's current mixture."""
        for env in self.envs:
            if env.opponent_names:
                env.set_opponents(self.league.sample_mixture())


def _make_envs(config: TrainingConfig, league: League[NetworkAgent]) -> list[VectorGeoPatrol]:
    """Split ``num_envs`` over the configurations, and there into games against the league and self-play."""
    # What a step returns is copied into the rows of the batch, or used, before the next step.
    options: dict[str, Any] = {"observation": "tokens", "reward": "score", "autoreset": "same_step", "copy": False}
    envs = []
    configs = [load_config(source) for source in config.config]
    for index, game_config in enumerate(configs):
        if game_config in configs[:index]:  # not a Counter: a configuration with variants has no hash
            continue
        num_envs = config.num_envs * configs.count(game_config) // len(configs)
        self_play_games = round(num_envs * config.self_play_fraction / SIDES)
        league_games = num_envs - SIDES * self_play_games
        if league_games > 0:
            envs.append(
                make_vec(game_config, league_games, opponent=league.sample_mixture(), seats="alternate", **options)
            )
        if self_play_games > 0:
            envs.append(make_vec(game_config, self_play_games, opponent=None, seats="both", **options))
    return envs
