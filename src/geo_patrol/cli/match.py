"""``geo-patrol match``: play two agents against each other."""

import csv as csv_format
import json as json_format
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TextIO, TypeAlias

import typer

from geo_patrol.cli import campaign
from geo_patrol.cli.errors import InputError, leave_at_once, plain_errors
from geo_patrol.cli.loading import quick
from geo_patrol.cli.options import ConfigOption, OverridesOption
from geo_patrol.cli.output import output_file, progress_bar
from geo_patrol.versions import versions

if TYPE_CHECKING:
    from geo_patrol.config.schema import GameConfig
    from geo_patrol.evaluation.results import MatchResult

FORMAT = "geo_patrol match"

Writer: TypeAlias = Callable[["MatchResult", TextIO], None]

_Games: TypeAlias = Annotated[
    int, typer.Option("--games", "-n", metavar="N", help="Number of games, even: half with sides swapped.")
]
_Json: TypeAlias = Annotated[
    str | None, typer.Option("--json", metavar="FILE|-", help="Write summary and configuration as JSON.")
]
_Csv: TypeAlias = Annotated[str | None, typer.Option("--csv", metavar="FILE|-", help="Write a row per game as CSV.")]
_Save: TypeAlias = Annotated[
    str | None, typer.Option("--save", metavar="FOLDER|FILE", help="Save all games to a new replay file.")
]


@plain_errors
def match(
    first: campaign.First,
    second: campaign.Second,
    config: ConfigOption = "geo_patrol",
    overrides: OverridesOption = None,
    games: _Games = 1000,
    seed: campaign.Seed = None,
    json: _Json = None,
    csv: _Csv = None,
    save: _Save = None,
    move_time: campaign.MoveTime = 0.1,
    show: Annotated[bool, typer.Option("--show", help="Print the first game turn by turn.")] = False,
    quiet: campaign.Quiet = False,
) -> None:
    """Play a match: pairs of games with the same seed and the sides swapped.

    Prints wins, win rate with its 95 % interval (Wilson), points and turns by side, and how games ended.
    """
    from geo_patrol.replays import save_path

    _check_outputs(json, csv, show)
    agents = (first, second)
    resolved = campaign.check_arguments(agents, config, overrides, games=games, seed=seed, move_time=move_time)
    json_writer = partial(write_json, source=config, overrides=overrides or [])
    writers: dict[str, Writer] = {
        target: writer for target, writer in ((json, json_writer), (csv, write_csv)) if target is not None
    }
    replay_file = None if save is None else save_path(save, f"{first} {second}")
    with ExitStack() as stack:  # files are opened before anything is played
        files = {path: stack.enter_context(output_file(path)) for path in writers if path != campaign.STDOUT}
        options = {"games": games, "seed": seed, "save": replay_file}
        result = _play(agents, move_time, quiet, config=resolved, **options)
        for path, file in files.items():
            writers[path](result, file)
    if campaign.STDOUT in writers:  # after the files, because the reader of a pipe may be gone
        writers[campaign.STDOUT](result, sys.stdout)
    if show:
        _print_first_game(result)
    if not quiet and campaign.STDOUT not in writers:
        from geo_patrol.cli.table import print_match

        print_match(result, source=config, overrides=overrides or [])
    if replay_file is not None and replay_file.exists() and not quiet:  # there is none if an agent fails at once
        print(f"The games are in {replay_file}; look at one with: geo-patrol replay {replay_file}", file=sys.stderr)


def _print_first_game(result: "MatchResult") -> None:
    from geo_patrol.game import Game
    from geo_patrol.runner import replay_orders
    from geo_patrol.textplay.texts import game_text

    first, second = result.agents
    seed = int(result.seeds[0])
    print(f"GAME 0 of {len(result):,}: {first} (alpha) against {second} (bravo), seed of the game {seed}\n")
    phases = replay_orders(result.config, seed, result.first_game)
    for paragraph in game_text(Game(result.config, seed=seed), phases, result.agents):
        print(paragraph)


def _check_outputs(json: str | None, csv: str | None, show: bool) -> None:
    """Check that no two outputs go to the same place."""
    if json is not None and csv is not None and os.path.realpath(json) == os.path.realpath(csv):
        raise InputError(f"--json and --csv both go to {json}: give two files")
    if show and campaign.STDOUT in (json, csv):
        raise InputError("--show prints to standard output: give --json or --csv a file")


def _play(
    agents: tuple[str, str], move_time: float, quiet: bool, *, config: "GameConfig", **options: Any
) -> "MatchResult":
    """Play the match, with a progress bar on standard error if that is a terminal."""
    from geo_patrol.agents.isolation.guard import seat_agent
    from geo_patrol.evaluation.match import play_match

    with leave_at_once():  # compiles or loads what is needed before the clock starts
        _warm_up(agents, config)
    first, second = agents
    with progress_bar(f"{first} against {second}", quiet=quiet) as progress:
        return play_match(
            seat_agent(first, move_time),
            seat_agent(second, move_time),
            config=config,
            progress=progress,
            on_failure="forfeit",
            **options,
        )


def _warm_up(agents: tuple[str, str], config: "GameConfig") -> None:
    """Play two games of one turn, without users' own agents, in which nothing is compiled here; and replay one."""
    from geo_patrol.agents import make_agent
    from geo_patrol.agents.isolation.guard import is_own_agent
    from geo_patrol.evaluation.campaign import ONE_TURN
    from geo_patrol.evaluation.match import play_match
    from geo_patrol.runner import replay_orders

    first, second = ("random" if is_own_agent(name) else quick(make_agent(name)) for name in agents)
    result = play_match(first, second, config=config, overrides=ONE_TURN, games=2, seed=0, on_failure="forfeit")
    list(replay_orders(result.config, int(result.seeds[0]), result.first_game))


def write_json(result: "MatchResult", stream: TextIO, source: str, overrides: list[str]) -> None:
    """Write a match as JSON: agents, configuration, seed, versions and summary."""
    data: dict[str, Any] = {
        "format": FORMAT,
        "version": 1,
        "versions": versions(),
        "agents": {"first": result.agents[0], "second": result.agents[1]},
        "games": len(result),
        "seed": result.seed,
        "config": {"source": source, "overrides": overrides, "values": result.config.to_dict()},
        "summary": result.summary().to_dict(),
        "failures": [asdict(failure) for failure in result.failures],
    }
    json_format.dump(data, stream, indent=2, allow_nan=False)
    stream.write("\n")


CSV_COLUMNS = (
    "game",
    "pair",
    "seed",
    "alpha",
    "bravo",
    "winner",
    "alpha_score",
    "bravo_score",
    "turns",
    "reasons",
    "alpha_illegal_orders",
    "bravo_illegal_orders",
)


def write_csv(result: "MatchResult", stream: TextIO) -> None:
    """Write a match as CSV with a row per game; the winner is an agent's name, or empty for a draw."""
    from geo_patrol.notation import read_reasons

    writer = csv_format.writer(stream, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for game, first_side in enumerate(result.first_side.tolist()):
        by_side = [first_side, 1 - first_side]  # the agents that play alpha and bravo
        winner = int(result.winner[game])
        writer.writerow(
            [
                game,
                game // 2,
                result.seeds[game],
                *(result.agents[agent] for agent in by_side),
                result.agents[winner] if winner >= 0 else "",
                *result.scores[game, by_side],
                result.turns[game],
                "; ".join(map(str, read_reasons(int(result.reasons[game])))),
                *result.illegal_orders[game, by_side],
            ]
        )
