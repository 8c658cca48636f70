"""An algorithm's policy as an agent, and its matches: evaluations, and the test that lets it into the league."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from ray.rllib.algorithms.algorithm import Algorithm
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.rl_module.rl_module import RLModule

from geo_patrol.agents.networks import NetworkAgent
from geo_patrol.agents.networks.rllib_network import RLlibNetwork
from geo_patrol.agents.protocol import Agent
from geo_patrol.config.presets import ConfigSource
from geo_patrol.evaluation.match import play_match
from geo_patrol.evaluation.statistics import Hypothesis, Sprt, pair_scores
from geo_patrol.training.config import EVAL_OPPONENTS
from geo_patrol.training.evaluation import WinRate

GAMES_BETWEEN_TESTS = 80
"""Games of a batch in ``play_sequentially``: the test is made after each batch."""


def copy_module(module: RLModule, state: dict[str, Any]) -> RLModule:
    """Return a module of the same kind with another state."""
    copied = deepcopy(module)
    copied.set_state(state)
    return copied


def get_state(algorithm: Algorithm) -> dict[str, Any]:
    """Return the state of the module that an algorithm trains."""
    state: dict[str, Any] = algorithm.learner_group.get_weights()[DEFAULT_MODULE_ID]
    return state


def make_agent(algorithm: Algorithm, name: str, state: dict[str, Any] | None = None) -> NetworkAgent:
    """Return an agent that goes on playing as an algorithm's module does now, or would with another state."""
    current = get_state(algorithm) if state is None else state
    return NetworkAgent(name, RLlibNetwork(copy_module(algorithm.env_runner.module, current)))


def play_sequentially(
    first: Agent, second: Agent, test: Sprt, *, config: ConfigSource, max_games: int, seed: int
) -> Hypothesis | None:
    """Play until a sequential test accepts a hypothesis.

    Args:
        first: the agent whose Elo difference is tested.
        second: its opponent.
        test: the hypotheses.
        config: see ``load_config``.
        max_games: after which the test gives up.
        seed: of the first batch of games; the others follow.

    Returns:
        The accepted hypothesis, None if the games did not suffice.
    """
    scores = np.empty(0, np.int64)
    for start in range(0, max_games, GAMES_BETWEEN_TESTS):
        games = min(GAMES_BETWEEN_TESTS, max_games - start)
        winner = play_match(first, second, config=config, games=games, seed=seed + start).winner
        scores = np.append(scores, pair_scores(winner))
        verdict = test.run(scores)[0]
        if verdict is not None:
            return verdict
    return None


def evaluate_against(
    algorithm: Algorithm,
    opponents: Sequence[str] = EVAL_OPPONENTS,
    *,
    games: int = 200,
    config: ConfigSource = "geo_patrol",
) -> dict[str, WinRate]:
    """Return the win rates of an algorithm's policy in matches.

    Args:
        algorithm: any of RLlib's that was set up by ``league_config``, ``ppo_config`` or ``add_games``.
        opponents: names of agents.
        games: in each match, an even number.
        config: a preset's name, the path of a TOML file, its content as a mapping, or a ``GameConfig``.
    """
    agent, seed = make_agent(algorithm, "training"), algorithm.training_iteration
    totals = {
        name: play_match(agent, name, config=config, games=games, seed=seed).summary().total for name in opponents
    }
    return {name: WinRate(float(total.win_rate), *map(float, total.win_interval)) for name, total in totals.items()}
