"""The step between RLlib's environment runners and its learner, on whole arrays.

RLlib's own pipeline for PPO lengthens every episode by a step, collects each column in a list of episodes, and computes
values of the lengthened batch, whose additional rows stay in it, masked.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.errors import optional_import

with optional_import("rllib"):
    import torch
    from ray.rllib.connectors.connector_v2 import ConnectorV2
    from ray.rllib.core import DEFAULT_MODULE_ID
    from ray.rllib.core.columns import Columns
    from ray.rllib.env.single_agent_episode import SingleAgentEpisode
    from ray.rllib.evaluation.postprocessing import Postprocessing
    from ray.rllib.utils.metrics import WEIGHTS_SEQ_NO
    from ray.rllib.utils.postprocessing.value_predictions import compute_value_targets


class JoinEpisodes(ConnectorV2):
    """Joins the episodes of ``BatchEnvRunner`` into a batch to train on, with advantages and value targets.

    Args:
        gamma: the discount factor.
        lambda_: lambda of generalised advantage estimation.
    """

    def __init__(self, *, gamma: float, lambda_: float) -> None:
        super().__init__()
        self._gamma, self._lambda = gamma, lambda_

    def __call__(self, *, rl_module: Any, episodes: Sequence[SingleAgentEpisode], **_: Any) -> dict[str, Any]:
        """Return the columns of all steps, for the only module."""
        module = rl_module[DEFAULT_MODULE_ID].unwrapped()
        device = next(module.parameters()).device
        columns = {Columns.ACTIONS: np.concatenate([episode.actions.data for episode in episodes])}
        for name in episodes[0].extra_model_outputs.keys() - {WEIGHTS_SEQ_NO}:
            columns[name] = np.concatenate([episode.extra_model_outputs[name].data for episode in episodes])
        observations = {
            name: torch.from_numpy(np.concatenate([episode.observations.data[name] for episode in episodes])).to(device)
            for name in episodes[0].observations.data
        }
        with torch.no_grad():
            values = module.compute_values({Columns.OBS: observations}).cpu().numpy()
        is_step, targets = self._compute_targets(episodes, values)
        advantages = targets - values[is_step]
        columns[Postprocessing.VALUE_TARGETS] = targets
        columns[Postprocessing.ADVANTAGES] = (advantages - advantages.mean()) / max(1e-4, advantages.std())
        batch: dict[str, Any] = {name: torch.from_numpy(column).to(device) for name, column in columns.items()}
        rows = torch.from_numpy(is_step).to(device)
        batch[Columns.OBS] = {name: array[rows] for name, array in observations.items()}
        return {DEFAULT_MODULE_ID: batch}

    def _compute_targets(
        self, episodes: Sequence[SingleAgentEpisode], values: NDArray[np.float32]
    ) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
        """Return which rows of the observations are those before a step, and the value targets of these.

        Every episode has one observation more, whose value its last step is bootstrapped from unless it ended the game.
        """
        last = np.cumsum([len(episode) + 1 for episode in episodes]) - 1
        is_step = np.ones(len(values), np.bool_)
        is_step[last] = False
        rewards = np.zeros(len(values), np.float32)
        rewards[is_step] = np.concatenate([episode.rewards.data for episode in episodes])
        terminations, truncations = np.zeros((2, len(values)), np.bool_)
        terminations[last - 1] = [episode.is_terminated for episode in episodes]
        truncations[last - 1] = ~terminations[last - 1]
        targets = compute_value_targets(values, rewards, terminations, truncations, self._gamma, self._lambda)
        return is_step, targets[is_step]
