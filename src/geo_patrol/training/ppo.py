"""Proximal policy optimisation (Schulman et al., 2017) with generalised advantage estimation (Schulman et al., 2016).

The probability ratio is clipped for each satellite's order by itself: that of a joint action of eleven orders would be
clipped nearly always. Where satellites depend on each other, the ratio is that of an order given those of the satellites
before it; entropy and divergence of joint actions, too, are sums of those of single orders, by the chain rule.

A magnet, a policy from which the divergence costs, keeps self-play from going round in circles. It is an earlier policy that
stands still for many steps and is then renewed, as in NashPG (arXiv 2510.18183); the policy with averaged weights, which follows
slowly; or the policy of the rollout. Then, with an entropy bonus that stays, this approximates magnetic mirror descent (Sokota et
al., "A unified approach to reinforcement learning, quantal response equilibria, and two-player zero-sum games", 2022).
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from geo_patrol.engine.observe import TOKEN_SIZE
from geo_patrol.engine.state import ORDERS, SATELLITES
from geo_patrol.training.config import TrainingConfig
from geo_patrol.training.league import TrainingEnvs
from geo_patrol.training.network import PolicyNetwork, sample_actions


class RolloutBuffer:
    """Transitions of ``num_steps`` decision phases of all environments.

    Attributes:
        observations: (num_steps, num_envs, size) int16.
        masks: (num_steps, num_envs, 11, 28) bool.
        actions: (num_steps, num_envs, 11) int64.
        log_probs: (num_steps, num_envs, 11), of each satellite's order when it was sampled.
        values: (num_steps + 1, num_envs), the last row of the observations after the rollout.
        rewards, dones: (num_steps, num_envs); done is True where the step ended an episode.
    """

    def __init__(self, num_steps: int, num_envs: int, device: torch.device, size: int = TOKEN_SIZE) -> None:
        shape = (num_steps, num_envs)
        self.observations = torch.empty((*shape, size), dtype=torch.int16, device=device)
        self.masks = torch.empty((*shape, SATELLITES, ORDERS), dtype=torch.bool, device=device)
        self.actions = torch.empty((*shape, SATELLITES), dtype=torch.long, device=device)
        self.log_probs = torch.empty((*shape, SATELLITES), device=device)
        self.values = torch.empty((num_steps + 1, num_envs), device=device)
        self.rewards = torch.empty(shape, device=device)
        self.dones = torch.empty(shape, dtype=torch.bool, device=device)

    def collect(self, network: PolicyNetwork, envs: TrainingEnvs) -> None:
        """Fill the buffer with the next phases of the environments."""
        num_steps = len(self.actions)
        for step in range(num_steps):
            self.observations[step], self.masks[step] = envs.observations, envs.masks
            sampled = sample_actions(network, self.observations[step], self.masks[step])
            self.actions[step], self.log_probs[step], self.values[step] = sampled
            self.rewards[step], self.dones[step] = envs.step(sampled[0])
        envs.record_results()
        observations, masks = envs.observations.to(network.device), envs.masks.to(network.device)
        self.values[num_steps] = sample_actions(network, observations, masks.bool())[2]

    def advantages(self, gamma: float, gae_lambda: float) -> Tensor:
        """Return generalised advantage estimates, (num_steps, num_envs)."""
        next_nonterminal = (~self.dones).float()
        deltas = self.rewards + gamma * self.values[1:] * next_nonterminal - self.values[:-1]
        advantages, lastgaelam = torch.empty_like(deltas), torch.zeros_like(deltas[0])
        for step in reversed(range(len(deltas))):
            lastgaelam = deltas[step] + gamma * gae_lambda * next_nonterminal[step] * lastgaelam
            advantages[step] = lastgaelam
        return advantages

    def transitions(self, gamma: float, gae_lambda: float) -> "Batch":
        """Return the transitions in one row each, with advantages normalised over all of them."""
        advantages = self.advantages(gamma, gae_lambda).view(-1)
        returns = advantages + self.values[:-1].reshape(-1)
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        observations, masks = self.observations.flatten(0, 1), self.masks.flatten(0, 1)
        actions, log_probs = self.actions.flatten(0, 1), self.log_probs.flatten(0, 1)
        return Batch(observations, masks, actions, log_probs, advantages, returns)


class Batch(NamedTuple):
    """The transitions of a rollout in one row each, as PPO updates read them."""

    observations: Tensor
    masks: Tensor
    actions: Tensor
    log_probs: Tensor
    advantages: Tensor
    returns: Tensor


def update_policy(
    network: PolicyNetwork,
    optimizer: torch.optim.Optimizer,
    rollout: RolloutBuffer,
    config: TrainingConfig,
    ent_coef: float,
    magnet: PolicyNetwork | None = None,
) -> dict[str, float]:
    """Update the network by PPO on a rollout, and return the mean metrics over the minibatches."""
    batch = rollout.transitions(config.gamma, config.gae_lambda)
    metrics: list[dict[str, float]] = []
    for _ in range(config.update_epochs):
        for indices in torch.randperm(len(batch.returns), device=network.device).tensor_split(config.num_minibatches):
            minibatch = Batch(*(column[indices] for column in batch))
            scores = network(minibatch.observations, minibatch.masks)
            logits = scores.given(minibatch.actions)
            output = scores.choices, logits, scores.values
            loss, minibatch_metrics = ppo_loss(output, minibatch, config.clip_coef, config.vf_coef, ent_coef)
            if magnet is not None:
                with torch.no_grad():
                    magnet_logits = magnet(minibatch.observations, minibatch.masks).given(minibatch.actions)
                divergence = mean_divergence(logits, magnet_logits)
                loss = loss + config.magnet_coef * divergence
                minibatch_metrics["magnet_kl"] = divergence.item()
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), config.max_grad_norm)
            optimizer.step()
            metrics.append(minibatch_metrics)
    means = {name: float(np.mean([row[name] for row in metrics])) for name in metrics[0]}
    return means | {"explained_variance": explained_variance(rollout.values[:-1].reshape(-1), batch.returns)}


def ppo_loss(
    output: tuple[Tensor, Tensor, Tensor], batch: Batch, clip_coef: float, vf_coef: float, ent_coef: float
) -> tuple[Tensor, dict[str, float]]:
    """Return the loss of a minibatch, and its metrics.

    Args:
        output: indices of the satellites with a choice, the logits of their orders, as ``NetworkOutput.given`` returns them, and the
            values of the positions.
        batch: the minibatch.
        clip_coef: as in ``TrainingConfig``.
        vf_coef: likewise.
        ent_coef: likewise.
    """
    choices, logits, values = output
    all_log_probs = functional.log_softmax(logits, 1)
    orders = batch.actions.view(-1)[choices]
    logratio = all_log_probs.gather(1, orders[:, None])[:, 0] - batch.log_probs.view(-1)[choices]
    ratio = logratio.exp()
    advantages = batch.advantages[choices // SATELLITES]
    clipped = ratio.clamp(1 - clip_coef, 1 + clip_coef)
    policy_loss = -torch.min(ratio * advantages, clipped * advantages).mean()
    entropy = -(all_log_probs.exp() * all_log_probs).sum(1).mean()
    value_loss = functional.mse_loss(values, batch.returns)
    loss = policy_loss + vf_coef * value_loss - ent_coef * entropy
    with torch.no_grad():
        metrics = {
            "policy_loss": policy_loss.item(),
            "value_loss": value_loss.item(),
            "entropy": entropy.item(),
            "approx_kl": ((ratio - 1) - logratio).mean().item(),  # http://joschu.net/blog/kl-approx.html
            "clipfrac": ((ratio - 1).abs() > clip_coef).float().mean().item(),
        }
    return loss, metrics


def mean_divergence(logits: Tensor, magnet_logits: Tensor) -> Tensor:
    """Return the mean Kullback-Leibler divergence of policies, (choices, 28), from the magnet's."""
    log_probs, magnet_log_probs = functional.log_softmax(logits, 1), functional.log_softmax(magnet_logits, 1)
    return (log_probs.exp() * (log_probs - magnet_log_probs)).sum(1).mean()


def move_average(average: PolicyNetwork, network: PolicyNetwork, step_size: float) -> None:
    """Move averaged weights by a fraction of their way to the network's."""
    with torch.no_grad():
        for old, new in zip(average.parameters(), network.parameters(), strict=True):
            old.lerp_(new, step_size)


def explained_variance(values: Tensor, returns: Tensor) -> float:
    """Return the fraction of the returns' variance that the values explain; NaN if the returns are all equal."""
    variance = returns.var(correction=0)
    return float("nan") if variance == 0 else float(1 - (returns - values).var(correction=0) / variance)
