"""Shapes as pixels, by pygame: no display is needed, no files of fonts or pictures.

Texts are in the font that comes with pygame, so that they look alike on every machine. Surfaces of texts and symbols
are made once and cached.
"""

import functools
import io
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pygame
from numpy.typing import NDArray
from pygame import gfxdraw

from geo_patrol.drawing.shapes import (
    Box,
    Circle,
    Color,
    Drawing,
    Point,
    Polygon,
    Polyline,
    Shape,
    Symbol,
    Text,
    Use,
    dash_segments,
    rgb,
)

_SUPERSAMPLING = 4
"""Symbols are drawn so many times larger and then reduced, which smooths their edges."""
_MAX_SUPERSAMPLED = 1280
"""Symbols that would be larger than this are drawn twice as large, to save memory."""
_TEXT_SUPERSAMPLING = 3
"""Small letters are fitted to whole pixels, which spoils their distances; large ones reduced are not."""
_DEFAULT_FONT_SCALE = 0.6875
"""pygame makes its own font so much smaller than requested."""
_MAX_SURFACES = 4096
"""Texts that are kept, and symbols: those that were used last."""


def paint_drawing(drawing: Drawing, scale: float = 1.0) -> pygame.Surface:
    """Paint a drawing on a new surface; ``scale`` is the number of pixels for each of the drawing."""
    surface = pygame.Surface((round(drawing.width * scale), round(drawing.height * scale)))
    surface.fill(drawing.background)
    Painter(surface, scale).paint(drawing.shapes)
    return surface


def pixels(drawing: Drawing) -> NDArray[np.uint8]:
    """Return a drawing as an image, (height, width, 3) uint8."""
    array: NDArray[np.uint8] = pygame.surfarray.array3d(paint_drawing(drawing))
    return np.ascontiguousarray(array.transpose(1, 0, 2))


def png_bytes(drawing: Drawing, scale: float = 2.0) -> bytes:
    """Return a drawing as the content of a PNG file."""
    file = io.BytesIO()
    pygame.image.save(paint_drawing(drawing, scale), file, "picture.png")
    return file.getvalue()


class Painter:
    """Paints shapes on a surface.

    Args:
        surface: where to paint.
        scale: pixels of the surface for each of the shapes.
        origin: pixel of the shapes' origin.
        antialias: whether edges are smoothed; a supersampled surface needs no smoothing.
        cache_symbols: whether symbols are cached for further paintings.
    """

    def __init__(
        self,
        surface: pygame.Surface,
        scale: float = 1.0,
        *,
        origin: Point = (0.0, 0.0),
        antialias: bool = True,
        cache_symbols: bool = True,
    ) -> None:
        self._surface = surface
        self._scale = scale
        self._origin = origin
        self._antialias = antialias
        self._cache_symbols = cache_symbols
        self._methods: dict[type, Callable[[Any], None]] = {
            Polygon: self._polygon,
            Polyline: self._polyline,
            Circle: self._circle,
            Box: self._box,
            Text: self._text,
            Use: self._use,
        }

    def paint(self, shapes: Iterable[Shape]) -> None:
        """Paint shapes, later ones over earlier ones."""
        for shape in shapes:
            self._methods[type(shape)](shape)

    def _point(self, point: Point) -> Point:
        return self._origin[0] + point[0] * self._scale, self._origin[1] + point[1] * self._scale

    def _points(self, points: tuple[Point, ...]) -> Sequence[Point]:
        """Return points in pixels; most drawings are in pixels already."""
        return points if self._scale == 1 and self._origin == (0, 0) else [self._point(point) for point in points]

    def _width(self, width: float) -> int:
        return max(round(width * self._scale), 1)

    def _line(self, color: str, start: Point, end: Point, width: int) -> None:
        if self._antialias:
            pygame.draw.aaline(self._surface, color, start, end, width)
        else:
            pygame.draw.line(self._surface, color, start, end, width)

    def _polygon(self, polygon: Polygon) -> None:
        points = self._points(polygon.points)
        if polygon.fill and polygon.opacity == 1:
            pygame.draw.polygon(self._surface, polygon.fill, points)
        elif polygon.fill:
            color = (*rgb(polygon.fill), round(255 * polygon.opacity))
            if self._antialias:
                gfxdraw.filled_polygon(self._surface, points, color)
            else:  # gfxdraw does not blend with transparent surfaces
                layer = pygame.Surface(self._surface.get_size(), pygame.SRCALPHA)
                pygame.draw.polygon(layer, color, points)
                self._surface.blit(layer, (0, 0))
        if polygon.stroke:
            width = self._width(polygon.width)
            for start, end in itertools.pairwise((*points, points[0])):
                self._line(polygon.stroke, start, end, width)

    def _polyline(self, line: Polyline) -> None:
        width = self._width(line.width)
        points = self._points(line.points)
        for start, end in dash_segments(points, width) if line.dashed else itertools.pairwise(points):
            self._line(line.color, start, end, width)

    def _circle(self, circle: Circle) -> None:
        center, radius, surface = self._point(circle.center), circle.radius * self._scale, self._surface
        draw = pygame.draw.aacircle if self._antialias else pygame.draw.circle
        if circle.opacity < 1:
            color = (*rgb(circle.fill or circle.stroke or "#000000"), round(255 * circle.opacity))
            width = 0 if circle.fill else self._width(circle.width)
            outer = round(radius + width / 2)
            layer = pygame.Surface((2 * outer, 2 * outer), pygame.SRCALPHA)
            pygame.draw.circle(layer, color, (outer, outer), outer, width)
            surface.blit(layer, (center[0] - outer, center[1] - outer))
            return
        if circle.fill:
            draw(surface, circle.fill, center, radius)
        if circle.stroke:
            width = self._width(circle.width)
            draw(surface, circle.stroke, center, radius + width / 2, width)

    def _box(self, box: Box) -> None:
        left, top = self._point((box.left, box.top))
        width, height = box.width * self._scale, box.height * self._scale
        rect = round(left), round(top), round(width), round(height)
        rounding = round(box.rounding * self._scale)
        if box.fill:
            pygame.draw.rect(self._surface, box.fill, rect, border_radius=rounding)
        if box.stroke:
            stroke_width = self._width(box.stroke_width)
            pygame.draw.rect(self._surface, box.stroke, rect, width=stroke_width, border_radius=rounding)

    def _text(self, text: Text) -> None:
        picture = text_surface(text.text, max(round(text.size * self._scale), 1), text.color)
        if text.rotation:
            picture = pygame.transform.rotozoom(picture, text.rotation, 1)
        x, y = self._point(text.position)
        self._surface.blit(picture, picture.get_rect(**{text.anchor: (round(x), round(y))}))

    def _use(self, use: Use) -> None:
        size = max(round(use.size * self._scale), 1)
        x, y = self._point(use.center)
        make = _symbol_surface if self._cache_symbols else _symbol_surface.__wrapped__
        picture = make(use.symbol, size)
        if use.rotation is not None:  # 0 too, as rotating shifts a picture by a part of a pixel
            picture = _rotated(picture, use.rotation)
            self._surface.blit(picture, picture.get_rect(center=(round(x), round(y))))
        else:
            self._surface.blit(picture, (round(x - size / 2), round(y - size / 2)))


@functools.lru_cache(maxsize=_MAX_SURFACES)
def _symbol_surface(symbol: Symbol, size: int) -> pygame.Surface:
    extent = size * (_SUPERSAMPLING if size * _SUPERSAMPLING <= _MAX_SUPERSAMPLED else 2)
    large = pygame.Surface((extent, extent), pygame.SRCALPHA)
    transparent = (*rgb(symbol.background), 0)
    large.fill(transparent)
    half = extent / 2
    Painter(large, half, origin=(half, half), antialias=False).paint(symbol.shapes)
    if symbol.hole:
        pygame.draw.circle(large, transparent, (half, half), half * symbol.hole)
    return pygame.transform.smoothscale(large, (size, size))


@functools.lru_cache(maxsize=32)
def _rotated(picture: pygame.Surface, rotation: float) -> pygame.Surface:
    """Return a picture rotated counterclockwise, in degrees: the Earth turns by the same steps again and again."""
    return pygame.transform.rotozoom(picture, rotation, 1.0)


@functools.cache
def _font(size: int) -> pygame.font.Font:
    """Return pygame's own font, which is bold already."""
    return pygame.font.Font(None, round(size * _TEXT_SUPERSAMPLING / _DEFAULT_FONT_SCALE))


def text_surface(text: str, size: int, color: Color) -> pygame.Surface:
    """Return a text on a transparent surface; ``size`` is that of the font in pixels."""
    if not pygame.font.get_init():  # at first, or after somebody called pygame.quit
        clear_cache()
        pygame.font.init()
    return _text_surface(text, size, color)


@functools.lru_cache(maxsize=_MAX_SURFACES)
def _text_surface(text: str, size: int, color: Color) -> pygame.Surface:
    large = _font(size).render(text or " ", True, color)  # an empty text may crash SDL
    width, height = (max(-(-extent // _TEXT_SUPERSAMPLING), 1) for extent in large.get_size())
    return pygame.transform.smoothscale(large, (width, height))


def text_extent(text: str, size: int) -> tuple[int, int]:
    """Return width and height of a text in pixels."""
    width, height = text_surface(text, size, "#000000").get_size()
    return width if text else 0, height


def clear_cache() -> None:
    """Drop all surfaces and fonts, as after ``pygame.quit``."""
    _text_surface.cache_clear()
    _symbol_surface.cache_clear()
    _rotated.cache_clear()
    _font.cache_clear()
