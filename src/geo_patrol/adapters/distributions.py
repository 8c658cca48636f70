"""The distribution of one side's orders under masks, for libraries on PyTorch."""

import torch
from torch.distributions import Categorical, Independent

from geo_patrol.engine.state import ORDERS, SATELLITES

_ILLEGAL = -1e8


def mask_logits(logits: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return logits by satellite, (..., 11, 28), those of illegal orders so low that their probabilities are 0.

    Args:
        logits: (..., 308), of all order codes of every satellite in turn.
        mask: (..., 308) or (..., 11, 28), true where an order is legal.
    """
    shape = (*logits.shape[:-1], SATELLITES, ORDERS)
    return logits.view(shape).masked_fill(~mask.bool().view(shape), _ILLEGAL)


class OrderDistribution(Independent):
    """Independent orders of the eleven satellites of a side, as one action.

    Samples are (..., 11) order codes; log-probabilities and entropies are those of the whole action, (...).

    Args:
        logits: (..., 308), as for ``mask_logits``.
        mask: (..., 308) or (..., 11, 28), true where an order is legal.
    """

    def __init__(self, logits: torch.Tensor, mask: torch.Tensor) -> None:
        super().__init__(Categorical(logits=mask_logits(logits, mask), validate_args=False), 1, validate_args=False)
