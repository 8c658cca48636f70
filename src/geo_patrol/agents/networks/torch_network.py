"""Networks in PyTorch: those that a user's own Python makes, and TorchScript files.

Both are the user's programs: loading either runs code, or may. ``agents.isolation`` gives them processes of their own.
"""

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from geo_patrol.agents.loading import NotFoundError, find_attribute, import_file, split_location
from geo_patrol.agents.networks.agent import ACTION_MASK
from geo_patrol.errors import PolicyError, optional_import

SCRIPT_SUFFIX = ".pt"


class TorchNetwork:
    """A PyTorch module, or any function of tensors, on the processor; its first output is the logits.

    Its inputs are the parameters of ``forward``, by their names: "onehot" is float32, "tokens" int64, "action_mask" bool.

    Args:
        forward: the module or function.

    Raises:
        MissingPackageError: PyTorch is not installed.
        PolicyError: it is no function.
    """

    def __init__(self, forward: Callable[..., Any]) -> None:
        with optional_import("train"):
            import torch  # noqa: PLC0415 - an extra
        if not callable(forward):
            raise PolicyError(f"it is of type {type(forward).__name__}: give a module, or a function of tensors")
        self._torch = torch
        self._dtypes = {"onehot": torch.float32, "tokens": torch.int64, ACTION_MASK: torch.bool}
        self._forward = forward.eval() if isinstance(forward, torch.nn.Module) else forward
        self.input_names = _parameter_names(forward)

    def __call__(self, inputs: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
        """Return the logits of a batch of inputs.

        Raises:
            PolicyError: the network returned no tensor.
        """
        torch = self._torch
        tensors = {name: torch.as_tensor(array).to(self._dtypes[name]) for name, array in inputs.items()}
        with torch.inference_mode():
            output = self._forward(**tensors)
        logits = output[0] if isinstance(output, tuple | list) else output
        if not isinstance(logits, torch.Tensor):
            raise PolicyError(
                f"the network returned {type(logits).__name__}: give a tensor, or a tuple that begins with one"
            )
        array: NDArray[Any] = logits.cpu().numpy()
        return array


def load_torch_network(source: str) -> TorchNetwork:
    """Load a network from ``FILE.py:make`` or from a TorchScript file, ``FILE.pt``.

    ``make`` is a module or a function of tensors, or a class or function that returns one when it is called without
    arguments.

    Raises:
        MissingPackageError: PyTorch is not installed.
        NotFoundError: there is no such file, or nothing of that name in it.
        PolicyError: ``source`` is neither.
        Exception: whatever the user's code raises.
    """
    is_script = source.endswith(SCRIPT_SUFFIX)
    path, attribute = (source, "") if is_script else split_location(source) or ("", "")
    if not path.endswith((".py", SCRIPT_SUFFIX)):
        raise PolicyError(f"give torch:FILE.py:make or torch:FILE{SCRIPT_SUFFIX}")
    file = Path(path).expanduser()
    if not file.is_file():
        raise NotFoundError(f"there is no file {path!r}")
    with optional_import("train"):
        import torch  # noqa: PLC0415 - an extra
    if is_script:
        return TorchNetwork(torch.jit.load(str(file), map_location="cpu"))
    found = find_attribute(import_file(file), path, attribute)
    return TorchNetwork(found if isinstance(found, torch.nn.Module) else found())


def _parameter_names(forward: Any) -> tuple[str, ...]:
    """Return the names of the parameters without defaults, and of the mask if it is one of the others."""
    if hasattr(forward, "forward"):
        forward = forward.forward
    if hasattr(forward, "schema"):  # TorchScript
        parameters = [(argument.name, argument.has_default_value()) for argument in forward.schema.arguments[1:]]
    else:
        empty = inspect.Parameter.empty
        signature = inspect.signature(forward).parameters
        parameters = [(name, parameter.default is not empty) for name, parameter in signature.items()]
    return tuple(name for name, has_default in parameters if not has_default or name == ACTION_MASK)
