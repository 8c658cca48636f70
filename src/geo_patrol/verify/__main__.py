"""``python -m geo_patrol.verify FILE...``: replay recorded games and odds, and report differences."""

import itertools
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import track

from geo_patrol.errors import MAX_MESSAGE_LINE, GeoPatrolError, RecordingError, printable
from geo_patrol.notation import PHASES
from geo_patrol.replays import Disagreement, play
from geo_patrol.replays.published import RecordedGame, read_published
from geo_patrol.replays.streams import read_lines
from geo_patrol.validation import parse_model
from geo_patrol.verify.odds import RecordedOdds, check_odds

MAX_BYTES = 4 << 20
"""Of a line, and of a list of engagements; a recorded game takes up to about a megabyte."""
MAX_EMPTY_LINES = 10_000
MAX_FAULTS = 100
"""Games or engagements that differ or cannot be read, after which the rest of a file is not checked."""
MAX_DRAWS = 2_000_000
"""Draws of all engagements of a file together."""


def check_file(path: Path, console: Console) -> bool:
    """Check one file, print the result, and return whether all of it agrees."""
    agreeing, total, first = 0, 0, ""
    try:
        checks = _checks(path)
        for fault in track(
            checks, f"checking {path.name}", console=console, transient=True, disable=not console.is_terminal
        ):
            total += 1
            agreeing += fault is None
            first = first or fault or ""
            if total - agreeing >= MAX_FAULTS:
                print(f"{path}: {MAX_FAULTS} faults: the rest is not checked")
                break
    except GeoPatrolError as error:
        print(f"{path}: {error}")
        return False
    if total == 0:
        print(f"{path}: nothing is recorded in it")
        return False
    print(f"{path}: {agreeing} of {total} agree")
    if first:
        print(f"  first difference: {printable(first, MAX_MESSAGE_LINE - 20)}")
    return not first


def _checks(path: Path) -> Iterator[str | None]:
    """Check a file item by item; yield the first difference or fault of each item, or None."""
    lines = _read_text(path)
    first = next(lines, None)
    if first is None:
        return
    if first[1].lstrip().startswith("["):
        text, draws = _join(line for _, line in itertools.chain([first], lines)), 0
        for index, item in enumerate(_parse_json(text, "content")):
            draws += item["draws"] if isinstance(item, dict) and isinstance(item.get("draws"), int) else 0
            if draws > MAX_DRAWS:
                raise RecordingError(f"engagement {index}: more than {MAX_DRAWS:,} draws in a file")
            yield _check_odds(index, item)
        return
    for number, line in itertools.chain([first], lines):
        yield _check_line(number, line)


def _read_text(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of every line that is not empty."""
    num_empty = 0
    for number, line, _ in read_lines(path, MAX_BYTES):
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            raise RecordingError("is not a text file") from None
        if text.strip():
            yield number, text
            continue
        num_empty += 1
        if num_empty > MAX_EMPTY_LINES:
            raise RecordingError(f"line {number}: more than {MAX_EMPTY_LINES:,} empty lines")


def _parse_json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RecordingError(f"{where}: not JSON: {error}") from None


def _join(lines: Iterable[str]) -> str:
    pieces, length = [], 0
    for line in lines:
        pieces.append(line)
        length += len(line)
        if length > MAX_BYTES:
            raise RecordingError(f"more than {MAX_BYTES:,} characters, too much for a list of engagements")
    return "".join(pieces)


def _check_odds(index: int, item: object) -> str | None:
    try:
        recorded = parse_model(RecordedOdds, item, f"engagement {index}")
        fault = check_odds(recorded)
    except GeoPatrolError as error:
        return str(error)
    return None if fault is None else f"engagement {index} ({recorded.name}), {fault}"


def _check_line(number: int, line: str) -> str | None:
    try:
        recorded = parse_model(RecordedGame, _parse_json(line, f"line {number}"), f"line {number}")
        fault = check_game(recorded, number)
    except GeoPatrolError as error:
        return str(error)
    game = f"game {number - 1} ({recorded.config_name or 'unnamed'}, seed {recorded.seed})"
    return None if fault is None else f"{game}, {fault}"


def check_game(recorded: RecordedGame, line: int = 1) -> str | None:
    """Replay a recorded game and return the first difference, or None if there is none.

    Args:
        recorded: the game.
        line: number of its line, for messages.

    Raises:
        RecordingError: the recording is invalid.
    """
    replay = read_published(recorded, line=line)
    try:
        for _ in play(replay):
            pass
    except Disagreement as disagreement:
        return f"{_where(disagreement)}: {disagreement.difference}"
    return replay.fault


def _where(disagreement: Disagreement) -> str:
    """Return where a disagreement is in a recording, whose phases count drifts too."""
    if disagreement.phase == "start":
        return "initial"
    names: tuple[str, ...] = PHASES
    index = len(names) * (disagreement.turn - 1) + names.index(disagreement.phase)
    return f"phase {index} ({disagreement.phase})"


def verify(
    files: Annotated[list[Path], typer.Argument(help="recorded games (.jsonl, .jsonl.gz) or odds (.json)")],
) -> None:
    """Replay recorded games and odds of the published code, and report where the engine differs.

    Exit status 1 if anything differs or cannot be read.
    """
    console = Console(stderr=True)
    results = [check_file(path, console) for path in files]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    typer.run(verify)
