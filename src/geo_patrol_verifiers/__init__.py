"""The environment for verifiers under a name of its own: verifiers imports environments as modules of the top level.

vf-eval geo-patrol-verifiers --env.taskset.config case1 --env.taskset.opponent raider
"""

from geo_patrol.adapters.verifiers import GeoPatrolEnv, GeoPatrolHarness, GeoPatrolTaskset

__all__ = ["GeoPatrolEnv", "GeoPatrolHarness", "GeoPatrolTaskset"]
