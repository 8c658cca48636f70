"""NASA's flight games, Planetary Probe and Spaceship Commander: single-player games of gravity on a grid.

Public names are imported when they are first used.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from geo_patrol.config.toml_files import mission_names
    from geo_patrol.flight.envs import PlanetaryProbe, SpaceshipCommander
    from geo_patrol.flight.flight import ENDINGS, LINE_NAMES, Ending, Flight, Turn
    from geo_patrol.flight.generator import RandomMission, random_flight, random_mission, random_mission_with_witness
    from geo_patrol.flight.mission import Mission, load_mission
    from geo_patrol.flight.rules import observation_names
    from geo_patrol.flight.solver import Solution, rank, solve

__all__ = [
    "ENDINGS",
    "LINE_NAMES",
    "Ending",
    "Flight",
    "Mission",
    "PlanetaryProbe",
    "RandomMission",
    "Solution",
    "SpaceshipCommander",
    "Turn",
    "load_mission",
    "mission_names",
    "observation_names",
    "random_flight",
    "random_mission",
    "random_mission_with_witness",
    "rank",
    "solve",
]

_MODULES = {
    "geo_patrol.config.toml_files": ("mission_names",),
    "geo_patrol.flight.rules": ("observation_names",),
    "geo_patrol.flight.envs": ("PlanetaryProbe", "SpaceshipCommander"),
    "geo_patrol.flight.generator": ("RandomMission", "random_flight", "random_mission", "random_mission_with_witness"),
    "geo_patrol.flight.flight": ("ENDINGS", "LINE_NAMES", "Ending", "Flight", "Turn"),
    "geo_patrol.flight.mission": ("Mission", "load_mission"),
    "geo_patrol.flight.solver": ("Solution", "rank", "solve"),
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    for module, names in _MODULES.items():
        if name in names:
            value = globals()[name] = getattr(importlib.import_module(module), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
