"""The board: rings, sectors and their numbers, which stay; goal sectors and the grid, which turn."""

import math
import random
from collections.abc import Iterator

from geo_patrol.board import sector_at
from geo_patrol.scenes import theme
from geo_patrol.scenes.geometry import BoardGeometry, sector_angle
from geo_patrol.scenes.layout import Layout
from geo_patrol.scenes.shapes import Box, Circle, Color, Polygon, Polyline, Rect, Shape, Symbol, Text, Use, blend, box
from geo_patrol.sides import Side

_MIN_SECTOR_WIDTH = 5
"""Pixels along the outer edge below which sectors get neither grid nor numbers."""


def board_shapes(layout: Layout, is_turning: bool) -> Iterator[Shape]:
    """Draw what stays of the board; while it turns, its grid is drawn apart and its numbers are faint."""
    yield from _space(layout.board)
    yield _rings(layout.geometry)
    if not is_turning:
        yield from grid_shapes(layout.geometry, 0.0)
    color = blend(theme.SECTOR_NUMBER, theme.RINGS[0], 0.75) if is_turning else theme.SECTOR_NUMBER
    yield from _sector_numbers(layout, color)
    yield from _prograde_arrow(layout)


def _space(square: Rect) -> Iterator[Shape]:
    """Draw the stars behind the board, the same each time."""
    yield box(square, theme.SPACE)
    rng = random.Random(4)  # noqa: S311 - an ornament
    for _ in range(170):
        x, y = int(rng.random() * square.width), int(rng.random() * square.height)
        color = blend(theme.SPACE, theme.STAR, 0.15 + 0.6 * rng.random() ** 3)
        size = max(1, round(square.width / 900 * (1 + rng.random())))
        yield Box(square.left + x, square.top + y, size, size, color)


def _rings(geometry: BoardGeometry) -> Use:
    """Draw the rings without their sectors, from the outside in."""
    board = geometry.board
    size = math.ceil(2 * geometry.radius) + 4
    unit = size / 2
    edge = max(round(geometry.radius * 0.007), 2) / 2
    discs = []
    for ring in range(board.outer_ring, board.inner_ring - 1, -1):
        color = theme.RINGS[ring % 2]
        if ring == board.goal_ring:
            color = blend(color, theme.RING_EDGE, 0.18)
        discs.append((geometry.outer_edge(ring), color))
    discs.append((geometry.inner_edge(board.inner_ring), theme.SPACE))
    circles: list[Circle] = []
    for radius, color in discs:
        circles += [
            Circle((0, 0), radius / unit, theme.RING_EDGE),
            Circle((0, 0), (radius - edge) / unit, color),
        ]
    x, y = (int(coordinate - unit) + unit for coordinate in geometry.center)  # on whole pixels
    return Use(Symbol(tuple(circles), theme.RING_EDGE), (x, y), size)


def _sector_numbers(layout: Layout, color: Color) -> Iterator[Text]:
    """Write each sector's number at its outer edge, turned to fit where sectors are narrow."""
    geometry, size = layout.geometry, layout.text_size("tiny")
    for ring in range(geometry.board.inner_ring, geometry.board.outer_ring + 1):
        edge = geometry.outer_edge(ring)
        distance = edge - max(size * 0.62, geometry.ring_width * 0.09)
        width = sector_angle(ring) * distance
        if width < _MIN_SECTOR_WIDTH:
            continue
        is_upright = width >= 1.5 * layout.text_width(str((2 << ring) - 2), size)
        fitted = size if is_upright else max(min(size, round(width * 0.95)), 7)
        for azimuth in range(1 << ring):
            number = str(int(sector_at(ring, azimuth)))
            angle = (azimuth + 0.5) * sector_angle(ring)
            if is_upright:
                yield Text(geometry.point((distance, angle)), number, fitted, color, "center")
            else:
                degrees = math.degrees(angle)
                rotation = degrees + (180 if 90 < degrees < 270 else 0)
                inside = edge - layout.text_width(number, fitted) * 0.62
                yield Text(geometry.point((inside, angle)), number, fitted, color, "center", rotation)


def grid_shapes(geometry: BoardGeometry, rotation: float) -> Iterator[Polyline]:
    """Draw the borders of the sectors, each ring's turned by a part of its sectors' width."""
    board = geometry.board
    width = max(round(geometry.radius / 340), 1)
    for ring in range(board.inner_ring, board.outer_ring + 1):
        inner, outer, sector = geometry.inner_edge(ring), geometry.outer_edge(ring), sector_angle(ring)
        if sector * outer < _MIN_SECTOR_WIDTH:
            continue
        for azimuth in range(1 << ring):
            angle = (azimuth + rotation) * sector
            yield Polyline((geometry.point((inner + 1, angle)), geometry.point((outer - 1, angle))), theme.GRID, width)


def goal_shapes(geometry: BoardGeometry, side: Side, sector: int, rotation: float) -> Iterator[Polygon]:
    """Draw a side's goal sector, filled faintly with a strong edge; ``rotation`` is in sectors."""
    color = theme.SIDES[side]
    yield Polygon(geometry.outline(sector, rotation, inset=1), color, opacity=58 / 255)
    yield outline_shape(geometry, sector, color, max(round(geometry.radius / 150), 2), rotation)


def outline_shape(geometry: BoardGeometry, sector: int, color: Color, width: int, rotation: float = 0.0) -> Polygon:
    """Draw the edge of a sector, inside it."""
    return Polygon(geometry.outline(sector, rotation, inset=width / 2 + 1), None, color, width)


def highlight_shapes(geometry: BoardGeometry, sector: int, color: Color, opacity: float) -> Iterator[Polygon]:
    """Light a sector up."""
    yield Polygon(geometry.outline(sector, inset=2), color, opacity=opacity)
    yield outline_shape(geometry, sector, color, max(round(geometry.radius / 200), 1))


def _prograde_arrow(layout: Layout) -> Iterator[Shape]:
    """Draw the arrow outside the board in the direction of flight."""
    geometry, size = layout.geometry, layout.text_size("tiny")
    distance = geometry.radius + max(geometry.radius * 0.018, 4)
    start, end = math.radians(-50), math.radians(-40)
    points = tuple(geometry.point((distance, start + (end - start) * step / 12)) for step in range(13))
    width = max(round(geometry.radius / 220), 1)
    yield Polyline(points, theme.SOFT, width)
    yield _arrow_at_center(points[-2], points[-1], 2.2 * width + 2)
    x, y = geometry.point((distance + size * 0.6, math.radians(-45)))
    yield Text(
        (min(x, layout.board.right - layout.text_width("prograde", size)), y), "prograde", size, theme.SOFT, "topleft"
    )


def _arrow_at_center(before: tuple[float, float], center: tuple[float, float], size: float) -> Polygon:
    angle = math.atan2(center[1] - before[1], center[0] - before[0])
    corners = [
        (center[0] + size * math.cos(angle + turn), center[1] + size * math.sin(angle + turn))
        for turn in (0, 2.3, -2.3)
    ]
    return Polygon(tuple(corners), theme.SOFT)
