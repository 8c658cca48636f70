"""Searching players, in parts: the position read from an observation, candidates, rollouts, the budget."""

from geo_patrol.agents.search.agent import SearchAgent
from geo_patrol.agents.search.budget import Search
from geo_patrol.agents.search.lookahead import Critic, LookaheadAgent
from geo_patrol.agents.search.searcher import Searcher

__all__ = ["Critic", "LookaheadAgent", "Search", "SearchAgent", "Searcher"]
