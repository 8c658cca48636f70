"""Two-player orbital board games for reinforcement learning: GEO Patrol, Orbit Defender 2-D, King of the Hill."""

from geo_patrol.agents import Agent, MatchResult, agent_names, make_agent, play_match
from geo_patrol.config import GameConfig
from geo_patrol.engine.observe import observation_names
from geo_patrol.errors import AgentError, ConfigError, GeoPatrolError, OrderError, RecordingError
from geo_patrol.game import Game, Satellite
from geo_patrol.notation import EndReason, Order, Outcome, SatelliteId
from geo_patrol.presets import load_config, preset_names
from geo_patrol.registration import environment_id, register_environments

__version__ = "0.1.0"

__all__ = [
    "Agent",
    "AgentError",
    "ConfigError",
    "EndReason",
    "Game",
    "GameConfig",
    "GeoPatrolError",
    "MatchResult",
    "Order",
    "OrderError",
    "Outcome",
    "RecordingError",
    "Satellite",
    "SatelliteId",
    "__version__",
    "agent_names",
    "environment_id",
    "load_config",
    "make_agent",
    "observation_names",
    "play_match",
    "preset_names",
]

register_environments()
