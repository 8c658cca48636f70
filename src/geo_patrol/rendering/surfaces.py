"""Texts and symbols as pygame surfaces, made once and cached.

Texts are in the font that comes with pygame, so that they look alike on every machine.
"""

import functools
from collections import OrderedDict
from collections.abc import Callable, Hashable

import pygame

from geo_patrol.scenes.shapes import Color

_TEXT_SUPERSAMPLING = 3
"""Small letters are fitted to whole pixels, which spoils their distances; large ones reduced are not."""
_DEFAULT_FONT_SCALE = 0.6875
"""pygame makes its own font so much smaller than requested."""
_MAX_SURFACES = 4096
_surfaces: OrderedDict[Hashable, pygame.Surface] = OrderedDict()


def cached(key: Hashable, make: Callable[[], pygame.Surface]) -> pygame.Surface:
    """Return the surface of a key, made at its first use; the least recently used ones are dropped."""
    surface = _surfaces.get(key)
    if surface is None:
        surface = _surfaces[key] = make()
        if len(_surfaces) > _MAX_SURFACES:
            _surfaces.popitem(last=False)
    else:
        _surfaces.move_to_end(key)
    return surface


@functools.cache
def _font(size: int, bold: bool) -> pygame.font.Font:
    font = pygame.font.Font(None, round(size * _TEXT_SUPERSAMPLING / _DEFAULT_FONT_SCALE))
    font.bold = bold
    return font


def text_surface(text: str, size: int, color: Color, bold: bool = False) -> pygame.Surface:
    """Return a text on a transparent surface; ``size`` is that of the font in pixels."""
    if not pygame.font.get_init():  # at first, or after somebody called pygame.quit
        clear_cache()
        pygame.font.init()

    def make() -> pygame.Surface:
        large = _font(size, bold).render(text, True, color)
        width, height = (max(-(-extent // _TEXT_SUPERSAMPLING), 1) for extent in large.get_size())
        return pygame.transform.smoothscale(large, (width, height))

    return cached((text, size, color, bold), make)


def text_extent(text: str, size: int) -> tuple[int, int]:
    """Return width and height of a text in pixels."""
    return text_surface(text, size, "#000000").get_size()


def clear_cache() -> None:
    """Drop all surfaces and fonts, as after ``pygame.quit``."""
    _surfaces.clear()
    _font.cache_clear()
