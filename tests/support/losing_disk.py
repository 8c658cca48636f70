"""A disk that loses what it was not asked to store: for tests of what a lost machine leaves."""

import builtins
import errno
import io
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

Names = dict[str, int]
"""The files of a folder, as numbers that stay the same when a file is renamed."""


class _File(io.FileIO):
    """A file whose writes are counted; one that fails has written half."""

    def __init__(self, path, mode, count) -> None:
        super().__init__(path, mode)
        self._count = count

    def write(self, data) -> int:
        try:
            self._count()
        except OSError:
            super().write(bytes(data)[: len(bytes(data)) // 2])
            raise
        return super().write(data)


@dataclass
class Moment:
    """What the disk has been asked to store, and what programs see.

    Attributes:
        stored: names that are stored.
        changes: the changes of names since then, in order: those that a prefix of these leaves.
        files: what is stored of each file, and what programs see of it.
        acknowledged: what the test has said to be done.
    """

    stored: Names
    changes: list[Names]
    files: dict[int, tuple[bytes, bytes]]
    acknowledged: object


class LosingDisk:
    """Records what happens to the files of a folder, and tells what may be left of them when the machine is lost.

    Data reach the disk when their file is synced. Before, any of it may be lost, or be NULs. Names reach it when their
    folder is synced; before, the first of the changes may have, in the order in which they were made.

    Args:
        folder: a folder without folders in it.
        monkeypatch: replaces functions of ``os``, and ``open``.

    Attributes:
        acknowledged: what has been done so far, by the word of the code under test; set by the test.
        fail_at: the number of the call that fails, of those that open a file for writing, write, sync, rename and remove; None
            for none. Half of what is to be written then reaches the file.
        stays_broken: whether all later calls that open, write and sync fail as well, as on a full disk.
        num_calls: how many of them there were.
    """

    def __init__(self, folder: Path, monkeypatch) -> None:
        self._folder = folder
        self._names: Names = {}
        self._stored: Names = {}
        self._changes: list[Names] = []
        self._synced: dict[int, bytes] = {}
        self._num_files = 0
        self.moments: list[Moment] = []
        self.acknowledged: object = None
        self.fail_at: int | None = None
        self.stays_broken = False
        self.num_calls = 0
        self._open = io.open
        monkeypatch.setattr(io, "open", self.open)
        monkeypatch.setattr(builtins, "open", self.open)
        for function in (os.fsync, os.link, os.replace, os.rename, os.unlink):
            monkeypatch.setattr(os, function.__name__, self._wrap(function))

    def _wrap(self, function):
        def call(target, *others, **options):
            if not self._is_here(target):
                return function(target, *others, **options)
            self._count(can_stay_broken=function.__name__ == "fsync")
            result = function(target, *others, **options)
            self._apply(function.__name__, target, *others)
            self.note()
            return result

        return call

    def _count(self, *, can_stay_broken: bool = True) -> None:
        """Count a call; raise OSError if it is the one that fails, or one of those after it."""
        self.note()
        self.num_calls += 1
        is_broken = self.fail_at is not None and self.num_calls > self.fail_at and self.stays_broken and can_stay_broken
        if self.num_calls == self.fail_at or is_broken:
            raise OSError(errno.EIO, "Input/output error")

    def open(self, file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None):
        """Open a file as Python does; what is written to one of the folder is recorded call by call."""
        is_watched = not isinstance(file, int) and set(mode) & set("wax+") and self._is_here(file)
        if not is_watched or Path(file).name.endswith("lock"):
            return self._open(file, mode, buffering, encoding, errors, newline, closefd, opener)
        self._count()
        raw = _File(file, mode.replace("b", "").replace("t", ""), self._count)
        self.note()
        if "b" not in mode:
            return io.TextIOWrapper(io.BufferedWriter(raw), encoding, errors, newline)
        if buffering == 0:
            return raw
        return io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)

    def _is_here(self, target) -> bool:
        if isinstance(target, int):
            found = os.fstat(target)
            return os.path.samestat(found, self._folder.stat()) or self._name_of(found) is not None
        return Path(target).parent == self._folder

    def _name_of(self, found: os.stat_result) -> str | None:
        paths = (path for path in self._folder.iterdir() if os.path.samestat(path.stat(), found))
        return next((path.name for path in paths), None)

    def _apply(self, operation: str, target, *others) -> None:
        if operation == "fsync":
            found = os.fstat(target)
            if stat.S_ISDIR(found.st_mode):
                self._stored, self._changes = dict(self._names), []
            else:
                name = self._name_of(found)
                self._synced[self._names[name]] = (self._folder / name).read_bytes()
            return
        name = Path(target).name
        number = self._names[name] if operation == "link" else self._names.pop(name)
        if operation != "unlink":
            self._names[Path(others[0]).name] = number
        self._changes.append(dict(self._names))

    def note(self) -> None:
        """Note the present moment, at which the machine may be lost."""
        for path in sorted(self._folder.iterdir()):
            if path.name not in self._names and not path.name.endswith("lock"):
                self._num_files += 1
                self._names[path.name] = self._num_files
                self._changes.append(dict(self._names))
        files = {
            number: (self._synced.get(number, b""), (self._folder / name).read_bytes())
            for name, number in self._names.items()
        }
        before = self.moments[-1].files if self.moments else {}
        files = before | files  # those that are removed, or were replaced, may still be found
        files |= {number: (self._synced.get(number, b""), seen) for number, (_, seen) in files.items()}
        self.moments.append(Moment(dict(self._stored), list(self._changes), files, self.acknowledged))

    def remains(self, *, of_one: bool = False) -> Iterator[tuple[dict[str, bytes], object]]:
        """Yield what may be left at all moments, each once: the files by name, and what had been acknowledged.

        Args:
            of_one: whether one file at a time loses data, instead of all of them.
        """
        known = set()
        for moment in self.moments:
            for names in (moment.stored, *moment.changes):
                for leave, damaged in product(_LEAVE, names if of_one else [None]):
                    left = {
                        name: (leave if damaged in (None, name) else _all)(*moment.files[number])
                        for name, number in names.items()
                    }
                    key = frozenset(left.items()), repr(moment.acknowledged)
                    if key not in known:
                        known.add(key)
                        yield left, moment.acknowledged


def _all(_stored: bytes, seen: bytes) -> bytes:
    return seen


def _nothing_more(stored: bytes, _seen: bytes) -> bytes:
    return stored


def _a_part(stored: bytes, seen: bytes) -> bytes:
    return seen[: (len(stored) + len(seen)) // 2] if seen.startswith(stored) else stored


def _nuls(stored: bytes, seen: bytes) -> bytes:
    return stored.ljust(len(seen), b"\0")


def _a_part_and_nuls(stored: bytes, seen: bytes) -> bytes:
    return _a_part(stored, seen).ljust(len(seen), b"\0")


def _the_second_part(stored: bytes, seen: bytes) -> bytes:
    part = _a_part(stored, seen)
    return stored.ljust(len(part), b"\0") + seen[len(part) :] if seen.startswith(stored) else stored


_LEAVE = _all, _nothing_more, _a_part, _nuls, _a_part_and_nuls, _the_second_part
