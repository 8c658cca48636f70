"""The board: rings, sectors and their numbers, which stay; goal sectors and the grid, which turn."""

import itertools
import math
import random

import pygame
from pygame import gfxdraw

from geo_patrol.board import ring_of, sector_at
from geo_patrol.rendering import glyphs, theme
from geo_patrol.rendering.theme import Colour
from geo_patrol.scenes.geometry import BoardGeometry, Point, middle_angle, sector_angle
from geo_patrol.sides import Side

_SMALLEST_SECTOR = 5
"""Pixels along the outer edge below which sectors get neither grid nor numbers."""


def draw_space(surface: pygame.Surface, square: pygame.Rect) -> None:
    """Draw the stars behind the board, the same each time."""
    surface.fill(theme.SPACE)
    chance = random.Random(4)  # noqa: S311 - an ornament
    for _ in range(170):
        place = square.left + chance.random() * square.width, square.top + chance.random() * square.height
        colour = theme.blend(theme.SPACE, theme.STAR, 0.15 + 0.6 * chance.random() ** 3)
        size = max(1, round(square.width / 900 * (1 + chance.random())))
        pygame.draw.rect(surface, colour, (*place, size, size))


def draw_rings(surface: pygame.Surface, geometry: BoardGeometry) -> None:
    """Draw the rings without their sectors, from the outside in."""
    board = geometry.board
    size = math.ceil(2 * geometry.radius) + 4

    def draw(large: pygame.Surface) -> None:
        factor = large.get_width() / size
        middle = large.get_width() / 2
        edge = max(round(geometry.radius * 0.0035 * factor), 2)
        for ring in range(board.outer_ring, board.inner_ring - 1, -1):
            colour = theme.RINGS[ring % 2]
            if ring == board.goal_ring:
                colour = theme.blend(colour, theme.RING_EDGE, 0.18)
            radius = geometry.outer_edge(ring) * factor
            pygame.draw.circle(large, theme.RING_EDGE, (middle, middle), radius)
            pygame.draw.circle(large, colour, (middle, middle), radius - edge)
        inner = geometry.inner_edge(board.inner_ring) * factor
        pygame.draw.circle(large, theme.RING_EDGE, (middle, middle), inner)
        pygame.draw.circle(large, theme.SPACE, (middle, middle), inner - edge)

    # Twice as large, not four times: of a whole board that is 16 times the memory.
    large = pygame.Surface((2 * size, 2 * size), pygame.SRCALPHA)
    large.fill((*theme.RING_EDGE, 0))
    draw(large)
    rings = pygame.transform.smoothscale(large, (size, size))
    surface.blit(rings, (geometry.centre[0] - size / 2, geometry.centre[1] - size / 2))


def draw_sector_numbers(surface: pygame.Surface, geometry: BoardGeometry, size: int, colour: Colour) -> None:
    """Write each sector's number at its outer edge, turned to fit where sectors are narrow."""
    board = geometry.board
    for ring in range(board.inner_ring, board.outer_ring + 1):
        distance = geometry.outer_edge(ring) - max(size * 0.62, geometry.band * 0.09)
        width = sector_angle(ring) * distance
        if width < _SMALLEST_SECTOR:
            continue
        upright = width >= 1.5 * glyphs.text(str((2 << ring) - 2), size, colour).get_width()
        fitted = size if upright else max(min(size, round(width * 0.95)), 7)
        for azimuth in range(1 << ring):
            _put_number(surface, geometry, int(sector_at(ring, azimuth)), distance, fitted, colour, upright)


def _put_number(
    surface: pygame.Surface,
    geometry: BoardGeometry,
    sector: int,
    distance: float,
    size: int,
    colour: Colour,
    upright: bool,
) -> None:
    angle = middle_angle(sector)
    words = glyphs.text(str(sector), size, colour)
    if not upright:
        degrees = math.degrees(angle)
        flipped = 90 < degrees < 270
        words = pygame.transform.rotozoom(words, degrees + (180 if flipped else 0), 1)
        distance = geometry.outer_edge(int(ring_of(sector))) - glyphs.text(str(sector), size, colour).get_width() * 0.62
    surface.blit(words, words.get_rect(center=[round(x) for x in geometry.point((distance, angle))]))


def draw_grid(surface: pygame.Surface, geometry: BoardGeometry, turned: float) -> None:
    """Draw the borders of the sectors, each ring's turned by a part of its sectors' width."""
    board = geometry.board
    for ring in range(board.inner_ring, board.outer_ring + 1):
        inner, outer, width = geometry.inner_edge(ring), geometry.outer_edge(ring), sector_angle(ring)
        if width * outer < _SMALLEST_SECTOR:
            continue
        stroke = max(round(geometry.radius / 340), 1)
        for azimuth in range(1 << ring):
            angle = (azimuth + turned) * width
            pygame.draw.aaline(
                surface, theme.GRID, geometry.point((inner + 1, angle)), geometry.point((outer - 1, angle)), stroke
            )


def put_goal(surface: pygame.Surface, geometry: BoardGeometry, side: Side, sector: int, turned: float) -> None:
    """Draw a side's goal sector: filled faintly, with a strong edge and brackets; ``turned`` in sectors."""
    colour = theme.SIDES[side]
    outline = geometry.wedge(sector, turned, inset=1)
    gfxdraw.filled_polygon(surface, outline, (*colour, 58))
    stroke = max(round(geometry.radius / 150), 2)
    put_outline(surface, geometry, sector, turned, colour, stroke)


def put_outline(
    surface: pygame.Surface, geometry: BoardGeometry, sector: int, turned: float, colour: Colour, stroke: int
) -> None:
    """Draw the edge of a sector, inside it."""
    inset = stroke / 2 + 1
    outline = geometry.wedge(sector, turned, inset=inset)
    for start, end in zip(outline, [*outline[1:], outline[0]], strict=True):
        pygame.draw.aaline(surface, colour, start, end, stroke)


def put_highlight(surface: pygame.Surface, geometry: BoardGeometry, sector: int, colour: Colour, alpha: int) -> None:
    """Light a sector up."""
    gfxdraw.filled_polygon(surface, geometry.wedge(sector, inset=2), (*colour, alpha))
    put_outline(surface, geometry, sector, 0.0, colour, max(round(geometry.radius / 200), 1))


def draw_prograde_sign(surface: pygame.Surface, geometry: BoardGeometry, size: int) -> None:
    """Draw the arrow outside the board that shows which way everything flies."""
    distance = geometry.radius + max(geometry.radius * 0.018, 4)
    start, end = math.radians(-50), math.radians(-40)
    points = [geometry.point((distance, start + (end - start) * step / 12)) for step in range(13)]
    stroke = max(round(geometry.radius / 220), 1)
    for one, other in itertools.pairwise(points):
        pygame.draw.aaline(surface, theme.SOFT, one, other, stroke)
    _put_head(surface, points[-2], points[-1], 2.2 * stroke + 2)
    label = geometry.point((distance + size * 0.6, math.radians(-45)))
    glyphs.put_text(surface, "prograde", size, theme.SOFT, label, "topleft")


def _put_head(surface: pygame.Surface, before: Point, tip: Point, size: float) -> None:
    angle = math.atan2(tip[1] - before[1], tip[0] - before[0])
    corners = [
        (tip[0] + size * math.cos(angle + turn), tip[1] + size * math.sin(angle + turn)) for turn in (0, 2.3, -2.3)
    ]
    pygame.draw.polygon(surface, theme.SOFT, corners)
