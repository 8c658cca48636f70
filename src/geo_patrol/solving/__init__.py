"""Exact solutions of small games by backward induction over all positions that can be reached."""

from geo_patrol.solving.estimates import Estimate, estimate
from geo_patrol.solving.layers import Limits
from geo_patrol.solving.solution import REWARDS, Reward, Solution, Strategy, solve
from geo_patrol.solving.solution_files import read_solution, write_solution

__all__ = [
    "REWARDS",
    "Estimate",
    "Limits",
    "Reward",
    "Solution",
    "Strategy",
    "estimate",
    "read_solution",
    "solve",
    "write_solution",
]
