"""Reading files of recorded games and odds, line by line and within bounds."""

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from geo_patrol.errors import RecordingError

MAX_LINE_BYTES = 64 << 20
"""A recorded game takes up to about a megabyte."""


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Read the lines of a text file, gzipped or not, each with its number from 1.

    Raises:
        RecordingError: the file cannot be read, is damaged, or a line is longer than a game can be.
    """
    try:
        with path.open("rb") as raw:
            is_gzip = raw.read(2) == b"\x1f\x8b"
        with gzip.open(path, "rb") if is_gzip else path.open("rb") as lines:
            number = 0
            while line := lines.readline(MAX_LINE_BYTES):
                number += 1
                if len(line) == MAX_LINE_BYTES:
                    raise RecordingError(f"line {number} is longer than {MAX_LINE_BYTES:,} bytes, no recorded game")
                yield number, line.decode("utf-8")
    except (OSError, EOFError, zlib.error) as error:
        raise RecordingError(f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    except UnicodeDecodeError:
        raise RecordingError("is not a text file") from None


def parse_json(text: str, where: str) -> Any:
    """Read JSON.

    Raises:
        RecordingError: the text is not JSON, or nested too deeply.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RecordingError(f"{where}: not JSON: {error}") from None
