"""The scripted player, in parts: reading the observation, finding ways, raids, evasion, fights."""

from geo_patrol.agents.scripted.agent import ScriptedAgent
from geo_patrol.agents.scripted.judgement import Style

__all__ = ["ScriptedAgent", "Style"]
