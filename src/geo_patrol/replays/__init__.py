"""Replays: recording games in files, reading them within bounds, and checking them against the rules."""

from geo_patrol.replays.checking import Disagreement, check, play, start
from geo_patrol.replays.files import Recorder, ReplayReader, read_replay, save_path, saved_games_folder, write_replays
from geo_patrol.replays.replay import Replay

__all__ = [
    "Disagreement",
    "Recorder",
    "Replay",
    "ReplayReader",
    "check",
    "play",
    "read_replay",
    "save_path",
    "saved_games_folder",
    "start",
    "write_replays",
]
