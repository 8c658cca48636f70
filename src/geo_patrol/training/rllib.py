"""Self-play on RLlib, the extra ``rllib``: PPO against a league of scripted agents and past policies."""

from collections import deque
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.networks import NetworkAgent, RLlibNetwork
from geo_patrol.agents.policy import PolicyAgent, Widths, initial_weights, shapes, widths_of
from geo_patrol.agents.protocol import Agent
from geo_patrol.base.errors import PolicyError, optional_import
from geo_patrol.config.presets import ConfigSource
from geo_patrol.engine.state import ORDERS
from geo_patrol.evaluation.match import play_match
from geo_patrol.evaluation.statistics import Hypothesis, Rate, Sprt, pair_scores

with optional_import("rllib"):
    import torch
    from ray.rllib.algorithms.algorithm import Algorithm
    from ray.rllib.algorithms.ppo import PPO, PPOConfig
    from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
    from ray.rllib.core import DEFAULT_MODULE_ID
    from ray.rllib.core.columns import Columns
    from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
    from ray.rllib.core.rl_module.rl_module import RLModule, RLModuleSpec
    from ray.rllib.core.rl_module.torch import TorchRLModule
    from ray.rllib.evaluation.postprocessing import Postprocessing
    from ray.rllib.utils.metrics import ENV_RUNNER_RESULTS, NUM_ENV_STEPS_SAMPLED_LIFETIME

    from geo_patrol.adapters.rllib import (
        PPO_SETTINGS,
        BatchEnvRunner,
        RLlibOrderDistribution,
        add_games,
        add_joined_learning,
    )
    from geo_patrol.training.config import EVAL_OPPONENTS, SCRIPTED_OPPONENTS
    from geo_patrol.training.league import RECENT_GAMES, League
    from geo_patrol.training.network import PolicyNetwork, sample_actions
    from geo_patrol.training.ppo import Batch, ppo_loss
    from geo_patrol.training.selfplay import evaluate

__all__ = [
    "LeaguePPO",
    "LeaguePPOConfig",
    "LeagueSettings",
    "PolicyLearner",
    "PolicyModule",
    "evaluate_against",
    "league_config",
]


ORDER_LOG_PROBS = "order_log_probs"
"""The column of the log-probabilities of each satellite's order, (n, 11)."""


class PolicyModule(TorchRLModule, ValueFunctionAPI):
    """The network of the agent ``policy``, on observations in tokens; ``PolicyLearner`` trains it.

    ``model_config`` may have ``seed`` for random weights, or ``initial_policy``, the name or the file of a policy to
    start from, such as "base": of several networks, that for all rules and the largest boards. ``network.weights()`` are the weights
    for ``geo_patrol.agents.policy``.
    """

    network: PolicyNetwork

    def setup(self) -> None:
        """Build the network."""
        policy = self.model_config.get("initial_policy")
        if policy is None:
            weights = initial_weights(shapes(Widths()), np.random.default_rng(self.model_config.get("seed", 0)))
        else:
            weights = dict(PolicyAgent(policy).weights)
        if (components := widths_of(weights).components) > 1 or "memory" in weights:
            has = "several" if components > 1 else "a memory"
            raise PolicyError(
                f"initial_policy = {policy!r}: RLlib trains policies of one component without a memory, and it has {has}"
            )
        self.network = PolicyNetwork(weights)
        self.action_dist_cls = RLlibOrderDistribution

    def _forward_exploration(self, batch: dict[str, Any], **_: Any) -> dict[str, Any]:
        actions, log_probs, _values = sample_actions(self.network, *_read(batch))
        return {Columns.ACTIONS: actions, Columns.ACTION_LOGP: log_probs.sum(1), ORDER_LOG_PROBS: log_probs}

    def _forward_inference(self, batch: dict[str, Any], **_: Any) -> dict[str, Any]:
        observations, masks = _read(batch)
        scores = self.network(observations, masks)
        all_logits = scores.logits.new_zeros(masks.shape).masked_fill_(~masks, -1e9)
        all_logits.view(-1, ORDERS)[scores.choices] = scores.logits[:, 0]
        return {Columns.ACTION_DIST_INPUTS: all_logits.flatten(1)}

    def _forward_train(self, batch: dict[str, Any], **_: Any) -> dict[str, Any]:
        scores = self.network(*_read(batch))
        return {"choices": scores.choices, "logits": scores.logits[:, 0], "values": scores.values}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> torch.Tensor:  # noqa: ARG002 - RLlib's
        """Return the values of observations, (n,)."""
        return self.network.values(_read(batch)[0])


def _read(batch: dict[str, Any]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return observations and masks as ``PolicyNetwork`` takes them."""
    observations = batch[Columns.OBS]
    return observations["observation"], observations["action_mask"].bool()


class PolicyLearner(PPOTorchLearner):
    """PPO with the loss of ``geo_patrol.training``: the probability ratio is clipped for each satellite's order.

    RLlib's own loss clips the ratio of a side's joint action, which with eleven satellites is clipped nearly always.
    """

    def compute_loss_for_module(
        self, *, module_id: str, config: Any, batch: dict[str, Any], fwd_out: dict[str, Any]
    ) -> torch.Tensor:
        """Return the loss of a minibatch."""
        transitions = Batch(
            *_read(batch),
            batch[Columns.ACTIONS],
            batch[ORDER_LOG_PROBS],
            batch[Postprocessing.ADVANTAGES],
            batch[Postprocessing.VALUE_TARGETS],
        )
        ent_coef = self.entropy_coeff_schedulers_per_module[module_id].get_current_value()
        output = fwd_out["choices"], fwd_out["logits"], fwd_out["values"]
        loss, metrics = ppo_loss(output, transitions, config.clip_param, config.vf_loss_coeff, ent_coef)
        self.metrics.log_dict(metrics, key=module_id, window=1)
        return loss


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
        seed: seed of the first batch of games; the others follow.

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
) -> dict[str, Rate]:
    """Return the win rates of an algorithm's policy in matches.

    Args:
        algorithm: any of RLlib's that was set up by ``league_config``, ``ppo_config`` or ``add_games``.
        opponents: names of agents.
        games: in each match, an even number.
        config: a preset's name, the path of a TOML file, its content as a mapping, or a ``GameConfig``.
    """
    agent = make_agent(algorithm, "training")
    return evaluate(agent, opponents, config=config, games=games, seed=algorithm.training_iteration)


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


_MIN_ANNEAL = 0.02
_FRAGMENT_LENGTH = 16
_LEAGUE = "league"


@dataclass(frozen=True, kw_only=True)
class LeagueSettings:
    """Settings of a league.

    Attributes:
        opponents: names of agents that are in it from the beginning, and stay.
        self_play_fraction: fraction of the games against the policy itself.
        total_steps: environment steps over which ``score_coef``, learning rate and entropy bonus decline to 2%.
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
        settings: settings of the league, see ``LeagueSettings``.
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
