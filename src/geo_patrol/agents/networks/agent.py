"""The agent that plays by a user's network: what it passes to the network, and how it chooses among legal orders."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.basic import StatelessAgent
from geo_patrol.agents.policy.network import choose_orders, order_probabilities
from geo_patrol.engine.legal import check_masks
from geo_patrol.engine.observe import ENCODINGS, Encoding
from geo_patrol.engine.state import ORDERS, SATELLITES
from geo_patrol.errors import AgentError, PolicyError, show

ACTION_MASK = "action_mask"
LOGIT_SHAPES = ((SATELLITES * ORDERS,), (SATELLITES, ORDERS))
"""The shapes that a network's logits of one observation may have."""
SHAPES_OF_LOGITS = " or ".join(str(("n", *shape)).replace("'", "") for shape in LOGIT_SHAPES)
"""The same for messages."""


class Network(Protocol):
    """A user's network: docs/networks.md says what it gets and what it returns."""

    input_names: tuple[str, ...]
    """"onehot" or "tokens", the encoding that it reads, and perhaps "action_mask"."""

    def __call__(self, inputs: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
        """Return the logits, (n, 308) or (n, 11, 28), of a batch of inputs, which has those of ``input_names``."""
        ...


class NetworkAgent(StatelessAgent):
    """Plays by a network: samples each satellite's order from the probabilities of the legal ones.

    Args:
        name: what tables and messages call it.
        network: asked once for all rows of a batch.
        greedy: whether it takes the most likely legal order of each satellite instead of sampling one.

    Raises:
        PolicyError: the network's inputs have other names.
    """

    stateless = True

    def __init__(self, name: str, network: Network, *, greedy: bool = False) -> None:
        self.name = name
        self.observation = _find_encoding(network.input_names)
        self._network = network
        self._greedy = greedy

    def act(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Choose the orders of one decision phase, (n, 11).

        Raises:
            AgentError: the logits have another shape or type, or are not finite.
        """
        has_choice, logits = self._score_orders(observations, action_masks)
        return choose_orders(has_choice, logits, None if self._greedy else generator)

    def order_probabilities(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8]
    ) -> NDArray[np.floating[Any]]:
        """Return the probabilities of each satellite's orders, (n, 11, 28): 1 for the most likely ones if it is greedy.

        Raises:
            AgentError: the logits have another shape or type, or are not finite.
        """
        has_choice, logits = self._score_orders(observations, action_masks)
        return order_probabilities(has_choice, logits, greedy=self._greedy)

    def _score_orders(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8]
    ) -> tuple[NDArray[np.bool_], NDArray[np.floating[Any]]]:
        """Return which satellites have a choice, (n, 11), and their logits, (choices, 28), -inf of illegal orders."""
        masks = check_masks(action_masks)
        inputs = {self.observation: observations, ACTION_MASK: masks}
        logits = self._network({name: inputs[name] for name in self._network.input_names})
        legal = masks.astype(np.bool_)
        has_choice = legal.sum(axis=2) > 1
        scores = np.where(legal[has_choice], self._check_logits(logits, len(masks))[has_choice], -np.inf)
        is_finite = np.isfinite(scores.max(axis=1))  # NaN is the maximum wherever it occurs
        if not is_finite.all():
            count = f"{len(is_finite) - is_finite.sum():,} of {len(is_finite):,}"
            raise AgentError(
                f"agent {self.name!r}: its logits of legal orders are NaN or infinite for {count} satellites"
            )
        return has_choice, scores

    def _check_logits(self, logits: Any, num_rows: int) -> NDArray[np.floating[Any]]:
        """Return logits as an array, (n, 11, 28)."""
        array = np.asarray(logits)
        if array.dtype.kind != "f" or array.shape not in {(num_rows, *shape) for shape in LOGIT_SHAPES}:
            raise AgentError(
                f"agent {self.name!r}: its logits are {array.dtype} of shape {array.shape} for {num_rows} observations: "
                f"give floating-point numbers of shape {SHAPES_OF_LOGITS}"
            )
        return array.reshape(num_rows, SATELLITES, ORDERS)


def _find_encoding(input_names: Sequence[str]) -> Encoding:
    """Return the encoding that a network reads.

    Raises:
        PolicyError: it reads none or both, or something else.
    """
    encodings = [encoding for encoding in ENCODINGS if encoding in input_names]
    if len(encodings) != 1 or not set(input_names) <= {*ENCODINGS, ACTION_MASK}:
        found = ", ".join(show(name) for name in input_names) or "none"
        raise PolicyError(
            f"its inputs are {found}: name one 'onehot' or 'tokens', and another 'action_mask' if it takes the masks"
        )
    return encodings[0]
