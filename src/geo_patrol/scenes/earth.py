"""The Earth, seen from above the north pole.

The outlines of the continents are coarse: a few points each, in degrees of longitude and latitude.
"""

import functools
import math
from collections.abc import Iterator

from geo_patrol.scenes import theme
from geo_patrol.scenes.shapes import Circle, Point, Polygon, Symbol, Use

_LANDS = (
    (  # North and Central America
        "-168,66 -156,71 -135,69 -115,68 -95,72 -82,68 -94,59 -82,53 -78,62 -65,59 -56,52 -66,44 -75,38 -81,31 "
        "-80,25 -84,30 -97,27 -97,20 -88,21 -84,11 -78,8 -92,14 -105,20 -112,27 -117,32 -124,41 -124,48 -135,58 "
        "-152,60 -165,55 -158,60"
    ),
    "-73,78 -60,82 -32,83 -20,76 -22,70 -40,65 -45,60 -53,66 -58,75",  # Greenland
    (  # Eurasia
        "-9,43 -9,37 -2,37 4,43 12,42 16,38 14,45 20,40 24,37 28,41 36,37 35,31 44,13 58,20 50,30 62,25 72,20 "
        "77,8 81,16 90,22 98,9 103,2 105,10 109,18 121,28 121,39 128,36 130,43 140,50 156,58 158,52 164,60 179,66 "
        "160,70 130,72 105,77 80,73 68,69 45,67 28,71 14,67 5,60 11,57 20,63 22,56 9,54 -2,48 -1,44"
    ),
    "-6,50 1,51 -3,58 -6,56",  # Britain
    "-23,64 -14,65 -20,67",  # Iceland
    "131,32 140,35 142,43 138,37",  # Japan
    "-6,35 10,37 20,31 32,31 43,11 51,11 42,-2 10,-2 8,4 -8,5 -17,14 -16,22",  # Africa north of the equator
    "-77,7 -62,10 -50,0 -50,-2 -80,-2",  # South America
)
"""Outlines of the continents: degrees of longitude and latitude."""
_EDGE_LATITUDE = -2.0
"""The parallel at the rim of the picture."""
_NIGHT = "#02040e"
_NIGHT_STEPS = 28
_SUN = (-0.28, -0.38)
"""Center of the lit discs: the sun is on the upper left."""
_RIM = 0.97
"""Radius from which the edge of the globe shines, by night as well."""


def earth_shapes(center: Point, radius: float, rotation: float) -> Iterator[Use]:
    """Draw the Earth.

    Args:
        center: of the Earth, in pixels.
        radius: in pixels.
        rotation: counterclockwise, in radians.
    """
    size = 2 * max(round(radius), 4)
    yield Use(_globe(), center, size, math.degrees(rotation))
    yield Use(_night(), center, size)


def atmosphere_shapes(center: Point, radius: float) -> Iterator[Circle]:
    """Draw the glow around the Earth."""
    for step in range(10, 0, -1):
        yield Circle(center, round(radius * (1 + 0.028 * step)), theme.AIR, opacity=9 / 255)


@functools.cache
def _globe() -> Symbol:
    land = [Polygon(_outline(points), theme.LAND) for points in _LANDS]
    ice = Circle(_project(0, 90), 0.1, theme.ICE), Polygon(_outline(_LANDS[1]), theme.ICE)
    return Symbol((Circle((0, 0), 1, theme.OCEAN), *land, *ice), theme.OCEAN)


def _project(longitude: float, latitude: float) -> Point:
    distance = math.sin(math.radians(90 - max(latitude, _EDGE_LATITUDE)) * 0.98)
    return distance * math.cos(math.radians(longitude)), -distance * math.sin(math.radians(longitude))


def _outline(land: str) -> tuple[Point, ...]:
    """Return an outline with points between its own: a straight line on the globe is curved in the picture."""
    corners = [tuple(map(int, corner.split(","))) for corner in land.split()]
    return tuple(
        _project(longitude + (to_longitude - longitude) * step / 4, latitude + (to_latitude - latitude) * step / 4)
        for (longitude, latitude), (to_longitude, to_latitude) in zip(corners, corners[1:] + corners[:1], strict=True)
        for step in range(4)
    )


@functools.cache
def _night() -> Symbol:
    """Return the night, which darkens what is under it in steps, and the edge of the globe."""
    crescents = []
    for step in range(_NIGHT_STEPS):
        crescent = _crescent(1.5 - 0.62 * step / _NIGHT_STEPS)
        if crescent:
            crescents.append(Polygon(crescent, _NIGHT, opacity=9 / 255))
    edge = Circle((0, 0), (1 + _RIM) / 2, None, theme.AIR, 1 - _RIM, opacity=150 / 255)
    return Symbol((*crescents, edge), theme.SPACE)


def _crescent(lit_radius: float) -> tuple[Point, ...]:
    """Return the part of the globe outside a lit disc around ``_SUN``; nothing if that covers it."""
    distance = math.hypot(*_SUN)
    if lit_radius >= _RIM + distance:
        return ()
    toward = math.atan2(_SUN[1], _SUN[0])
    outer = math.acos((distance**2 + _RIM**2 - lit_radius**2) / (2 * distance * _RIM))
    inner = math.acos((lit_radius**2 + distance**2 - _RIM**2) / (2 * distance * lit_radius))
    fractions = [step / 60 for step in range(61)]
    rim = [toward + outer + (math.tau - 2 * outer) * fraction for fraction in fractions]
    lit = [toward + math.pi + inner * (1 - 2 * fraction) for fraction in fractions]
    return (
        *((_RIM * math.cos(angle), _RIM * math.sin(angle)) for angle in rim),
        *((_SUN[0] + lit_radius * math.cos(angle), _SUN[1] + lit_radius * math.sin(angle)) for angle in lit),
    )
