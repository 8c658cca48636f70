"""Play many small matches, and count how often their 95% intervals contain the long-run rate.

    python scripts/check_intervals.py scripted scripted --matches 200
    python scripts/check_intervals.py policy:base raider --matches 200

The long-run rates are those of one match with other seeds. A line for each side and for the total is printed: matches in
which the interval contains the rate, with the interval of that proportion. With an agent against itself, the rates of the
sides are counted as well, as in sweeps.
"""

import argparse

import numpy as np

from geo_patrol import load_config
from geo_patrol.base.sides import SIDES
from geo_patrol.evaluation import play_match
from geo_patrol.evaluation.results import DRAW
from geo_patrol.evaluation.statistics import wilson_interval

LONG_RUN_SEED = 1 << 40


def read_arguments() -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("first")
    parser.add_argument("second")
    parser.add_argument("--config", default="geo_patrol")
    parser.add_argument("--matches", type=int, default=200)
    parser.add_argument("--games", type=int, default=100, help="of each match")
    parser.add_argument("--long-run", type=int, default=40_000, help="games for the long-run rates")
    return parser.parse_args()


def main() -> None:
    """Play the matches and print the coverage."""
    arguments = read_arguments()
    agents, config = (arguments.first, arguments.second), load_config(arguments.config)

    def win_rates(games: int, seed: int) -> dict[str, tuple[float, tuple[float, float]]]:
        match = play_match(*agents, config=config, games=games, seed=seed)
        summary = match.summary()
        tallies = {"as alpha": summary.as_alpha, "as bravo": summary.as_bravo, "total": summary.total}
        rates = {label: (tally.win_rate, tally.win_interval) for label, tally in tallies.items()}
        for number, side in enumerate(SIDES if arguments.first == arguments.second else ()):
            wins = int(((match.winner != DRAW) & ((match.winner ^ match.first_side) == number)).sum())
            rates[f"{side} wins"] = (wins / len(match), wilson_interval(wins, len(match)))
        return rates

    long_run = win_rates(arguments.long_run, LONG_RUN_SEED)
    if arguments.first == arguments.second:  # by symmetry, but for draws
        sides = [win_rate for label, (win_rate, _) in long_run.items() if label.endswith(" wins")]
        total = float(np.mean(sides))
        long_run = {label: (total if label == "total" else sides["bravo" in label], (0, 1)) for label in long_run}
    matches = [win_rates(arguments.games, seed) for seed in range(arguments.matches)]
    for label, (win_rate, _) in long_run.items():
        covered = sum(match[label][1][0] <= win_rate <= match[label][1][1] for match in matches)
        low, high = wilson_interval(covered, len(matches))
        print(f"{label}: long-run rate {win_rate:.1%}, covered {covered / len(matches):.1%} ({low:.1%}-{high:.1%})")


if __name__ == "__main__":
    main()
