"""Options, progress bar and output files of the commands that play many matches."""

import json as json_format
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

import typer

from geo_patrol.cli.errors import InputError, bad_input, leave_at_once
from geo_patrol.cli.options import ANY_AGENT
from geo_patrol.cli.output import output_file, progress_bar
from geo_patrol.errors import GeoPatrolError
from geo_patrol.files import atomic_path

if TYPE_CHECKING:
    from geo_patrol.config.schema import GameConfig

STDOUT = "-"

First: TypeAlias = Annotated[str, typer.Argument(metavar="FIRST", help=f"Agent: {ANY_AGENT}.")]
Second: TypeAlias = Annotated[str, typer.Argument(metavar="SECOND", help="Its opponent, perhaps of the same kind.")]
AgentNames: TypeAlias = Annotated[list[str], typer.Argument(metavar="AGENT...", help=f"Agents: {ANY_AGENT}.")]
Seed: TypeAlias = Annotated[
    int | None, typer.Option("--seed", metavar="N", help="Repeats all games exactly; a new one by default.")
]
Processes: TypeAlias = Annotated[
    int | None,
    typer.Option("--processes", "-p", metavar="N", help="Number of worker processes; one per core by default."),
]
MoveTime: TypeAlias = Annotated[
    float,
    typer.Option("--move-time", metavar="SECONDS", help="Time for a decision in one game, for your own agents."),
]
Out: TypeAlias = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="DIR", help="Folder for games and tables; the same command resumes."),
]
Json: TypeAlias = Annotated[str | None, typer.Option("--json", metavar="FILE|-", help="Write all results as JSON.")]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar and no tables.")]

_Result = TypeVar("_Result")


def check_arguments(
    agents: Sequence[str],
    config: str,
    overrides: list[str] | None,
    *,
    games: int,
    seed: int | None,
    move_time: float,
    processes: int | None = None,
    json: str | None = None,
) -> "GameConfig":
    """Check what can be checked before anything is compiled or played; return the configuration."""
    from geo_patrol.config.presets import load_config
    from geo_patrol.engine.batch import check_seed
    from geo_patrol.evaluation.campaign import check_agents
    from geo_patrol.evaluation.executors import check_processes
    from geo_patrol.evaluation.match import check_games

    with bad_input():
        check_games(games)
    _check_json(json)
    with bad_input():
        resolved = load_config(config, overrides)
        if seed is not None:
            check_seed(seed)
        check_processes(processes)
        check_agents(agents, move_time)
        return resolved


def play_with_progress(
    agents: Sequence[str], config: "GameConfig", title: str, quiet: bool, play: Callable[..., _Result]
) -> _Result:
    """Compile what the games need, and call ``play(progress=...)`` with a progress bar unless quiet."""
    from geo_patrol.evaluation.campaign import warm_up

    with leave_at_once():
        warm_up(agents, config)
    with progress_bar(title, quiet=quiet) as progress:
        return play(progress=progress)


@contextmanager
def resume_hint(out: Path | None) -> Iterator[None]:
    """Print how an interrupted run can be resumed."""
    try:
        yield
    except KeyboardInterrupt:
        if out is not None:
            print(f"geo-patrol: finished games are kept in {out}: the same command goes on", file=sys.stderr)
        raise


def to_json(kind: str, config: str, overrides: list[str] | None, resolved: "GameConfig", result: Any) -> dict[str, Any]:
    """Return the content of a JSON file: its format, the configuration and the result."""
    source = {"source": config, "overrides": overrides or [], "values": resolved.to_dict()}
    return {"format": kind, "version": 1, "config": source, **result.to_dict()}


def output_result(data: Mapping[str, Any], json: str | None, quiet: bool, print_tables: Callable[[str], None]) -> None:
    """Write the JSON file; print the tables unless quiet, or unless the JSON goes to standard output.

    Args:
        data: the content of the JSON file.
        json: its path, or None.
        quiet: whether nothing is printed.
        print_tables: called with the description of the configuration.
    """
    write_json(json, data)
    if not quiet and json != STDOUT:
        print_tables(", ".join([data["config"]["source"], *data["config"]["overrides"]]))


def write_json(target: str | None, data: Mapping[str, Any]) -> None:
    """Write JSON to a file or to standard output."""
    if target == STDOUT:
        json_format.dump(data, sys.stdout, indent=2, allow_nan=False)
        print()
    elif target is not None:
        with output_file(target) as stream:
            json_format.dump(data, stream, indent=2, allow_nan=False)
            stream.write("\n")


def _check_json(target: str | None) -> None:
    """Check that a file can be written."""
    if target is not None and target != STDOUT and not os.path.lexists(target):
        with output_file(target):
            pass
        with suppress(OSError):
            Path(target).unlink()
    elif target is not None and Path(target).is_dir():
        raise InputError(f"{target} cannot be written: it is a folder")


def write_plot(folder: Path, name: str, plot: Callable[[Path], None]) -> None:
    """Write a plot into a folder, or print why it cannot be made."""
    try:
        with atomic_path(folder / name) as path:
            plot(path)
    except GeoPatrolError as error:
        print(f"geo-patrol: no {name}: {error}", file=sys.stderr)
