"""Where games are saved: a file that the user names, or a new one in a folder."""

import os
import re
import time
from pathlib import Path

from geo_patrol.errors import RecordingError

ENDINGS = (".jsonl", ".jsonl.gz", ".jsonl.zst")
"""What replay files are called; the ending says how they are packed."""


def save_path(target: str | Path, players: str) -> Path:
    """Return the new file to save games in.

    A target that is a folder, ends with a slash, or has no ending, is a folder, made if it is not there; the file in it
    is named after the time and the players. Nothing that exists is ever written over.

    Args:
        target: a folder or a file.
        players: who plays, for the name.

    Raises:
        RecordingError: the file is there already, or its folder is not.
    """
    path = Path(target).expanduser()
    if path.is_dir() or str(target).endswith(("/", os.sep)) or not path.suffix:
        path.mkdir(parents=True, exist_ok=True)
        return _fresh(path, players)
    if path.exists():
        raise RecordingError(f"{target} is there already: give another name, or a folder, to keep both")
    if not path.parent.is_dir():
        raise RecordingError(f"{target} cannot be written: there is no folder {path.parent}")
    return path


def _fresh(folder: Path, players: str) -> Path:
    """Return a name that is free: the time and the players, and a number where two games start in one second."""
    stem = f"{time.strftime('%Y-%m-%d_%H%M%S')}_{re.sub(r'[^A-Za-z0-9]+', '-', players).strip('-')[:60]}"
    number, path = 1, folder / f"{stem}{ENDINGS[1]}"
    while path.exists():
        number += 1
        path = folder / f"{stem}_{number}{ENDINGS[1]}"
    return path


def kept_games() -> Path:
    """Return the folder where games that people play are kept unless they say where."""
    base = os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".local" / "state"
    return Path(base) / "geo_patrol" / "games"
