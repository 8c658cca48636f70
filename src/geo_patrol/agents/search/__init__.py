"""A searching player, in parts: the position read from an observation, candidates, rollouts, the budget."""

from geo_patrol.agents.search.agent import SearchAgent
from geo_patrol.agents.search.budget import Search

__all__ = ["Search", "SearchAgent"]
