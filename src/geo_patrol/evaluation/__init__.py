"""Measuring agents: match play, tournaments, sequential tests, sweeps, ratings and equilibria.

Names are imported when they are first used: ratings and equilibria need SciPy (the extra ``[stats]``), matches do not.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from geo_patrol.evaluation.bradley_terry import Ratings, rate
    from geo_patrol.evaluation.journal import FolderError
    from geo_patrol.evaluation.match import play_match
    from geo_patrol.evaluation.matrix_games import Equilibrium, equilibrium
    from geo_patrol.evaluation.pool import WorkerError
    from geo_patrol.evaluation.results import MatchResult
    from geo_patrol.evaluation.sequential import SprtResult, play_sprt
    from geo_patrol.evaluation.sprt import Sprt, pair_kinds
    from geo_patrol.evaluation.sweep import Sweep, play_sweep
    from geo_patrol.evaluation.tournament import Tournament, play_tournament

__all__ = [
    "Equilibrium",
    "FolderError",
    "MatchResult",
    "Ratings",
    "Sprt",
    "SprtResult",
    "Sweep",
    "Tournament",
    "WorkerError",
    "equilibrium",
    "pair_kinds",
    "play_match",
    "play_sprt",
    "play_sweep",
    "play_tournament",
    "rate",
]

_MODULES = {
    "bradley_terry": ("Ratings", "rate"),
    "matrix_games": ("Equilibrium", "equilibrium"),
    "journal": ("FolderError",),
    "match": ("play_match",),
    "pool": ("WorkerError",),
    "results": ("MatchResult",),
    "sequential": ("SprtResult", "play_sprt"),
    "sprt": ("Sprt", "pair_kinds"),
    "sweep": ("Sweep", "play_sweep"),
    "tournament": ("Tournament", "play_tournament"),
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{module}"), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
