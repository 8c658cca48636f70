"""Where games are saved, and how the recording of an interrupted game is resumed."""

import os
import re
import time
from collections import deque
from contextlib import closing
from pathlib import Path

from geo_patrol.errors import RecordingError
from geo_patrol.files import atomic_path
from geo_patrol.replays.checking import play
from geo_patrol.replays.reader import ReplayReader
from geo_patrol.replays.recorder import Recorder
from geo_patrol.replays.replay import Replay
from geo_patrol.replays.streams import open_stream, read_lines

_ENDING = ".jsonl.gz"


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
    number, path = 1, folder / f"{stem}{_ENDING}"
    while path.exists():
        number += 1
        path = folder / f"{stem}_{number}{_ENDING}"
    return path


def saved_games_folder() -> Path:
    """Return the default folder for games that are played by people."""
    base = os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".local" / "state"
    return Path(base) / "geo_patrol" / "games"


def unfinished_game(path: str | Path) -> Replay:
    """Return the last game of a file, which must have been interrupted.

    Raises:
        RecordingError: the file cannot be read, its last game is over, or does not follow the rules.
    """
    (replay,) = deque(ReplayReader(path), maxlen=1)  # the last one; a file without games raises
    if replay.seed is None:
        raise RecordingError(f"{path}: its last game, {replay.number}, has no seed: it cannot be continued")
    last_phase = deque(play(replay), maxlen=1)
    if replay.is_finished or any(phase.after.is_over for phase in last_phase):
        raise RecordingError(f"{path}: its last game, {replay.number}, is over; geo-patrol replay shows it")
    return replay


def reopen(path: Path, replay: Replay) -> Recorder:
    """Open a file to append to its last game; the recorder continues it with ``resume``.

    What a crash left of a phase is removed: the file is rewritten up to there and replaced atomically.

    Raises:
        OSError: the file cannot be written.
    """
    last = replay.phases[-1].line if replay.phases else replay.line
    with atomic_path(path) as temporary, closing(open_stream(temporary, "w")) as stream:
        for number, line, _ in read_lines(path):
            stream.write(line + b"\n")
            if number == last:
                break
    return Recorder(path, replay.config, append=True)
