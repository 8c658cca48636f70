"""Paths of replay files."""

import os
import re
import time
from pathlib import Path

from geo_patrol.errors import RecordingError

ENDINGS = (".jsonl", ".jsonl.gz", ".jsonl.zst")
"""Endings of replay files, which decide the compression."""


def save_path(target: str | Path, agents: str) -> Path:
    """Return the path of a new file to save games in. Existing files are never overwritten.

    Args:
        target: a file, or a folder, which is created if necessary: an existing folder, a path that ends with a slash,
            or one without an ending. A file in a folder is named after the time and the agents.
        agents: names of the agents.

    Raises:
        RecordingError: the file exists already, or its folder does not.
    """
    path = Path(target).expanduser()
    if path.is_dir() or str(target).endswith(("/", os.sep)) or not path.suffix:
        path.mkdir(parents=True, exist_ok=True)
        return _unused_path(path, agents)
    if path.exists():
        raise RecordingError(f"{target} is there already: give another name, or a folder, to keep both")
    if not path.parent.is_dir():
        raise RecordingError(f"{target} cannot be written: there is no folder {path.parent}")
    return path


def _unused_path(folder: Path, agents: str) -> Path:
    """Return an unused path: time and agents, and a number where two games start in the same second."""
    stem = f"{time.strftime('%Y-%m-%d_%H%M%S')}_{re.sub(r'[^A-Za-z0-9]+', '-', agents).strip('-')[:60]}"
    number, path = 1, folder / f"{stem}{ENDINGS[1]}"
    while path.exists():
        number += 1
        path = folder / f"{stem}_{number}{ENDINGS[1]}"
    return path


def saved_games_folder() -> Path:
    """Return the default folder for games that are played by people."""
    base = os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".local" / "state"
    return Path(base) / "geo_patrol" / "games"
