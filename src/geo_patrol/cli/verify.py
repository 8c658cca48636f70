"""``geo-patrol verify``: compare recorded games and odds with the rules."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from geo_patrol.base.errors import GeoPatrolError
from geo_patrol.cli.options import user_path
from geo_patrol.cli.output import FAILED, print_faults, show_status


def verify(
    files: Annotated[
        list[Path],
        typer.Argument(
            parser=user_path, metavar="FILE...", help="Replays, .jsonl, .jsonl.gz or .jsonl.zst; or odds, .json."
        ),
    ],
) -> None:
    """Check whether recorded games follow the rules: every phase of every game is played again and compared.

    Recorded games of the published implementation can be given as well, and its odds: engagements with counts of what
    came of them. Exit status 1 if anything differs, is damaged or cannot be read.
    """
    agreeing = [_agrees(file) for file in files]
    if not all(agreeing):
        raise typer.Exit(FAILED)


def _agrees(file: Path) -> bool:
    """Check a file and print the result; return whether all of it agrees with the rules."""
    from geo_patrol.replays import ReplayReader, check
    from geo_patrol.replays.odds import check_odds_file, holds_odds

    reader, is_odds = ReplayReader(file), holds_odds(file)
    try:
        with show_status(f"checking {file.name}"):
            checks: list[tuple[str | None, str | None]] = (
                [(difference, None) for difference in check_odds_file(file)]
                if is_odds
                else [(check(replay), replay.fault) for replay in reader]
            )
    except GeoPatrolError as error:
        print(f"geo-patrol: {error}", file=sys.stderr)
        return False
    num_agreeing, items = checks.count((None, None)), "engagements" if is_odds else "games"
    print(f"{file}: {num_agreeing:,} of {len(checks):,} {items} agree with the rules")
    if first := next((difference for difference, _ in checks if difference), None):
        print(f"  first difference: {first}")
    num_faults = print_faults(reader)
    return num_agreeing == len(checks) and not num_faults
