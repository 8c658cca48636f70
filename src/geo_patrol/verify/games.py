"""Checking recorded games of the published implementation."""

from geo_patrol.notation import PHASES
from geo_patrol.replays.checking import play
from geo_patrol.replays.disagreement import Disagreement
from geo_patrol.replays.published import read_published
from geo_patrol.replays.published_schema import RecordedGame


def check_game(recorded: RecordedGame, line: int = 1) -> str | None:
    """Replay a recorded game and return the first difference, or None if there is none.

    Args:
        recorded: the game.
        line: number of its line, for messages.

    Raises:
        RecordingError: the recording is invalid.
    """
    replay = read_published(recorded, line=line)
    try:
        for _ in play(replay):
            pass
    except Disagreement as disagreement:
        return f"{_where(disagreement)}: {disagreement.difference}"
    return replay.fault


def _where(disagreement: Disagreement) -> str:
    """Return where a disagreement is in a recording, whose phases count drifts too."""
    if disagreement.phase == "start":
        return "initial"
    names: tuple[str, ...] = PHASES
    index = len(names) * (disagreement.turn - 1) + names.index(disagreement.phase)
    return f"phase {index} ({disagreement.phase})"
