"""What an agent is."""

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from geo_patrol.engine.observe import Encoding


@runtime_checkable
class Agent(Protocol):
    """A player of many games at once, from either side.

    An agent keeps whatever it likes between calls; row i of every batch is the same game until ``reset`` says that
    it is a new one.
    """

    name: str
    """What tables call it."""
    observation: Encoding
    """The encoding of the observations that it wants."""

    def reset(self, new_games: NDArray[np.bool_]) -> None:
        """Hear that games begin.

        Args:
            new_games: (n,), True where a row of the batch begins a new game. The number of rows may change only when
                all are new.
        """

    def act(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Give orders for one decision phase.

        Args:
            observations: (n, size), what the agent's side sees of each game, in its encoding.
            action_masks: (n, 11, 28) int8, 1 where a satellite may be given an order.
            generator: where the agent takes its chance from.

        Returns:
            (n, 11) int64 order codes; illegal ones count as noop.
        """
        ...
