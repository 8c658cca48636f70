"""TorchRL: many games as one batched environment, and a policy that samples legal orders."""

from typing import Any

from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from geo_patrol.base.errors import optional_import
from geo_patrol.config.presets import ConfigSource
from geo_patrol.engine.state import ORDERS, SATELLITES
from geo_patrol.engine.steps import INFO_FIELDS
from geo_patrol.envs.episodes import EVENT_INFOS
from geo_patrol.envs.vector import VectorGeoPatrol

with optional_import("torchrl"):
    import torch
    from tensordict import TensorDict, TensorDictBase
    from tensordict.nn import TensorDictModule
    from torchrl.data import Binary, Bounded, Categorical, Composite, MultiCategorical, Unbounded
    from torchrl.envs import EnvBase
    from torchrl.modules import ProbabilisticActor

    from geo_patrol.adapters.distributions import OrderDistribution


class TorchRLEnv(EnvBase):
    """A ``VectorGeoPatrol`` as a batched environment of TorchRL, with the batch size (num_envs,).

    A batch has the keys of TorchRL's defaults, so losses and collectors need no other ones:

    - ``observation``: (num_envs, size) float32, or int16 with ``observation="tokens"``;
    - ``action_mask``: (num_envs, 11, 28) bool, true where an order is legal; random actions follow it;
    - ``action``: (num_envs, 11) int64 order codes;
    - ``reward``: (num_envs, 1) float32; ``done``, ``terminated``, ``truncated``: (num_envs, 1) bool;
    - ``illegal_orders``, ``score``, ``seat``, ``losses`` and the other integers of the infos of ``VectorGeoPatrol``, and
      ``outcome`` (1 won, -1 lost, 0 drawn or not over): (num_envs, 1) int64.

    ``set_seed(s)`` gives game i the seed s + i at the next reset.

    Args:
        config: a preset's name, the path of a TOML file, its content as a mapping, or a ``GameConfig``.
        num_games: how many games; in self-play each is two environments.
        options: more of ``geo_patrol.make_vec``, but for ``autoreset`` and ``mask_in``.

    Raises:
        ConfigError: the configuration is invalid.
        ValueError: another argument is invalid.
    """

    def __init__(self, config: ConfigSource = "geo_patrol", num_games: int = 64, **options: Any) -> None:
        self.envs = VectorGeoPatrol(config, num_games, autoreset=AutoresetMode.DISABLED, mask_in="none", **options)
        super().__init__(device=torch.device("cpu"), batch_size=torch.Size([self.envs.num_envs]))
        self._seed: int | None = None
        self._info_names = (*INFO_FIELDS, *(EVENT_INFOS if options.get("count_events") else ()))
        self._make_specs()

    def _make_specs(self) -> None:
        num_envs, box = self.envs.num_envs, self.envs.single_observation_space
        assert isinstance(box, spaces.Box)
        low, high = (torch.as_tensor(bound).expand(num_envs, -1) for bound in (box.low, box.high))
        names = (*self._info_names, "outcome")
        integers = {name: Unbounded((num_envs, 1), dtype=torch.int64, device=self.device) for name in names}
        self.observation_spec = Composite(
            observation=Bounded(low, high, device=self.device, dtype=low.dtype),
            action_mask=Binary(shape=(num_envs, SATELLITES, ORDERS), dtype=torch.bool, device=self.device),
            **integers,
            shape=self.batch_size,
        )
        self.action_spec = MultiCategorical([ORDERS] * SATELLITES, (num_envs, SATELLITES), device=self.device)
        self.reward_spec = Unbounded((num_envs, 1), device=self.device)
        flag = Categorical(2, (num_envs, 1), dtype=torch.bool, device=self.device)
        self.full_done_spec = Composite(
            done=flag, terminated=flag.clone(), truncated=flag.clone(), shape=self.batch_size
        )

    def _set_seed(self, seed: int | None) -> None:
        self._seed = seed

    def _reset(self, tensordict: TensorDictBase | None = None, **_: Any) -> TensorDictBase:
        mask = None if tensordict is None else tensordict.get("_reset", None)
        options = None if mask is None else {"reset_mask": mask.flatten().numpy()}
        seed, self._seed = self._seed, None
        return self._to_tensors(*self.envs.reset(seed=seed, options=options))

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        observations, rewards, terminations, truncations, infos = self.envs.step(tensordict["action"].numpy())
        tensors = self._to_tensors(observations, infos)
        tensors["reward"] = _column(rewards).float()
        tensors["terminated"], tensors["truncated"] = _column(terminations), _column(truncations)
        tensors["done"] = tensors["terminated"] | tensors["truncated"]
        return tensors

    def _to_tensors(self, observations: NDArray[Any], infos: dict[str, Any]) -> TensorDict:
        masks = torch.from_numpy(self.envs.action_masks())
        self.full_action_spec["action"].update_mask(masks)  # of random actions
        integers = {name: _column(infos[name]) for name in self._info_names}
        integers["outcome"] = _column(infos["finished_episode"]["outcome"])
        return TensorDict(
            {
                "observation": torch.from_numpy(observations),
                "action_mask": masks.view(-1, SATELLITES, ORDERS),
                **integers,
            },
            self.batch_size,
        )

    def close(self, **options: Any) -> None:
        """End the threads and release all games."""
        super().close(**options)
        self.envs.close()


def _column(values: NDArray[Any]) -> torch.Tensor:
    """Return a field of the records of environments as a tensor, (num_envs, 1)."""
    return torch.from_numpy(values.copy()).unsqueeze(-1)


def make_actor(network: torch.nn.Module) -> ProbabilisticActor:
    """Return a policy that samples legal orders.

    Args:
        network: maps observations (..., size) to logits (..., 308).

    Returns:
        A policy that writes ``action`` and its log-probability, for ``TorchRLEnv``, collectors and losses.
    """
    return ProbabilisticActor(
        TensorDictModule(network, in_keys=["observation"], out_keys=["logits"]),
        in_keys={"logits": "logits", "mask": "action_mask"},
        distribution_class=OrderDistribution,
        return_log_prob=True,
    )
