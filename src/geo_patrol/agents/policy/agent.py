"""The agent ``policy``: samples its actions from a network's probabilities, or takes the most likely ones."""

from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.basic import StatelessAgent
from geo_patrol.agents.policy.network import (
    choose_orders,
    order_probabilities,
    probabilities,
    score_orders,
    value_positions,
)
from geo_patrol.agents.policy.weights import Weights, check_weights, read_policies, read_shipped, shipped_names
from geo_patrol.agents.scripted.perception import check_observations
from geo_patrol.engine.legal import check_masks
from geo_patrol.engine.state import NOOP, SATELLITES
from geo_patrol.errors import PolicyError

GREEDY = ",greedy"
"""Behind the name of a network's agent: it takes the most likely orders."""


class PolicyAgent(StatelessAgent):
    """Plays by a trained network, on every board of up to five rings and from either side.

    Args:
        source: the name of a policy that comes with the package, such as "base"; the path of a file of weights, see
            ``geo_patrol.agents.policy.weights``; or the weights themselves. Of several policies in one file, which
            ``make_agent`` plays as a ``MixtureAgent``, it is the one with the largest weight.
        greedy: whether it takes the most likely order of each satellite instead of sampling one. Mixed strategies pay in
            these games, so sampling usually wins more.

    Raises:
        PolicyError: there is no policy of that name, or a file holds something else.
        OSError: the file cannot be read.
    """

    stateless = True

    def __init__(self, source: str | Path | Weights = "base", *, greedy: bool = False) -> None:
        self.weights = _load(source)
        self.greedy = greedy
        label = source if isinstance(source, str | Path) else "weights"
        self.name = f"policy:{label}{GREEDY if greedy else ''}"

    def act(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Choose the orders of one decision phase, (n, 11).

        Raises:
            ValueError: observations or masks have another shape or type.
            PolicyError: the board has more than five rings.
        """
        masks = check_masks(action_masks)
        has_choice, logits = score_orders(self.weights, check_observations(observations, len(masks)), masks)
        return choose_orders(has_choice, logits, None if self.greedy else generator)

    def order_probabilities(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8]
    ) -> NDArray[np.floating[Any]]:
        """Return the probabilities of each satellite's orders, (n, 11, 28): 1 for the most likely ones if it is greedy.

        Raises:
            ValueError: observations or masks have another shape or type.
            PolicyError: the board has more than five rings.
        """
        masks = check_masks(action_masks)
        has_choice, logits = score_orders(self.weights, check_observations(observations, len(masks)), masks)
        return order_probabilities(has_choice, logits, greedy=self.greedy)

    def sample(
        self,
        observation: NDArray[np.int16],
        mask: NDArray[np.int8],
        count: int,
        generator: np.random.Generator,
        temperature: float = 1.0,
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Sample joint orders for one position, whether or not the agent is greedy.

        Args:
            observation: (size,), in the encoding "tokens".
            mask: (11, 28), 1 where an order is legal.
            count: the number of samples.
            generator: the source of randomness.
            temperature: above 1 makes unlikely orders more frequent.

        Returns:
            Orders, (count, 11), and their log-probabilities at temperature 1, (count,).
        """
        has_choice, logits = score_orders(self.weights, observation[None], mask[None])
        noise = generator.gumbel(size=(count, *logits.shape)).astype(np.float32)
        sampled = (logits / np.float32(temperature) + noise).argmax(axis=2)
        orders = np.full((count, SATELLITES), NOOP, np.int64)
        orders[:, has_choice[0]] = sampled
        likelihoods = probabilities(logits)[np.arange(len(logits)), sampled]
        return orders, np.log(np.maximum(likelihoods, np.finfo(np.float32).tiny)).sum(axis=1)

    def value(self, observations: NDArray[np.int16]) -> NDArray[np.float32]:
        """Estimate how games will end for the side that sees them, (n,): about 1 if it wins, -1 if it loses."""
        return value_positions(self.weights, observations)


def load_policies(source: str | Path) -> list[tuple[dict[str, NDArray[np.float32]], float]]:
    """Read the policies of a name or file: the weights of each, and how often it is drawn.

    Raises:
        PolicyError: there is no policy of that name, or a file holds something else.
        OSError: the file cannot be read.
    """
    shipped = shipped_names()
    if str(source) in shipped:
        return read_shipped(str(source))
    if not Path(source).is_file():
        raise PolicyError(
            f"there is no policy {str(source)!r}: give the path of a file of weights, or one of those that come with "
            f"the package: {', '.join(shipped)}"
        )
    return read_policies(source)


def _load(source: str | Path | Weights) -> Weights:
    if isinstance(source, str | Path):
        return max(load_policies(source), key=itemgetter(1))[0]
    check_weights(source, "weights")
    return source
