"""``geo-patrol report``: recorded games on one page."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from geo_patrol.cli.options import named_file, user_path
from geo_patrol.cli.output import check_outputs, output_file, show_status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from geo_patrol.replays import ReplayReader


def report(
    files: Annotated[
        list[Path],
        typer.Argument(parser=user_path, metavar="FILE...", help="Replays, .jsonl, .jsonl.gz or .jsonl.zst."),
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", parser=named_file, metavar="FILE", help="The page; an existing file is replaced."
        ),
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
    check_outputs({"--output": output}, files)
    with output_file(output) as stream:
        from geo_patrol.evaluation.report import report_page
        from geo_patrol.replays import ReplayReader

        readers = [ReplayReader(file) for file in files]
        heading = title or ", ".join(file.name for file in files[:3]) + (", ..." if len(files) > 3 else "")
        stream.write(report_page(_with_status(readers), heading, positions))
    print(f"written: {output}")


def _with_status(readers: "list[ReplayReader]") -> "Iterator[ReplayReader]":
    """Yield readers, showing on a terminal which file is being read."""
    for reader in readers:
        with show_status(f"reading {reader.path.name}"):
            yield reader
