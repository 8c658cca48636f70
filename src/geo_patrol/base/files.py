"""Reading of files within bounds, and atomic writing.

A file is written completely or not at all, also where the machine is lost, and known to be writable before the work begins.
"""

import codecs
import errno
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from geo_patrol.base.errors import GeoPatrolError

_TOKEN_BYTES = 8
_TEMPORARY = re.compile(rf"\.[0-9a-f]{{{2 * _TOKEN_BYTES}}}(\..*)?")
_STALE_SECONDS = 3600.0
_temporary_paths: set[Path] = set()
_TEXT: Any = {"encoding": "utf-8", "errors": "backslashreplace", "newline": ""}


def expand_user(path: str | Path) -> str:
    """Return a path with a home directory in place of a leading ``~`` or ``~name``.

    Raises:
        GeoPatrolError: there is no such user, or no home directory is known.
    """
    expanded = os.path.expanduser(path)  # noqa: PTH111 - pathlib takes ./~ for ~
    if expanded.startswith("~"):
        user = Path(expanded).parts[0][1:]
        raise GeoPatrolError(
            f"{path}: {f'there is no user {user!r}' if user else 'no home directory is known, set HOME'}"
        )
    return expanded


def user_cache_folder() -> Path:
    """Return the folder for what this user's programs can make or get again.

    Raises:
        GeoPatrolError: no home directory is known.
    """
    base = os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_CACHE_HOME") or expand_user("~/.cache")
    return Path(base) / "geo_patrol"


def without_mark(data: bytes) -> bytes:
    """Return a text in UTF-8 without the byte order mark that editors on Windows put in front."""
    return data.removeprefix(codecs.BOM_UTF8)


def read_limited(path: str | Path, max_bytes: int) -> bytes:
    """Return the content of a regular file, but one byte more than the limit at most, of which the caller complains.

    Raises:
        OSError: it cannot be read, or is a device, a pipe or a folder.
    """
    with open(path, "rb", opener=_open_regular) as file:
        return file.read(max_bytes + 1) or b""


def _open_regular(path: str, flags: int) -> int:
    # Otherwise opening a pipe waits for somebody who writes, and reading some files of /proc does not return.
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file", path)
    return descriptor


@contextmanager
def named_errors(path: str | Path) -> Iterator[None]:
    """Name a file in the errors of the operating system in a block that writes it: not all of them know its name."""
    try:
        yield
    except OSError as error:
        error.filename = str(path)
        raise


@contextmanager
def atomic_path(target: str | Path) -> Iterator[Path]:
    """Yield the path of a temporary file that replaces the target when the block ends without an error.

    The file is on the disk before it gets the target's name, and the name is when the block has ended.

    Args:
        target: the file to write. The temporary file is in the same folder and has the target's suffix, because many
            writers take the format from it.

    Raises:
        OSError: the target cannot be written; names the target, not the temporary file.
    """
    path = Path(os.path.realpath(target))
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "it is a folder", str(target))
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, "it is write-protected", str(target))
    temporary, previous = _temporary_path(path), _temporary_path(path)
    try:
        temporary.touch(exist_ok=False)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from None
    _temporary_paths.update((temporary, previous))
    try:
        with named_errors(target):
            yield temporary
            sync_file(temporary)
            _replace(path, temporary, previous)
    finally:
        for each in (temporary, previous):
            each.unlink(missing_ok=True)
            _temporary_paths.discard(each)


def _temporary_path(path: Path) -> Path:
    """Return a new hidden name beside a file, with its suffix."""
    # Not the whole name, which may be as long as the file system allows; a suffix that long is no format.
    return path.with_name(f".{secrets.token_hex(_TOKEN_BYTES)}{path.suffix[:20]}")


def _replace(path: Path, temporary: Path, previous: Path) -> None:
    """Give a file another one's name, and have the disk store that; where it cannot, the older file has its name again.

    Args:
        path: the name.
        temporary: the file that gets it.
        previous: a name under which the older file is kept meanwhile.
    """
    is_new = not path.exists()
    with suppress(OSError):  # there is none, or the file system knows no second names
        previous.hardlink_to(path)
    temporary.replace(path)
    try:
        sync_folder(path.parent)
    except OSError:
        if is_new:
            path.unlink()
        elif previous.exists():
            previous.replace(path)
        raise


def sync_file(path: Path) -> None:
    """Have the disk store what has been written to a file."""
    with path.open("r+b") as file:  # Windows syncs only what can be written
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Have the disk store the names in a folder: of files that are new, renamed or removed."""
    if os.name == "nt":  # which opens no folders
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # of file systems that need no such call
            raise
    finally:
        os.close(descriptor)


@contextmanager
def atomic_write(target: str | Path) -> Iterator[TextIO]:
    """Open a UTF-8 text file for writing; it replaces an older one when the block ends without an error.

    Bytes of file names that are no text are escaped in it. A pipe or a device is written to directly: nothing in it could be left half written.

    Raises:
        OSError: the target cannot be written.
    """
    path = Path(target)
    if path.exists() and not path.is_file() and not path.is_dir():
        with path.open("w", **_TEXT) as stream:
            yield stream
        return
    with atomic_path(path) as temporary, temporary.open("w", **_TEXT) as stream:
        yield stream


def remove_temporary_files() -> None:
    """Remove the temporary files of writes in progress, before the process is ended without unwinding."""
    for path in _temporary_paths:
        with suppress(OSError):
            path.unlink()


def sweep_temporary_files(folder: Path) -> None:
    """Remove the temporary files that killed processes have left in a folder, and in folders in it, an hour ago or more."""
    for path in folder.rglob(".*"):
        if _TEMPORARY.fullmatch(path.name):
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > _STALE_SECONDS:
                    path.unlink()
