"""Evaluations of a policy during its training, and the learning curve that they make."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from geo_patrol.evaluation.match import play_match
from geo_patrol.files import atomic_write
from geo_patrol.training.config import TrainingConfig
from geo_patrol.training.network import NetworkAgent, PolicyNetwork


class WinRate(NamedTuple):
    """A win rate and its 95 % interval."""

    estimate: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.estimate:.1%} ({self.low:.1%}-{self.high:.1%})"


@dataclass(frozen=True)
class Evaluation:
    """A point of the learning curve."""

    minutes: float
    steps: int
    win_rates: dict[str, WinRate]
    """By opponent."""

    def to_row(self) -> dict[str, float]:
        """Return the columns of ``curve.csv``: minutes, steps, and three for each opponent."""
        row = {"minutes": self.minutes, "steps": self.steps}
        for name, (estimate, low, high) in self.win_rates.items():
            row |= {name: estimate, f"{name} low": low, f"{name} high": high}
        return row

    @classmethod
    def from_row(cls, row: dict[str, float]) -> "Evaluation":
        """Read what ``to_row`` returned."""
        names = [name for name in row if f"{name} low" in row]
        win_rates = {name: WinRate(row[name], row[f"{name} low"], row[f"{name} high"]) for name in names}
        return cls(row["minutes"], int(row["steps"]), win_rates)


def evaluate(network: PolicyNetwork, config: TrainingConfig, games: int, seed: int) -> dict[str, WinRate]:
    """Play games against every evaluation opponent, half of them from each side, and return the win rates."""
    win_rates = {}
    for opponent in config.eval_opponents:
        agent = NetworkAgent(network, "training")
        total = play_match(agent, opponent, config=config.eval_config, games=games, seed=seed).summary().total
        win_rates[opponent] = WinRate(float(total.win_rate), *map(float, total.win_interval))
    return win_rates


def write_curve(path: Path, curve: Sequence[Evaluation]) -> None:
    """Write a learning curve as CSV; a column that a later evaluation does not have stays empty."""
    rows = [point.to_row() for point in curve]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with atomic_write(path) as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)
