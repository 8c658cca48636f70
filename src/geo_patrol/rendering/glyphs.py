"""Words and small shapes as surfaces, made once and kept.

Texts are in the font that comes with pygame, so that they look alike on every machine.
"""

import functools
from collections import OrderedDict
from collections.abc import Callable, Hashable

import pygame

from geo_patrol.rendering.theme import Colour

SUPERSAMPLING = 4
"""Shapes are drawn so many times larger and then reduced, which smooths their edges."""

_TEXT_SUPERSAMPLING = 3
"""Small letters are fitted to whole pixels, which spoils their distances; large ones reduced are not."""
_DEFAULT_FONT_SCALE = 0.6875
"""pygame makes its own font so much smaller than asked."""
_ROOM = 4096
_surfaces: OrderedDict[Hashable, pygame.Surface] = OrderedDict()


def remembered(key: Hashable, make: Callable[[], pygame.Surface]) -> pygame.Surface:
    """Return the surface of a key, made when it is asked for the first time; the least used ones are forgotten."""
    surface = _surfaces.get(key)
    if surface is None:
        surface = _surfaces[key] = make()
        if len(_surfaces) > _ROOM:
            _surfaces.popitem(last=False)
    else:
        _surfaces.move_to_end(key)
    return surface


@functools.cache
def _font(size: int) -> pygame.font.Font:
    return pygame.font.Font(None, round(size * _TEXT_SUPERSAMPLING / _DEFAULT_FONT_SCALE))


def text(words: str, size: int, colour: Colour) -> pygame.Surface:
    """Return words as a surface with a clear ground; ``size`` is that of the font in pixels."""
    if not pygame.font.get_init():  # at first, or after somebody called pygame.quit
        forget_all()
        pygame.font.init()

    def make() -> pygame.Surface:
        large = _font(size).render(words, True, colour)
        width, height = (max(-(-extent // _TEXT_SUPERSAMPLING), 1) for extent in large.get_size())
        return pygame.transform.smoothscale(large, (width, height))

    return remembered(("text", words, size, colour), make)


def text_width(words: str, size: int) -> int:
    """Return how wide words are in pixels."""
    return text(words, size, (0, 0, 0)).get_width()


def put_text(
    surface: pygame.Surface, words: str, size: int, colour: Colour, place: tuple[float, float], anchor: str = "midleft"
) -> pygame.Rect:
    """Write words.

    Args:
        surface: on which.
        words: what to write.
        size: height in pixels.
        colour: of the words.
        place: where their anchor is.
        anchor: a corner, side or the middle of them, as pygame names it: "midleft", "center", "topright", ..

    Returns:
        Where they are.
    """
    picture = text(words, size, colour)
    place_of = picture.get_rect(**{anchor: (round(place[0]), round(place[1]))})
    surface.blit(picture, place_of)
    return place_of


def fitted(words: str, size: int, width: int) -> str:
    """Return words, shortened with two dots if they are wider than so many pixels."""
    if text_width(words, size) <= width:
        return words
    while words and text_width(words + "..", size) > width:
        words = words[:-1]
    return words + ".."


def drawn(
    key: Hashable, width: int, height: int, draw: Callable[[pygame.Surface], None], ground: Colour
) -> pygame.Surface:
    """Return a small shape with smooth edges, made once.

    Args:
        key: tells it from others.
        width: in pixels.
        height: in pixels.
        draw: draws it on a surface that is ``SUPERSAMPLING`` times as large.
        ground: the colour that its edges fade to, fully clear.
    """

    def make() -> pygame.Surface:
        large = pygame.Surface((width * SUPERSAMPLING, height * SUPERSAMPLING), pygame.SRCALPHA)
        large.fill((*ground, 0))
        draw(large)
        return pygame.transform.smoothscale(large, (width, height))

    return remembered((key, width, height), make)


def forget_all() -> None:
    """Forget all surfaces and fonts, as after ``pygame.quit``."""
    _surfaces.clear()
    _font.cache_clear()
