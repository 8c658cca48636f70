"""``geo-patrol match``: play two agents against each other."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from geo_patrol.base.versions import versions
from geo_patrol.cli import options
from geo_patrol.cli.options import CampaignCommand, open_workers
from geo_patrol.cli.output import (
    STDOUT,
    InputError,
    bad_input,
    check_outputs,
    plain_table,
    print_heading,
    print_table,
    write_csv,
    write_json,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rich.table import Table

    from geo_patrol.agents import Agent
    from geo_patrol.config.schema import GameConfig
    from geo_patrol.evaluation.results import EndingCount, MatchResult, Summary, Tally

_ENDINGS = {
    "hva_destroyed": "HVA destroyed",
    "hva_out_of_fuel": "HVA out of fuel",
    "win_score": "win score reached",
    "forfeit": "forfeit",
    "turn_limit": "turn limit",
}


def match(
    first: options.First,
    second: options.Second,
    config: options.ConfigOption = "geo_patrol",
    overrides: options.OverridesOption = None,
    games: Annotated[
        int, typer.Option("--games", "-n", metavar="N", help="Number of games, even: half with sides swapped.")
    ] = 1000,
    seed: options.Seed = None,
    json: options.Json = None,
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
    processes: Annotated[
        int,
        typer.Option(
            "--processes", "-p", metavar="N", help="Number of worker processes; pays off where games take long."
        ),
    ] = 1,
    ray: options.Ray = None,
    move_time: options.MoveTime = 0.1,
    show: Annotated[bool, typer.Option("--show", help="Print the first game turn by turn.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Play a match: pairs of games with the same seed and the sides swapped.

    Prints wins, win rate with its 95% interval, points and turns by side, and how games ended.
    """
    from geo_patrol.replays import save_path

    campaign = CampaignCommand(
        agents=(first, second),
        config=config,
        overrides=overrides,
        games=games,
        seed=seed,
        move_time=move_time,
        processes=None if ray and processes == 1 else processes,
        ray=ray,
        json=json,
        quiet=quiet,
    )
    if show and STDOUT in (json, csv):
        raise InputError("--show prints to standard output: --json or --csv must be a file")
    resolved = campaign.resolved
    replay_file = None if save is None else save_path(save, f"{first} {second}")
    check_outputs({"--json": json, "--csv": csv}, [replay_file])
    result = _play(campaign, resolved, replay_file)
    targets = [target for target in (json, csv) if target is not None]
    for target in sorted(targets, key=lambda target: target == STDOUT):  # last, as its reader may be gone
        if target == json:
            data = {"format": "geo_patrol match", "version": 1, "versions": versions()}
            write_json(target, data | {"config": campaign.config_data()} | result.to_dict())
        else:
            write_csv(target, result.columns())
    if show:
        _print_first_game(result)
    if not quiet and STDOUT not in (json, csv):
        _print_match(result, campaign.source)
    if replay_file is not None and replay_file.exists() and not quiet:  # there is none if an agent fails at once
        print(f"The games are in {replay_file}; look at one with: geo-patrol replay {replay_file}", file=sys.stderr)


def _play(campaign: CampaignCommand, config: "GameConfig", replay_file: "Path | None") -> "MatchResult":
    """Play the match, with a progress bar on standard error if that is a terminal."""
    from geo_patrol.agents.isolation.agent import make_match_agent
    from geo_patrol.evaluation.campaign import warm_up
    from geo_patrol.evaluation.match import play_match

    first, second = campaign.agents
    processes = campaign.processes or 1
    agents: Sequence[str | Agent] = campaign.agents  # by name for workers, which make them
    if campaign.ray or processes > 1:
        options.check_agents(campaign.agents, campaign.move_time)
    else:
        with bad_input():
            agents = [make_match_agent(name, campaign.move_time) for name in campaign.agents]
    warm_up(agents, config)  # before the clock starts
    with open_workers(f"{first} against {second}", campaign.ray, (first, second), quiet=campaign.quiet) as (
        executor,
        progress,
    ):
        return play_match(
            *agents,
            processes=processes,
            executor=executor,
            move_time=campaign.move_time,
            config=config,
            games=campaign.games,
            seed=campaign.seed,
            save=replay_file,
            progress=progress,
            on_failure="forfeit",
        )


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
