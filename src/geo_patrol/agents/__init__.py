"""Players: the protocol, random and idle agents, a scripted one, and match play between them."""

from geo_patrol.agents.basic import IdleAgent, RandomAgent
from geo_patrol.agents.match import play_match
from geo_patrol.agents.protocol import Agent
from geo_patrol.agents.registry import agent_names, make_agent
from geo_patrol.agents.results import MatchResult

__all__ = ["Agent", "IdleAgent", "MatchResult", "RandomAgent", "agent_names", "make_agent", "play_match"]
