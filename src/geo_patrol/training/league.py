"""The league: scripted opponents and past policies, sampled by prioritised fictitious self-play.

Opponents that are hard to beat are sampled more often (PFSP; Vinyals et al., "Grandmaster level in StarCraft II using
multi-agent reinforcement learning", 2019): with a weight of ``(1 - win rate) ** p``. Who is hard to beat on one board may be
easy on another, so each configuration has a league of its own; past policies join all of them.
"""

import importlib.util
import itertools
import time
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from torch import Tensor

from geo_patrol.agents.memory import OrderMemory
from geo_patrol.agents.policy import PolicyAgent
from geo_patrol.agents.protocol import Agent, agent_name, unique_name
from geo_patrol.agents.registry import as_agent, make_agent
from geo_patrol.base.errors import ConfigError
from geo_patrol.config.schema import GameConfig
from geo_patrol.engine.observe import TOKEN_SIZE
from geo_patrol.engine.state import NUM_SIDES
from geo_patrol.envs.make import make_vec
from geo_patrol.training.config import TrainingConfig
from geo_patrol.training.network import PolicyNetwork, TrainingAgent

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
        opponents: agents, by name or as objects, that are there from the beginning and stay.
        rng: samples past policies.
        weights: fixed weights of the opponents; by default they are sampled by priority.
    """

    def __init__(self, opponents: Iterable[str | Any], rng: np.random.Generator, weights: Sequence[float] = ()) -> None:
        self.rng, self._weights = rng, weights
        self.past_policies: dict[str, Policy] = {}
        self._opponents = {agent_name(agent): agent for agent in opponents}
        self._given_names: dict[str, str] = {}
        """Of those that call themselves otherwise, as agents in files may."""
        for name, agent in self._opponents.items():
            self._given_names[unique_name(as_agent(agent, "an opponent").name, self._given_names)] = name
        self.results = {name: deque[float](maxlen=RECENT_GAMES) for name in self._opponents}

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
        weights = self._weights or [0.01 + (1 - self.win_rate(name)) ** 1.5 for name in self._opponents]
        mixture: list[tuple[str | Policy, float]] = list(zip(self._opponents.values(), weights, strict=True))
        past = list(self.past_policies)
        if past:
            priorities = np.array([0.05 + (1 - self.win_rate(name)) ** 2 for name in past])
            count = min(PAST_POLICIES_PER_MIXTURE, len(past))
            sampled = self.rng.choice(past, count, replace=False, p=priorities / priorities.sum())
            weight = sum(weights) / 2 / count
            mixture += [(self.past_policies[name], weight) for name in sampled]
        return mixture

    def record(self, names: Sequence[str], outcomes: Iterable[int]) -> None:
        """Record results of games: outcome 1 won, 0 drawn, -1 lost, against the opponents that an environment calls so."""
        for own_name, outcome in zip(names, outcomes, strict=True):
            name = self._given_names.get(own_name, own_name)
            if name in self.results:  # a past policy may have left
                self.results[name].append(float(outcome + 1) / 2)


_SEED_STRIDE = 1_000_003  # between the vector environments of a run


class TrainingEnvs:
    """Several vector environments, stepped as one batch. With a GPU and the extra ``[cuda]`` its games are there.

    Args:
        config: the settings.
        leagues: whom the policy meets in each configuration, as ``make_leagues`` returns them.
        seed: of the games.
        device: where the policy is.

    Attributes:
        num_envs: rows of the batch.
        observations: (num_envs, 249) int16, the current observations, where the games are; behind them what a policy with a
            memory remembers, (num_envs, 22).
        masks: (num_envs, 11, 28) int8, the current action masks.
        score_coef: reward of 100 points of score, beside the outcome's 1 or -1.
        seconds: time spent in steps of the environments, opponents included. A GPU's steps go on after they return.
    """

    def __init__(
        self, config: TrainingConfig, leagues: Sequence[League[TrainingAgent]], seed: int, device: torch.device
    ) -> None:
        self.score_coef, self.seconds = config.score_coef, 0.0
        self.envs, self._leagues = _make_envs(config, leagues, str(device) if has_games_on(device) else "cpu")
        self._finished: list[list[Tensor]] = [[] for _ in self.envs]
        bounds = np.cumsum([0, *(env.num_envs for env in self.envs)])
        self._rows = [slice(start, stop) for start, stop in itertools.pairwise(bounds)]
        self.num_envs = int(bounds[-1])
        first = [env.reset(seed=seed + _SEED_STRIDE * i) for i, env in enumerate(self.envs)]
        self._takes_tensors = isinstance(first[0][0], torch.Tensor)
        if config.memory and self._takes_tensors and config.num_past_policies:
            raise ConfigError(
                "num_past_policies must be 0 on a GPU if the policy has a memory: it is no opponent there"
            )
        self._memories = [OrderMemory() for _ in self.envs] if config.memory else []
        self.observations = torch.cat([self._observe(index, each) for index, (each, _) in enumerate(first)])
        self.masks = torch.cat([torch.as_tensor(infos["action_mask"]) for _, infos in first])

    def step(self, actions: Tensor) -> tuple[Tensor, Tensor]:
        """Play one decision phase of all games.

        Returns:
            Rewards, float32, and dones, (num_envs,). A win is 1; a score difference counts ``score_coef`` for 100 points,
            as the outcome alone is so rare at first that learning takes off much later.
        """
        device = self.observations.device
        rewards = torch.empty(self.num_envs, device=device)
        dones = torch.empty(self.num_envs, dtype=torch.bool, device=device)
        actions = actions.to(device)
        for index, (env, finished_games, rows) in enumerate(zip(self.envs, self._finished, self._rows, strict=True)):
            start = time.perf_counter()
            orders = actions[rows] if self._takes_tensors else actions[rows].numpy()
            observations, points, terminated, _, infos = env.step(orders)
            if self._memories:
                self._memories[index].reset(torch.as_tensor(terminated).cpu().numpy())
            self.observations[rows] = self._observe(index, observations)
            self.masks[rows] = torch.as_tensor(infos["action_mask"])
            self.seconds += time.perf_counter() - start
            episode, finished = infos["finished_episode"], torch.as_tensor(infos["_finished_episode"])
            outcome, dones[rows] = torch.as_tensor(episode["outcome"]), torch.as_tensor(terminated)  # 0 of the others
            rewards[rows] = self.score_coef * torch.as_tensor(points).float() / 100 + torch.where(finished, outcome, 0)
            if env.opponent_names:
                opponent = torch.as_tensor(episode["opponent"])
                finished_games.append(torch.stack([torch.where(finished, opponent, -1), outcome]))
        return rewards, dones

    def _observe(self, index: int, observations: Any) -> Tensor:
        """Return the inputs of the network in the games of an environment, from what a step of it returned."""
        seen = torch.as_tensor(observations)
        if not self._memories:
            return seen[:, :TOKEN_SIZE]
        remembered = torch.as_tensor(self._memories[index].update(seen.cpu().numpy()), device=seen.device)
        return torch.cat([seen[:, :TOKEN_SIZE], remembered], 1)

    def record_results(self) -> None:
        """Tell the leagues how the games ended that finished since the last call: once a rollout, as a GPU is waited for."""
        for env, league, finished_games in zip(self.envs, self._leagues, self._finished, strict=True):
            if finished_games:
                opponents, outcomes = torch.cat(finished_games, 1).cpu().numpy()
                over = opponents >= 0
                league.record([env.opponent_names[index] for index in opponents[over]], outcomes[over])
                finished_games.clear()

    def resample_opponents(self) -> None:
        """Let games that begin from now on take their opponents from the current mixture of their league."""
        for env, league in zip(self.envs, self._leagues, strict=True):
            if env.opponent_names:
                env.set_opponents(league.sample_mixture())


def has_games_on(device: torch.device) -> bool:
    """Return whether the games of a training are on this device too: a GPU, with the extra ``[cuda]``."""
    return device.type == "cuda" and importlib.util.find_spec("numba_cuda") is not None


def make_leagues(config: TrainingConfig, rng: np.random.Generator, device: torch.device) -> list[League[TrainingAgent]]:
    """Return a league with the opponents of a training for each of its configurations."""
    opponents: list[str | Agent] = [*config.opponents, *config.extra_opponents]
    leagues = []
    for game_config, _ in _share_envs(config):
        able = [_as_network(each, game_config, device) for each in opponents] if has_games_on(device) else opponents
        leagues.append(League[TrainingAgent](able, rng, config.opponent_weights))
    return leagues


def _as_network(opponent: str | Agent, config: GameConfig, device: torch.device) -> str | Agent:
    """Return a policy as its network on a device, where it plays games of a configuration; other agents as they are."""
    agent = make_agent(opponent) if isinstance(opponent, str) else opponent
    if not isinstance(agent, PolicyAgent) or agent.greedy:
        return opponent
    return TrainingAgent(PolicyNetwork(agent.weights_for([config])).to(device), agent_name(opponent))


def _share_envs(config: TrainingConfig) -> list[tuple[GameConfig, int]]:
    """Return the configurations of a training, each once, with how many of the environments play it."""
    configs = config.game_configs
    return [  # not a Counter: a configuration with variants has no hash
        (game_config, config.num_envs * configs.count(game_config) // len(configs))
        for index, game_config in enumerate(configs)
        if game_config not in configs[:index]
    ]


def _make_envs(
    config: TrainingConfig, leagues: Sequence[League[TrainingAgent]], device: str
) -> tuple[list[Any], list[League[TrainingAgent]]]:
    """Return environments for games against the leagues and for self-play, and the league of each."""
    # What a step returns is copied into the rows of the batch, or used, before the next step.
    options: dict[str, Any] = {"observation": "tokens", "reward": "score", "autoreset": "same_step", "copy": False}
    options["device"] = device
    envs: list[Any] = []
    league_of_env: list[League[TrainingAgent]] = []
    for (game_config, num_envs), league in zip(_share_envs(config), leagues, strict=True):
        self_play_games = round(num_envs * config.self_play_fraction / NUM_SIDES)
        league_games = num_envs - NUM_SIDES * self_play_games
        if league_games > 0:
            opponents = league.sample_mixture()
            envs.append(make_vec(game_config, league_games, opponent=opponents, seats="alternate", **options))
        if self_play_games > 0:
            envs.append(make_vec(game_config, self_play_games, opponent=None, seats="both", **options))
        league_of_env += [league] * (len(envs) - len(league_of_env))
    return envs, league_of_env
