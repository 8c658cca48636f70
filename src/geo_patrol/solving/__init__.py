"""Exact solutions of small games by backward induction over all positions that can be reached."""

from geo_patrol.solving.backward_induction import Limits
from geo_patrol.solving.solution import (
    REWARDS,
    GameSolution,
    Reward,
    Strategy,
    read_solution,
    solve,
    write_solution,
)

__all__ = [
    "REWARDS",
    "GameSolution",
    "Limits",
    "Reward",
    "Strategy",
    "read_solution",
    "solve",
    "write_solution",
]
