"""Replays: games in files, written phase by phase, read with care, and checked against the rules."""

from geo_patrol.replays.checking import check, play, start
from geo_patrol.replays.disagreement import Disagreement
from geo_patrol.replays.folders import kept_games, save_path
from geo_patrol.replays.reading import ReplayReader, find, read_replay
from geo_patrol.replays.replay import Replay
from geo_patrol.replays.writing import Recorder, write_replays

__all__ = [
    "Disagreement",
    "Recorder",
    "Replay",
    "ReplayReader",
    "check",
    "find",
    "kept_games",
    "play",
    "read_replay",
    "save_path",
    "start",
    "write_replays",
]
