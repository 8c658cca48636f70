"""``geo-patrol replay``: show recorded games, check them, and turn them into pictures, films and tables."""

import csv as csv_format
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from geo_patrol.cli.errors import FAILED, leave_at_once, plain_errors
from geo_patrol.cli.output import whole_file
from geo_patrol.errors import RecordingError

if TYPE_CHECKING:
    from geo_patrol.replays import Replay, ReplayReader
    from geo_patrol.replays.playback import PlayedPhase

_STDOUT = "-"


@plain_errors
def replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A replay, .jsonl, .jsonl.gz or .jsonl.zst.")],
    game: Annotated[int, typer.Option("--game", "-g", metavar="N", min=0, help="Which game of the file, from 0.")] = 0,
    check: Annotated[bool, typer.Option("--check", help="Check all games of the file against the rules.")] = False,
    csv: Annotated[
        str | None, typer.Option("--csv", metavar="FILE|-", help="Write a row for every game of the file as CSV.")
    ] = None,
) -> None:
    """Show a recorded game, in a window or as text, and check it against the rules while it plays.

    A game that does not follow the rules is shown up to where it leaves them; exit status 1 then. --check and --csv
    look at all games of the file.
    """
    with leave_at_once():  # loads what is compiled
        from geo_patrol.replays import ReplayReader
    reader = ReplayReader(file)
    if check or csv is not None:
        ok = _check_all(reader, csv, sys.stdout if csv != _STDOUT else sys.stderr)
    else:
        ok = _print(reader, game)
    for fault in reader.faults:
        print(f"geo-patrol: {file}: {fault}", file=sys.stderr)
    if not ok or reader.faults:
        raise typer.Exit(FAILED)


def _check_all(reader: "ReplayReader", csv: str | None, report: TextIO) -> bool:
    """Check all games; print how many agree and the first that does not, and write the table."""
    from rich.console import Console
    from rich.progress import track

    from geo_patrol.replays.summaries import CSV_COLUMNS, csv_row, summarise

    console = Console(stderr=True)
    games = track(
        reader, f"checking {reader.path.name}", console=console, transient=True, disable=not console.is_terminal
    )
    count, faults = 0, []
    with _table(csv) as write_row:
        write_row(CSV_COLUMNS)
        for replay in games:
            summary = summarise(replay)
            write_row(csv_row(summary))
            count += 1
            if summary.status == "disagrees":
                faults.append(summary.fault)
    print(f"{reader.path}: {count - len(faults):,} of {count:,} games agree with the rules", file=report)
    if faults:
        print(f"  first difference: {faults[0]}", file=report)
    return not faults


@contextmanager
def _table(target: str | None) -> Iterator[Callable[[Iterable[Any]], object]]:
    """Open a CSV table: a file, standard output, or none at all."""
    if target is None:
        yield lambda _: None
    elif target == _STDOUT:
        yield csv_format.writer(sys.stdout, lineterminator="\n").writerow
    else:
        with whole_file(target) as stream:
            yield csv_format.writer(stream, lineterminator="\n").writerow


class _Phases:
    """The phases of a game as far as they follow the rules; then ``fault`` says where they leave them."""

    def __init__(self, replay: "Replay") -> None:
        self._replay = replay
        self.fault: str | None = None

    def __iter__(self) -> "Iterator[PlayedPhase]":
        from geo_patrol.replays import play

        try:
            yield from play(self._replay)
        except RecordingError as error:
            self.fault = str(error)


def _print(reader: "ReplayReader", number: int) -> bool:
    """Print one game; return whether it follows the rules."""
    from geo_patrol.cli.show import print_game
    from geo_patrol.replays import find, start

    replay = find(reader, number)
    phases = _Phases(replay)
    alpha, bravo = replay.agents
    print(f"GAME {number} of {reader.path.name}: {alpha} (alpha) against {bravo} (bravo)\n")
    print_game(start(replay), phases, replay.agents)
    return _judge(phases)


def _judge(phases: _Phases) -> bool:
    """Say on standard error where a game leaves the rules; return whether it does not."""
    if phases.fault is not None:
        print(f"geo-patrol: {phases.fault}; the game is shown up to there", file=sys.stderr)
    return phases.fault is None
