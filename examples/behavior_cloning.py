"""Behaviour cloning: train a network to order what an agent ordered in recorded games, and let it play matches.

    geo-patrol match policy:base scripted --games 1200 --seed 1 --save games/
    python examples/behavior_cloning.py games/ policy:base 8  # epochs

Without arguments it records these games itself, and learns from them.
"""

import argparse
import importlib.util
import os
import sys
import tempfile
from pathlib import Path

if importlib.util.find_spec("torch") is None:
    sys.exit('PyTorch is not installed: pip install "geo_patrol[train]"')

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before the imports: docs/train/training.md, Threads

import torch
from torch import nn

from geo_patrol import GeoPatrolError, RecordingError, play_match
from geo_patrol.agents.networks import NetworkAgent, TorchNetwork
from geo_patrol.replays.datasets import ReplayDataset


def clone(folder, agent, epochs, seed=0):
    """Return a network that maps observations (n, 1591) to the logits of orders, (n, 308)."""
    torch.manual_seed(seed)
    network = nn.Sequential(nn.Linear(1591, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 308))
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.75)
    dataset = ReplayDataset(folder, agent=agent)
    for epoch in range(epochs):
        loss = None
        for samples in dataset.batches(16_384):
            observations, actions = torch.as_tensor(samples.observations), torch.as_tensor(samples.actions)
            masks = torch.as_tensor(samples.action_masks).bool()
            for rows in torch.randperm(len(actions)).split(512):
                logits = network(observations[rows]).view(-1, 11, 28).masked_fill(~masks[rows], -1e9)
                loss = nn.functional.cross_entropy(logits.flatten(0, 1), actions[rows].flatten())
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        if loss is None:
            raise RecordingError(f"{folder}: no decisions of {agent!r}")
        schedule.step()
        print(f"epoch {epoch + 1}: {len(dataset.games)} games, loss {loss.item():.3f}")
    return network


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", help="recorded games (default: 1,200 against scripted, recorded now)")
    parser.add_argument("agent", nargs="?", default="policy:base", help="whose orders to learn (default policy:base)")
    parser.add_argument("epochs", nargs="?", type=int, default=8, help="how often to read all games (default 8)")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as recorded:
        if args.folder is None:
            print("recording 1,200 games")
            play_match(args.agent, "scripted", games=1200, seed=1, save=Path(recorded, "games.jsonl.gz"))
        try:
            network = clone(args.folder or recorded, args.agent, args.epochs)
        except GeoPatrolError as error:
            sys.exit(str(error))
    cloned = NetworkAgent("cloned", TorchNetwork(lambda onehot: network(onehot)))
    for opponent in ("random", "scripted"):
        print(play_match(cloned, opponent, games=1000, seed=0))


if __name__ == "__main__":
    main()
