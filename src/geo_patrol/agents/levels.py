"""Opponents in nine steps, from a beginner to the best, and the rating of somebody who has played them."""

import json
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.basic import StatelessAgent
from geo_patrol.agents.policy import PolicyAgent, split_policy
from geo_patrol.base.errors import suggest
from geo_patrol.engine.state import NOOP


class Level(NamedTuple):
    """An opponent.

    Attributes:
        name: what it is called.
        missed: the probability that one of its satellites misses its order.
        rating: its Elo rating among the levels, on ``geo_patrol``, as measured in one tournament.
        style: how it plays, in a sentence.
    """

    name: str
    missed: float
    rating: int
    style: str

    @property
    def agent(self) -> str:
        """The name of the agent."""
        return f"level:{self.name.lower()}"


_DATA = resources.files("geo_patrol.agents") / "data"
RATINGS = _DATA / "ratings.json"
"""The result of the tournament, which ``research/rate_levels.py`` plays."""


@cache
def read_levels() -> tuple[Level, ...]:
    """Return the levels, the weakest first."""
    levels = tomllib.loads((_DATA / "levels.toml").read_text("utf-8"))["levels"]
    measured = json.loads(RATINGS.read_text("utf-8"))["rating, low, high"]
    return tuple(Level(**level, rating=measured[f"level:{level['name'].lower()}"][0]) for level in levels)


@cache
def _base(network: int | Literal["rules"] | None) -> PolicyAgent:
    return PolicyAgent("base", network=network)


class LevelAgent(StatelessAgent):
    """Plays by the policy that comes with the package, but each of its satellites misses its order now and then.

    Args:
        name: the name of a level, such as "telstar", or its number from "1" to "9"; "telstar,network=3" plays all games by one
            network of the policy, see ``PolicyAgent``.

    Raises:
        ValueError: there is no such level or no such network.
    """

    stateless = True

    def __init__(self, name: str = "telstar") -> None:
        levels = read_levels()
        known = {key: level for i, level in enumerate(levels, 1) for key in (str(i), level.name.lower())}
        label, network, is_greedy = split_policy(name)
        if label.lower() not in known or is_greedy:
            names = [level.name.lower() for level in levels]
            hint = suggest(name.lower(), names) or f"; levels are 1 to {len(levels)} or {', '.join(names)}"
            raise ValueError(f"there is no level {name!r}{hint}")
        self.level, self.policy = known[label.lower()], _base(network)
        self.name = self.level.agent if network is None else f"{self.level.agent},network={network}"

    def act(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Choose the orders of one decision phase, (n, 11).

        Raises:
            ValueError: observations or masks have another shape or type.
            PolicyError: the board has more than five rings.
        """
        orders = self.policy.act(observations, action_masks, generator)
        orders[generator.random(orders.shape) < self.level.missed] = NOOP
        return orders

    def order_probabilities(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8]
    ) -> NDArray[np.floating[Any]]:
        """Return the probabilities of each satellite's orders, (n, 11, 28).

        Raises:
            ValueError: observations or masks have another shape or type.
            PolicyError: the board has more than five rings.
        """
        likely = self.policy.order_probabilities(observations, action_masks) * (1 - self.level.missed)
        likely[..., NOOP] += self.level.missed
        return likely


class Rating(NamedTuple):
    """A rating with its interval of 95%."""

    rating: int
    low: int
    high: int
    games: int


_SCALE = 400 / np.log(10)
"""Elo points for a factor of e in the odds."""


def rate(results: Iterable[tuple[float, float]]) -> Rating | None:
    """Return the rating of a player who met opponents with known ratings; None without games.

    The likelihood of the results times Jeffreys' prior, which keeps the rating of somebody who has only won or only lost
    finite, is evaluated on a grid; the rating is its mean.

    Args:
        results: the rating of each opponent, and the result: 1 won, 0.5 drawn, 0 lost.
    """
    games = np.array(list(results), np.float64).reshape(-1, 2)
    if not len(games):
        return None
    grid = np.arange(games[:, 0].min() - 1500, games[:, 0].max() + 1500, 5.0)
    won = games[:, 1]
    ahead = (grid[:, None] - games[:, 0]) / _SCALE
    # Logarithms of the expected result and of its complement, without either where it is no number but zero.
    won_log, lost_log = -np.logaddexp(0, -ahead), -np.logaddexp(0, ahead)
    logarithm = (won * won_log + (1 - won) * lost_log).sum(axis=1)
    logarithm += 0.5 * np.logaddexp.reduce(won_log + lost_log, axis=1)
    weights = np.exp(logarithm - logarithm.max())
    weights /= weights.sum()
    low, high = np.interp((0.025, 0.975), weights.cumsum(), grid)
    return Rating(round(float(weights @ grid)), round(low), round(high), len(games))
