"""One agent for each satellite: ``from geo_patrol import geo_patrol_satellites_v0``, then ``.parallel_env()`` or ``.env()``."""

from typing import TYPE_CHECKING, Any, Unpack

from pettingzoo.utils import parallel_to_aec

from geo_patrol.config.presets import ConfigSource
from geo_patrol.envs.satellites import SatelliteOptions, SatellitesGeoPatrol

if TYPE_CHECKING:
    from pettingzoo.utils import OrderEnforcingWrapper

parallel_env = SatellitesGeoPatrol


def env(
    config: ConfigSource = "geo_patrol", **options: Unpack[SatelliteOptions]
) -> "OrderEnforcingWrapper[str, Any, Any]":
    """Make the AEC environment, PettingZoo's conversion of ``SatellitesGeoPatrol``, which has the same arguments.

    The satellites give their orders one after the other, alpha's first, without seeing those of the others before the
    phase is played.
    """
    aec: OrderEnforcingWrapper[str, Any, Any] = parallel_to_aec(SatellitesGeoPatrol(config, **options))
    return aec


__all__ = ["env", "parallel_env"]
