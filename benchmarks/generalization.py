"""How far a policy plays what it was not trained on: matches on both sides of the split in configs/generalization.

python -m benchmarks.generalization --games 8000 --publish
"""

import argparse
from pathlib import Path

from benchmarks.formatting import markdown_table
from benchmarks.publish import put_between_markers
from geo_patrol import Games, MatchResult, play_match
from geo_patrol.evaluation.results import DRAW, FIRST, WinRate

DOCUMENT = Path(__file__).parents[1] / "docs" / "configurations.md"
SPLIT = ("generalization/train", "generalization/held_out")


def win_rates(result: MatchResult) -> dict[str, WinRate]:
    """Return the win rate of a match's first agent in each variant of its configuration, and in all of them."""
    played = Games(result.config, len(result), seed=result.seeds).variant  # the seed of a game decides which it is
    won, drawn = result.winner == FIRST, result.winner == DRAW
    rows = {"all": played >= 0} | {each.name: played == index for index, each in enumerate(result.config.variants)}
    return {name: WinRate.from_games(won[mask], drawn[mask], result.seeds[mask]) for name, mask in rows.items()}


def table(results: list[MatchResult]) -> str:
    """Return the results as a table with a row for each scenario."""
    first = results[0]
    rows = []
    for result in results:
        for name, rate in win_rates(result).items():
            low, high = rate.win_interval
            scenario = f"**{result.config.title}**" if name == "all" else name
            rows.append([scenario, f"{rate.games:,}", f"{rate.win_rate:.1%}", f"{low:.1%} .. {high:.1%}"])
    return (
        f"`{first.agents[0]}` against `{first.agents[1]}`, both sides of every game, seed {first.seed}; the interval is 95%:\n\n"
        f"{markdown_table(['scenario', 'games', 'wins', 'interval'], rows)}\n\n"
        f"Written by `python -m benchmarks.generalization --first {first.agents[0]} --second {first.agents[1]} "
        f"--games {len(first)} --seed {first.seed} --publish`."
    )


def main() -> None:
    """Play the matches and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", default="policy:base", help="agent whose wins are counted")
    parser.add_argument("--second", default="scripted", help="its opponent")
    parser.add_argument("--games", type=int, default=8000, help="games on each side of the split")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--publish", action="store_true", help=f"write the table into docs/{DOCUMENT.name}")
    options = parser.parse_args()
    block = table(
        [
            play_match(options.first, options.second, config=config, games=options.games, seed=options.seed)
            for config in SPLIT
        ]
    )
    print(block)
    if options.publish:
        text = put_between_markers(DOCUMENT.read_text(encoding="utf-8"), block, "generalization")
        DOCUMENT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
