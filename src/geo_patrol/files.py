"""Atomic file writing: a file is written completely or not at all, and known to be writable before the work begins."""

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

_temporary_paths: set[Path] = set()


@contextmanager
def atomic_path(target: str | Path) -> Iterator[Path]:
    """Yield the path of a temporary file that replaces the target when the block ends without an error.

    Args:
        target: the file to write. The temporary file is in the same folder and its name ends like the target's, because
            many writers take the format from it.

    Raises:
        OSError: the target cannot be written; names the target, not the temporary file.
    """
    path = Path(os.path.realpath(target))
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "it is a folder", str(target))
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, "it is write-protected", str(target))
    temporary = path.with_name(f".{secrets.token_hex(4)}.{path.name}")
    try:
        temporary.touch(exist_ok=False)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from None
    _temporary_paths.add(temporary)
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
        _temporary_paths.discard(temporary)


@contextmanager
def atomic_write(target: str | Path) -> Iterator[TextIO]:
    """Open a UTF-8 text file for writing; it replaces an older one when the block ends without an error.

    A pipe or a device is written to directly: nothing in it could be left half written.

    Raises:
        OSError: the target cannot be written.
    """
    path = Path(target)
    if path.exists() and not path.is_file() and not path.is_dir():
        with path.open("w", encoding="utf-8", newline="") as stream:
            yield stream
        return
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as stream:
        yield stream


def remove_temporary_files() -> None:
    """Remove the temporary files of writes in progress, before the process is ended without unwinding."""
    for path in _temporary_paths:
        with suppress(OSError):
            path.unlink()
