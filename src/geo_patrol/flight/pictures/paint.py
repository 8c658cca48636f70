"""A drawing as pixels, by pygame: no display is needed, no files of fonts or pictures."""

import io
import math
import os
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")

import pygame

from geo_patrol.flight.flight import Flight
from geo_patrol.flight.pictures.drawing import PAPER, Box, Circle, Diamond, Drawing, Line, Shape, Text
from geo_patrol.flight.pictures.scene import flight_drawing
from geo_patrol.flight.pictures.svg import arrow_points, diamond_points

_SMOOTHING = 2
"""Everything is painted so many times larger, and shrunk, for smooth edges."""
_DASH, _GAP = 5.0, 4.0


@lru_cache(maxsize=64)
def _font(size: int) -> pygame.font.Font:
    pygame.font.init()
    return pygame.font.Font(None, size)


def paint(drawing: Drawing, scale: float = 1.0) -> pygame.Surface:
    """Paint a drawing on a new surface.

    Args:
        drawing: what is painted.
        scale: pixels of the surface for each of the drawing.
    """
    fine = scale * _SMOOTHING
    large = pygame.Surface((round(drawing.width * fine), round(drawing.height * fine)))
    large.fill(PAPER)
    for shape in drawing.shapes:
        _paint_shape(large, shape, fine)
    size = round(drawing.width * scale), round(drawing.height * scale)
    return pygame.transform.smoothscale(large, size)


def flight_pixels(flight: Flight) -> NDArray[np.uint8]:
    """Return the picture of a flight, (height, width, 3) uint8."""
    pixels: NDArray[np.uint8] = pygame.surfarray.array3d(paint(flight_drawing(flight)))
    return np.ascontiguousarray(pixels.transpose(1, 0, 2))


def png_bytes(drawing: Drawing, scale: float = 2.0) -> bytes:
    """Return a drawing as the content of a PNG file."""
    file = io.BytesIO()
    pygame.image.save(paint(drawing, scale), file, "picture.png")
    return file.getvalue()


def _paint_shape(surface: pygame.Surface, shape: Shape, scale: float) -> None:
    match shape:
        case Line():
            _paint_line(surface, shape, scale)
        case Circle():
            center, radius = _at(shape.center, scale), shape.radius * scale
            if shape.fill:
                pygame.draw.circle(surface, shape.fill, center, radius)
            if shape.stroke:
                half = shape.width * scale / 2
                pygame.draw.circle(surface, shape.stroke, center, radius + half, max(round(2 * half), 1))
        case Box():
            _paint_box(surface, shape, scale)
        case Diamond():
            points = [_at(point, scale) for point in diamond_points(shape)]
            if shape.fill:
                pygame.draw.polygon(surface, shape.fill, points)
            if shape.stroke:
                pygame.draw.polygon(surface, shape.stroke, points, max(round(shape.width * scale), 1))
        case Text():
            _paint_text(surface, shape, scale)


def _at(point: tuple[float, float], scale: float) -> tuple[float, float]:
    return point[0] * scale, point[1] * scale


def _paint_line(surface: pygame.Surface, line: Line, scale: float) -> None:
    width = max(round(line.width * scale), 1)
    for start, end in _dashes(line) if line.dashed else [(line.start, line.end)]:
        first, last = _at(start, scale), _at(end, scale)
        pygame.draw.line(surface, line.color, first, last, width)
        if width > 2:  # pygame cuts thick slanting lines off square to the axes
            for point in (first, last):
                pygame.draw.circle(surface, line.color, point, width / 2)
    if line.arrow:
        pygame.draw.polygon(surface, line.color, [_at(point, scale) for point in arrow_points(line)])


def _dashes(line: Line) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    (x1, y1), (x2, y2) = line.start, line.end
    length = math.hypot(x2 - x1, y2 - y1)
    if length == 0:
        return []
    right, down = (x2 - x1) / length, (y2 - y1) / length
    pieces, along = [], 0.0
    while along < length:
        until = min(along + _DASH, length)
        pieces.append(((x1 + right * along, y1 + down * along), (x1 + right * until, y1 + down * until)))
        along += _DASH + _GAP
    return pieces


def _paint_box(surface: pygame.Surface, box: Box, scale: float) -> None:
    (x, y), (width, height) = box.corner, box.size
    area = pygame.Rect(round(x * scale), round(y * scale), round(width * scale), round(height * scale))
    if box.fill:
        surface.fill(box.fill, area)
    if not box.stroke:
        return
    if not box.dashed:
        pygame.draw.rect(surface, box.stroke, area, max(round(box.width * scale), 1))
        return
    corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
    for place, corner in enumerate(corners):
        _paint_line(surface, Line(corner, corners[(place + 1) % 4], box.stroke, box.width, dashed=True), scale)


def _paint_text(surface: pygame.Surface, text: Text, scale: float) -> None:
    image = _font(round(text.size * scale * 1.3)).render(text.text, True, text.color)  # a point is not a pixel
    x, y = _at(text.place, scale)
    shift = {"start": 0.0, "middle": 0.5, "end": 1.0}[text.anchor]
    surface.blit(image, (round(x - shift * image.get_width()), round(y - image.get_height() / 2)))
