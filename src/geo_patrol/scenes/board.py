"""The board without its satellites: the Earth, seen from above the north pole, the rings, their grid and their numbers."""

import functools
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from geo_patrol.base.board import ring_of, sector_at
from geo_patrol.base.sides import Side
from geo_patrol.drawing import shapes
from geo_patrol.game.notation import Satellite
from geo_patrol.scenes import theme
from geo_patrol.scenes.layout import BoardGeometry, Layout, middle_angle, sector_angle
from geo_patrol.scenes.satellites import by_sector

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
"""Coarse outlines of the continents: degrees of longitude and latitude."""
_EDGE_LATITUDE = -2.0
"""The parallel at the rim of the picture."""
_NIGHT = "#02040e"
_NIGHT_STEPS = 28
_SUN = (-0.28, -0.38)
"""Center of the lit discs: the sun is on the upper left."""
_RIM = 0.97
"""Radius from which the edge of the globe shines, by night as well."""


def earth_shapes(center: shapes.Point, radius: float, rotation: float) -> Iterator[shapes.Use]:
    """Draw the Earth.

    Args:
        center: center of the Earth, in pixels.
        radius: in pixels.
        rotation: counterclockwise, in radians.
    """
    size = 2 * max(round(radius), 4)
    yield shapes.Use(_globe(), center, size, math.degrees(rotation))
    yield shapes.Use(_night(), center, size)


def atmosphere_shapes(center: shapes.Point, radius: float) -> Iterator[shapes.Circle]:
    """Draw the glow around the Earth."""
    for step in range(10, 0, -1):
        yield shapes.Circle(center, round(radius * (1 + 0.028 * step)), theme.AIR, opacity=9 / 255)


@functools.cache
def _globe() -> shapes.Symbol:
    land = [shapes.Polygon(_outline(points), theme.LAND) for points in _LANDS]
    ice = shapes.Circle(_project(0, 90), 0.1, theme.ICE), shapes.Polygon(_outline(_LANDS[1]), theme.ICE)
    return shapes.Symbol((shapes.Circle((0, 0), 1, theme.OCEAN), *land, *ice), theme.OCEAN)


def _project(longitude: float, latitude: float) -> shapes.Point:
    distance = math.sin(math.radians(90 - max(latitude, _EDGE_LATITUDE)) * 0.98)
    return distance * math.cos(math.radians(longitude)), -distance * math.sin(math.radians(longitude))


def _outline(land: str) -> tuple[shapes.Point, ...]:
    """Return an outline with points between its own: a straight line on the globe is curved in the picture."""
    corners = [tuple(map(int, corner.split(","))) for corner in land.split()]
    return tuple(
        _project(longitude + (to_longitude - longitude) * step / 4, latitude + (to_latitude - latitude) * step / 4)
        for (longitude, latitude), (to_longitude, to_latitude) in zip(corners, corners[1:] + corners[:1], strict=True)
        for step in range(4)
    )


@functools.cache
def _night() -> shapes.Symbol:
    """Return the night, which darkens what is under it in steps, and the edge of the globe."""
    crescents = []
    for step in range(_NIGHT_STEPS):
        crescent = _crescent(1.5 - 0.62 * step / _NIGHT_STEPS)
        if crescent:
            crescents.append(shapes.Polygon(crescent, _NIGHT, opacity=9 / 255))
    edge = shapes.Circle((0, 0), (1 + _RIM) / 2, None, theme.AIR, 1 - _RIM, opacity=150 / 255)
    return shapes.Symbol((*crescents, edge), theme.SPACE)


def _crescent(lit_radius: float) -> tuple[shapes.Point, ...]:
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


_MIN_SECTOR_WIDTH = 5
"""Pixels along the outer edge below which sectors get neither grid nor numbers."""


def board_shapes(layout: Layout, is_turning: bool) -> Iterator[shapes.Shape]:
    """Draw what stays of the board; while it turns, its grid is drawn apart."""
    yield _rings(layout.geometry)
    if not is_turning:
        yield from grid_shapes(layout.geometry, 0.0)
    yield from filter(None, sector_numbers(layout).values())
    yield from _prograde_arrow(layout)
    yield from atmosphere_shapes(layout.geometry.center, layout.geometry.earth_radius)


def _rings(geometry: BoardGeometry) -> shapes.Use:
    """Draw the rings without their sectors, from the outside in."""
    size = math.ceil(2 * geometry.radius) + 4
    unit = size / 2
    edge = max(geometry.radius * 0.004, 1)
    colors = [theme.PANEL] + [theme.RING] * (len(geometry.edges) - 1)
    circles: list[shapes.Circle] = []
    for radius, color in sorted(zip(geometry.edges, colors, strict=True), reverse=True):
        circles += [
            shapes.Circle((0, 0), radius / unit, theme.GRID),
            shapes.Circle((0, 0), (radius - edge) / unit, color),
        ]
    x, y = (int(coordinate - unit) + unit for coordinate in geometry.center)  # on whole pixels
    return shapes.Use(shapes.Symbol(tuple(circles), theme.GRID), (x, y), size)


def ground_shapes(
    layout: Layout, satellites: Sequence[Satellite], in_sight: Collection[int] | None = None
) -> Iterator[shapes.Shape]:
    """Draw what lies under the satellites of a position: their sectors, lit.

    With ``in_sight``, ``Game.sectors_in_sight``, all others are dark.
    """
    looks, occupied = occupied_sectors(layout), by_sector(satellites)
    for sector in occupied:
        yield from looks[sector]
    for sector, (dark, *number) in unseen_sectors(layout).items():
        if in_sight is not None and sector not in in_sight:
            yield dark
            yield from () if sector in occupied else number


@functools.lru_cache(maxsize=16)
def occupied_sectors(layout: Layout) -> dict[int, tuple[shapes.Shape, ...]]:
    """Return how each sector looks with satellites: lit, with its number outside if it is on the outer ring."""
    geometry, size = layout.geometry, layout.text_size("tiny")
    looks: dict[int, tuple[shapes.Shape, ...]] = {}
    for sector, number in sector_numbers(layout).items():
        lit = shapes.Polygon(geometry.outline(sector, inset=1), theme.BUSY)
        is_outer = int(ring_of(sector)) == geometry.board.outer_ring
        outside = geometry.point((geometry.radius + 0.9 * size, middle_angle(sector)))
        if is_outer and number is not None and not number.rotation:
            looks[sector] = (lit, replace(number, position=outside))
        else:
            looks[sector] = (lit,)
    return looks


@functools.lru_cache(maxsize=16)
def unseen_sectors(layout: Layout) -> dict[int, tuple[shapes.Shape, ...]]:
    """Return how each sector looks that is not seen: dark, and then its number, which is left out with satellites on it."""
    geometry = layout.geometry
    return {
        sector: (
            shapes.Polygon(geometry.outline(sector, inset=1), theme.UNSEEN, opacity=0.5),
            *([] if number is None else [number]),
        )
        for sector, number in sector_numbers(layout).items()
    }


@functools.lru_cache(maxsize=16)
def sector_numbers(layout: Layout) -> dict[int, shapes.Text | None]:
    """Return the number of each sector, in its middle, turned where it is narrow; None where it has no room."""
    geometry, size = layout.geometry, layout.text_size("tiny")
    numbers: dict[int, shapes.Text | None] = {}
    for ring in range(geometry.board.inner_ring, geometry.board.outer_ring + 1):
        width = sector_angle(ring) * geometry.middle(ring)
        is_upright = width >= 1.5 * layout.text_width(str((2 << ring) - 2), size)
        fitted = size if is_upright else max(min(size, round(width * 0.95)), 7)
        for azimuth in range(1 << ring):
            sector = int(sector_at(ring, azimuth))
            degrees = math.degrees(middle_angle(sector))
            rotation = 0.0 if is_upright else degrees + (180 if 90 < degrees < 270 else 0)
            number = shapes.Text(
                geometry.sector_center(sector), str(sector), fitted, theme.SECTOR_NUMBER, "center", rotation
            )
            numbers[sector] = number if width >= _MIN_SECTOR_WIDTH else None
    return numbers


@functools.lru_cache(maxsize=64)
def grid_shapes(geometry: BoardGeometry, rotation: float) -> tuple[shapes.Polyline, ...]:
    """Draw the borders of the sectors, each ring's turned by a part of its sectors' width."""
    board, grid = geometry.board, []
    width = max(round(geometry.radius / 340), 1)
    for ring in range(board.inner_ring, board.outer_ring + 1):
        inner, outer, sector = geometry.inner_edge(ring), geometry.outer_edge(ring), sector_angle(ring)
        if sector * outer < _MIN_SECTOR_WIDTH:
            continue
        for azimuth in range(1 << ring):
            angle = (azimuth + rotation) * sector
            ends = geometry.point((inner + 1, angle)), geometry.point((outer - 1, angle))
            grid.append(shapes.Polyline(ends, theme.GRID, width))
    return tuple(grid)


def goal_shapes(geometry: BoardGeometry, side: Side, sector: int, rotation: float) -> Iterator[shapes.Polygon]:
    """Draw a side's goal sector, filled faintly with a strong edge; ``rotation`` is in sectors."""
    width = max(round(geometry.radius / 150), 2)
    outline = geometry.outline(sector, rotation, inset=width / 2 + 1)
    yield shapes.Polygon(outline, theme.SIDES_DARK[side], theme.SIDES[side], width)


def highlight_shapes(
    geometry: BoardGeometry, sector: int, color: shapes.Color, opacity: float
) -> Iterator[shapes.Polygon]:
    """Light a sector up."""
    width = max(round(geometry.radius / 200), 1)
    yield shapes.Polygon(geometry.outline(sector, inset=2), color, opacity=opacity)
    yield shapes.Polygon(geometry.outline(sector, inset=width / 2 + 1), None, color, width)


def _prograde_arrow(layout: Layout) -> Iterator[shapes.Shape]:
    """Draw the arrow outside the board in the direction of flight."""
    geometry, size = layout.geometry, layout.text_size("tiny")
    distance = geometry.radius + 2.4 * size
    start, end = math.radians(-49), math.radians(-41)
    points = tuple(geometry.point((distance, start + (end - start) * step / 12)) for step in range(13))
    width = max(round(geometry.radius / 220), 1)
    yield shapes.Polyline(points, theme.SOFT, width)
    yield _arrow_at_center(points[-2], points[-1], 2.2 * width + 2)
    x, y = geometry.point((distance + size * 0.6, math.radians(-45)))
    yield shapes.Text(
        (min(x, layout.board.right - layout.text_width("prograde", size)), y), "prograde", size, theme.SOFT, "topleft"
    )


def _arrow_at_center(before: tuple[float, float], center: tuple[float, float], size: float) -> shapes.Polygon:
    angle = math.atan2(center[1] - before[1], center[0] - before[0])
    corners = [
        (center[0] + size * math.cos(angle + turn), center[1] + size * math.sin(angle + turn))
        for turn in (0, 2.3, -2.3)
    ]
    return shapes.Polygon(tuple(corners), theme.SOFT)
