"""Stable-Baselines3: many games as its ``VecEnv``, and a policy for MaskablePPO that draws all orders of a side at once.

sb3-contrib makes one distribution a satellite, one after the other, in which most of its time goes. Here they are one
distribution of shape (slots, 11), with the same probabilities.
"""

import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from geo_patrol.base.errors import optional_import
from geo_patrol.config.presets import ConfigSource
from geo_patrol.engine.state import ORDERS, SATELLITES
from geo_patrol.envs.opponents import Mixture
from geo_patrol.envs.vector import VectorGeoPatrol

with optional_import("sb3"):
    import torch
    from sb3_contrib.common.maskable.distributions import MaskableCategorical, MaskableMultiCategoricalDistribution
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import VecEnv


class SB3OrderDistribution(MaskableMultiCategoricalDistribution):
    """Independent orders of eleven satellites: the probabilities of ``MaskableMultiCategoricalDistribution``."""

    def __init__(self) -> None:
        super().__init__([ORDERS] * SATELLITES)
        self._orders: Any = None

    def proba_distribution(self, action_logits: torch.Tensor) -> "SB3OrderDistribution":
        """Take the logits, (n, 308)."""
        self._orders = MaskableCategorical(logits=action_logits.view(-1, SATELLITES, ORDERS), validate_args=False)
        return self

    def apply_masking(self, masks: Any) -> None:
        """Take the legal orders, (n, 308); the others get probability 0."""
        self._orders.apply_masking(masks)

    def log_prob(self, actions: torch.Tensor) -> torch.Tensor:
        """Return the logarithm of the probability of orders (n, 11), as (n,)."""
        return self._orders.log_prob(actions.view(-1, SATELLITES)).sum(dim=1)

    def entropy(self) -> torch.Tensor:
        """Return the entropy, (n,)."""
        return self._orders.entropy().sum(dim=1)

    def sample(self) -> torch.Tensor:
        """Draw orders, (n, 11)."""
        return self._orders.sample()

    def mode(self) -> torch.Tensor:
        """Return the likeliest orders, (n, 11)."""
        return self._orders.probs.argmax(dim=-1)


class OrderPolicy(MaskableActorCriticPolicy):
    """MaskablePPO's ``"MlpPolicy"`` with ``SB3OrderDistribution``: ``MaskablePPO(OrderPolicy, env)``."""

    def _build(self, lr_schedule: Any) -> None:
        self.action_dist = SB3OrderDistribution()
        super()._build(lr_schedule)


Indices = int | Iterable[int] | None

_SHARED_ATTRIBUTES = ("action_masks", "sample_actions")
"""Methods that return a row for every environment."""
_STATISTICS = ("score", "enemy_score", "reasons", "outcome", "illegal_orders", "seat", "opponent", "variant")


class SB3VecEnv(VecEnv):
    """A ``VectorGeoPatrol`` as a ``VecEnv`` of Stable-Baselines3.

    Only the last observations of episodes are copied. The info of an environment is an empty dict in all steps
    but the last of an episode, where it holds what ``Monitor`` and ``DummyVecEnv`` would have written:

    - ``terminal_observation``;
    - ``TimeLimit.truncated``: cut short by ``max_cycles``;
    - ``episode``: ``r`` (return), ``l`` (phases), ``t`` (seconds since the environment was made), and ``score``,
      ``enemy_score``, ``reasons``, ``outcome``, ``illegal_orders``, ``seat``, ``opponent``, ``variant`` as in
      ``finished_episode`` of ``VectorGeoPatrol``;
    - ``is_success``: the game was won. The libraries log its mean as ``rollout/success_rate``.

    ``env_method("action_masks")`` returns a (308,) bool mask for each environment, as sb3-contrib expects.

    Args:
        envs: the games, with ``autoreset="same_step"``.

    Raises:
        ValueError: its autoreset mode is another one.
    """

    def __init__(self, envs: VectorGeoPatrol) -> None:
        mode = envs.metadata["autoreset_mode"]
        if mode is not AutoresetMode.SAME_STEP:
            raise ValueError(f'autoreset = {mode.name.lower()!r}: Stable-Baselines3 needs autoreset="same_step"')
        self.envs = envs
        self._start = time.perf_counter()
        self._actions: NDArray[Any] | None = None
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)

    def set_opponents(self, opponent: Mixture) -> None:
        """Let games that begin from now on draw their opponents from another mixture; see ``VectorGeoPatrol``."""
        self.envs.set_opponents(opponent)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal orders of every environment, flat: (num_envs, 308) bool."""
        return self.envs.action_masks()

    # Playing

    def reset(self) -> Any:
        """Begin all games anew; game i with the seed s + i after ``seed(s)``."""
        seeds = self._seeds[: self.envs.num_games]
        observations, _ = self.envs.reset(seed=seeds)
        self._reset_seeds()
        self._reset_options()
        self.reset_infos = self._empty_infos()
        return observations

    def step_async(self, actions: NDArray[Any]) -> None:
        """Keep the actions, (num_envs, 11) order codes, for ``step_wait``."""
        self._actions = actions

    def step_wait(self) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Play one decision phase of every game.

        Returns:
            Observations, rewards (num_envs,) float32, whether an episode ended (num_envs,) bool, and infos.

        Raises:
            RuntimeError: there are no actions to play.
        """
        if self._actions is None:
            raise RuntimeError("call step_async before step_wait")
        actions, self._actions = self._actions, None
        observations, rewards, terminations, truncations, batch = self.envs.step(actions)
        infos = self._empty_infos()
        for i in np.flatnonzero(batch["_finished_episode"]):
            infos[i] = self._last_info(batch, int(i), truncated=bool(truncations[i]))
        return observations, rewards.astype(np.float32), terminations | truncations, infos

    def _empty_infos(self) -> list[dict[str, Any]]:
        # A dict each: wrappers and callbacks may write into one. A thousand cost 20 us.
        return [{} for _ in range(self.num_envs)]

    def _last_info(self, batch: dict[str, Any], i: int, *, truncated: bool) -> dict[str, Any]:
        finished = batch["finished_episode"]
        episode: dict[str, Any] = {name: int(finished[name][i]) for name in _STATISTICS}
        episode |= {
            "r": float(finished["return"][i]),
            "l": int(finished["length"][i]),
            "t": round(time.perf_counter() - self._start, 6),
        }
        return {
            "terminal_observation": _copy_row(batch["final_obs"], i),
            "TimeLimit.truncated": truncated,
            "episode": episode,
            "is_success": episode["outcome"] == 1,
        }

    def close(self) -> None:
        """End the threads and let go of all games."""
        self.envs.close()

    # What one asks of single environments

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """Return an attribute of the games, the same for every environment asked for."""
        return [getattr(self.envs, attr_name)] * len(self._env_indices(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Set an attribute of the games, for all environments at once.

        Raises:
            ValueError: only some environments are selected.
        """
        self._check_all(f"set_attr({attr_name!r})", indices)
        setattr(self.envs, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: Indices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method of the games once, and return its result for each environment.

        ``action_masks`` and ``sample_actions`` return a row for each environment; other methods the same for all.

        Raises:
            ValueError: only some environments are selected, and the method is about all of them.
        """
        env_indices = self._env_indices(indices)
        if method_name in _SHARED_ATTRIBUTES:
            rows = getattr(self.envs, method_name)(*method_args, **method_kwargs)
            return [rows[i] for i in env_indices]
        self._check_all(f"env_method({method_name!r})", indices)
        return [getattr(self.envs, method_name)(*method_args, **method_kwargs)] * self.num_envs

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Indices = None) -> list[bool]:
        """Tell that episodes are monitored, as infos hold their returns, and that there is no other wrapper."""
        return [wrapper_class is Monitor] * len(self._env_indices(indices))

    def _env_indices(self, indices: Indices) -> Sequence[int]:
        return list(self._get_indices(indices))

    def _check_all(self, what: str, indices: Indices) -> None:
        if sorted(self._env_indices(indices)) != list(range(self.num_envs)):
            raise ValueError(
                f"{what}: indices = {indices!r}: all environments are one vector environment: leave indices out"
            )


def _copy_row(observations: Any, i: int) -> Any:
    if isinstance(observations, dict):
        return {name: rows[i].copy() for name, rows in observations.items()}
    return observations[i].copy()


def make_sb3_vec(config: ConfigSource = "geo_patrol", num_games: int = 64, **arguments: Any) -> SB3VecEnv:
    """Make games for Stable-Baselines3.

    Args:
        config: a preset's name, the path of a TOML file, its content as a mapping, or a ``GameConfig``.
        num_games: how many games, side by side.
        arguments: more of ``geo_patrol.make_vec``: ``opponent``, ``seats``, ``reward``, ``threads`` and so on. Masks
            are asked for and need not be in observations or infos.

    Raises:
        ConfigError: the configuration is wrong.
        ValueError: another argument is.
    """
    options: dict[str, Any] = {"autoreset": AutoresetMode.SAME_STEP, "mask_in": "none"} | arguments
    return SB3VecEnv(VectorGeoPatrol(config, num_games, **options))
