"""Write ``tests/golden/perft.json``: exact counts and probabilities by which another implementation of these rules can be checked.

Like perft of chess programs (https://www.chessprogramming.org/Perft), it counts what the rules allow instead of saying how games are
played: legal joint orders, the positions that a game can reach, and the exact odds of engagements. docs/reference/perft.md describes the
file. ``make golden`` runs it.
"""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from geo_patrol import Game, Games, load_config, preset_names
from geo_patrol.solving import Limits
from geo_patrol.solving.backward_induction import Positions, list_turns
from geo_patrol.solving.transitions import write_positions
from scripts.write_playthroughs import SEED, SIDES, choose_orders

FILE = Path(__file__).parents[1] / "tests" / "golden" / "perft.json"
SOLVED = ("duel",)
"""Presets whose positions are all listed."""
POSITIONS, CHUNK = 24, 8192
"""Phases of each playthrough that the file holds, and positions that are looked at together."""
MAX_ENGAGED = 7
"""Satellites that engage at once: with many more, there are millions of branches."""


def joint_orders(game: Game) -> list[int]:
    """Return how many legal joint orders alpha and bravo have."""
    return [math.prod(game.action_mask(side).sum(axis=1).tolist()) for side in SIDES]


def describe_position(game: Game) -> dict[str, Any]:
    """Return a position: its phase, the score, and sector, fuel and ammo of each satellite, destroyed ones in the Earth's sector 0."""
    fleets = {side: [[s.sector, s.fuel, s.ammo] for s in game.satellites(side)] for side in SIDES}
    scores = [game.scores[side] for side in SIDES]
    return {"turn": game.turn, "phase": game.phase, "scores": scores, "goals": [game.goals[s] for s in SIDES], **fleets}


def describe_engagement(game: Game, orders: np.ndarray) -> dict[str, Any] | None:
    """Return what an engagement can lead to: how many positions, and how likely each satellite is destroyed; None of large ones."""
    if np.count_nonzero(orders) > MAX_ENGAGED:
        return None
    games, probabilities = game.outcome_distribution(*orders)
    destroyed = np.tensordot(probabilities, games.destroyed, 1)
    return {
        "positions": len(games),
        "destroyed": {side: [round(float(odds), 12) for odds in destroyed[i]] for i, side in enumerate(SIDES)},
    }


def walk(preset: str) -> list[dict[str, Any]]:
    """Return the first phases of the golden playthrough of a preset, with what can be counted in each."""
    game, rng, phases = Game(preset, seed=SEED), np.random.default_rng(SEED), []
    while not game.is_over and len(phases) < POSITIONS:
        described = describe_position(game) | {"joint_orders": joint_orders(game)}
        orders = choose_orders(game, rng)
        if game.phase == "engagement" and orders.any():
            described["orders"] = {side: orders[i].tolist() for i, side in enumerate(SIDES)}
            described["engagement"] = describe_engagement(game, orders)
        phases.append(described)
        game.step(*orders)
    return phases


def count_positions(preset: str) -> list[dict[str, Any]]:
    """Return how many positions a game can reach in each phase, and how many pairs of joint orders are legal in all of them."""
    config = load_config(preset)
    rows = []
    for number, turn in enumerate(list_turns(config, Limits(), is_complete=True), start=1):
        for phase, positions in (("movement", turn.movement), ("engagement", turn.engagement)):
            pairs = sum(_count_pairs(config, positions, start) for start in range(0, len(positions.indices), CHUNK))
            rows.append(
                {"turn": number, "phase": phase, "positions": len(positions.indices), "joint_order_pairs": pairs}
            )
    return rows


def _count_pairs(config: Any, positions: Positions, start: int) -> int:
    numbers = np.arange(start, min(start + CHUNK, len(positions.indices)))
    games = Games(config, len(numbers), seed=np.zeros(len(numbers), np.uint64))
    write_positions(positions.board, positions.pairs(numbers), games.state.games)
    games.describe()
    counts = games.action_masks().sum(axis=3, dtype=object)
    return int(counts.prod(axis=(1, 2)).sum())


def write() -> dict[str, Any]:
    """Return the content of the file."""
    presets = [
        name for name in preset_names() if not load_config(name).hides_enemies and not load_config(name).is_randomized
    ]
    return {
        "playthroughs": {name: walk(name) for name in presets},
        "reachable": {name: count_positions(name) for name in SOLVED},
    }


if __name__ == "__main__":
    content = write()
    lines = [
        f'  "{part}": {{\n'
        + ",\n".join(
            f'    "{name}": [\n' + ",\n".join(f"      {json.dumps(row)}" for row in rows) + "\n    ]"
            for name, rows in content[part].items()
        )
        + "\n  }"
        for part in content
    ]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8", newline="\n")
    print(f"wrote {FILE.name}")
