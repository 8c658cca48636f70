"""``geo-patrol replay``: show recorded games, check them, and export pictures, films and tables."""

import csv as csv_format
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from geo_patrol.cli.errors import FAILED, InputError, bad_input, plain_errors
from geo_patrol.cli.loading import load_rules
from geo_patrol.cli.output import output_file, progress_bar
from geo_patrol.errors import RecordingError

if TYPE_CHECKING:
    from geo_patrol.replays import Replay, ReplayReader
    from geo_patrol.runner import PlayedPhase
    from geo_patrol.sessions.timeline import Timeline

_STDOUT = "-"
_MIN_SIZE, _MAX_SIZE = (320, 240), (7680, 4320)


@plain_errors
def replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A replay: .jsonl, .jsonl.gz or .jsonl.zst.")],
    game: Annotated[int, typer.Option("--game", "-g", metavar="N", min=0, help="Which game of the file, from 0.")] = 0,
    text: Annotated[bool, typer.Option("--text", help="Print the game turn by turn instead of a window.")] = False,
    gif: Annotated[Path | None, typer.Option("--gif", metavar="FILE", help="Write the game as a GIF.")] = None,
    mp4: Annotated[Path | None, typer.Option("--mp4", metavar="FILE", help="Write the game as a film.")] = None,
    png: Annotated[
        str | None,
        typer.Option("--png", metavar="TURN", help="Write a picture: 7 (turn 7 begins), 7e (its engagement), end."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Of --png; named after FILE by default.")
    ] = None,
    size: Annotated[
        str | None, typer.Option("--size", metavar="WxH", help="Of pictures and films: 1280x720, a GIF 800x450.")
    ] = None,
    speed: Annotated[
        float, typer.Option("--speed", metavar="X", min=0.1, max=20, help="Of films: 2 is twice as fast.")
    ] = 1.0,
    csv: Annotated[
        str | None, typer.Option("--csv", metavar="FILE|-", help="Write a row for every game of the file as CSV.")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Check all games of the file against the rules.")] = False,
) -> None:
    """Show a recorded game, in a window or as text, and check it against the rules.

    A game that does not follow the rules is shown up to where it leaves them; exit status 1 then. --check and --csv
    look at all games of the file. Recorded games of the published implementation can be given as well.
    """
    if output is not None and png is None:
        raise InputError("--output is the file of --png TURN: give --png too")
    load_rules()
    from geo_patrol.replays import ReplayReader

    reader = ReplayReader(file)
    pictures = _Pictures(gif, mp4, png, output, _read_size(size), speed)
    ok = True
    if check or csv is not None:
        ok = _check_all(reader, csv, sys.stdout if csv != _STDOUT else sys.stderr)
    elif text and not pictures:
        ok = _print(reader, game)
    else:
        ok = _show(reader, game, pictures)
    _print_faults(reader)
    if not ok or reader.faults:
        raise typer.Exit(FAILED)


def _print_faults(reader: "ReplayReader") -> None:
    for fault in reader.faults:
        print(f"geo-patrol: {reader.path}: {fault}", file=sys.stderr)
    if reader.fault_count > len(reader.faults):
        print(
            f"geo-patrol: {reader.path}: and {reader.fault_count - len(reader.faults):,} more faults", file=sys.stderr
        )


def _read_size(text: str | None) -> tuple[int, int] | None:
    """Parse a size such as 1280x720."""
    if text is None:
        return None
    width, sign, height = text.lower().partition("x")
    if not sign or not all(text.isascii() and text.isdigit() and len(text) <= 4 for text in (width, height)):
        raise InputError(f"--size {text}: give width x height, such as 1280x720")
    size = int(width), int(height)
    if not all(low <= length <= high for low, length, high in zip(_MIN_SIZE, size, _MAX_SIZE, strict=True)):
        raise InputError(f"--size {text}: give 320x240 to 7680x4320")
    return size


def _check_all(reader: "ReplayReader", csv: str | None, report: TextIO) -> bool:
    """Check all games, print the result and write the table; return whether all games agree."""
    from rich.console import Console
    from rich.progress import track

    from geo_patrol.replays.summaries import csv_row, summarise

    console = Console(stderr=True)
    games = track(
        reader, f"checking {reader.path.name}", console=console, transient=True, disable=not console.is_terminal
    )
    count, faults = 0, []
    with _table(csv) as write_row:
        for replay in games:
            summary = summarise(replay)
            row = csv_row(summary)
            if count == 0:
                write_row(row.keys())
            write_row(row.values())
            count += 1
            if summary.status == "disagrees":
                faults.append(summary.fault)
    print(f"{reader.path}: {count - len(faults):,} of {count:,} games agree with the rules", file=report)
    if faults:
        print(f"  first difference: {faults[0]}", file=report)
    return not faults


@contextmanager
def _table(target: str | None) -> Iterator[Callable[[Iterable[Any]], object]]:
    """Open a CSV table, a file or standard output, and yield a function that writes a row; it does nothing for None."""
    if target is None:
        yield lambda _: None
    elif target == _STDOUT:
        yield csv_format.writer(sys.stdout, lineterminator="\n").writerow
    else:
        with output_file(target) as stream:
            yield csv_format.writer(stream, lineterminator="\n").writerow


class _Phases:
    """The phases of a game as long as they follow the rules; then ``fault`` is the first difference."""

    def __init__(self, replay: "Replay") -> None:
        self._replay = replay
        self.fault: str | None = None

    def __iter__(self) -> "Iterator[PlayedPhase]":
        from geo_patrol.replays import play

        try:
            yield from play(self._replay)
        except RecordingError as error:
            self.fault = str(error)

    def report(self) -> bool:
        """Print the first difference on standard error; return whether there is none."""
        if self.fault is not None:
            print(f"geo-patrol: {self.fault}; the game is shown up to there", file=sys.stderr)
        return self.fault is None


def _print(reader: "ReplayReader", number: int) -> bool:
    """Print one game; return whether it follows the rules."""
    from geo_patrol.replays import read_replay, start
    from geo_patrol.textplay.texts import game_text

    replay = read_replay(reader, number)
    phases = _Phases(replay)
    alpha, bravo = replay.agents
    print(f"GAME {number} of {reader.path.name}: {alpha} (alpha) against {bravo} (bravo)\n")
    for paragraph in game_text(start(replay), phases, replay.agents):
        print(paragraph)
    return phases.report()


def _show(reader: "ReplayReader", number: int, pictures: "_Pictures") -> bool:
    """Show one game in a window, or write its pictures; return whether it follows the rules."""
    from geo_patrol.replays import read_replay, start
    from geo_patrol.sessions.timeline import Timeline

    replay = read_replay(reader, number)
    phases, timeline = _Phases(replay), Timeline(start(replay), replay.agents)
    for phase in phases:
        timeline.append(phase.orders, phase.game)
    follows = phases.report()
    if pictures:
        pictures.write(timeline, reader.path)
    else:
        _watch(timeline, f"{reader.path.name}, game {number}")
    return follows


def _watch(timeline: "Timeline", name: str) -> None:
    from geo_patrol.rendering.screen import NoScreenError
    from geo_patrol.rendering.watch import watch

    alpha, bravo = timeline.names
    try:
        watch(timeline, title=f"{name}: {alpha} (alpha) against {bravo} (bravo)")
    except NoScreenError as error:
        raise InputError(f"{error}; or give --text, --png TURN, --gif FILE or --mp4 FILE") from None


@dataclass(frozen=True)
class _Pictures:
    """The pictures and films of a game to export."""

    gif: Path | None
    mp4: Path | None
    png: str | None
    output: Path | None
    size: tuple[int, int] | None
    speed: float

    def __bool__(self) -> bool:
        return any(target is not None for target in (self.gif, self.mp4, self.png))

    def write(self, timeline: "Timeline", source: Path) -> None:
        """Write the files and print their paths.

        Raises:
            InputError: the game has no such turn, or the size does not suit it.
        """
        from geo_patrol.rendering.exports import save_gif, save_mp4, save_png

        with bad_input():
            if self.png is not None:
                index = moment_of(timeline, self.png)
                path = self.output or Path(f"{source.name.partition('.')[0]}-turn-{self.png}.png")
                save_png(timeline, index, path, self.size or (1280, 720))
                print(f"written: {path}")
            for film, save, usual in ((self.gif, save_gif, (800, 450)), (self.mp4, save_mp4, (1280, 720))):
                if film is not None:
                    with progress_bar(f"drawing {film.name}") as progress:
                        save(timeline, film, self.size or usual, self.speed, progress)
                    print(f"written: {film}")


def moment_of(timeline: "Timeline", turn: str) -> int:
    """Return the index of a moment: "7" is where turn 7 begins, "7e" its engagement phase, "end" the last one.

    Raises:
        InputError: there is none.
    """
    if turn == "end":
        return len(timeline) - 1
    phase = "engagement" if turn.endswith("e") else "movement"
    number = turn.removesuffix("e")
    if number.isascii() and number.isdigit() and len(number) <= 5:
        for index, moment in enumerate(timeline):
            if moment.game.turn == int(number) and moment.game.phase == phase:
                return index
    last = timeline[-1].game.turn
    raise InputError(f"--png {turn}: give a turn from 1 to {last}, perhaps with an e for its engagement phase, or end")
