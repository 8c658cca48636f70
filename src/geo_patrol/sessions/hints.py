"""Hints: the orders that the searching agent finds best, with its estimate of them."""

from dataclasses import dataclass

import numpy as np

from geo_patrol.agents.search import Search, SearchAgent
from geo_patrol.game import Game
from geo_patrol.notation import Order, read_orders
from geo_patrol.sides import SIDES, Side

HINT_AGENT = SearchAgent(Search(budget="1s"))


@dataclass(frozen=True)
class Hint:
    """Suggested orders.

    Attributes:
        orders: for the satellites that should not hold.
        win_probability: the fraction of the games won that the search played out with them, draws counted as half.
        rollouts: how many games those were.
    """

    orders: tuple[Order, ...]
    win_probability: float
    rollouts: int

    @property
    def estimate(self) -> str:
        """How well they did, in words."""
        return f"won {self.win_probability:.0%} of {self.rollouts} games played out"

    @property
    def texts(self) -> tuple[str, str, str]:
        """The hint in fewer and fewer words."""
        wins = f"Hint: won {self.win_probability:.0%}"
        return (
            f"Hint: {self.estimate}; T, or a click here, takes it",
            f"{wins} of {self.rollouts} games; T takes it",
            f"{wins}; T takes it",
        )


def find_hint(game: Game, side: Side) -> Hint:
    """Search for the best orders of a side that has a choice; it takes a second.

    Args:
        game: the position; it is not changed, and its random stream stays unknown to the search.
        side: who orders.
    """
    index, rng = SIDES.index(side), np.random.default_rng()
    HINT_AGENT.hurried().advise(game.fork(), index, rng)  # the first time it compiles, which must not cost the budget
    advice = HINT_AGENT.advise(game.fork(), index, rng)
    return Hint(tuple(read_orders(advice.orders)), advice.win_probability, advice.rollouts)
