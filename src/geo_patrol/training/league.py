"""The league: scripted opponents and past policies, sampled by prioritised fictitious self-play.

Opponents that are hard to beat are sampled more often (PFSP; Vinyals et al., "Grandmaster level in StarCraft II using
multi-agent reinforcement learning", 2019): with a weight of ``(1 - win rate) ** p``.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

import numpy as np

Policy = TypeVar("Policy")
"""What a league holds of a past policy: an agent, or weights that another process makes one of."""

MAX_PAST_POLICIES = 24
"""Past policies in the league; beyond them the easiest one leaves."""
PAST_POLICIES_PER_MIXTURE = 2
"""Past policies sampled for new games: each is evaluated as a batch of its own, so many of them cost time."""
RECENT_GAMES = 400
"""Latest games against an opponent that its win rate is taken of."""
_PRIOR_WINS, _PRIOR_GAMES = 5, 10


class League(Generic[Policy]):
    """Opponents, and the policy's results against each.

    Args:
        opponents: names of agents that are there from the beginning and stay.
        rng: samples past policies.
        weights: fixed weights of the opponents; by default they are sampled by priority.
    """

    def __init__(self, opponents: Iterable[str], rng: np.random.Generator, weights: Sequence[float] = ()) -> None:
        self.rng, self._weights = rng, weights
        self.past_policies: dict[str, Policy] = {}
        self.results = {name: deque[float](maxlen=RECENT_GAMES) for name in opponents}
        self._names = tuple(self.results)

    def add(self, name: str, policy: Policy) -> None:
        """Add a past policy; the easiest other one leaves when there are too many."""
        self.past_policies[name] = policy
        self.results[name] = deque(maxlen=RECENT_GAMES)
        if len(self.past_policies) > MAX_PAST_POLICIES:
            easiest = max(list(self.past_policies)[:-1], key=self.win_rate)
            del self.past_policies[easiest], self.results[easiest]

    def win_rate(self, name: str) -> float:
        """Return the policy's win rate in its latest games against an opponent, with a prior of one half."""
        results = self.results.get(name, ())
        return (sum(results) + _PRIOR_WINS) / (len(results) + _PRIOR_GAMES)

    def sample_mixture(self) -> list[tuple[str | Policy, float]]:
        """Return opponents for new games with their weights: all agents, and a few past policies in a third of games."""
        by_priority = [0.01 + (1 - self.win_rate(name)) ** 1.5 for name in self._names]
        weights = dict(zip(self._names, self._weights or by_priority, strict=True))
        mixture: list[tuple[str | Policy, float]] = list(weights.items())
        past = list(self.past_policies)
        if past:
            priorities = np.array([0.05 + (1 - self.win_rate(name)) ** 2 for name in past])
            count = min(PAST_POLICIES_PER_MIXTURE, len(past))
            sampled = self.rng.choice(past, count, replace=False, p=priorities / priorities.sum())
            weight = sum(weights.values()) / 2 / count
            mixture += [(self.past_policies[name], weight) for name in sampled]
        return mixture

    def record(self, names: Sequence[str], outcomes: Iterable[int]) -> None:
        """Record results of games: outcome 1 won, 0 drawn, -1 lost, against the opponents of these names."""
        for name, outcome in zip(names, outcomes, strict=True):
            if name in self.results:  # a past policy may have left
                self.results[name].append(float(outcome + 1) / 2)
