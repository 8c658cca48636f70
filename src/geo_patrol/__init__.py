"""Two-player orbital board games for reinforcement learning: GEO Patrol, Orbit Defender 2-D, King of the Hill.

Public names are imported when they are first used, so that importing the package, which registers its environments,
costs next to nothing.
"""

import importlib
from typing import TYPE_CHECKING, Any

from geo_patrol.base.versions import __version__
from geo_patrol.envs.registration import environment_id, register_environments

if TYPE_CHECKING:
    from geo_patrol.adapters.sb3 import make_sb3_vec as make_sb3_vec
    from geo_patrol.agents import Agent, agent_names, make_agent
    from geo_patrol.agents.playing import play_out
    from geo_patrol.base.downloads import download
    from geo_patrol.base.errors import (
        AgentError,
        ConfigError,
        GeoPatrolError,
        MissingPackageError,
        OrderError,
        PolicyError,
        RecordingError,
        SolvingError,
    )
    from geo_patrol.config.presets import load_config
    from geo_patrol.config.schema import GameConfig
    from geo_patrol.config.toml_files import preset_names
    from geo_patrol.engine.observe import observation_names
    from geo_patrol.engine.own import Observation, Reward
    from geo_patrol.envs.make import make_vec
    from geo_patrol.evaluation import (
        ExactBoard,
        MatchResult,
        SprtResult,
        Tournament,
        play_match,
        play_sprt,
        play_tournament,
    )
    from geo_patrol.game.game import Game, Games, OutcomeDistribution, Phase
    from geo_patrol.game.notation import EndReason, Order, Outcome, Satellite, SatelliteId, read_reasons
    from geo_patrol.replays import Recorder, Replay, ReplayReader, read_replay
    from geo_patrol.solving import GameSolution, solve
    from geo_patrol.studies import Study, play_study, play_sweep, read_study
    from geo_patrol.training.responses import ExploitResult, exploit

__all__ = [
    "Agent",
    "AgentError",
    "ConfigError",
    "EndReason",
    "ExactBoard",
    "ExploitResult",
    "Game",
    "GameConfig",
    "GameSolution",
    "Games",
    "GeoPatrolError",
    "MatchResult",
    "MissingPackageError",
    "Observation",
    "Order",
    "OrderError",
    "Outcome",
    "OutcomeDistribution",
    "Phase",
    "PolicyError",
    "Recorder",
    "RecordingError",
    "Replay",
    "ReplayReader",
    "Reward",
    "Satellite",
    "SatelliteId",
    "SolvingError",
    "SprtResult",
    "Study",
    "Tournament",
    "__version__",
    "agent_names",
    "download",
    "environment_id",
    "exploit",
    "load_config",
    "make_agent",
    "make_vec",
    "observation_names",
    "play_match",
    "play_out",
    "play_sprt",
    "play_study",
    "play_sweep",
    "play_tournament",
    "preset_names",
    "read_reasons",
    "read_replay",
    "read_study",
    "solve",
]

_MODULES = {
    "geo_patrol.agents": ("Agent", "agent_names", "make_agent"),
    "geo_patrol.agents.playing": ("play_out",),
    "geo_patrol.config.schema": ("GameConfig",),
    "geo_patrol.engine.observe": ("observation_names",),
    "geo_patrol.engine.own": ("Observation", "Reward"),
    "geo_patrol.envs.make": ("make_vec",),
    "geo_patrol.evaluation": (
        "ExactBoard",
        "MatchResult",
        "SprtResult",
        "Tournament",
        "play_match",
        "play_sprt",
        "play_tournament",
    ),
    "geo_patrol.studies": ("Study", "play_study", "play_sweep", "read_study"),
    "geo_patrol.base.downloads": ("download",),
    "geo_patrol.base.errors": (
        "AgentError",
        "ConfigError",
        "GeoPatrolError",
        "MissingPackageError",
        "OrderError",
        "PolicyError",
        "RecordingError",
        "SolvingError",
    ),
    "geo_patrol.game.game": ("Game", "Games", "OutcomeDistribution", "Phase"),
    "geo_patrol.game.notation": ("EndReason", "Order", "Outcome", "Satellite", "SatelliteId", "read_reasons"),
    "geo_patrol.replays": ("Recorder", "Replay", "ReplayReader", "read_replay"),
    "geo_patrol.training.responses": ("ExploitResult", "exploit"),
    "geo_patrol.solving": ("GameSolution", "solve"),
    "geo_patrol.config.presets": ("load_config", "preset_names"),
    "geo_patrol.adapters.sb3": ("make_sb3_vec",),  # not in __all__: needs an extra
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    for module, names in _MODULES.items():
        if name in names:
            value = globals()[name] = getattr(importlib.import_module(module), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


register_environments()
