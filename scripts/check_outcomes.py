"""Hold the exact distribution of engagements against the engine's sampling, on random crowded boards.

Run it after a change of the rules of engagements: ``python scripts/check_outcomes.py`` takes some minutes. A right
distribution has a p-value below 1e-4 on one of 10,000 boards.
"""

import argparse
import sys
from collections import Counter

import numpy as np

from geo_patrol import Game
from geo_patrol.base.board import adjacent_sectors
from geo_patrol.engine.engagement import pay_for_engagements, resolve_repeatedly
from geo_patrol.engine.legal import sample_legal
from geo_patrol.engine.state import make_outcomes
from geo_patrol.replays.verify import SIGNIFICANCE, survival

SIDES = ("alpha", "bravo")
CHUNK = 100_000
MIN_EXPECTED = 10
"""Categories that are expected less often are pooled, as the chi-square approximation requires."""


def crowded_board(seed: int) -> tuple[Game, np.ndarray]:
    """Return an engagement phase with all satellites in the same or adjacent sectors, and orders: nearly all engage."""
    rng = np.random.default_rng(seed)
    fleets = {side: {"patrols": {"formation": [[0, int(rng.integers(2, 6))]], "ammo": 1}} for side in SIDES}
    for table in fleets.values():
        table["odds"] = {name: rng.uniform(0, 1, 2).round(2).tolist() for name in ("shoot", "collide", "guard")}
    start = Game({"extends": "geo_patrol", **fleets}, seed=seed)
    position = start.position.model_dump() | {"phase": "engagement"}
    center = int(rng.integers(7, 15))
    crowd = [center, center, *adjacent_sectors(center, 4)]
    position["sector"] = [rng.choice(crowd, len(fleet)).tolist() for fleet in position["sector"]]
    game = Game.from_position(position, start.config, seed=seed)
    masks = np.stack([game.action_mask(side) for side in SIDES])
    masks[..., 0] = (masks[..., 1:].max(axis=-1) == 0) | (rng.random(masks.shape[:2]) < 0.1)
    return game, sample_legal(masks, rng)


def count_samples(game: Game, orders: np.ndarray, draws: int) -> Counter[int]:
    """Resolve an engagement many times; return how often each set of satellites was destroyed, as bits."""
    batch, orders, counts = game.repeat(1, same_chance=True).state, orders.copy(), Counter()
    pay_for_engagements(batch.games[0], batch.rules[0], orders)
    for start in range(0, draws, CHUNK):
        size = min(CHUNK, draws - start)
        destroyed, kinds = np.empty(size, np.int64), np.empty((size, 3), np.int64)
        resolve_repeatedly(batch.games[0], batch.rules[0], orders, make_outcomes(), destroyed, kinds)
        bits, numbers = np.unique(destroyed, return_counts=True)
        counts.update(dict(zip(bits.tolist(), numbers.tolist(), strict=True)))
    return counts


def p_value(expected: dict[int, float], counts: Counter[int]) -> float:
    """Return the p-value of the chi-square test of counts; 0 if something impossible was counted."""
    if set(counts) - set(expected):
        return 0.0
    pooled = [(0.0, 0)]
    for mean, bits in sorted((mean, bits) for bits, mean in expected.items()):
        if pooled[-1][0] < MIN_EXPECTED:
            pooled[-1] = pooled[-1][0] + mean, pooled[-1][1] + counts[bits]
        else:
            pooled.append((mean, counts[bits]))
    statistic = sum((count - mean) ** 2 / mean for mean, count in pooled)
    return survival(statistic, len(pooled) - 1) if len(pooled) > 1 else 1.0


def check_board(seed: int, draws: int) -> tuple[float, float, int]:
    """Return the p-value of a board, by how much its probabilities miss 1, and its number of results."""
    game, orders = crowded_board(seed)
    games, probabilities = game.outcome_distribution(*orders)
    flags = games.destroyed.reshape(len(games), -1).astype(np.int64)
    expected: dict[int, float] = Counter()
    for bits, probability in zip((flags @ (1 << np.arange(22))).tolist(), probabilities.tolist(), strict=True):
        expected[bits] += probability * draws
    return p_value(expected, count_samples(game, orders, draws)), abs(probabilities.sum() - 1), len(expected)


def main() -> int:
    """Check boards, print the extremes, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boards", type=int, default=100)
    parser.add_argument("--draws", type=int, default=1_000_000)
    arguments = parser.parse_args()
    results = [check_board(seed, arguments.draws) for seed in range(arguments.boards)]
    lowest, miss = min(p for p, _, _ in results), max(miss for _, miss, _ in results)
    print(
        f"{len(results)} boards, {arguments.draws:,} engagements each, up to {max(n for _, _, n in results):,} results:"
    )
    print(f"lowest p-value {lowest:.2g}, sums of probabilities within {miss:.1g} of 1")
    return int(lowest < SIGNIFICANCE or miss > 1e-12)


if __name__ == "__main__":
    sys.exit(main())
