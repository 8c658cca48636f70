"""PPO against a league: scripted agents, past policies that passed a sequential test, and the policy itself."""

from collections import deque
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from ray.rllib.algorithms.algorithm import Algorithm
from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.utils.metrics import ENV_RUNNER_RESULTS, NUM_ENV_STEPS_SAMPLED_LIFETIME

from geo_patrol.config.presets import ConfigSource
from geo_patrol.envs.adapters.rllib import PPO_SETTINGS, add_games, add_joined_learning
from geo_patrol.evaluation.statistics import Hypothesis, Sprt
from geo_patrol.training.config import SCRIPTED_OPPONENTS
from geo_patrol.training.league import RECENT_GAMES, League
from geo_patrol.training.rllib.evaluation import get_state, make_agent, play_sequentially
from geo_patrol.training.rllib.module import PolicyLearner, PolicyModule
from geo_patrol.training.rllib.runner import SELF, LeagueEnvRunner, PastPolicy

_MIN_ANNEAL = 0.02
_FRAGMENT_LENGTH = 16
_LEAGUE = "league"


@dataclass(frozen=True, kw_only=True)
class LeagueSettings:
    """Settings of a league.

    Attributes:
        opponents: names of agents that are in it from the beginning, and stay.
        self_play_fraction: fraction of the games against the policy itself.
        total_steps: environment steps over which ``score_coef``, learning rate and entropy bonus decline to 2 %.
        score_coef: reward of 100 points of score at first; a win is 1.
        resample_interval: iterations after which past policies are sampled anew.
        candidate_interval: iterations after which the policy is tested against the newest past policy; if it is
            stronger, it joins the league.
        promotion: the test.
        max_test_games: after which the test ends without a promotion, an even number.
    """

    opponents: tuple[str, ...] = SCRIPTED_OPPONENTS
    self_play_fraction: float = 0.1
    total_steps: int = 6_000_000
    score_coef: float = 0.5
    resample_interval: int = 8
    candidate_interval: int = 40
    promotion: Sprt = field(default_factory=lambda: Sprt(0, 50))
    max_test_games: int = 400


class LeaguePPO(PPO):
    """PPO against a league.

    The league is part of checkpoints. ``train`` returns under "league" the win rates in the latest training games by
    opponent, and the number of past policies.
    """

    config: "LeaguePPOConfig"

    @classmethod
    def get_default_config(cls) -> "LeaguePPOConfig":
        """Return the default configuration."""
        return LeaguePPOConfig()

    def setup(self, config: Any) -> None:
        """Build everything; the initial policy is the first past policy."""
        super().setup(config)
        self.settings = self.config.league_settings
        self.league: League[PastPolicy] = League(self.settings.opponents, np.random.default_rng(self.config.seed))
        self._add_past_policy()
        self._resample_opponents()

    @property
    def num_steps(self) -> int:
        """Environment steps so far."""
        return int(self.metrics.peek((ENV_RUNNER_RESULTS, NUM_ENV_STEPS_SAMPLED_LIFETIME), default=0))

    def training_step(self) -> None:
        """Sample and update once; from time to time test the policy, and sample opponents anew."""
        super().training_step()
        for results in self.env_runner_group.foreach_env_runner(lambda runner: runner.take_results()):
            for (name, outcome), count in results.items():
                self.league.record([name] * count, [outcome] * count)
        iteration = self.training_iteration + 1
        if iteration % self.settings.candidate_interval == 0 and self.test_candidate() == "elo1":
            self._add_past_policy()
        if iteration % self.settings.resample_interval == 0:
            self._resample_opponents()
        for name in self.league.results:
            self.metrics.log_value((_LEAGUE, "win_rate", name), self.league.win_rate(name), window=1)
        self.metrics.log_value((_LEAGUE, "past_policies"), len(self.league.past_policies), window=1)

    def test_candidate(self) -> Hypothesis | None:
        """Test the policy against the newest past policy: "elo1" is accepted if it is stronger."""
        newest = list(self.league.past_policies.values())[-1]
        return play_sequentially(
            make_agent(self, SELF),
            make_agent(self, newest.name, newest.state),
            self.settings.promotion,
            config=self.config.env_config["config"],
            max_games=self.settings.max_test_games,
            seed=self.num_steps,
        )

    def _add_past_policy(self) -> None:
        name = f"policy at step {self.num_steps:,}"
        self.league.add(name, PastPolicy(name, get_state(self)))

    def _resample_opponents(self) -> None:
        mixture: list[tuple[str | PastPolicy, float]] = list(self.league.sample_mixture())
        fraction = self.settings.self_play_fraction
        if fraction > 0:
            total = sum(weight for _, weight in mixture)
            mixture = [(spec, (1 - fraction) * weight / total) for spec, weight in mixture] + [(SELF, fraction)]
        anneal = max(1 - self.num_steps / self.settings.total_steps, _MIN_ANNEAL)
        score_coef = self.settings.score_coef * anneal
        self.env_runner_group.foreach_env_runner(lambda runner: runner.set_league(mixture, score_coef))

    def get_state(self, *arguments: Any, **options: Any) -> dict[str, Any]:
        """Return the state, with the league."""
        past = {name: policy.state for name, policy in self.league.past_policies.items()}
        results = {name: list(outcomes) for name, outcomes in self.league.results.items()}
        return super().get_state(*arguments, **options) | {_LEAGUE: {"past_policies": past, "results": results}}

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue from a state."""
        super().set_state(state)
        if _LEAGUE in state:
            past = state[_LEAGUE]["past_policies"]
            self.league.past_policies = {name: PastPolicy(name, weights) for name, weights in past.items()}
            for name, outcomes in state[_LEAGUE]["results"].items():
                self.league.results[name] = deque(outcomes, maxlen=RECENT_GAMES)
            self._resample_opponents()


class LeaguePPOConfig(PPOConfig):
    """The configuration of ``LeaguePPO``: RLlib's for PPO, with the method ``league``."""

    def __init__(self, algo_class: type[Algorithm] | None = None) -> None:
        super().__init__(algo_class=algo_class or LeaguePPO)
        self.league_settings = LeagueSettings()

    def league(self, **settings: Any) -> Self:
        """Change settings of the league, see ``LeagueSettings``."""
        self.league_settings = replace(self.league_settings, **settings)
        return self


def league_config(config: ConfigSource = "geo_patrol", *, num_envs: int = 512, **settings: Any) -> LeaguePPOConfig:
    """Return a configuration of self-play with the network and the hyperparameters of ``geo_patrol.training``.

    Args:
        config: a preset's name, the path of a TOML file, its content as a mapping, or a ``GameConfig``.
        num_envs: environments of each runner.
        settings: of the league, see ``LeagueSettings``.
    """
    result = LeaguePPOConfig().league(**settings)
    steps = result.league_settings.total_steps
    opponents = dict.fromkeys(result.league_settings.opponents, 1.0)
    add_games(result, config, num_envs, observation="tokens", seats="alternate", opponent=opponents)
    result.env_runners(env_runner_cls=LeagueEnvRunner)
    training: dict[str, Any] = PPO_SETTINGS | {
        "lr": [[0, 1e-3], [steps, _MIN_ANNEAL * 1e-3]],
        "entropy_coeff": [[0, 0.005], [steps, _MIN_ANNEAL * 0.005]],
        "train_batch_size_per_learner": _FRAGMENT_LENGTH * num_envs,
        "minibatch_size": _FRAGMENT_LENGTH * num_envs // 8,
    }
    spec = RLModuleSpec(module_class=PolicyModule)
    add_joined_learning(result.training(**training)).learners(learner_class=PolicyLearner)
    return result.rl_module(rl_module_spec=spec)
