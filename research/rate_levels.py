"""Measure the ratings of the levels in a round robin with two scripts, and store them for the package.

    python -m research.rate_levels

It takes about a minute; the same command writes the same file, but for the last digits of another processor.
"""

import json
from pathlib import Path

from geo_patrol.agents.levels import RATINGS, read_levels
from geo_patrol.evaluation import play_tournament

CONFIG, GAMES, SEED = "geo_patrol", 400, 0
OTHERS = ("scripted", "turtle")
MEAN = 1125
"""Of all ratings: only their differences mean something."""


def main() -> None:
    """Play and write."""
    agents = [*(level.agent for level in read_levels()), *OTHERS]
    ratings = play_tournament(agents, config=CONFIG, games=GAMES, seed=SEED).ratings
    rows = {
        agent: [round(MEAN + float(value)) for value in (elo, *interval)]
        for agent, elo, interval in zip(agents, ratings.elo, ratings.intervals, strict=True)
    }
    data = {"config": CONFIG, "games_a_pairing": GAMES, "seed": SEED, "rating, low, high": rows}
    Path(str(RATINGS)).write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
