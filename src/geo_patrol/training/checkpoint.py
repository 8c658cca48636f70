"""What an interrupted training continues from, and the policy's file."""

from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch

from geo_patrol.agents.policy import PolicyAgent
from geo_patrol.agents.policy.network import initial_weights
from geo_patrol.agents.policy.weights import Widths, shapes, write_weights
from geo_patrol.agents.travel import local_name
from geo_patrol.config.presets import load_config
from geo_patrol.errors import PolicyError
from geo_patrol.files import atomic_path
from geo_patrol.training.config import TrainingConfig
from geo_patrol.training.evaluation import Evaluation
from geo_patrol.training.league import League
from geo_patrol.training.network import NetworkAgent, PolicyNetwork, freeze

FORMAT = "geo_patrol checkpoint 2"
CHECKPOINT = "checkpoint.pt"
POLICY = "policy.safetensors"


@dataclass
class TrainingState:
    """All that changes over a training run."""

    network: PolicyNetwork
    optimizer: torch.optim.Optimizer
    league: League[NetworkAgent]
    magnet: PolicyNetwork | None = None
    global_step: int = 0
    minutes: float = 0.0
    curve: list[Evaluation] = field(default_factory=list)


def initial_state(config: TrainingConfig, device: torch.device) -> TrainingState:
    """Return the state that a run starts from, and seed PyTorch's random stream."""
    torch.manual_seed(config.seed)
    rng = np.random.default_rng(config.seed)
    random_weights = initial_weights(shapes(Widths()), rng)
    policy = config.initial_policy
    network = PolicyNetwork(random_weights if policy is None else PolicyAgent(local_name(policy)).weights).to(device)
    has_fused = device.type in ("cpu", "cuda")
    optimizer = torch.optim.Adam(network.parameters(), lr=config.learning_rate, eps=1e-5, fused=has_fused)
    league: League[NetworkAgent] = League([*config.opponents, *config.extra_opponents], rng, config.opponent_weights)
    magnet = deepcopy(network) if config.magnet_coef else None
    return TrainingState(network, optimizer, league, magnet)


def save(state: TrainingState, config: TrainingConfig) -> None:
    """Write the checkpoint and the policy into the run's folder."""
    past_policies = state.league.past_policies.items()
    content = {
        "format": FORMAT,
        "network": state.network.state_dict(),
        "optimizer": state.optimizer.state_dict(),
        "magnet": None if state.magnet is None else state.magnet.state_dict(),
        "past_policies": {name: agent.network.state_dict() for name, agent in past_policies},
        "results": {name: list(results) for name, results in state.league.results.items()},
        "global_step": state.global_step,
        "minutes": state.minutes,
        "curve": [point.to_row() for point in state.curve],
        "rng_state": torch.get_rng_state(),
    }
    with atomic_path(config.out / CHECKPOINT) as path:
        torch.save(content, path)
    save_policy(state, config, POLICY)


def save_policy(state: TrainingState, config: TrainingConfig, name: str) -> None:
    """Write the policy to a file of the run's folder."""
    metadata = {
        "steps": f"{state.global_step}",
        "minutes": f"{state.minutes:.1f}",
        "seed": f"{config.seed}",
        "begun_with": config.initial_policy or "random weights",
        "configs": ", ".join(c if isinstance(c, str) else load_config(c).title for c in config.config),
    }
    (config.out / name).parent.mkdir(exist_ok=True)
    write_weights(config.out / name, state.network.weights(), metadata)


def restore(state: TrainingState, path: Path) -> None:
    """Continue from a checkpoint.

    Raises:
        PolicyError: it was written by another version.
    """
    device = state.network.device
    content = torch.load(path, weights_only=True, map_location=device)  # plain data: nothing in it is executed
    if content.get("format") != FORMAT:
        raise PolicyError(
            f"{path}: written by another version; start in another folder, from {path.with_name(POLICY)} if you like"
        )
    for name, weights in content["past_policies"].items():
        state.league.add(name, freeze(state.network, name))
        state.league.past_policies[name].network.load_state_dict(weights)
    for name, results in content["results"].items():
        if name in state.league.results:
            state.league.results[name].extend(results)
    state.network.load_state_dict(content["network"])
    state.optimizer.load_state_dict(content["optimizer"])
    if state.magnet is not None:  # the run may have begun without one
        state.magnet.load_state_dict(content.get("magnet") or content["network"])
    state.global_step, state.minutes = content["global_step"], content["minutes"]
    state.curve = [Evaluation.from_row(row) for row in content["curve"]]
    torch.set_rng_state(content["rng_state"].cpu())
