"""RLlib: a policy of legal orders, games as environments, and runners and learners that work on whole arrays.

RLlib's own pipeline for PPO lengthens every episode by a step, collects each column in a list of episodes, and computes
values of the lengthened batch, whose additional rows stay in it, masked: ``JoinEpisodes`` replaces it.
"""

import itertools
import math
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar, get_args

import numpy as np
from gymnasium.spaces import MultiDiscrete
from numpy.typing import NDArray

from geo_patrol.base.arguments import check_choice
from geo_patrol.base.errors import optional_import
from geo_patrol.config.presets import ConfigSource, load_config
from geo_patrol.engine.state import ORDERS, SATELLITES
from geo_patrol.envs.make import make_gymnasium_vec
from geo_patrol.envs.parallel import ParallelGeoPatrol
from geo_patrol.envs.satellites import SatellitesGeoPatrol
from geo_patrol.envs.vector import Agents, VectorGeoPatrol

with optional_import("rllib"):
    import torch
    from ray.rllib.algorithms.algorithm_config import AlgorithmConfig
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module import DefaultPPOTorchRLModule
    from ray.rllib.connectors.connector_v2 import ConnectorV2
    from ray.rllib.core import DEFAULT_MODULE_ID
    from ray.rllib.core.columns import Columns
    from ray.rllib.core.distribution.torch.torch_distribution import TorchDistribution
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.env.multi_agent_env import MultiAgentEnv
    from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner
    from ray.rllib.env.single_agent_episode import SingleAgentEpisode
    from ray.rllib.env.utils.infinite_lookback_buffer import InfiniteLookbackBuffer
    from ray.rllib.evaluation.postprocessing import Postprocessing
    from ray.rllib.utils.metrics import RLMODULE_INFERENCE_TIMER, WEIGHTS_SEQ_NO
    from ray.rllib.utils.postprocessing.value_predictions import compute_value_targets
    from ray.tune.registry import register_env


class JoinEpisodes(ConnectorV2):
    """Joins the episodes of ``BatchEnvRunner`` into a batch to train on, with advantages and value targets.

    Args:
        gamma: the discount factor.
        lambda_: lambda of generalised advantage estimation.
    """

    def __init__(self, *, gamma: float, lambda_: float) -> None:
        super().__init__()
        self._gamma, self._lambda = gamma, lambda_

    def __call__(self, *, rl_module: Any, episodes: Sequence[SingleAgentEpisode], **_: Any) -> dict[str, Any]:
        """Return the columns of all steps, for the only module."""
        module = rl_module[DEFAULT_MODULE_ID].unwrapped()
        device = next(module.parameters()).device
        columns = {Columns.ACTIONS: np.concatenate([episode.actions.data for episode in episodes])}
        for name in episodes[0].extra_model_outputs.keys() - {WEIGHTS_SEQ_NO}:
            columns[name] = np.concatenate([episode.extra_model_outputs[name].data for episode in episodes])
        observations = {
            name: torch.from_numpy(np.concatenate([episode.observations.data[name] for episode in episodes])).to(device)
            for name in episodes[0].observations.data
        }
        with torch.no_grad():
            values = module.compute_values({Columns.OBS: observations}).cpu().numpy()
        is_step, targets = self._compute_targets(episodes, values)
        advantages = targets - values[is_step]
        columns[Postprocessing.VALUE_TARGETS] = targets
        columns[Postprocessing.ADVANTAGES] = (advantages - advantages.mean()) / max(1e-4, advantages.std())
        batch: dict[str, Any] = {name: torch.from_numpy(column).to(device) for name, column in columns.items()}
        rows = torch.from_numpy(is_step).to(device)
        batch[Columns.OBS] = {name: array[rows] for name, array in observations.items()}
        return {DEFAULT_MODULE_ID: batch}

    def _compute_targets(
        self, episodes: Sequence[SingleAgentEpisode], values: NDArray[np.float32]
    ) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
        """Return which rows of the observations are those before a step, and the value targets of these.

        Every episode has one observation more, whose value its last step is bootstrapped from unless it ended the game.
        """
        last = np.cumsum([len(episode) + 1 for episode in episodes]) - 1
        is_step = np.ones(len(values), np.bool_)
        is_step[last] = False
        rewards = np.zeros(len(values), np.float32)
        rewards[is_step] = np.concatenate([episode.rewards.data for episode in episodes])
        terminations, truncations = np.zeros((2, len(values)), np.bool_)
        terminations[last - 1] = [episode.is_terminated for episode in episodes]
        truncations[last - 1] = ~terminations[last - 1]
        targets = compute_value_targets(values, rewards, terminations, truncations, self._gamma, self._lambda)
        return is_step, targets[is_step]


SEED_STRIDE = 1_000_003
"""Between the seeds of two runners: their games must differ."""
Arrays = dict[str, NDArray[Any]]


class BatchEnvRunner(SingleAgentEnvRunner):
    """Steps a ``VectorGeoPatrol`` with ``autoreset="same_step"`` and ``mask_in="obs"``.

    It returns the episodes that RLlib's ``SingleAgentEnvRunner`` would return. Connectors between environment and
    module, and callbacks on steps and episodes, are not called.

    Attributes:
        results: numbers of games by opponent and outcome (1 won, 0 drawn, -1 lost), see ``take_results``.
    """

    _needs_initial_reset: bool

    def __init__(self, **arguments: Any) -> None:
        self.results: Counter[tuple[str, int]] = Counter()
        self._finished: list[tuple[float, float, float]] = []
        super().__init__(**arguments)

    def take_results(self) -> Counter[tuple[str, int]]:
        """Return ``results``, and start counting anew."""
        results, self.results = self.results, Counter()
        return results

    def shape_rewards(self, rewards: NDArray[np.float64], infos: dict[str, Any]) -> NDArray[np.float64]:
        """Return the rewards to learn from, (num_envs,); subclasses change them here."""
        del infos
        return rewards

    def _reset_envs(self, episodes: Any, shared_data: Any, explore: bool) -> None:
        del episodes, shared_data, explore
        seed = None if self._seed is None or not self._needs_initial_reset else SEED_STRIDE * self._seed
        self._observations, _ = self.env.unwrapped.reset(seed=seed)
        self._started = np.full(self.num_envs, time.perf_counter())

    def _sample(
        self,
        *,
        num_timesteps: int | None = None,
        num_episodes: int | None = None,
        explore: bool,
        random_actions: bool = False,
        force_reset: bool = False,
    ) -> list[SingleAgentEpisode]:
        if force_reset or num_episodes is not None or self._needs_initial_reset:
            self._reset_envs_and_episodes(explore)
        self._needs_initial_reset = num_episodes is not None
        rollout = _Rollout(self._observations)
        num_done = 0
        while (
            len(rollout.rewards) * self.num_envs < num_timesteps
            if num_timesteps is not None
            else num_done < (num_episodes or 0)
        ):
            output = {} if random_actions else self._forward(explore=explore)
            actions = self.env.unwrapped.sample_actions() if random_actions else output.pop(Columns.ACTIONS)
            self._observations, rewards, terminations, truncations, infos = self.env.unwrapped.step(actions)
            dones = terminations | truncations
            shaped = self.shape_rewards(rewards, infos).astype(np.float32)
            rollout.add(self._observations, actions, shaped, terminations, truncations, output, infos["final_obs"])
            self._record(infos, dones)
            num_done += int(dones.sum())
        self._increase_sampled_metrics(len(rollout.rewards) * self.num_envs, num_done)
        return rollout.episodes(self._weights_seq_no)

    def _forward(self, *, explore: bool) -> Arrays:
        """Return what the module returns for the current observations, actions included."""
        batch = {
            Columns.OBS: {name: torch.from_numpy(array).to(self._device) for name, array in self._observations.items()}
        }
        with self.metrics.log_time(RLMODULE_INFERENCE_TIMER), torch.inference_mode():
            if explore:
                output = self.module.forward_exploration(batch)
                distribution = self.module.get_exploration_action_dist_cls()
            else:
                output = self.module.forward_inference(batch)
                distribution = self.module.get_inference_action_dist_cls()
            if Columns.ACTIONS not in output:
                orders = distribution.from_logits(output[Columns.ACTION_DIST_INPUTS])
                orders = orders if explore else orders.to_deterministic()
                output[Columns.ACTIONS] = orders.sample()
                output[Columns.ACTION_LOGP] = orders.logp(output[Columns.ACTIONS])
        return {name: tensor.cpu().numpy() for name, tensor in output.items()}

    def _record(self, infos: dict[str, Any], dones: NDArray[np.bool_]) -> None:
        """Take down lengths, returns and results of the episodes that finished in this step."""
        if not dones.any():
            return
        now, finished = time.perf_counter(), infos["finished_episode"]
        rows = np.flatnonzero(dones)
        self._finished += zip(
            finished["length"][rows], finished["return"][rows], now - self._started[rows], strict=True
        )
        self._started[rows] = now
        names = self.env.unwrapped.opponent_names
        for opponent, outcome in zip(finished["opponent"][rows], finished["outcome"][rows], strict=True):
            self.results[names[opponent] if opponent >= 0 else "", int(outcome)] += 1

    def get_metrics(self) -> Any:
        """Return RLlib's metrics of the episodes that finished since the last call, and of sampling."""
        for length, total, seconds in self._finished:
            self._log_episode_metrics(int(length), float(total), float(seconds))
        self._finished.clear()
        return super().get_metrics()


class _Rollout:
    """The steps of a sample, an array of all environments for each."""

    def __init__(self, observations: Arrays) -> None:
        self.observations = [observations]
        self.rewards: list[NDArray[np.float32]] = []
        self._actions: list[NDArray[np.int64]] = []
        self._outputs: list[Arrays] = []
        self._terminations: list[NDArray[np.bool_]] = []
        self._truncations: list[NDArray[np.bool_]] = []
        self._last: dict[tuple[int, int], Arrays] = {}  # observations that episodes ended with, by step and environment

    def add(
        self,
        observations: Arrays,
        actions: NDArray[np.int64],
        rewards: NDArray[np.float32],
        terminations: NDArray[np.bool_],
        truncations: NDArray[np.bool_],
        output: Arrays,
        final: Arrays,
    ) -> None:
        """Add a step; ``final`` are the last observations of the episodes that ended in it."""
        step = len(self.rewards)
        for row in np.flatnonzero(terminations | truncations).tolist():
            self._last[step, row] = {name: array[row] for name, array in final.items()}
        self.observations.append(observations)
        self.rewards.append(rewards)
        self._actions.append(actions)
        self._outputs.append(output)
        self._terminations.append(terminations)
        self._truncations.append(truncations)

    def episodes(self, weights_seq_no: int) -> list[SingleAgentEpisode]:
        """Return the episodes, or those parts of them that the sample holds."""
        observations = {name: _by_env(step[name] for step in self.observations) for name in self.observations[0]}
        columns = {name: _by_env(step[name] for step in self._outputs) for name in self._outputs[0]}
        columns |= {Columns.ACTIONS: _by_env(self._actions), Columns.REWARDS: _by_env(self.rewards)}
        columns[WEIGHTS_SEQ_NO] = np.full(columns[Columns.REWARDS].shape, weights_seq_no)
        terminations, truncations = _by_env(self._terminations), _by_env(self._truncations)
        episodes = []
        for row, ends in enumerate(terminations | truncations):
            for start, stop in itertools.pairwise([0, *(np.flatnonzero(ends) + 1).tolist(), len(ends)]):
                if start == stop:
                    continue
                seen = {name: array[row, start : stop + 1] for name, array in observations.items()}
                last = self._last.get((stop - 1, row))
                if last is not None:
                    seen = {name: np.concatenate([array[:-1], last[name][None]]) for name, array in seen.items()}
                of_episode = {name: array[row, start:stop] for name, array in columns.items()}
                ended = bool(terminations[row, stop - 1]), bool(truncations[row, stop - 1])
                episodes.append(_make_episode(seen, of_episode, *ended))
        return episodes


def _make_episode(observations: Arrays, columns: Arrays, terminated: bool, truncated: bool) -> SingleAgentEpisode:
    """Return an episode of columns of steps; there is one observation more."""
    buffers = {name: InfiniteLookbackBuffer(array) for name, array in columns.items()}
    num_steps = len(columns[Columns.REWARDS])
    return SingleAgentEpisode(
        observations=InfiniteLookbackBuffer(observations),
        infos=[{}] * (num_steps + 1),
        actions=buffers.pop(Columns.ACTIONS),
        rewards=buffers.pop(Columns.REWARDS),
        extra_model_outputs=buffers,
        terminated=terminated,
        truncated=truncated,
        len_lookback_buffer=0,
        t_started=0,
    )


def _by_env(steps: Iterable[NDArray[Any]]) -> NDArray[Any]:
    """Return arrays of steps, (num_envs, ...) each, as (num_envs, num_steps, ...)."""
    return np.stack(list(steps), axis=1)


Config = TypeVar("Config", bound=AlgorithmConfig)
PPO = TypeVar("PPO", bound=PPOConfig)
GAMES = "geo_patrol_games"
"""What ``ppo_config`` registers the games of a runner as."""
PPO_SETTINGS: dict[str, Any] = {
    "lr": 5e-4,
    "gamma": 0.995,
    "lambda_": 0.92,
    "clip_param": 0.2,
    "entropy_coeff": 0.003,
    "vf_loss_coeff": 0.5,
    "vf_clip_param": math.inf,
    "grad_clip": 0.5,
    "use_kl_loss": False,
    "num_epochs": 2,
    "minibatch_size": 512,
    "train_batch_size_per_learner": 4096,
}
"""Arguments of ``PPOConfig.training`` for these games: the values of ``geo_patrol.training.TrainingConfig`` where RLlib has them."""
ILLEGAL_LOGIT = -1e9
"""The logit of an illegal order: its probability is 0."""


class MultiAgentGeoPatrol(MultiAgentEnv):
    """A game as a multi-agent environment for RLlib's own runners: its agents are the sides, or the satellites.

    Spaces, rewards and infos are those of ``geo_patrol_v0.parallel_env`` or ``geo_patrol_satellites_v0.parallel_env``,
    with ``mask_in="obs"``. A satellite that is destroyed leaves ``agents``.

    Args:
        env_config: arguments of these, such as ``{"config": "case1", "reward": "outcome"}``, and perhaps ``agents``:
            "sides" (default) or "satellites".

    Raises:
        ConfigError: the configuration is invalid.
        ValueError: another argument is invalid.
    """

    def __init__(self, env_config: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        options = dict(env_config or {})
        agents = options.pop("agents", "sides")
        check_choice("agents", agents, get_args(Agents))
        self.game = (SatellitesGeoPatrol if agents == "satellites" else ParallelGeoPatrol)(**options)
        self.possible_agents = self.agents = list(self.game.possible_agents)
        self.observation_spaces = dict(self.game.observation_spaces)
        self.action_spaces = dict(self.game.action_spaces)

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Start a new game; reseeds only when a seed is given."""
        observations, infos = self.game.reset(seed, options)
        self.agents = self.game.agents
        return observations, infos

    def step(self, action_dict: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
        """Play one decision phase; "__all__" in terminations and truncations is that of the game."""
        observations, rewards, terminations, truncations, infos = self.game.step(action_dict)
        self.agents = self.game.agents
        # Not all agents are truncated with their game: a satellite that is destroyed in its last step is terminated.
        is_truncated = any(truncations.values())
        terminations["__all__"] = not self.agents and not is_truncated
        truncations["__all__"] = is_truncated
        return observations, rewards, terminations, truncations, infos

    def render(self) -> Any:
        """Return the position in the environment's ``render_mode``."""
        return self.game.render()

    def close(self) -> None:
        """Close the window, if one is open."""
        self.game.close()


class RLlibOrderDistribution(TorchDistribution):
    """Independent orders of the eleven satellites of a side, as one action, from masked logits, (n, 308).

    It does the work of RLlib's ``TorchMultiCategorical`` with one distribution in place of eleven.
    """

    def _get_torch_distribution(self, logits: torch.Tensor) -> torch.distributions.Distribution:
        self._logits = logits.unflatten(-1, (SATELLITES, ORDERS))
        orders = torch.distributions.Categorical(logits=self._logits, validate_args=False)
        return torch.distributions.Independent(orders, 1, validate_args=False)

    @staticmethod
    def required_input_dim(space: Any, **_: Any) -> int:
        """Return the number of logits."""
        return int(space.nvec.sum())

    def to_deterministic(self) -> "RLlibOrderDistribution":
        """Return the distribution that always samples the most likely orders."""
        is_likeliest = self._logits == self._logits.amax(-1, keepdim=True)
        return RLlibOrderDistribution(self._logits.masked_fill(~is_likeliest, ILLEGAL_LOGIT).flatten(-2))


class OrderModule(DefaultPPOTorchRLModule):
    """RLlib's default network for PPO on the vector in the observation of a side or satellite, with illegal orders masked.

    ``model_config`` is the one of RLlib's ``DefaultModelConfig``.
    """

    def __init__(self, *, observation_space: Any, **arguments: Any) -> None:
        self._space = observation_space
        super().__init__(observation_space=observation_space["observation"], **arguments)

    def setup(self) -> None:
        """Build the network."""
        super().setup()
        self.observation_space = self._space
        if isinstance(self.action_space, MultiDiscrete):  # the orders of a side; that of a satellite is Discrete
            self.action_dist_cls = RLlibOrderDistribution

    def _forward(self, batch: dict[str, Any], **arguments: Any) -> dict[str, Any]:
        return _mask(super()._forward(_without_mask(batch), **arguments), batch)

    def _forward_train(self, batch: dict[str, Any], **arguments: Any) -> dict[str, Any]:
        return _mask(super()._forward_train(_without_mask(batch), **arguments), batch)

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> torch.Tensor:
        """Return the values of observations, (n,)."""
        return super().compute_values(_without_mask(batch), embeddings)


def _without_mask(batch: dict[str, Any]) -> dict[str, Any]:
    return {**batch, Columns.OBS: batch[Columns.OBS]["observation"].float()}


def _mask(output: dict[str, Any], batch: dict[str, Any]) -> dict[str, Any]:
    """Mask the logits of illegal orders."""
    is_illegal = batch[Columns.OBS]["action_mask"].flatten(1) == 0
    output[Columns.ACTION_DIST_INPUTS] = output[Columns.ACTION_DIST_INPUTS].masked_fill(is_illegal, ILLEGAL_LOGIT)
    return output


def _make_games(context: Mapping[str, Any]) -> VectorGeoPatrol:
    """Make the games of a runner."""
    return make_gymnasium_vec(mask_in="obs", autoreset="same_step", **context)


def add_games(base: Config, config: ConfigSource, num_envs: int, **options: Any) -> Config:
    """Let a configuration's runners step many games at once, and return it.

    Every environment is one side of a game: RLlib sees single agents that share a module. See ``BatchEnvRunner``.

    Args:
        base: a configuration of any of RLlib's algorithms.
        config: a preset's name, the path of a TOML file, its content as a mapping, or a ``GameConfig``.
        num_envs: environments of each runner; in self-play two per game.
        options: more of ``geo_patrol.make_vec``, see ``ppo_config``.
    """
    register_env(GAMES, _make_games)
    # As data, not as a name or a path: runners on other machines and those that start later must play the same games.
    data = load_config(config, options.pop("overrides", None)).to_dict()
    base.environment(GAMES, env_config={"config": data, **options})
    base.env_runners(
        env_runner_cls=BatchEnvRunner,
        num_env_runners=0,
        num_envs_per_env_runner=num_envs,
        gym_env_vectorize_mode="vector_entry_point",
    )
    return base


def add_joined_learning(base: PPO) -> PPO:
    """Let a configuration's learners take the episodes of ``BatchEnvRunner`` as whole arrays, and return it.

    ``JoinEpisodes`` replaces RLlib's pipeline, with the discount factor and lambda that the configuration has by now.
    """
    gamma, lambda_ = base.gamma, base.lambda_
    base.learners(
        add_default_connectors_to_learner_pipeline=False,
        learner_connector=lambda *_: JoinEpisodes(gamma=gamma, lambda_=lambda_),
    )
    return base


def ppo_config(config: ConfigSource = "geo_patrol", num_envs: int = 64, **options: Any) -> PPOConfig:
    """Return a configuration of PPO with ``OrderModule``, to change like any other of RLlib's.

    Args:
        config: a preset's name, the path of a TOML file, its content as a mapping, or a ``GameConfig``.
        num_envs: environments of each runner; in self-play two per game.
        options: more of ``geo_patrol.make_vec``: ``opponent`` ("random" by default; None for self-play), ``seats``,
            ``observation``, ``reward``, ``threads`` and so on. ``autoreset`` and ``mask_in`` are set.
    """
    games = add_games(PPOConfig().training(**PPO_SETTINGS), config, num_envs, **options)
    return add_joined_learning(games).rl_module(rl_module_spec=RLModuleSpec(module_class=OrderModule))
