"""What all searching agents have in common: a budget for each decision, and games that are decided one by one."""

import copy
import math
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.scripted.reading import check_observations
from geo_patrol.agents.scripted.seeded import keys_of_rows
from geo_patrol.agents.search.budget import Search, describe_search, read_budget
from geo_patrol.engine.encodings import Encoding
from geo_patrol.engine.sample import check_masks
from geo_patrol.engine.state import NOOP


class Searcher:
    """Judges candidate orders within a budget, and gives the best.

    It knows the position and the rules from its observation alone, draws its own chance, and remembers nothing.

    Args:
        search: the budget and other parameters.
    """

    observation: Encoding = "tokens"
    stateless = True

    def __init__(self, search: Search) -> None:
        self.search = search
        self.name = describe_search(search)
        self.seconds, self.wanted_rollouts = read_budget(search)
        self.decisions = 0
        self.rollouts = 0

    def hurried(self) -> Self:
        """Return a copy that thinks for a moment only, and calls all compiled code that this one calls."""
        other = copy.copy(self)
        other.seconds, other.wanted_rollouts = 0.0, 1
        return other

    def reset(self, new_games: NDArray[np.bool_]) -> None:
        """Do nothing: it decides from what it sees alone."""

    def act(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Give the orders of one decision phase, game by game; the budget is that of each.

        Equal observations and an equal generator give equal orders, if the budget is a number of rollouts.

        Raises:
            ValueError: observations or masks have another shape or type, or describe no board.
            AgentError: an agent that proposes or models raised an exception, or returned something else than orders.
        """
        masks = check_masks(action_masks)
        seen = check_observations(observations, len(masks))
        keys = keys_of_rows(np.uint64(generator.integers(1 << 63)), len(masks))
        orders = np.full(masks.shape[:2], NOOP, np.int64)
        for row in np.flatnonzero((masks[:, :, NOOP + 1 :] != 0).any(axis=(1, 2))):
            orders[row] = self._decide(seen[row], masks[row], keys[row])
            self.decisions += 1
        return orders

    def _decide(self, seen: NDArray[np.int16], mask: NDArray[np.int8], key: np.uint64) -> NDArray[np.int64]:
        """Return the orders for one position, (11,)."""
        raise NotImplementedError


def rounds_for(candidates: int) -> int:
    """Return in how many rounds one of so many candidates is found."""
    return max(math.ceil(math.log2(max(candidates, 2))), 1)


def better_half(values: NDArray[np.float64], standing: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the better half of the candidates that stand, and the first one in any case.

    Args:
        values: (candidates, rollouts), what each was worth.
        standing: the numbers of those that stand, the first one in front.
    """
    others = standing[1:]
    ranked = others[np.argsort(-values[others].mean(axis=1), kind="stable")]
    return np.concatenate([standing[:1], ranked[: max(len(standing) // 2 - 1, 1)]])


def choose(values: NDArray[np.float64], standing: NDArray[np.int64], doubt: float) -> int:
    """Return the best candidate, if it beats the first by so many standard errors; otherwise the first."""
    first = standing[0]
    best = standing[np.argmax(values[standing].mean(axis=1))]
    gains = values[best] - values[first]
    is_sure = gains.mean() > doubt * gains.std() / math.sqrt(len(gains))
    return int(best if is_sure else first)
