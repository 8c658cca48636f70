"""A policy for MaskablePPO that draws the orders of all eleven satellites at once.

sb3-contrib makes one distribution a satellite, one after the other, in which most of its time goes. Here they are one
distribution of shape (slots, 11), with the same probabilities.
"""

from typing import Any

from geo_patrol.engine.state import ORDERS, SATELLITES
from geo_patrol.errors import optional_import

with optional_import("sb3"):
    import torch
    from sb3_contrib.common.maskable.distributions import MaskableCategorical, MaskableMultiCategoricalDistribution
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy


class OrderDistribution(MaskableMultiCategoricalDistribution):
    """Independent orders of eleven satellites: the probabilities of ``MaskableMultiCategoricalDistribution``."""

    def __init__(self) -> None:
        super().__init__([ORDERS] * SATELLITES)
        self._orders: Any = None

    def proba_distribution(self, action_logits: torch.Tensor) -> "OrderDistribution":
        """Take the logits, (n, 308)."""
        self._orders = MaskableCategorical(logits=action_logits.view(-1, SATELLITES, ORDERS), validate_args=False)
        return self

    def apply_masking(self, masks: Any) -> None:
        """Take the legal orders, (n, 308); the others get probability 0."""
        self._orders.apply_masking(masks)

    def log_prob(self, actions: torch.Tensor) -> torch.Tensor:
        """Return the logarithm of the probability of orders (n, 11), as (n,)."""
        return self._orders.log_prob(actions.view(-1, SATELLITES)).sum(dim=1)

    def entropy(self) -> torch.Tensor:
        """Return the entropy, (n,)."""
        return self._orders.entropy().sum(dim=1)

    def sample(self) -> torch.Tensor:
        """Draw orders, (n, 11)."""
        return self._orders.sample()

    def mode(self) -> torch.Tensor:
        """Return the likeliest orders, (n, 11)."""
        return self._orders.probs.argmax(dim=-1)


class OrderPolicy(MaskableActorCriticPolicy):
    """MaskablePPO's ``"MlpPolicy"`` with ``OrderDistribution``: ``MaskablePPO(OrderPolicy, env)``."""

    def _build(self, lr_schedule: Any) -> None:
        self.action_dist = OrderDistribution()
        super()._build(lr_schedule)
