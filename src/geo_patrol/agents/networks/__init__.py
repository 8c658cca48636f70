"""Users' own networks as agents: ``onnx:FILE.onnx``, ``torch:FILE.py:make``, ``rllib:FOLDER``; see docs/networks.md."""

from geo_patrol.agents.networks.agent import Network, NetworkAgent
from geo_patrol.agents.networks.files import is_network, load_network
from geo_patrol.agents.networks.torch_network import TorchNetwork

__all__ = ["Network", "NetworkAgent", "TorchNetwork", "is_network", "load_network"]
