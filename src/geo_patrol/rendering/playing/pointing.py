"""What is at a pixel of the picture: satellites on the board, in a lens or in a table."""

import math
from collections.abc import Sequence

from geo_patrol.game import Satellite
from geo_patrol.notation import SatelliteId
from geo_patrol.rendering.fleets import row_of
from geo_patrol.rendering.layout import Layout
from geo_patrol.rendering.lens import find_lenses
from geo_patrol.scenes.anchors import Slot

_REACH = 1.15
"""How far around a satellite a click still meets it, in radii."""


def satellite_at(
    layout: Layout, satellites: Sequence[Satellite], slots: dict[SatelliteId, Slot], pixel: tuple[int, int]
) -> SatelliteId | None:
    """Return the satellite at a pixel; None if there is none."""
    for lens in find_lenses(layout, satellites):
        for satellite, place in lens.places:
            if math.dist(place, pixel) <= lens.radius * _REACH:
                return satellite.id
    for satellite in satellites:
        if row_of(layout, satellite.id.side, satellite.id.number).collidepoint(pixel):
            return satellite.id
    near = {one: math.dist(layout.geometry.point(slot.place), pixel) / slot.radius for one, slot in slots.items()}
    nearest = min(near, key=lambda one: near[one])
    return nearest if near[nearest] <= _REACH else None
