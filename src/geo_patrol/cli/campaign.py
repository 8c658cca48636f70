"""What the commands that play many matches have in common: their options, their progress bar, their files."""

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
from geo_patrol.cli.output import output_file
from geo_patrol.cli.progress import progress_bar
from geo_patrol.files import atomic_path

if TYPE_CHECKING:
    from geo_patrol.config.schema import GameConfig

STDOUT = "-"

First: TypeAlias = Annotated[str, typer.Argument(metavar="FIRST", help=f"Agent: {ANY_AGENT}.")]
Second: TypeAlias = Annotated[str, typer.Argument(metavar="SECOND", help="Its opponent, perhaps of the same kind.")]
AgentNames: TypeAlias = Annotated[list[str], typer.Argument(metavar="AGENT...", help=f"Agents: {ANY_AGENT}.")]
Seed: TypeAlias = Annotated[
    int | None, typer.Option("--seed", metavar="N", help="Repeats all games exactly; a fresh one by default.")
]
Processes: TypeAlias = Annotated[
    int | None, typer.Option("--processes", "-p", metavar="N", help="How many at once; one on every core by default.")
]
MoveTime: TypeAlias = Annotated[
    float,
    typer.Option("--move-time", metavar="SECONDS", help="For a decision in one game, for agents of your own."),
]
Out: TypeAlias = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="DIR", help="Keep games and write tables there; goes on where it was."),
]
Json: TypeAlias = Annotated[str | None, typer.Option("--json", metavar="FILE|-", help="Write all figures as JSON.")]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar and no tables.")]

_Result = TypeVar("_Result")


def check_settings(
    agents: Sequence[str],
    config: str,
    overrides: list[str] | None,
    seed: int | None,
    move_time: float,
    processes: int | None,
) -> "GameConfig":
    """Check what can be checked before anything is compiled or played, and return the configuration."""
    from geo_patrol.config.presets import load_config
    from geo_patrol.engine.batch import check_seed
    from geo_patrol.evaluation.campaign import check_agents
    from geo_patrol.evaluation.executors import check_processes

    with bad_input():
        settled = load_config(config, overrides)
        if seed is not None:
            check_seed(seed)
        check_processes(processes)
        check_agents(agents, move_time)
        return settled


def play_with_bar(
    agents: Sequence[str],
    settled: "GameConfig",
    title: str,
    quiet: bool,
    play: Callable[..., _Result],
) -> _Result:
    """Play, with a progress bar on standard error if that is a terminal.

    Args:
        agents: who plays.
        settled: what is played.
        title: of the bar.
        quiet: whether there is to be none.
        play: does it; is given a ``progress`` to call.
    """
    from geo_patrol.evaluation.campaign import warm_up

    with leave_at_once():
        warm_up(agents, settled)
    with progress_bar(title, quiet=quiet) as progress:
        return play(progress=progress)


@contextmanager
def going_on_later(out: Path | None) -> Iterator[None]:
    """Say how an interrupted run goes on."""
    try:
        yield
    except KeyboardInterrupt:
        if out is not None:
            print(f"geo-patrol: finished games are kept in {out}: the same command goes on", file=sys.stderr)
        raise


def describe(kind: str, config: str, overrides: list[str] | None, settled: "GameConfig", result: Any) -> dict[str, Any]:
    """Return what is written as JSON: the kind of file, what was played, and the result's own figures."""
    source = {"source": config, "overrides": overrides or [], "values": settled.to_dict()}
    return {"format": kind, "version": 1, "config": source, **result.to_dict()}


def tell(data: Mapping[str, Any], json: str | None, quiet: bool, show: Callable[[str], None]) -> None:
    """Write what ``describe`` returned, and print it unless that is to be quiet or stands on standard output already.

    Args:
        data: what is written as JSON.
        json: where to, or None.
        quiet: whether nothing is printed.
        show: prints the tables; is given what was played, as headings name it.
    """
    write_json(json, data)
    if not quiet and json != STDOUT:
        show(", ".join([data["config"]["source"], *data["config"]["overrides"]]))


def write_json(target: str | None, data: Mapping[str, Any]) -> None:
    """Write figures to a file or to standard output."""
    if target == STDOUT:
        json_format.dump(data, sys.stdout, indent=2, allow_nan=False)
        print()
    elif target is not None:
        with output_file(target) as stream:
            json_format.dump(data, stream, indent=2, allow_nan=False)
            stream.write("\n")


def check_json(target: str | None) -> None:
    """Make sure, before anything is played, that a file can be written."""
    if target is not None and target != STDOUT and not os.path.lexists(target):
        with output_file(target):
            pass
        with suppress(OSError):
            Path(target).unlink()
    elif target is not None and Path(target).is_dir():
        raise InputError(f"{target} cannot be written: it is a folder")


def write_picture(folder: Path, name: str, draw: Callable[[Path], None]) -> None:
    """Write a picture into a folder, or say why there is none."""
    from geo_patrol.errors import MissingPackageError

    try:
        with atomic_path(folder / name) as path:
            draw(path)
    except (MissingPackageError, ValueError) as error:
        print(f"geo-patrol: no {name}: {error}", file=sys.stderr)
