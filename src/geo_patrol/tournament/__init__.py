"""Measuring agents and scenarios: tournaments, sequential tests, sweeps; on all cores, resumable."""

from geo_patrol.tournament.journal import FolderError
from geo_patrol.tournament.pool import WorkerError
from geo_patrol.tournament.round_robin import Tournament, play_tournament
from geo_patrol.tournament.sequential import SprtResult, play_sprt
from geo_patrol.tournament.sweep import Sweep, play_sweep

__all__ = [
    "FolderError",
    "SprtResult",
    "Sweep",
    "Tournament",
    "WorkerError",
    "play_sprt",
    "play_sweep",
    "play_tournament",
]
