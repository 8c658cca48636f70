"""Random search for the script that plays best against an agent, over the parameters of ``raider`` and ``scripted``.

    python -m benchmarks.script_search --opponent policy:base

Half of the candidates are raiders, half are scripted agents. Each candidate plays ``--games``
games against the opponent, half of them from either side, and the best play ``--final-games`` more with other seeds: their
win rates in these are not biased by the selection. A match is a line of the file ``--out``; one that is there is not
played again, so that an interrupted search goes on.
"""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from pydantic import BaseModel

from geo_patrol import play_match
from geo_patrol.agents.scripted.parameters import describe_parameters
from geo_patrol.agents.scripted.tactics import Raid
from geo_patrol.agents.scripted.valuation import Style


class Match(BaseModel):
    """A match of a candidate against the opponent.

    Attributes:
        candidate: its name, with its parameters.
        opponent: the name of the opponent.
        config: the preset.
        games: number of games.
        seed: of the match.
        win_rate: of the candidate; a draw is no win.
        low: lower end of the 95 % interval of the win rate.
        high: upper end.
    """

    candidate: str
    opponent: str
    config: str
    games: int
    seed: int
    win_rate: float
    low: float
    high: float


_HIGHEST = {
    "defenders_per_raider": 2.0,
    "haste": 16.0,
    "premium": 60.0,
    "dodge": 2.0,
    "temperature": 20.0,
    "ending": 160.0,
    "danger": 16.0,
}
"""Of the parameters of ``scripted`` from 0 (temperature: from 0.5); the others are fractions."""


def sample_raid(generator: np.random.Generator) -> Raid:
    """Return a raider's parameters, each sampled uniformly."""
    return Raid(
        defenders=int(generator.integers(0, 11)),
        path="quick" if generator.random() < 0.5 else "cheap",
        reach="sector" if generator.random() < 0.5 else "adjacent",
        first="hva" if generator.random() < 0.5 else "patrols",
        lead=round(float(generator.random()), 3),
        dodge=round(float(generator.random()), 3),
    )


def sample_style(generator: np.random.Generator) -> Style:
    """Return the parameters of a scripted agent: each keeps its default, or is sampled uniformly."""
    sampled = {
        name: round(float(generator.uniform(0.5 if name == "temperature" else 0.0, _HIGHEST.get(name, 1.0))), 3)
        for name in Style._fields
        if generator.random() < 0.5
    }
    return Style(**sampled)


def sample_candidate(generator: np.random.Generator, number: int) -> str:
    """Return the name of a candidate: a raider if its number is even, otherwise a scripted agent."""
    if number % 2 == 0:
        return describe_parameters("raider", sample_raid(generator))
    return describe_parameters("scripted", sample_style(generator))


class Search:
    """The matches of a search, and the file that keeps them.

    Args:
        out: the file, a match a line.
        opponent: the agent to beat.
        config: the preset.
    """

    def __init__(self, out: Path, opponent: str, config: str) -> None:
        self._out, self._opponent, self._config = out, opponent, config
        lines = out.read_text(encoding="utf-8").splitlines() if out.exists() else []
        self._matches = [Match.model_validate_json(line) for line in lines]

    def play(self, candidate: str, games: int, seed: int) -> Match:
        """Return the result of a match, which is played unless the file has it."""
        expected = candidate, self._opponent, self._config, games, seed
        for known in self._matches:
            if (known.candidate, known.opponent, known.config, known.games, known.seed) == expected:
                return known
        total = play_match(candidate, self._opponent, config=self._config, games=games, seed=seed).summary().total
        low, high = map(float, total.win_interval)
        match = Match(
            candidate=candidate,
            opponent=self._opponent,
            config=self._config,
            games=games,
            seed=seed,
            win_rate=float(total.win_rate),
            low=low,
            high=high,
        )
        self._matches.append(match)
        with self._out.open("a", encoding="utf-8") as out:
            out.write(match.model_dump_json() + "\n")
        return match


app = typer.Typer(add_completion=False, rich_markup_mode=None, help=__doc__)


@app.command()
def main(
    opponent: Annotated[str, typer.Option(help="The agent to beat.")] = "policy:base",
    config: Annotated[str, typer.Option(help="Preset to play.")] = "geo_patrol",
    candidates: Annotated[int, typer.Option(min=1)] = 200,
    games: Annotated[int, typer.Option(min=2, help="Of each candidate.")] = 400,
    finalists: Annotated[int, typer.Option(min=1, help="Candidates that play again.")] = 5,
    final_games: Annotated[int, typer.Option(min=2, help="Of each finalist.")] = 4000,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    out: Annotated[Path, typer.Option(help="File of the results.")] = Path("script_search.jsonl"),
) -> None:
    """Search, and print the finalists."""
    search, generator = Search(out, opponent, config), np.random.default_rng(seed)
    matches = []
    for number in range(candidates):
        matches.append(search.play(sample_candidate(generator, number), games, seed))
        print(f"\r{number + 1} of {candidates}", end="", flush=True)
    best = sorted(matches, key=lambda match: -match.win_rate)[:finalists]
    print(
        f"\n\n| against `{opponent}` on {config} | {games:,} games | {final_games:,} other games | 95 % |\n|---|---|---|---|"
    )
    for first in best:
        final = search.play(first.candidate, final_games, seed + 1)
        print(
            f"| `{first.candidate}` | {first.win_rate:.1%} | {final.win_rate:.1%} | {final.low:.1%}-{final.high:.1%} |"
        )


if __name__ == "__main__":
    app()
