"""Modules that RLlib has saved, as networks.

A checkpoint of RLlib holds pickles, which are programs: ``agents.isolation`` gives it a process of its own.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geo_patrol.agents.loading import NotFoundError
from geo_patrol.agents.networks.agent import ACTION_MASK
from geo_patrol.errors import PolicyError, optional_import, show

_MODULES = Path("learner_group", "learner", "rl_module")
"""Where the checkpoint of an algorithm has its modules."""
_MODULE_FILE = "class_and_ctor_args.pkl"


class RLlibNetwork:
    """A module of RLlib, on observations with masks as ``geo_patrol.envs.adapters.rllib`` gives them.

    Args:
        module: its ``forward_inference`` returns the logits of orders as "action_dist_inputs".

    Raises:
        PolicyError: it has another observation space.
    """

    def __init__(self, module: Any) -> None:
        with optional_import("rllib"):
            import torch  # noqa: PLC0415 - an extra
        self._torch = torch
        self.module = module
        try:
            dtype = module.observation_space["observation"].dtype
        except (KeyError, TypeError):
            space = show(module.observation_space)
            raise PolicyError(
                f"its observation space is {space}: it must have 'observation' and 'action_mask'"
            ) from None
        self._encoding = "tokens" if dtype == np.int16 else "onehot"
        self.input_names: tuple[str, ...] = (self._encoding, ACTION_MASK)

    def __call__(self, inputs: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
        """Return the logits of a batch of inputs."""
        torch = self._torch
        observations = {"observation": inputs[self._encoding], ACTION_MASK: inputs[ACTION_MASK]}
        with torch.inference_mode():
            batch = {"obs": {name: torch.as_tensor(array) for name, array in observations.items()}}
            logits: NDArray[Any] = self.module.forward_inference(batch)["action_dist_inputs"].cpu().numpy()
        return logits


def load_rllib_network(source: str) -> RLlibNetwork:
    """Load a module from the checkpoint of an algorithm that has one, or from the folder of a module.

    Raises:
        MissingPackageError: RLlib is not installed.
        NotFoundError: there is no such folder.
        PolicyError: it holds something else, or several modules.
        Exception: whatever the code in the checkpoint raises.
    """
    folder = _find_module(Path(source).expanduser().resolve())
    with optional_import("rllib"):
        from ray.rllib.core.rl_module.rl_module import RLModule  # noqa: PLC0415 - an extra
    return RLlibNetwork(RLModule.from_checkpoint(str(folder)))


def _find_module(folder: Path) -> Path:
    """Return the folder of the only module in a checkpoint."""
    if not folder.is_dir():
        raise NotFoundError(f"there is no folder {str(folder)!r}")
    modules = folder / _MODULES
    if not modules.is_dir():
        if not (folder / _MODULE_FILE).is_file():
            raise PolicyError(f"{str(folder)!r} is no checkpoint of RLlib: give what algorithm.save_to_path() wrote")
        return folder
    names = sorted(path.name for path in modules.iterdir() if (path / _MODULE_FILE).is_file())
    if len(names) != 1:
        raise PolicyError(f"it has the modules {', '.join(names) or 'none'}: give the folder of one, in {modules}")
    return modules / names[0]
