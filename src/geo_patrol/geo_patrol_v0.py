"""PettingZoo's way in: ``from geo_patrol import geo_patrol_v0; env = geo_patrol_v0.parallel_env()``."""

from geo_patrol.envs.aec import AecGeoPatrol, env
from geo_patrol.envs.parallel import ParallelGeoPatrol

parallel_env, raw_env = ParallelGeoPatrol, AecGeoPatrol

__all__ = ["env", "parallel_env", "raw_env"]
