"""Players: the protocol, random and idle agents, a scripted one, and match play between them."""

from geo_patrol.agents.basic import IdleAgent, RandomAgent
from geo_patrol.agents.protocol import Agent
from geo_patrol.agents.registry import agent_names, make_agent

__all__ = ["Agent", "IdleAgent", "RandomAgent", "agent_names", "make_agent"]
