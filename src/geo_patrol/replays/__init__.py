"""Replays: recording games in files, reading them within bounds, and checking them against the rules."""

from geo_patrol.replays.checking import check, play, start
from geo_patrol.replays.disagreement import Disagreement
from geo_patrol.replays.paths import save_path, saved_games_folder
from geo_patrol.replays.reader import ReplayReader, find_game, read_replay
from geo_patrol.replays.recorder import Recorder, write_replays
from geo_patrol.replays.replay import Replay

__all__ = [
    "Disagreement",
    "Recorder",
    "Replay",
    "ReplayReader",
    "check",
    "find_game",
    "play",
    "read_replay",
    "save_path",
    "saved_games_folder",
    "start",
    "write_replays",
]
