"""What hidden enemies cost an agent: games of GEO Patrol against itself, in which one side alone has a sensor range.

    python -m benchmarks.hidden [--games N] [--seed N]

Alpha has the range, bravo sees everything; without a range, the sides are equal. Prints the table of docs/baselines.md.
"""

import argparse

from geo_patrol import Games
from geo_patrol.evaluation.statistics import wilson_interval

AGENTS = ("scripted", "raider", "policy:base")
RANGES = (1, 2, 3, 4, None)


def win_rate(agent: str, sensor_range: int | None, games: int, seed: int) -> str:
    """Return how many games alpha wins, draws counted as half, with the 95% interval."""
    overrides = {} if sensor_range is None else {"alpha.sensor_range": sensor_range}
    returns = Games("geo_patrol", games, seed=seed, overrides=overrides).play_out(agent, agent).returns[:, 0]
    low, high = wilson_interval(int(returns.sum() + games) // 2, games)
    return f"{(returns.mean() + 1) / 2:.1%} ({low:.1%}-{high:.1%})"


def main() -> None:
    """Print the table, row by row."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--games", type=int, default=2_000, help="games of each cell (default: 2,000)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first game")
    arguments = parser.parse_args()
    heads = [f"{reach} step{'s' * (reach > 1)}" if reach else "everything" for reach in RANGES]
    print(f"| agent | {' | '.join(heads)} |\n|---|{'---|' * len(heads)}", flush=True)
    for agent in AGENTS:
        cells = [win_rate(agent, reach, arguments.games, arguments.seed) for reach in RANGES]
        print(f"| `{agent}` | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
