"""Searching agents: candidates, rollouts to the end of the game, evaluation at the end of the turn, budgets."""

from geo_patrol.agents.search.agent import Advice, SearchAgent
from geo_patrol.agents.search.budget import Search
from geo_patrol.agents.search.lookahead import Critic, LookaheadAgent
from geo_patrol.agents.search.searcher import Searcher

__all__ = ["Advice", "Critic", "LookaheadAgent", "Search", "SearchAgent", "Searcher"]
