"""Scripted agents: ``scripted``, and the raiding family ``turtle``, ``raider``, ``mixed``."""

from geo_patrol.agents.scripted.raiders import MixedAgent, Raid, RaiderAgent, TurtleAgent, make_raider
from geo_patrol.agents.scripted.scripted import ScriptedAgent, ScriptedStyle

__all__ = ["MixedAgent", "Raid", "RaiderAgent", "ScriptedAgent", "ScriptedStyle", "TurtleAgent", "make_raider"]
