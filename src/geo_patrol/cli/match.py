"""``geo-patrol match``: play two agents against each other."""

import csv as csv_format
import json as json_format
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO, TypeAlias

import typer

from geo_patrol.cli.errors import InputError, bad_input, leave_at_once, plain_errors
from geo_patrol.cli.loading import quick
from geo_patrol.cli.options import ANY_AGENT, ConfigOption, OverridesOption
from geo_patrol.cli.output import output_file
from geo_patrol.cli.progress import progress_bar
from geo_patrol.versions import versions

if TYPE_CHECKING:
    from geo_patrol.config.schema import GameConfig
    from geo_patrol.evaluation.results import MatchResult

FORMAT = "geo_patrol match"
_STDOUT = "-"

Writer: TypeAlias = Callable[["MatchResult", TextIO], None]


@plain_errors
def match(
    first: Annotated[str, typer.Argument(metavar="FIRST", help=f"Agent: {ANY_AGENT}.")],
    second: Annotated[str, typer.Argument(metavar="SECOND", help="Its opponent, perhaps of the same kind.")],
    config: ConfigOption = "geo_patrol",
    overrides: OverridesOption = None,
    games: Annotated[
        int, typer.Option("--games", "-n", metavar="N", help="An even number: half of them with sides swapped.")
    ] = 1000,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", help="Repeats a match exactly; a fresh one by default.")
    ] = None,
    json: Annotated[
        str | None, typer.Option("--json", metavar="FILE|-", help="Write summary and configuration as JSON.")
    ] = None,
    csv: Annotated[
        str | None, typer.Option("--csv", metavar="FILE|-", help="Write a row for every game as CSV.")
    ] = None,
    save: Annotated[
        str | None, typer.Option("--save", metavar="FOLDER|FILE", help="Keep all games as a replay file, a new one.")
    ] = None,
    move_time: Annotated[
        float,
        typer.Option("--move-time", metavar="SECONDS", help="For a decision in one game, for agents of your own."),
    ] = 0.1,
    show: Annotated[bool, typer.Option("--show", help="Print the first game turn by turn.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar and no table.")] = False,
) -> None:
    """Play a match: pairs of games with the same seed and the sides swapped.

    Prints wins, win rate with its 95 % interval (Wilson), points and turns from either side, and how games ended.
    """
    _check_outputs(json, csv, show)
    settled = _check_players(first, second, config, overrides, games, seed, move_time)
    writers: dict[str | None, Writer] = {
        json: partial(write_json, source=config, overrides=overrides or []),
        csv: write_csv,
    }
    games_file = None if save is None else _new_file(save, f"{first} {second}")
    with _open_files(writers) as files:
        result = _play(first, second, settled, games, seed, move_time, games_file, quiet)
        for target, file in files.items():
            writers[target](result, file)
    if _STDOUT in writers:  # the files are safe, even if nobody reads this
        writers[_STDOUT](result, sys.stdout)
    if show:
        from geo_patrol.cli.show import print_first_game

        print_first_game(result)
    if not quiet and _STDOUT not in writers:
        from geo_patrol.cli.table import print_match

        print_match(result, source=config, overrides=overrides or [])
    if games_file is not None and games_file.exists() and not quiet:  # an agent that fails at once leaves no game
        print(f"The games are in {games_file}; look at one with: geo-patrol replay {games_file}", file=sys.stderr)


@contextmanager
def _open_files(targets: Iterable[str | None]) -> Iterator[dict[str, TextIO]]:
    """Open the files among the targets, before anything is played."""
    with ExitStack() as stack:
        yield {
            target: stack.enter_context(output_file(target))
            for target in targets
            if target is not None and target != _STDOUT
        }


def _check_outputs(json: str | None, csv: str | None, show: bool) -> None:
    """Standard output takes one thing, and a file too."""
    if json is not None and csv is not None and os.path.realpath(json) == os.path.realpath(csv):
        raise InputError(f"--json and --csv both go to {json}: give two files")
    if show and _STDOUT in (json, csv):
        raise InputError("--show prints to standard output: give --json or --csv a file")


def _check_players(
    first: str,
    second: str,
    config: str,
    overrides: list[str] | None,
    games: int,
    seed: int | None,
    move_time: float,
) -> "GameConfig":
    """Check all arguments before anything is written or played, and return the configuration."""
    from geo_patrol.config.presets import load_config
    from geo_patrol.engine.batch import check_seed
    from geo_patrol.evaluation.campaign import check_agents
    from geo_patrol.evaluation.match import check_games

    with bad_input():
        check_agents([first, second], move_time)
        check_games(games)
        if seed is not None:
            check_seed(seed)
        return load_config(config, overrides)


def _new_file(target: str, players: str) -> Path:
    from geo_patrol.replays import save_path

    return save_path(target, players)


def _play(
    first: str,
    second: str,
    config: "GameConfig",
    games: int,
    seed: int | None,
    move_time: float,
    save: Path | None,
    quiet: bool,
) -> "MatchResult":
    """Play the match, with a progress bar on standard error if that is a terminal."""
    from geo_patrol.agents.isolation.guard import seat_agent
    from geo_patrol.evaluation.match import play_match
    from geo_patrol.runner import replay_orders

    with leave_at_once():  # compiles or loads all that is needed: no part of the speed
        trial = _try_out(first, second, config)
        list(replay_orders(trial.config, int(trial.seeds[0]), trial.first_game))
    with progress_bar(f"{first} against {second}", quiet=quiet) as progress:
        return play_match(
            seat_agent(first, move_time),
            seat_agent(second, move_time),
            config=config,
            games=games,
            seed=seed,
            save=save,
            progress=progress,
            on_failure="forfeit",
        )


def _try_out(first: str, second: str, config: "GameConfig") -> "MatchResult":
    """Play two games of one turn, without agents of the user's own: they have nothing that is compiled here."""
    from geo_patrol.agents import make_agent
    from geo_patrol.agents.isolation.guard import is_own_agent
    from geo_patrol.evaluation.campaign import ONE_TURN
    from geo_patrol.evaluation.match import play_match

    seated = ("random" if is_own_agent(name) else quick(make_agent(name)) for name in (first, second))
    return play_match(*seated, config=config, overrides=ONE_TURN, games=2, seed=0, on_failure="forfeit")


def write_json(result: "MatchResult", stream: TextIO, source: str, overrides: list[str]) -> None:
    """Write a match as JSON: who played what, with which seed and versions, and the summary."""
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
    """Write a match as CSV, a row for every game; the winner is an agent's name, or empty for a draw."""
    from geo_patrol.notation import read_reasons

    writer = csv_format.writer(stream, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for game, first_side in enumerate(result.first_side.tolist()):
        by_side = [first_side, 1 - first_side]  # which agent is alpha, which bravo
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
