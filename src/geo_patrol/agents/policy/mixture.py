"""Mixtures of policies: one is chosen for every game, as an equilibrium between several of them prescribes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.policy.agent import GREEDY, PolicyAgent, load_policies
from geo_patrol.agents.policy.network import probabilities, score_orders
from geo_patrol.engine.legal import check_masks
from geo_patrol.engine.observe import Encoding
from geo_patrol.engine.state import NOOP, SATELLITES
from geo_patrol.errors import PolicyError

_TINY = np.finfo(np.float32).tiny


class MixtureAgent:
    """Plays every game by one of several policies, chosen at its first decision.

    Args:
        policies: one or more.
        weights: how often each is drawn, relative to the others.
        name: its name in tables.
    """

    observation: Encoding = "tokens"

    def __init__(self, policies: Sequence[PolicyAgent], weights: Sequence[float], name: str) -> None:
        self.policies, self.name = tuple(policies), name
        self.probabilities = np.array(weights, np.float64) / np.sum(weights)
        self._chosen = np.zeros(0, np.int64)

    def reset(self, new_games: NDArray[np.bool_]) -> None:
        """Let the policies of new games be chosen at the next decision."""
        if len(new_games) != len(self._chosen):
            self._chosen = np.full(len(new_games), -1)
        self._chosen[new_games] = -1

    def act(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Choose the orders of one decision phase, (n, 11), as ``PolicyAgent.act`` does."""
        if len(self._chosen) != len(action_masks):
            self.reset(np.ones(len(action_masks), np.bool_))
        new = self._chosen < 0
        self._chosen[new] = self._draw(int(new.sum()), generator)
        orders = np.full((len(action_masks), SATELLITES), NOOP, np.int64)
        has_choice = (check_masks(action_masks).sum(axis=2) > 1).any(axis=1)
        for number in np.unique(self._chosen[has_choice]):
            rows = has_choice & (self._chosen == number)
            orders[rows] = self.policies[number].act(observations[rows], action_masks[rows], generator)
        return orders

    def sample(
        self,
        observation: NDArray[np.int16],
        mask: NDArray[np.int8],
        count: int,
        generator: np.random.Generator,
        temperature: float = 1.0,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Sample joint orders for one position, of a policy chosen for each, as ``PolicyAgent.sample`` does.

        Returns:
            Orders, (count, 11), and their log-probabilities at temperature 1, (count,), whichever policy gives them.
        """
        chosen = self._draw(count, generator)
        orders = np.full((count, SATELLITES), NOOP, np.int64)
        for number in np.unique(chosen):
            rows = np.flatnonzero(chosen == number)
            sampled = self.policies[number].sample(observation, mask, len(rows), generator, temperature)
            orders[rows] = sampled[0]
        log_probs = [self._log_probs(policy, observation, mask, orders) for policy in self.policies]
        with np.errstate(divide="ignore"):  # a policy may have weight 0
            log_weights = np.log(self.probabilities)
        mixed: NDArray[np.float64] = np.logaddexp.reduce(log_weights[:, None] + log_probs, axis=0)
        return orders, mixed

    def value(self, observations: NDArray[np.int16]) -> NDArray[np.float32]:
        """Estimate how games will end for the side that sees them, (n,): the mean of the policies' estimates."""
        values: NDArray[np.float32] = np.average(
            [policy.value(observations) for policy in self.policies], axis=0, weights=self.probabilities
        ).astype(np.float32)
        return values

    def _draw(self, count: int, generator: np.random.Generator) -> NDArray[np.int64]:
        return generator.choice(len(self.policies), count, p=self.probabilities)

    @staticmethod
    def _log_probs(
        policy: PolicyAgent, observation: NDArray[np.int16], mask: NDArray[np.int8], orders: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return how likely a policy gives joint orders, (count, 11), in one position: log-probabilities, (count,)."""
        has_choice, logits = score_orders(policy.weights, observation[None], mask[None])
        likelihoods = probabilities(logits)[np.arange(len(logits)), orders[:, has_choice[0]]]
        log_probs: NDArray[np.float64] = np.log(np.maximum(likelihoods, _TINY)).sum(axis=1, dtype=np.float64)
        return log_probs


def read_policy(text: str = "base") -> PolicyAgent | MixtureAgent:
    """Make a policy as its name says after the colon: ``base``, ``base,greedy``, ``runs/policy.safetensors``.

    Raises:
        PolicyError: there is no such policy, or a file holds something else.
    """
    source = text.removesuffix(GREEDY) or "base"
    greedy = text.endswith(GREEDY)
    try:
        policies = load_policies(source)
    except OSError as error:
        raise PolicyError(f"{source}: {error.strerror or error}") from None
    if len(policies) == 1:
        return PolicyAgent(source, greedy=greedy)
    agents = [PolicyAgent(weights, greedy=greedy) for weights, _ in policies]
    return MixtureAgent(agents, [weight for _, weight in policies], f"policy:{source}{GREEDY if greedy else ''}")
