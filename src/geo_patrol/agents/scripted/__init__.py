"""Scripted agents: ``scripted``, and the raiding family ``turtle``, ``raider``, ``mixed``."""

from geo_patrol.agents.scripted.agent import ScriptedAgent
from geo_patrol.agents.scripted.family import MixedAgent, RaiderAgent, TurtleAgent, make_raider
from geo_patrol.agents.scripted.tactics import Raid
from geo_patrol.agents.scripted.valuation import Style

__all__ = ["MixedAgent", "Raid", "RaiderAgent", "ScriptedAgent", "Style", "TurtleAgent", "make_raider"]
