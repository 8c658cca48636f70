"""The learned agent: a small network, its weights, and the agent that asks it. NumPy alone, no training library."""

from geo_patrol.agents.policy.agent import PolicyAgent
from geo_patrol.agents.policy.mixture import MixtureAgent

__all__ = ["MixtureAgent", "PolicyAgent"]
