"""Journals: finished tasks on disk, so that a killed campaign can be resumed.

A folder holds ``plan.json``, what is played, and ``games.jsonl``, a line for every finished task. Lines are appended
whole; an incomplete last line, as a killed process may leave it, is dropped when the folder is opened again.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from pydantic import ValidationError

from geo_patrol.agents.travel import mentioned_files
from geo_patrol.errors import GeoPatrolError, show
from geo_patrol.evaluation.tasks import Record, Tasks
from geo_patrol.files import atomic_write, named_errors

PLAN, GAMES, LOCK = "plan.json", "games.jsonl", "lock"
FORMAT = "geo_patrol plan"


class FolderError(GeoPatrolError):
    """A folder that cannot store the games, or stores others."""


class Journal:
    """The finished tasks of a plan, in a folder.

    Args:
        folder: created if it does not exist.
        plan: plain data with everything on which the games depend; a folder with another plan is refused.
        tasks: all tasks of the plan.

    Raises:
        FolderError: the folder holds something else, or a damaged file, or another process uses it.
        OSError: it cannot be written.
    """

    def __init__(self, folder: Path, plan: Mapping[str, Any], tasks: Tasks) -> None:
        self._folder = folder
        self._tasks = tasks
        expected = {"format": FORMAT, "version": 1, **json.loads(json.dumps(plan))}
        found = read_plan(folder)
        if found is not None:
            _check_plan(folder, found, expected)
        elif self._path.exists():
            raise FolderError(f"{folder} has {GAMES} and no {PLAN}: give another folder")
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(folder / LOCK)
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            message = f"{folder} is in use by another process: wait until it ends, or give another folder"
            raise FolderError(message) from None
        if found is None:
            with atomic_write(folder / PLAN) as file:
                file.write(json.dumps(expected, indent=2) + "\n")

    def append(self, record: Record) -> None:
        """Store a finished task.

        Raises:
            OSError: it cannot be written; what was stored before stays as it is.
        """
        line = record.model_dump_json().encode() + b"\n"
        with named_errors(self._path), self._path.open("ab", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            try:
                remaining = memoryview(line)
                while remaining:
                    remaining = remaining[file.write(remaining) :]
                os.fsync(file.fileno())
            except OSError:
                file.truncate(size)
                raise

    def close(self) -> None:
        """Let other processes use the folder."""
        self._lock.release()

    @property
    def _path(self) -> Path:
        return self._folder / GAMES

    def read(self) -> Iterator[Record]:
        """Yield the record of every task that is finished, once.

        Raises:
            FolderError: a line does not belong to this plan.
        """
        if not self._path.exists():
            return
        finished = set()
        with self._path.open("r+b") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    file.truncate(file.seek(-len(line), os.SEEK_END))
                    return
                record = self._parse(line)
                if record is None:
                    message = f"{self._path} is damaged in line {number}: delete that line to play its games again"
                    raise FolderError(message)
                if record.task not in finished:
                    finished.add(record.task)
                    yield record

    def _parse(self, line: bytes) -> Record | None:
        """Parse a line; None if it does not belong to this plan."""
        try:
            record = Record.model_validate_json(line)
        except ValidationError:
            return None
        belongs = 0 <= record.task < len(self._tasks) and record.fits(self._tasks.games_of(record.task))
        return record if belongs else None


def read_plan(folder: Path) -> dict[str, Any] | None:
    """Return the plan of a folder; None if it has none.

    Raises:
        FolderError: it cannot be read.
    """
    path = folder / PLAN
    if folder.exists() and not folder.is_dir():
        raise FolderError(f"{folder} is no folder: give one for the results")
    if not path.exists():
        return None
    try:
        plan = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise FolderError(f"{path} cannot be read: {error}") from None
    if not isinstance(plan, dict) or plan.get("format") != FORMAT:
        raise FolderError(f"{path} is no plan of geo-patrol: give another folder")
    return plan


def _check_plan(folder: Path, found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    for key in expected:
        if found.get(key) != expected[key]:
            raise FolderError(
                f"{folder} holds something else: its {key} is {show(found.get(key))}, not {show(expected[key])}: "
                "give another folder, or the same arguments to go on"
            )


def digest_files(names: Sequence[str]) -> dict[str, str]:
    """Return SHA-256 digests, by path, of what agents' names mention, files and folders: it changes the games."""
    return {piece: _digest(path) for piece, path in mentioned_files(names).items()}


def _digest(path: Path) -> str:
    if path.is_dir():
        contents = {str(file.relative_to(path)): _digest(file) for file in sorted(path.rglob("*")) if file.is_file()}
        return hashlib.sha256(json.dumps(contents).encode()).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
