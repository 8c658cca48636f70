"""Measuring agents and scenarios: tournaments, sequential tests, sweeps; on all cores, resumable."""

from geo_patrol.tournament.journal import FolderError
from geo_patrol.tournament.pool import WorkerError
from geo_patrol.tournament.round_robin import Tournament, play_tournament

__all__ = ["FolderError", "Tournament", "WorkerError", "play_tournament"]
