"""Resuming a game whose recording was interrupted."""

from contextlib import closing
from pathlib import Path

from geo_patrol.errors import RecordingError
from geo_patrol.files import atomic_path
from geo_patrol.replays.checking import play
from geo_patrol.replays.reader import ReplayReader
from geo_patrol.replays.recorder import Recorder
from geo_patrol.replays.replay import Replay
from geo_patrol.replays.streams import open_stream, read_lines


def unfinished_game(path: str | Path) -> Replay:
    """Return the last game of a file, which must have been interrupted.

    Raises:
        RecordingError: the file cannot be read, its last game is over, or does not follow the rules.
    """
    replay = None
    for replay in ReplayReader(path):  # noqa: B007
        pass
    assert replay is not None  # a file without games raises
    if replay.seed is None:
        raise RecordingError(f"{path}: its last game, {replay.number}, has no seed: it cannot be continued")
    last = None
    for last in play(replay):  # noqa: B007
        pass
    if replay.is_finished or (last is not None and last.game.is_over):
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
