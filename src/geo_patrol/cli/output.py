"""Files for machines: written whole or not at all, and known to be writable before the work begins."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from geo_patrol.cli.errors import InputError

_unfinished: set[Path] = set()


def remove_unfinished() -> None:
    """Remove what has been written of files that are not whole yet; for leaving the process at once."""
    for path in _unfinished:
        with suppress(OSError):
            path.unlink()


@contextmanager
def whole_file(target: str) -> Iterator[TextIO]:
    """Open a file for writing; it takes the place of an older one when the block ends without an error.

    Args:
        target: a path; a pipe or a device is written to directly.

    Raises:
        InputError: nothing can be written there.
    """
    path = Path(os.path.realpath(target))
    if path.is_dir():
        raise InputError(f"{target} cannot be written: it is a folder")
    if path.exists() and not path.is_file():  # a pipe or a device has nothing that could be left half written
        with _open(path, "w", target) as stream:
            yield stream
        return
    if path.exists() and not os.access(path, os.W_OK):
        raise InputError(f"{target} cannot be written: it is write-protected")
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    stream = _open(beside, "x", target)
    _unfinished.add(beside)
    try:
        with stream:
            yield stream
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
        _unfinished.discard(beside)


def _open(path: Path, mode: str, target: str) -> TextIO:
    try:
        stream = path.open(mode, encoding="utf-8", newline="")
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror}") from None
    assert not isinstance(stream, bytes)
    return stream  # type: ignore[return-value]
