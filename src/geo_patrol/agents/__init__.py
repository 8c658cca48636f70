"""Agents: the protocol, and the random, idle, scripted, searching and learned agents of the package."""

from geo_patrol.agents.basic import IdleAgent, RandomAgent
from geo_patrol.agents.protocol import Agent
from geo_patrol.agents.registry import agent_names, make_agent

__all__ = ["Agent", "IdleAgent", "RandomAgent", "agent_names", "make_agent"]
