"""Agents: the protocol, and the random, idle, scripted, searching, learned and exact agents of the package."""

from geo_patrol.agents.basic import IdleAgent, RandomAgent
from geo_patrol.agents.protocol import Agent
from geo_patrol.agents.registry import agent_names, make_agent
from geo_patrol.agents.solved import SolvedAgent

__all__ = ["Agent", "IdleAgent", "RandomAgent", "SolvedAgent", "agent_names", "make_agent"]
