"""The entry point of ``gymnasium.make_vec``."""

from typing import Any

from geo_patrol.engine.state import SIDES
from geo_patrol.envs.arguments import MAX_GAMES, check_count
from geo_patrol.envs.opponents import Mixture
from geo_patrol.envs.vector import VectorGeoPatrol


def make_registered(*, num_envs: int, opponent: Mixture | None = "random", **arguments: Any) -> VectorGeoPatrol:
    """Create what ``gymnasium.make_vec`` asks for: ``num_envs`` environments, a game each, or in self-play two per game.

    Raises:
        ValueError: self-play with an odd number of environments, or what ``VectorGeoPatrol`` raises.
    """
    games = check_count("num_envs", num_envs, MAX_GAMES)
    if opponent is None:
        if games % SIDES:
            raise ValueError(f"num_envs = {num_envs}: give an even number: in self-play a game has two")
        games //= SIDES
    return VectorGeoPatrol(num_games=games, opponent=opponent, **arguments)
