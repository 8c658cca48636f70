"""The network of the agent ``policy`` as a module of RLlib, and the learner that trains it."""

from typing import Any

import numpy as np
import torch
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule
from ray.rllib.evaluation.postprocessing import Postprocessing

from geo_patrol.agents.policy import PolicyAgent
from geo_patrol.agents.policy.network import initial_weights
from geo_patrol.agents.policy.weights import Widths, shapes
from geo_patrol.engine.state import ORDERS
from geo_patrol.envs.adapters.rllib import OrderDistribution
from geo_patrol.training.network import PolicyNetwork, sample_actions
from geo_patrol.training.ppo import Transitions, ppo_loss

ORDER_LOG_PROBS = "order_log_probs"
"""The column of the log-probabilities of each satellite's order, (n, 11)."""


class PolicyModule(TorchRLModule, ValueFunctionAPI):
    """The network of the agent ``policy``, on observations in tokens; ``PolicyLearner`` trains it.

    ``model_config`` may have ``seed`` for random weights, or ``initial_policy``, the name or the file of a policy to
    start from, such as "base". ``network.weights()`` are the weights for ``geo_patrol.agents.policy``.
    """

    network: PolicyNetwork

    def setup(self) -> None:
        """Build the network."""
        policy = self.model_config.get("initial_policy")
        if policy is None:
            weights = initial_weights(shapes(Widths()), np.random.default_rng(self.model_config.get("seed", 0)))
        else:
            weights = dict(PolicyAgent(policy).weights)
        self.network = PolicyNetwork(weights)
        self.action_dist_cls = OrderDistribution

    def _forward_exploration(self, batch: dict[str, Any], **_: Any) -> dict[str, Any]:
        actions, log_probs, _values = sample_actions(self.network, *_read(batch))
        return {Columns.ACTIONS: actions, Columns.ACTION_LOGP: log_probs.sum(1), ORDER_LOG_PROBS: log_probs}

    def _forward_inference(self, batch: dict[str, Any], **_: Any) -> dict[str, Any]:
        observations, masks = _read(batch)
        choices, logits, _values = self.network(observations, masks)
        all_logits = logits.new_zeros(masks.shape).masked_fill_(~masks, -1e9)
        all_logits.view(-1, ORDERS)[choices] = logits
        return {Columns.ACTION_DIST_INPUTS: all_logits.flatten(1)}

    def _forward_train(self, batch: dict[str, Any], **_: Any) -> dict[str, Any]:
        choices, logits, values = self.network(*_read(batch))
        return {"choices": choices, "logits": logits, "values": values}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> torch.Tensor:  # noqa: ARG002 - RLlib's
        """Return the values of observations, (n,)."""
        return self.network.values(_read(batch)[0])


def _read(batch: dict[str, Any]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return observations and masks as ``PolicyNetwork`` takes them."""
    observations = batch[Columns.OBS]
    return observations["observation"], observations["action_mask"].bool()


class PolicyLearner(PPOTorchLearner):
    """PPO with the loss of ``geo_patrol.training``: the probability ratio is clipped for each satellite's order.

    RLlib's own loss clips the ratio of a side's joint action, which with eleven satellites is clipped nearly always.
    """

    def compute_loss_for_module(
        self, *, module_id: str, config: Any, batch: dict[str, Any], fwd_out: dict[str, Any]
    ) -> torch.Tensor:
        """Return the loss of a minibatch."""
        transitions = Transitions(
            *_read(batch),
            batch[Columns.ACTIONS],
            batch[ORDER_LOG_PROBS],
            batch[Postprocessing.ADVANTAGES],
            batch[Postprocessing.VALUE_TARGETS],
        )
        ent_coef = self.entropy_coeff_schedulers_per_module[module_id].get_current_value()
        output = fwd_out["choices"], fwd_out["logits"], fwd_out["values"]
        loss, metrics = ppo_loss(output, transitions, config.clip_param, config.vf_loss_coeff, ent_coef)
        self.metrics.log_dict(metrics, key=module_id, window=1)
        return loss
