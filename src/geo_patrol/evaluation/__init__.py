"""Measuring agents: matches, tournaments, sequential tests, the arena, ratings and equilibria.

Names are imported when they are first used, so that a match does not import what exact solutions need.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from geo_patrol.evaluation.arena import ArenaResult, play_arena
    from geo_patrol.evaluation.campaign import FolderError
    from geo_patrol.evaluation.executors import WorkerError
    from geo_patrol.evaluation.exploitability import ExactBoard, Exploitability
    from geo_patrol.evaluation.match import play_match
    from geo_patrol.evaluation.ray_executor import RayExecutor
    from geo_patrol.evaluation.results import MatchResult
    from geo_patrol.evaluation.sprt import SprtResult, play_sprt
    from geo_patrol.evaluation.statistics import Equilibrium, Rate, Ratings, Sprt, equilibrium, fit_ratings, pair_scores
    from geo_patrol.evaluation.tournament import Tournament, play_tournament

__all__ = [
    "ArenaResult",
    "Equilibrium",
    "ExactBoard",
    "Exploitability",
    "FolderError",
    "MatchResult",
    "Rate",
    "Ratings",
    "RayExecutor",
    "Sprt",
    "SprtResult",
    "Tournament",
    "WorkerError",
    "equilibrium",
    "fit_ratings",
    "pair_scores",
    "play_arena",
    "play_match",
    "play_sprt",
    "play_tournament",
]

_MODULES = {
    "arena": ("ArenaResult", "play_arena"),
    "campaign": ("FolderError",),
    "exploitability": ("ExactBoard", "Exploitability"),
    "match": ("play_match",),
    "executors": ("WorkerError",),
    "ray_executor": ("RayExecutor",),
    "results": ("MatchResult",),
    "sprt": ("SprtResult", "play_sprt"),
    "statistics": ("Equilibrium", "Rate", "Ratings", "Sprt", "equilibrium", "fit_ratings", "pair_scores"),
    "tournament": ("Tournament", "play_tournament"),
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{module}"), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
