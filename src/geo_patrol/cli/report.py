"""``geo-patrol report``: write an HTML page about recorded games."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from geo_patrol.cli.errors import plain_errors
from geo_patrol.cli.games import load_rules
from geo_patrol.cli.output import output_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from geo_patrol.replays import ReplayReader


@plain_errors
def report(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Replays, .jsonl, .jsonl.gz or .jsonl.zst.")],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="The page; an existing file is replaced.")
    ] = "report.html",
    title: Annotated[
        str | None, typer.Option("--title", help="Title of the page; the files' names by default.")
    ] = None,
    positions: Annotated[
        int, typer.Option("--positions", metavar="N", min=0, max=200, help="Show positions of the first N games.")
    ] = 40,
) -> None:
    """Summarise recorded games in one HTML page that needs no network.

    Win rates with intervals, score curves, heat maps of the sectors, when satellites were lost, and positions. Every
    game is checked against the rules; those that break them are listed and not counted.
    """
    with output_file(output) as stream:
        load_rules()
        from geo_patrol.replays import ReplayReader
        from geo_patrol.report import write_report

        readers = [ReplayReader(file) for file in files]
        heading = title or ", ".join(file.name for file in files[:3]) + (", ..." if len(files) > 3 else "")
        stream.write(write_report(_with_status(readers), heading, positions))
    print(f"written: {output}")


def _with_status(readers: "list[ReplayReader]") -> "Iterator[ReplayReader]":
    """Yield readers, showing on a terminal which file is being read."""
    from rich.console import Console

    console = Console(stderr=True)
    for reader in readers:
        with console.status(f"reading {reader.path.name}"):
            yield reader
