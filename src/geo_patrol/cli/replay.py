"""``geo-patrol replay``: show recorded games, and export pictures, films and tables."""

import csv as csv_format
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from geo_patrol.cli.options import user_file, user_path
from geo_patrol.cli.output import (
    FAILED,
    STDOUT,
    InputError,
    bad_input,
    check_outputs,
    csv_stream,
    output_stream,
    print_faults,
    progress_bar,
    show_status,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from geo_patrol.game.timeline import Timeline
    from geo_patrol.replays import Replay, ReplayReader
    from geo_patrol.replays.summaries import Rows


_MIN_SIZE, _MAX_SIZE = (320, 240), (7680, 4320)


_Game: TypeAlias = Annotated[
    int | None,
    typer.Option("--game", "-g", metavar="N", min=0, help="Which game of the file, from 0; the first by default."),
]
_Png: TypeAlias = Annotated[
    str | None,
    typer.Option("--png", metavar="TURN", help="Write a picture: 7 (turn 7 begins), 7e (its engagement), end."),
]
_Svg: TypeAlias = Annotated[
    str | None, typer.Option("--svg", metavar="TURN", help="Write a picture of that turn as vector graphics.")
]
_Pdf: TypeAlias = Annotated[
    str | None, typer.Option("--pdf", metavar="TURN", help="Write a picture of that turn as PDF.")
]
_Output: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        parser=user_path,
        metavar="FILE",
        help="For --png, --svg or --pdf; named after FILE by default.",
    ),
]
_Html: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--html", parser=user_path, metavar="FILE", help="Write all games, or that of --game, as one page for browsers."
    ),
]
_Size: TypeAlias = Annotated[
    str | None, typer.Option("--size", metavar="WxH", help="Of pictures and films: 1280x720, a GIF 800x450.")
]
_Rows: TypeAlias = Annotated[
    Literal["games", "phases", "engagements"], typer.Option("--rows", help="What each row of --csv describes.")
]


def replay(
    file: Annotated[
        Path, typer.Argument(parser=user_path, metavar="FILE", help="A replay: .jsonl, .jsonl.gz or .jsonl.zst.")
    ],
    game: _Game = None,
    text: Annotated[bool, typer.Option("--text", help="Print the game turn by turn instead of a window.")] = False,
    gif: Annotated[
        Path | None, typer.Option("--gif", parser=user_path, metavar="FILE", help="Write the game as a GIF.")
    ] = None,
    mp4: Annotated[
        Path | None, typer.Option("--mp4", parser=user_path, metavar="FILE", help="Write the game as a film.")
    ] = None,
    png: _Png = None,
    svg: _Svg = None,
    pdf: _Pdf = None,
    output: _Output = None,
    html: _Html = None,
    size: _Size = None,
    speed: Annotated[
        float, typer.Option("--speed", metavar="X", min=0.1, max=20, help="Of films: 2 is twice as fast.")
    ] = 1.0,
    csv: Annotated[
        str | None, typer.Option("--csv", parser=user_file, metavar="FILE|-", help="Write all games as CSV.")
    ] = None,
    rows: _Rows = "games",
) -> None:
    """Show a recorded game, in a window or as text, or export it.

    A game that does not follow the rules is shown up to where it leaves them; exit status 1 then. --csv plays all games
    of the file again; geo-patrol verify only checks them. Recorded games of the published implementation can be given as
    well.
    """
    stills = {suffix: turn for suffix, turn in ((".png", png), (".svg", svg), (".pdf", pdf)) if turn is not None}
    if output is not None and len(stills) != 1:
        raise InputError("--output is the file of one picture: it needs one of --png TURN, --svg TURN and --pdf TURN")
    if rows != "games" and csv is None:
        raise InputError(f"--rows {rows} needs --csv FILE")
    check_outputs({"--csv": csv, "--html": html, "--gif": gif, "--mp4": mp4, "--output": output}, [file])
    if csv == STDOUT and (text or html or gif or mp4 or stills):
        raise InputError("--csv - writes to standard output, as others of these options do: it must be a file")
    from geo_patrol.replays import ReplayReader

    pictures = _Pictures(gif, mp4, stills, output, _read_size(size), speed)
    tasks: list[Callable[[ReplayReader], bool]] = []
    if html is not None:
        tasks.append(lambda reader: _write_page(reader, game, html))
    if csv is not None:
        tasks.append(lambda reader: _write_table(reader, csv, rows))
    if pictures:
        tasks.append(lambda reader: pictures.write(reader, game or 0))
    if text or not tasks:
        tasks.append(lambda reader: _print_game(reader, game or 0) if text else _watch(reader, game or 0))
    readers = [ReplayReader(file) for _ in tasks]
    is_right = [task(reader) for task, reader in zip(tasks, readers, strict=True)]
    num_faults = print_faults(max(readers, key=lambda reader: reader.fault_count))
    if num_faults or not all(is_right):
        raise typer.Exit(FAILED)


def _read_size(text: str | None) -> tuple[int, int] | None:
    """Parse a size such as 1280x720."""
    if text is None:
        return None
    width, sign, height = text.lower().partition("x")
    if not sign or not all(text.isascii() and text.isdigit() and len(text) <= 4 for text in (width, height)):
        raise InputError(f"--size must be width x height, such as 1280x720, got {text}")
    size = int(width), int(height)
    if not all(low <= length <= high for low, length, high in zip(_MIN_SIZE, size, _MAX_SIZE, strict=True)):
        raise InputError(f"--size must be 320x240 to 7680x4320, got {text}")
    return size


def _write_table(reader: "ReplayReader", csv: str, rows: "Rows") -> bool:
    """Write a table of all games; return whether they follow the rules, and print the first difference."""
    from geo_patrol.replays.summaries import table_columns, table_rows

    count, differences = 0, []
    with csv_stream(csv) as stream, show_status(f"reading {reader.path.name}"):
        table: csv_format.DictWriter[str] | None = None
        for replay in reader:
            if table is None:
                columns = table_columns(replay, rows)
                table = csv_format.DictWriter(stream, columns, extrasaction="ignore", lineterminator="\n")
                table.writeheader()
            summary, lines = table_rows(replay, rows)
            table.writerows(lines)
            count += 1
            if summary.status == "disagrees":
                differences.append(summary.fault)
    if csv != STDOUT:
        print(f"written: {csv}, {_games(count)}")
    if differences:
        print(f"geo-patrol: {_games(len(differences))} against the rules, the first: {differences[0]}", file=sys.stderr)
    return not differences


def _games(count: int) -> str:
    return f"{count:,} {'game' if count == 1 else 'games'}"


def _write_page(reader: "ReplayReader", number: int | None, path: Path) -> bool:
    """Write a page of all games, or of one; return whether they follow the rules."""
    from itertools import islice

    from geo_patrol.replays import read_replay
    from geo_patrol.web.replay_page import MAX_GAMES, replay_page

    rest = iter(reader) if number is None else iter([read_replay(reader, number)])
    are_right = []

    def games() -> "Iterator[tuple[str, Timeline]]":
        for replay in islice(rest, MAX_GAMES):
            timeline, is_right = _timeline(replay)
            are_right.append(is_right)
            yield f"game {replay.number}", timeline

    with output_stream(str(path)) as stream:
        stream.write(replay_page(games(), reader.path.name))
    note = "" if next(rest, None) is None else f"; a page holds {MAX_GAMES} games, the rest is left out"
    print(f"written: {path}, {_games(len(are_right))}{note}")
    return all(are_right)


def _timeline(replay: "Replay") -> "tuple[Timeline, bool]":
    """Return a game as far as it follows the rules, and whether that is all of it; print the first difference."""
    from geo_patrol.replays.files import replay_timeline

    timeline, fault = replay_timeline(replay)
    if fault:
        print(f"geo-patrol: {fault}; the game is shown up to there", file=sys.stderr)
    return timeline, not fault


def _print_game(reader: "ReplayReader", number: int) -> bool:
    """Print a game turn by turn; return whether it follows the rules."""
    from geo_patrol.play.text_game import game_text
    from geo_patrol.replays import read_replay

    replay = read_replay(reader, number)
    alpha, bravo = replay.agents
    print(f"GAME {number} of {reader.path.name}: {alpha} (alpha) against {bravo} (bravo)\n")
    timeline, is_right = _timeline(replay)
    for paragraph in game_text(timeline[0], timeline.phases, replay.agents, timeline.settled):
        print(paragraph)
    return is_right


def _watch(reader: "ReplayReader", number: int) -> bool:
    """Show the games of a file in a window; return whether those that were shown follow the rules."""
    from geo_patrol.drawing.screen import NoScreenError
    from geo_patrol.replays.files import GameList
    from geo_patrol.window.games import watch_games

    games = GameList(reader)
    try:
        watch_games(games, number)
    except NoScreenError as error:
        raise InputError(f"{error}; without one: --text, --png TURN, --gif FILE or --mp4 FILE") from None
    for fault in games.faults:
        print(f"geo-patrol: {fault}; the game is shown up to there", file=sys.stderr)
    return not games.faults


@dataclass(frozen=True)
class _Pictures:
    """The pictures and films of a game to export."""

    gif: Path | None
    mp4: Path | None
    stills: dict[str, str]
    output: Path | None
    size: tuple[int, int] | None
    speed: float

    def __bool__(self) -> bool:
        return bool(self.stills) or self.gif is not None or self.mp4 is not None

    def write(self, reader: "ReplayReader", number: int) -> bool:
        """Write the files of a game and print their paths; return whether it follows the rules.

        Raises:
            InputError: the game has no such turn, or the size does not suit it.
        """
        from geo_patrol.replays import read_replay
        from geo_patrol.window.film import save_gif, save_mp4, save_picture

        timeline, is_right = _timeline(read_replay(reader, number))
        with bad_input():
            for suffix, turn in self.stills.items():
                index = _moment_of(timeline, f"--{suffix[1:]}", turn)
                path = self.output or Path(f"{reader.path.name.partition('.')[0]}-turn-{turn}{suffix}")
                save_picture(timeline, index, path, self.size or (1280, 720))
                print(f"written: {path}")
            for film, save, usual in ((self.gif, save_gif, (800, 450)), (self.mp4, save_mp4, (1280, 720))):
                if film is not None:
                    with progress_bar(f"drawing {film.name}") as progress:
                        save(timeline, film, self.size or usual, self.speed, progress)
                    print(f"written: {film}")
        return is_right


def _moment_of(timeline: "Timeline", option: str, turn: str) -> int:
    """Return the index of a position: "7" is where turn 7 begins, "7e" its engagement phase, "end" the last one.

    Raises:
        InputError: there is none.
    """
    if turn == "end":
        return len(timeline) - 1
    phase = "engagement" if turn.endswith("e") else "movement"
    number = turn.removesuffix("e")
    if number.isascii() and number.isdigit() and len(number) <= 5:
        for index, game in enumerate(timeline):
            if game.turn == int(number) and game.phase == phase:
                return index
    last = timeline[-1].turn
    raise InputError(
        f"{option} must be a turn from 1 to {last}, perhaps with an e for its engagement phase, or end, got {turn}"
    )
