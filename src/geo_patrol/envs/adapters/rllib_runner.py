"""An environment runner of RLlib for many games that are stepped in one call.

RLlib's own runner passes every step of every environment through Python objects of its own: an episode to append to,
infos as dicts, pipelines of connectors over lists. This one keeps the arrays of all environments, and makes episodes
of them once per sample.
"""

import itertools
import time
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.errors import optional_import

with optional_import("rllib"):
    import torch
    from ray.rllib.core.columns import Columns
    from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner
    from ray.rllib.env.single_agent_episode import SingleAgentEpisode
    from ray.rllib.env.utils.infinite_lookback_buffer import InfiniteLookbackBuffer
    from ray.rllib.utils.metrics import RLMODULE_INFERENCE_TIMER, WEIGHTS_SEQ_NO

SEED_STRIDE = 1_000_003
"""Between the seeds of two runners: their games must differ."""
Arrays = dict[str, NDArray[Any]]


class BatchEnvRunner(SingleAgentEnvRunner):
    """Steps a ``VectorGeoPatrol`` with ``autoreset="same_step"`` and ``mask_in="obs"``.

    It returns the episodes that RLlib's ``SingleAgentEnvRunner`` would return. Connectors between environment and
    module, and callbacks on steps and episodes, are not called.

    Attributes:
        results: numbers of games by opponent and outcome (1 won, 0 drawn, -1 lost), see ``take_results``.
    """

    _needs_initial_reset: bool

    def __init__(self, **arguments: Any) -> None:
        self.results: Counter[tuple[str, int]] = Counter()
        self._finished: list[tuple[float, float, float]] = []
        super().__init__(**arguments)

    def take_results(self) -> Counter[tuple[str, int]]:
        """Return ``results``, and start counting anew."""
        results, self.results = self.results, Counter()
        return results

    def shape_rewards(self, rewards: NDArray[np.float64], infos: dict[str, Any]) -> NDArray[np.float64]:
        """Return the rewards to learn from, (num_envs,); subclasses change them here."""
        del infos
        return rewards

    def _reset_envs(self, episodes: Any, shared_data: Any, explore: bool) -> None:
        del episodes, shared_data, explore
        seed = None if self._seed is None or not self._needs_initial_reset else SEED_STRIDE * self._seed
        self._observations, _ = self.env.unwrapped.reset(seed=seed)
        self._started = np.full(self.num_envs, time.perf_counter())

    def _sample(
        self,
        *,
        num_timesteps: int | None = None,
        num_episodes: int | None = None,
        explore: bool,
        random_actions: bool = False,
        force_reset: bool = False,
    ) -> list[SingleAgentEpisode]:
        if force_reset or num_episodes is not None or self._needs_initial_reset:
            self._reset_envs_and_episodes(explore)
        self._needs_initial_reset = num_episodes is not None
        rollout = _Rollout(self._observations)
        num_done = 0
        while (
            len(rollout.rewards) * self.num_envs < num_timesteps
            if num_timesteps is not None
            else num_done < (num_episodes or 0)
        ):
            output = {} if random_actions else self._forward(explore=explore)
            actions = self.env.unwrapped.sample_actions() if random_actions else output.pop(Columns.ACTIONS)
            self._observations, rewards, terminations, truncations, infos = self.env.unwrapped.step(actions)
            dones = terminations | truncations
            shaped = self.shape_rewards(rewards, infos).astype(np.float32)
            rollout.add(self._observations, actions, shaped, terminations, truncations, output, infos["final_obs"])
            self._record(infos, dones)
            num_done += int(dones.sum())
        self._increase_sampled_metrics(len(rollout.rewards) * self.num_envs, num_done)
        return rollout.episodes(self._weights_seq_no)

    def _forward(self, *, explore: bool) -> Arrays:
        """Return what the module returns for the current observations, actions included."""
        batch = {
            Columns.OBS: {name: torch.from_numpy(array).to(self._device) for name, array in self._observations.items()}
        }
        with self.metrics.log_time(RLMODULE_INFERENCE_TIMER), torch.inference_mode():
            if explore:
                output = self.module.forward_exploration(batch)
                distribution = self.module.get_exploration_action_dist_cls()
            else:
                output = self.module.forward_inference(batch)
                distribution = self.module.get_inference_action_dist_cls()
            if Columns.ACTIONS not in output:
                orders = distribution.from_logits(output[Columns.ACTION_DIST_INPUTS])
                orders = orders if explore else orders.to_deterministic()
                output[Columns.ACTIONS] = orders.sample()
                output[Columns.ACTION_LOGP] = orders.logp(output[Columns.ACTIONS])
        return {name: tensor.cpu().numpy() for name, tensor in output.items()}

    def _record(self, infos: dict[str, Any], dones: NDArray[np.bool_]) -> None:
        """Take down lengths, returns and results of the episodes that finished in this step."""
        if not dones.any():
            return
        now, finished = time.perf_counter(), infos["finished_episode"]
        rows = np.flatnonzero(dones)
        self._finished += zip(
            finished["length"][rows], finished["return"][rows], now - self._started[rows], strict=True
        )
        self._started[rows] = now
        names = self.env.unwrapped.opponent_names
        for opponent, outcome in zip(finished["opponent"][rows], finished["outcome"][rows], strict=True):
            self.results[names[opponent] if opponent >= 0 else "", int(outcome)] += 1

    def get_metrics(self) -> Any:
        """Return RLlib's metrics of the episodes that finished since the last call, and of sampling."""
        for length, total, seconds in self._finished:
            self._log_episode_metrics(int(length), float(total), float(seconds))
        self._finished.clear()
        return super().get_metrics()


class _Rollout:
    """The steps of a sample, an array of all environments for each."""

    def __init__(self, observations: Arrays) -> None:
        self.observations = [observations]
        self.rewards: list[NDArray[np.float32]] = []
        self._actions: list[NDArray[np.int64]] = []
        self._outputs: list[Arrays] = []
        self._terminations: list[NDArray[np.bool_]] = []
        self._truncations: list[NDArray[np.bool_]] = []
        self._last: dict[tuple[int, int], Arrays] = {}  # observations that episodes ended with, by step and environment

    def add(
        self,
        observations: Arrays,
        actions: NDArray[np.int64],
        rewards: NDArray[np.float32],
        terminations: NDArray[np.bool_],
        truncations: NDArray[np.bool_],
        output: Arrays,
        final: Arrays,
    ) -> None:
        """Add a step; ``final`` are the last observations of the episodes that ended in it."""
        step = len(self.rewards)
        for row in np.flatnonzero(terminations | truncations).tolist():
            self._last[step, row] = {name: array[row] for name, array in final.items()}
        self.observations.append(observations)
        self.rewards.append(rewards)
        self._actions.append(actions)
        self._outputs.append(output)
        self._terminations.append(terminations)
        self._truncations.append(truncations)

    def episodes(self, weights_seq_no: int) -> list[SingleAgentEpisode]:
        """Return the episodes, or those parts of them that the sample holds."""
        observations = {name: _by_env(step[name] for step in self.observations) for name in self.observations[0]}
        columns = {name: _by_env(step[name] for step in self._outputs) for name in self._outputs[0]}
        columns |= {Columns.ACTIONS: _by_env(self._actions), Columns.REWARDS: _by_env(self.rewards)}
        columns[WEIGHTS_SEQ_NO] = np.full(columns[Columns.REWARDS].shape, weights_seq_no)
        terminations, truncations = _by_env(self._terminations), _by_env(self._truncations)
        episodes = []
        for row, ends in enumerate(terminations | truncations):
            for start, stop in itertools.pairwise([0, *(np.flatnonzero(ends) + 1).tolist(), len(ends)]):
                if start == stop:
                    continue
                seen = {name: array[row, start : stop + 1] for name, array in observations.items()}
                last = self._last.get((stop - 1, row))
                if last is not None:
                    seen = {name: np.concatenate([array[:-1], last[name][None]]) for name, array in seen.items()}
                of_episode = {name: array[row, start:stop] for name, array in columns.items()}
                ended = bool(terminations[row, stop - 1]), bool(truncations[row, stop - 1])
                episodes.append(_make_episode(seen, of_episode, *ended))
        return episodes


def _make_episode(observations: Arrays, columns: Arrays, terminated: bool, truncated: bool) -> SingleAgentEpisode:
    """Return an episode of columns of steps; there is one observation more."""
    buffers = {name: InfiniteLookbackBuffer(array) for name, array in columns.items()}
    num_steps = len(columns[Columns.REWARDS])
    return SingleAgentEpisode(
        observations=InfiniteLookbackBuffer(observations),
        infos=[{}] * (num_steps + 1),
        actions=buffers.pop(Columns.ACTIONS),
        rewards=buffers.pop(Columns.REWARDS),
        extra_model_outputs=buffers,
        terminated=terminated,
        truncated=truncated,
        len_lookback_buffer=0,
        t_started=0,
    )


def _by_env(steps: Iterable[NDArray[Any]]) -> NDArray[Any]:
    """Return arrays of steps, (num_envs, ...) each, as (num_envs, num_steps, ...)."""
    return np.stack(list(steps), axis=1)
