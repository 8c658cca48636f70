"""One agent for each satellite: ``from geo_patrol import geo_patrol_satellites_v0``, then ``.parallel_env()``."""

from geo_patrol.envs.satellites import SatellitesGeoPatrol

parallel_env = SatellitesGeoPatrol

__all__ = ["parallel_env"]
