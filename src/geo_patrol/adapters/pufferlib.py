"""PufferLib: many games as one of its native environments, and a policy for PuffeRL whose orders are all legal."""

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from geo_patrol.base.errors import optional_import
from geo_patrol.config.presets import ConfigSource
from geo_patrol.engine.state import ORDERS, SATELLITES
from geo_patrol.envs.spaces import FLAT_MASK_SHAPE
from geo_patrol.envs.vector import VectorGeoPatrol

with optional_import("pufferlib"):
    import pufferlib
    import torch
    from pufferlib.pytorch import layer_init
    from torch import nn

    from geo_patrol.adapters.distributions import mask_logits

_STATISTICS = ("score", "enemy_score", "outcome", "illegal_orders", "return", "length")

Step = tuple[NDArray[Any], NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], list[dict[str, float]]]


class _PufferGames(VectorGeoPatrol):
    _returns_final = False  # PufferLib has no use for the last observations of episodes


class PufferLibEnv(pufferlib.PufferEnv):
    """A ``VectorGeoPatrol`` as a native environment of PufferLib, in which each environment is an agent.

    PufferLib has one array for everything that a policy sees, so an observation is followed by its mask: (num_agents,
    size + 308), float32 or, with ``observation="tokens"``, int16. ``split_observations`` separates them.

    A step in which episodes end returns one info, with their means of ``score``, ``enemy_score``, ``outcome`` (1 won,
    0 drawn, -1 lost), ``illegal_orders``, ``return`` and ``length``; other steps return none. Games reset by themselves.

    Args:
        config: a preset's name, the path of a TOML file, its content as a mapping, or a ``GameConfig``.
        num_games: how many games; in self-play each is two agents.
        buf: PufferLib's buffers, if it provides them.
        seed: seed of the first reset, unless that has one of its own; game i gets seed + i.
        options: more of ``geo_patrol.make_vec``, but for ``autoreset``, ``mask_in`` and ``copy``.

    Raises:
        ConfigError: the configuration is invalid.
        ValueError: another argument is invalid.
    """

    def __init__(
        self,
        config: ConfigSource = "geo_patrol",
        num_games: int = 64,
        buf: dict[str, NDArray[Any]] | None = None,
        seed: int | None = None,
        **options: Any,
    ) -> None:
        self.envs = _PufferGames(
            config, num_games, autoreset=AutoresetMode.SAME_STEP, mask_in="none", copy=False, **options
        )
        box = self.envs.single_observation_space
        assert isinstance(box, spaces.Box)
        low, high = (
            np.concatenate([bound, np.full(FLAT_MASK_SHAPE, legal, bound.dtype)])
            for bound, legal in ((box.low, 0), (box.high, 1))
        )
        self.single_observation_space = spaces.Box(low, high, dtype=high.dtype.type)
        self.single_action_space = self.envs.single_action_space
        self.num_agents = self.envs.num_envs
        self._seed = seed
        super().__init__(buf)

    def reset(self, seed: int | None = None) -> tuple[NDArray[Any], list[dict[str, float]]]:
        """Start all games anew, and return observations and no infos."""
        observations, _ = self.envs.reset(seed=self._seed if seed is None else seed)
        self._seed = None
        self._write(observations)
        return self.observations, []

    def step(self, actions: NDArray[Any]) -> Step:
        """Play one decision phase of every game.

        Args:
            actions: (num_agents, 11) order codes.

        Returns:
            PufferLib's buffers of observations, rewards, terminals and truncations, and the infos.
        """
        observations, self.rewards[:], self.terminals[:], self.truncations[:], infos = self.envs.step(actions)
        self._write(observations)
        return self.observations, self.rewards, self.terminals, self.truncations, _mean_statistics(infos)

    def _write(self, observations: NDArray[Any]) -> None:
        size = observations.shape[1]
        self.observations[:, :size] = observations
        self.observations[:, size:] = self.envs.action_masks()

    def close(self) -> None:
        """End the threads and release all games."""
        self.envs.close()


def _mean_statistics(infos: dict[str, Any]) -> list[dict[str, float]]:
    """Return the means over the episodes that finished in a step, if any did."""
    num_finished = np.count_nonzero(infos["_finished_episode"])
    if num_finished == 0:
        return []
    statistics = infos["finished_episode"]  # 0 in other rows
    return [{name: float(statistics[name].sum()) / num_finished for name in _STATISTICS}]


def split_observations(observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the features, (n, size), and the masks, (n, 11, 28) bool, of observations of ``PufferLibEnv``."""
    size = observations.shape[1] - SATELLITES * ORDERS
    return observations[:, :size], observations[:, size:].bool().view(-1, SATELLITES, ORDERS)


class PufferOrderPolicy(nn.Module):
    """A policy for PuffeRL that samples legal orders.

    Args:
        encoder: maps features (n, size), float32 or int16 as the environment has them, to (n, hidden_size).
        hidden_size: the width of its output.
    """

    def __init__(self, encoder: nn.Module, hidden_size: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.actor = layer_init(nn.Linear(hidden_size, SATELLITES * ORDERS), std=0.01)
        self.critic = layer_init(nn.Linear(hidden_size, 1), std=1)

    def forward(
        self,
        observations: torch.Tensor,
        state: Any = None,  # noqa: ARG002 - PufferLib passes the state of recurrent policies
    ) -> tuple[tuple[torch.Tensor, ...], torch.Tensor]:
        """Return the logits of the orders of each satellite, eleven of (n, 28), and values, (n, 1)."""
        features, masks = split_observations(observations)
        hidden = self.encoder(features)
        return mask_logits(self.actor(hidden), masks).unbind(dim=1), self.critic(hidden)

    forward_eval = forward
