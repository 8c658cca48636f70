"""The joint distribution of one side's orders under masks, for libraries on PyTorch."""

import torch
from torch.distributions import Categorical, Independent

from geo_patrol.engine.state import ORDERS, SATELLITES

_ILLEGAL = -1e8


class OrderDistribution(Independent):
    """Independent orders of the eleven satellites of a side, as one action.

    Samples are (..., 11) order codes; log-probabilities and entropies are those of the whole action, (...).

    Args:
        logits: (..., 308), of all order codes of every satellite in turn.
        mask: (..., 308) or (..., 11, 28), true where an order is legal; the others get probability 0.
    """

    def __init__(self, logits: torch.Tensor, mask: torch.Tensor) -> None:
        shape = (*logits.shape[:-1], SATELLITES, ORDERS)
        masked = logits.view(shape).masked_fill(~mask.bool().view(shape), _ILLEGAL)
        super().__init__(Categorical(logits=masked, validate_args=False), 1, validate_args=False)
