"""``geo-patrol verify``: check recorded games and odds against the engine."""

from pathlib import Path
from typing import Annotated

import typer

from geo_patrol.cli.errors import leave_at_once, plain_errors


@plain_errors
def verify(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Recorded games (.jsonl, .jsonl.gz) or odds (.json).")
    ],
) -> None:
    """Replay recorded games and odds, and report where the engine differs.

    Exit status 1 if anything differs or cannot be read.
    """
    from geo_patrol.verify import verify as verify_files

    with leave_at_once():
        verify_files(files)
