"""RLlib: the game as a ``MultiAgentEnv``, a masked module, and a configuration of PPO that steps many games at once."""

import math
from collections.abc import Mapping
from typing import Any, TypeVar

from geo_patrol.config.presets import ConfigSource
from geo_patrol.engine.state import ORDERS, SATELLITES
from geo_patrol.envs.parallel import ParallelGeoPatrol
from geo_patrol.envs.vector import VectorGeoPatrol, make_gymnasium_vec
from geo_patrol.errors import optional_import

with optional_import("rllib"):
    import torch
    from ray.rllib.algorithms.algorithm_config import AlgorithmConfig
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module import DefaultPPOTorchRLModule
    from ray.rllib.core.columns import Columns
    from ray.rllib.core.distribution.torch.torch_distribution import TorchDistribution
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.env.multi_agent_env import MultiAgentEnv
    from ray.tune.registry import register_env

    from geo_patrol.envs.adapters.rllib_connectors import JoinEpisodes
    from geo_patrol.envs.adapters.rllib_runner import BatchEnvRunner

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
    """A game with the agents "alpha" and "bravo", for RLlib's own multi-agent environment runners.

    Spaces, rewards and infos are those of ``geo_patrol.envs.parallel.ParallelGeoPatrol`` with ``mask_in="obs"``.

    Args:
        env_config: its arguments, such as ``{"config": "case1", "reward": "outcome"}``.

    Raises:
        ConfigError: the configuration is invalid.
        ValueError: another argument is invalid.
    """

    def __init__(self, env_config: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self.game = ParallelGeoPatrol(**(env_config or {}))
        self.possible_agents = self.agents = list(self.game.possible_agents)
        self.observation_spaces = dict(self.game.observation_spaces)
        self.action_spaces = dict(self.game.action_spaces)

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Start a new game; reseeds only when a seed is given."""
        return self.game.reset(seed, options)

    def step(self, action_dict: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
        """Play one decision phase; "__all__" in terminations and truncations is that of both agents."""
        observations, rewards, terminations, truncations, infos = self.game.step(action_dict)
        for ends in (terminations, truncations):
            ends["__all__"] = all(ends.values())
        return observations, rewards, terminations, truncations, infos

    def render(self) -> Any:
        """Return the position in the environment's ``render_mode``."""
        return self.game.render()

    def close(self) -> None:
        """Close the window, if one is open."""
        self.game.close()


class OrderDistribution(TorchDistribution):
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

    def to_deterministic(self) -> "OrderDistribution":
        """Return the distribution that always samples the most likely orders."""
        is_likeliest = self._logits == self._logits.amax(-1, keepdim=True)
        return OrderDistribution(self._logits.masked_fill(~is_likeliest, ILLEGAL_LOGIT).flatten(-2))


class OrderModule(DefaultPPOTorchRLModule):
    """RLlib's default network for PPO on the vector in the observation, with illegal orders masked.

    ``model_config`` is the one of RLlib's ``DefaultModelConfig``.
    """

    def __init__(self, *, observation_space: Any, **arguments: Any) -> None:
        self._space = observation_space
        super().__init__(observation_space=observation_space["observation"], **arguments)

    def setup(self) -> None:
        """Build the network."""
        super().setup()
        self.observation_space = self._space
        self.action_dist_cls = OrderDistribution

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
    base.environment(GAMES, env_config={"config": config, **options})
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
