"""``geo-patrol match``: play two agents against each other."""

import sys
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from geo_patrol.base.versions import versions
from geo_patrol.cli import options
from geo_patrol.cli.output import (
    STDOUT,
    InputError,
    bad_input,
    plain_table,
    print_heading,
    print_table,
    write_results,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from geo_patrol.agents import Agent
    from geo_patrol.evaluation.results import EndingCount, MatchResult, Summary, Tally

_ENDINGS = {
    "hva_destroyed": "HVA destroyed",
    "hva_out_of_fuel": "HVA out of fuel",
    "win_score": "win score reached",
    "forfeit": "forfeit",
    "turn_limit": "turn limit",
}


@dataclass(frozen=True, kw_only=True)
class _Playing(options.Playing):
    """The options of a match, which is played in this process by default."""

    processes: Annotated[
        int | None,
        typer.Option(
            "--processes", "-p", metavar="N", help="Number of worker processes; pays off where games take long."
        ),
    ] = 1


def match(
    *,
    first: options.First,
    second: options.Second,
    scenario: options.ConfigOptions,
    games: Annotated[
        int, typer.Option("--games", "-n", metavar="N", help="Number of games, even: half with sides swapped.")
    ] = 1000,
    seed: options.Seed = None,
    csv: Annotated[
        str | None,
        typer.Option("--csv", parser=options.user_file, metavar="FILE|-", help="Write a row per game as CSV."),
    ] = None,
    save: Annotated[
        str | None,
        typer.Option(
            "--save", parser=options.named_file, metavar="FOLDER|FILE", help="Save all games to a new replay file."
        ),
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="Print the first game turn by turn.")] = False,
    playing: _Playing,
) -> None:
    """Play a match: pairs of games with the same seed and the sides swapped.

    Prints wins, win rate with its 95% interval, points and turns by side, and how games ended.
    """
    from geo_patrol.replays import save_path

    if show and STDOUT in (playing.json, csv):
        raise InputError("--show prints to standard output: --json or --csv must be a file")
    if playing.ray and playing.processes == 1:
        playing = replace(playing, processes=None)
    config, names = scenario.resolved, (first, second)
    options.check_match(games, seed)
    replay_file = None if save is None else save_path(save, f"{first} {second}")
    playing.check(names, used=[replay_file], csv=csv)
    result = _play(playing, names, {"config": config, "games": games, "seed": seed, "save": replay_file})

    def print_result() -> None:
        if show:
            _print_first_game(result)
        if not playing.quiet:
            _print_match(result, scenario.source)

    data = {"format": "geo_patrol match", "version": 1, "versions": versions(), "config": scenario.to_dict()}
    write_results(
        lambda: data | result.to_dict(),
        print_result,
        json=playing.json,
        csv=csv,
        table=result.columns,
        quiet=playing.quiet and not show,
    )
    if (
        replay_file is not None and replay_file.exists() and not playing.quiet
    ):  # there is none if an agent fails at once
        print(f"The games are in {replay_file}; look at one with: geo-patrol replay {replay_file}", file=sys.stderr)


def _play(playing: _Playing, names: tuple[str, str], settings: dict[str, Any]) -> "MatchResult":
    """Play the match with the settings of ``play_match``, and a progress bar."""
    from geo_patrol.agents.isolation.agent import make_match_agent
    from geo_patrol.evaluation.campaign import warm_up
    from geo_patrol.evaluation.match import play_match

    agents: Sequence[str | Agent] = names  # for workers, which make them
    if playing.ray is None and playing.processes == 1:
        with bad_input():
            agents = [make_match_agent(name, playing.move_time) for name in names]
    warm_up(agents, settings["config"])  # before the clock starts
    play = partial(play_match, *agents, **settings, on_failure="forfeit")
    return playing.run(" against ".join(names), names, play)


def _print_first_game(result: "MatchResult") -> None:
    from geo_patrol.game.game import Game, replay_orders
    from geo_patrol.play.text_game import game_text

    first, second = result.agents
    seed = int(result.seeds[0])
    print(f"GAME 0 of {len(result):,}: {first} (alpha) against {second} (bravo), seed of the game {seed}\n")
    phases = replay_orders(result.config, seed, result.first_game)
    for paragraph in game_text(Game(result.config, seed=seed), phases, result.agents):
        print(paragraph)


def _print_match(result: "MatchResult", source: str) -> None:
    """Print results by side and in total, how games ended, and games per second; margin: the mean score difference."""
    from rich.text import Text

    summary = result.summary()
    first, second = result.agents
    console = print_heading(f"{first} against {second}", f"{result.config.title} ({source}), seed {result.seed}")
    for name, version in dict(zip(result.agents, result.versions, strict=True)).items():
        if version:
            console.print(f"{name}: {version}", soft_wrap=True, markup=False)
    print_table(console, _results_table(first, summary), least=("turns", "margin", "losses", "draws"))
    console.print()
    print_table(console, _endings_table(result.agents, summary.total.endings))
    if _has_several_reasons(summary.total):
        console.print("Several reasons may hold at once.")
    console.print()
    if any(summary.total.illegal_orders):
        counts = [f"{name} {count:,}" for name, count in zip(result.agents, summary.total.illegal_orders, strict=True)]
        console.print(f"Illegal orders: {', '.join(counts)}")
    for failure in result.failures:
        lost = f"{result.agents[failure.agent]} lost {failure.games:,} games: {failure.message}"
        console.print(Text(lost), soft_wrap=True)
    seconds = result.seconds or 0.0
    console.print(f"{len(result):,} games in {seconds:.3f} s: {len(result) / max(seconds, 1e-9):,.0f} games per second")


def _has_several_reasons(tally: "Tally") -> bool:
    """Return whether some game ended for more than one reason, or for both agents."""
    return sum(max(ending.first + ending.second, ending.games) for ending in tally.endings.values()) > tally.games


def _results_table(first: str, summary: "Summary") -> "Table":
    numbers = ("games", "wins", "draws", "losses", "win rate", "95% interval", "margin", "turns")
    table = plain_table(f"{first} as", numbers=numbers)
    table.add_row("alpha", *_cells(summary.as_alpha))
    table.add_row("bravo", *_cells(summary.as_bravo))
    table.add_row("either", *_cells(summary.total), style="bold")
    return table


def _cells(tally: "Tally") -> list[str]:
    return [
        *(f"{count:,}" for count in (tally.games, tally.wins, tally.draws, tally.losses)),
        f"{tally.win_rate:.1%}",
        tally.won.interval_text,
        f"{tally.mean_score_difference:+z.1f}",
        f"{tally.mean_turns:.1f}",
    ]


def _endings_table(agents: tuple[str, str], endings: "dict[str, EndingCount]") -> "Table":
    table = plain_table("how games ended", numbers=("games",))
    for heading in agents:
        table.add_column(heading, justify="right", overflow="fold")
    for reason, ending in endings.items():
        if ending.games:
            by_agent = ["", ""] if reason == "turn_limit" else [f"{ending.first:,}", f"{ending.second:,}"]
            table.add_row(_ENDINGS[reason], f"{ending.games:,}", *by_agent)
    return table
