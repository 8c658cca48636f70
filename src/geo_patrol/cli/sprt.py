"""``geo-patrol sprt``: a sequential test between two agents."""

import math
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from geo_patrol.cli import options, output

if TYPE_CHECKING:
    from geo_patrol.evaluation import SprtResult


def sprt(
    *,
    first: options.First,
    second: options.Second,
    elo0: Annotated[
        float, typer.Option("--elo0", metavar="ELO", help="Null hypothesis: FIRST is this much better ...")
    ] = 0,
    elo1: Annotated[
        float, typer.Option("--elo1", metavar="ELO", help="... alternative: this much, a larger number.")
    ] = 20,
    alpha: Annotated[float, typer.Option(metavar="P", help="Probability of accepting elo1 where elo0 is true.")] = 0.05,
    beta: Annotated[float, typer.Option(metavar="P", help="Probability of accepting elo0 where elo1 is true.")] = 0.05,
    scenario: options.ConfigOptions,
    max_games: Annotated[int, typer.Option(metavar="N", help="Maximum number of games, even.")] = 20_000,
    seed: options.Seed = None,
    playing: options.Playing,
) -> None:
    """Play until a sequential probability ratio test decides between the Elo differences elo0 and elo1.

    The model is pentanomial: the test counts pairs of games with the same seed and the sides swapped. Ctrl-C ends it
    with what is known by then.
    """
    from geo_patrol.evaluation import Sprt, play_sprt
    from geo_patrol.evaluation.sprt import SprtInterrupted

    with output.bad_input():
        test = Sprt(elo0, elo1, alpha, beta)
    config, agents = scenario.resolved, (first, second)
    options.check_match(max_games, seed)
    playing.check(agents)
    play = partial(play_sprt, *agents, **asdict(test), config=config, max_games=max_games, seed=seed)
    try:
        result = playing.run(f"{first} against {second}", agents, play, config=config)
    except SprtInterrupted as interrupt:
        if not playing.quiet and playing.json != output.STDOUT:
            print_sprt(interrupt.result, scenario.source)
        raise
    data = {"format": "geo_patrol sprt", "version": 1, "config": scenario.to_dict()}
    playing.write(lambda: data | result.to_dict(), lambda: print_sprt(result, scenario.source))


def print_sprt(result: "SprtResult", source: str) -> None:
    """Print the decision and the statistics behind it."""
    from rich.text import Text

    from geo_patrol.evaluation.statistics import score_to_elo

    match, test = result.match, result.test
    first, second = match.agents
    console = output.print_heading(f"{first} against {second}", f"{match.config.title} ({source}), seed {match.seed}")
    counts = ", ".join(
        f"{score}: {count:,}" for score, count in zip(("0", "1/2", "1", "3/2", "2"), result.counts, strict=True)
    )
    score = result.score
    ends = map(score_to_elo, score.interval)
    elo = " to ".join("beyond" if math.isinf(value) else f"{value:+z.0f}" for value in ends)
    lower, upper = test.bounds
    console.print(f"pairs by points of {first}: {counts}", soft_wrap=True)
    console.print(f"score {score.value:.1%}, 95% interval {score.interval_text}, Elo {elo}")
    console.print(f"log likelihood ratio {result.ratios[-1]:+z.2f}, bounds {lower:+.2f} and {upper:+.2f}")
    console.print()
    console.print(Text(_verdict(result), style="bold"), soft_wrap=True)
    for message in dict.fromkeys(failure.message for failure in match.failures):
        console.print(Text(message), soft_wrap=True)


def _verdict(result: "SprtResult") -> str:
    test, games = result.test, f"after {len(result.match):,} games"
    first, second = result.match.agents
    if result.verdict is None and result.is_interrupted:
        return f"Interrupted {games}: no answer yet."
    if result.verdict is None:
        return f"No answer {games}: allow more by --max-games, or an elo1 farther from elo0."
    if result.verdict == "elo1":
        return f"Accepted {games}: elo1. {first} is more than {test.elo0:+g} Elo above {second}."
    return f"Accepted {games}: elo0. {first} is less than {test.elo1:+g} Elo above {second}."
