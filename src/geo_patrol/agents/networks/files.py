"""Networks by name: ``onnx:FILE.onnx``, ``torch:FILE.py:make``, ``torch:FILE.pt``, ``rllib:FOLDER``.

Each may have ``,greedy`` behind it.
"""

from collections.abc import Callable

from geo_patrol.agents.loading import NotFoundError
from geo_patrol.agents.networks.agent import Network, NetworkAgent
from geo_patrol.agents.networks.onnx_network import OnnxNetwork
from geo_patrol.agents.networks.rllib_network import load_rllib_network
from geo_patrol.agents.networks.torch_network import load_torch_network
from geo_patrol.agents.policy.agent import GREEDY
from geo_patrol.agents.protocol import describe_error
from geo_patrol.errors import AgentError, MissingPackageError, PolicyError

_LOADERS: dict[str, Callable[[str], Network]] = {
    "onnx": OnnxNetwork,
    "rllib": load_rllib_network,
    "torch": load_torch_network,
}


def is_network(name: str) -> bool:
    """Tell whether an agent's name is that of a user's network."""
    return name.partition(":")[0] in _LOADERS


def load_network(name: str) -> NetworkAgent:
    """Make the agent of a user's network.

    Args:
        name: ``onnx:FILE.onnx``, ``torch:FILE.py:make``, ``torch:FILE.pt`` or ``rllib:FOLDER``, perhaps with
            ``,greedy``. All but ``onnx`` are programs: loading one runs it with the rights of the current user.

    Raises:
        AgentError: there is no such file, it holds something else, its code raises an exception, or a package that reads
            it is not installed.
    """
    kind, _, rest = name.partition(":")
    source = rest.removesuffix(GREEDY)
    if not source:
        raise AgentError(f"agent {name!r}: name its file behind {kind}: as docs/networks.md says")
    try:
        return NetworkAgent(name, _LOADERS[kind](source), greedy=source != rest)
    except (NotFoundError, PolicyError, MissingPackageError) as error:
        raise AgentError(f"agent {name!r}: {error}") from error
    except FileNotFoundError as error:
        raise AgentError(f"agent {name!r}: there is no file {str(error.filename)!r}") from error
    except Exception as error:
        raise AgentError(f"agent {name!r} cannot be made: {describe_error(error)}") from error
