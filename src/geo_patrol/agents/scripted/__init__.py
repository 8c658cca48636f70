"""Scripted players, in parts: reading the observation, finding ways, raids, evasion, fights; and the raiding family."""

from geo_patrol.agents.scripted.agent import ScriptedAgent
from geo_patrol.agents.scripted.family import MixedAgent, RaiderAgent, TurtleAgent
from geo_patrol.agents.scripted.judgement import Style
from geo_patrol.agents.scripted.tactics import Raid

__all__ = ["MixedAgent", "Raid", "RaiderAgent", "ScriptedAgent", "Style", "TurtleAgent"]
