"""Tianshou: many games as one of its vector environments, and a policy and a critic that read its observations."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from geo_patrol.base.errors import optional_import
from geo_patrol.config.presets import ConfigSource
from geo_patrol.engine.state import SATELLITES
from geo_patrol.envs.arguments import check_actions
from geo_patrol.envs.spaces import OrderSpace
from geo_patrol.envs.vector import VectorGeoPatrol

with optional_import("tianshou"):
    import torch
    from tianshou.algorithm.modelfree.reinforce import ProbabilisticActorPolicy
    from tianshou.data import Batch
    from tianshou.env import BaseVectorEnv
    from torch import nn
    from torch.distributions import Categorical, Independent

    from geo_patrol.adapters.distributions import mask_logits

_INFOS = ("illegal_orders", "score", "enemy_score", "seat", "opponent", "variant")

Indices = int | Sequence[int] | NDArray[np.int64] | None
Step = tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], NDArray[Any]]


class TianshouVectorEnv(BaseVectorEnv):
    """A ``VectorGeoPatrol`` as a vector environment of Tianshou.

    Observations are a ``Batch`` of ``observation``, (n, size), and ``action_mask``, (n, 11, 28) int8. Infos are an array
    of dicts with ``illegal_orders``, ``score``, ``enemy_score``, ``seat``, ``opponent`` and ``variant`` as in
    ``VectorGeoPatrol``, and ``outcome`` (1 won, -1 lost, 0 drawn or not over).

    All games advance in every step. Environments that a collector no longer steps, because it has enough episodes, get
    noops. In self-play, the two sides of a game are stepped and reset together, so collect an even number of episodes.

    Args:
        config: a preset's name, the path of a TOML file, its content as a mapping, or a ``GameConfig``.
        num_games: how many games; in self-play each is two environments.
        options: more of ``geo_patrol.make_vec``, but for ``autoreset`` and ``mask_in``.

    Raises:
        ConfigError: the configuration is invalid.
        ValueError: another argument is invalid.
    """

    def __init__(self, config: ConfigSource = "geo_patrol", num_games: int = 64, **options: Any) -> None:
        self.envs = VectorGeoPatrol(config, num_games, autoreset=AutoresetMode.NEXT_STEP, mask_in="obs", **options)
        self.env_num = self.envs.num_envs
        self.is_async = self.is_closed = False
        self._seed: int | Sequence[int | None] | None = None

    def seed(self, seed: int | Sequence[int | None] | None = None) -> None:
        """Set the seeds of the next reset: game i gets seed + i, or the i-th of a sequence."""
        self._seed = seed

    def reset(self, env_id: Indices = None, **_: Any) -> tuple[Any, NDArray[Any]]:
        """Start new episodes of some environments, or of all.

        Raises:
            ValueError: the indices select one side of a game without the other.
        """
        rows = self._rows(env_id)
        seed, self._seed = self._seed, None
        options = None if env_id is None else {"reset_mask": self._mask(rows)}
        observations, infos = self.envs.reset(seed=seed, options=options)
        return Batch(observations)[rows], _list_infos(infos, rows)

    def step(self, action: Any, id: Indices = None) -> Step:  # noqa: A002 - Tianshou's name
        """Play one decision phase of all games, and return what the environments ``id`` observe.

        Args:
            action: (n, 11) order codes of the environments ``id``.
            id: indices of environments; None for all.

        Raises:
            ValueError: the indices select one side of a game without the other, or the actions have another shape or are
                not integers.
        """
        rows = self._rows(id)
        orders = np.zeros((self.env_num, SATELLITES), np.int64)
        orders[rows] = check_actions(action, len(rows))
        observations, rewards, terminations, truncations, infos = self.envs.step(orders)
        outputs = rewards[rows], terminations[rows], truncations[rows], _list_infos(infos, rows)
        return Batch(observations)[rows], *outputs

    def _rows(self, indices: Indices) -> NDArray[np.int64]:
        """Return indices of environments as an array."""
        rows = np.arange(self.env_num) if indices is None else np.atleast_1d(np.asarray(indices, np.int64))
        sides = self._mask(rows).reshape(self.envs.num_games, -1)
        if (sides[:, 0] != sides[:, -1]).any():
            raise ValueError("environments 2i and 2i + 1 are the sides of a game: select both or neither")
        return rows

    def _mask(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        mask = np.zeros(self.env_num, np.bool_)
        mask[rows] = True
        return mask

    def get_env_attr(self, key: str, id: Indices = None) -> list[Any]:  # noqa: A002 - Tianshou's name
        """Return an attribute of the games for each environment: spaces are those of a single one."""
        value = getattr(self.envs, f"single_{key}" if key.endswith("_space") else key, None)
        return [value] * len(self._wrap_id(id))

    def set_env_attr(self, key: str, value: Any, id: Indices = None) -> None:  # noqa: A002 - Tianshou's name
        """Set an attribute of the games, for all environments at once.

        Raises:
            ValueError: only some environments are selected.
        """
        if len(self._wrap_id(id)) != self.env_num:
            raise ValueError(f"set_env_attr({key!r}): all environments are one vector environment: leave id out")
        setattr(self.envs, key, value)

    def close(self) -> None:
        """End the threads and release all games."""
        self.envs.close()
        self.is_closed = True


def _list_infos(infos: dict[str, Any], rows: NDArray[np.int64]) -> NDArray[Any]:
    """Return infos as an array of dicts, one for each row."""
    columns = [infos[name][rows].tolist() for name in _INFOS]
    columns.append(infos["finished_episode"]["outcome"][rows].tolist())
    names = (*_INFOS, "outcome")
    return np.array([dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)], object)


class OrderActor(nn.Module):
    """The actor of ``make_policy``: returns masked logits, (n, 11, 28), and the state as it is.

    Args:
        network: maps observations (n, size) to logits (n, 308).
    """

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, obs: Any, state: Any = None, info: Any = None) -> tuple[torch.Tensor, Any]:  # noqa: ARG002
        """Return the logits for a batch of observations, as Tianshou's policies call actors."""
        return mask_logits(_apply(self.network, obs), torch.as_tensor(obs.action_mask)), state


class OrderCritic(nn.Module):
    """A critic that reads the observations of ``TianshouVectorEnv``.

    Args:
        network: maps observations (n, size) to values (n, 1).
    """

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, obs: Any, **_: Any) -> torch.Tensor:
        """Return the values of a batch of observations."""
        return _apply(self.network, obs)


def _apply(network: nn.Module, obs: Any) -> torch.Tensor:
    device = next(network.parameters()).device
    return network(torch.as_tensor(obs.observation, device=device))


def make_policy(network: nn.Module) -> ProbabilisticActorPolicy:
    """Return a policy that samples legal orders.

    Args:
        network: maps observations (n, size) to logits (n, 308).
    """
    return ProbabilisticActorPolicy(
        actor=OrderActor(network),
        dist_fn=lambda logits: Independent(Categorical(logits=logits, validate_args=False), 1, validate_args=False),
        action_space=OrderSpace(),
        action_scaling=False,
        action_bound_method=None,
    )
