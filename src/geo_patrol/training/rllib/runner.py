"""The environment runner of a league: opponents change while it samples."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.networks import NetworkAgent
from geo_patrol.agents.networks.rllib_network import RLlibNetwork
from geo_patrol.envs.adapters.rllib_runner import BatchEnvRunner
from geo_patrol.training.rllib.evaluation import copy_module

SELF = "the policy itself"
"""The name of the opponent that plays by the weights being trained."""


class PastPolicy(NamedTuple):
    """A past policy: its name, and the state of its module."""

    name: str
    state: dict[str, Any]


Mixture = Sequence[tuple[str | PastPolicy, float]]


class LeagueEnvRunner(BatchEnvRunner):
    """Plays against a league's opponents, with rewards for the score besides those for the outcome."""

    def __init__(self, **arguments: Any) -> None:
        self._past: dict[str, NetworkAgent] = {}
        self._score_coef = 0.0
        super().__init__(**arguments)

    def set_league(self, mixture: Mixture, score_coef: float) -> None:
        """Let games that begin from now on take their opponents from a mixture.

        Args:
            mixture: names of agents, ``SELF`` or past policies, each with its weight.
            score_coef: reward of 100 points of score; a win is 1.
        """
        self._score_coef = score_coef
        if self.env is None:
            return
        opponents = [(self._find_opponent(spec), weight) for spec, weight in mixture]
        self._past = {agent.name: agent for agent, _ in opponents if not isinstance(agent, str)}
        self.env.unwrapped.set_opponents(opponents)

    def _find_opponent(self, spec: str | PastPolicy) -> str | NetworkAgent:
        """Return an agent; the same one as in the mixture before, so that its games go on as one batch."""
        name = spec if isinstance(spec, str) else spec.name
        if isinstance(spec, str) and spec != SELF:
            return spec
        if name not in self._past:
            module = self.module if isinstance(spec, str) else copy_module(self.module, spec.state)
            self._past[name] = NetworkAgent(name, RLlibNetwork(module))
        return self._past[name]

    def shape_rewards(self, rewards: NDArray[np.float64], infos: dict[str, Any]) -> NDArray[np.float64]:
        """Return 1 for a win, -1 for a loss, and ``score_coef`` for 100 points of score."""
        return self._score_coef * rewards / 100 + infos["finished_episode"]["outcome"]
