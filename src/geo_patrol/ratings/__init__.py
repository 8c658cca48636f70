"""Measures of agents from the results of games: ratings, mixed equilibria, sequential tests. Needs the extra [stats]."""

from geo_patrol.ratings.bradley_terry import Ratings, rate
from geo_patrol.ratings.equilibrium import Equilibrium, equilibrium
from geo_patrol.ratings.sprt import Sprt, pair_kinds

__all__ = ["Equilibrium", "Ratings", "Sprt", "equilibrium", "pair_kinds", "rate"]
