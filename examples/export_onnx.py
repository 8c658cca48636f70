"""Write the policy that ``ppo_geo_patrol.py`` trained as an ONNX file, which plays as an agent.

    pip install "geo_patrol[train,onnx]" onnxscript
    python examples/ppo_geo_patrol.py --minutes 5
    python examples/export_onnx.py runs/ppo_geo_patrol/agent.pt
    geo-patrol match onnx:runs/ppo_geo_patrol/agent.onnx scripted

The input is named after the parameter of ``Agent.forward``. docs/train/networks.md says what a network gets and returns.
"""

import importlib.util
import sys
from pathlib import Path

if importlib.util.find_spec("torch") is None:
    sys.exit('PyTorch is not installed: pip install "geo_patrol[train,onnx]"')

import torch
from ppo_geo_patrol import Agent

weights = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/ppo_geo_patrol/agent.pt")
if not weights.exists():
    sys.exit(f"{weights} does not exist: train it with ppo_geo_patrol.py, or name another file")
agent = Agent(obs_size=1591, num_satellites=11, num_orders=28)
agent.load_state_dict(torch.load(weights, map_location="cpu", weights_only=True))
torch.onnx.export(
    agent.eval(),
    (torch.zeros(2, 1591),),
    weights.with_suffix(".onnx"),
    dynamo=True,
    dynamic_shapes=({0: "batch"},),  # any number of observations at once
    external_data=False,  # the weights in the same file
)
print(f"saved {weights.with_suffix('.onnx')}")
