"""Buttons with a sign or a label."""

import functools
import math
from collections.abc import Iterator

from geo_patrol.drawing.shapes import (
    Circle,
    Color,
    PlainShape,
    Point,
    Polygon,
    Rect,
    Shape,
    Symbol,
    Text,
    Use,
    blend,
    box,
)
from geo_patrol.scenes import theme
from geo_patrol.scenes.layout import TextStyle

_BAR = ((0.4, -0.8), (0.75, -0.8), (0.75, 0.8), (0.4, 0.8))
_MINUS = ((-0.7, -0.15), (0.7, -0.15), (0.7, 0.15), (-0.7, 0.15))
_CAMERA = (
    (-0.9, -0.45),
    (-0.4, -0.45),
    (-0.25, -0.75),
    (0.25, -0.75),
    (0.4, -0.45),
    (0.9, -0.45),
    (0.9, 0.7),
    (-0.9, 0.7),
)
_SIGNS: dict[str, tuple[tuple[Point, ...], ...]] = {  # polygons in a square from -1 to 1
    "pause": (
        ((-0.7, -0.8), (-0.2, -0.8), (-0.2, 0.8), (-0.7, 0.8)),
        ((0.2, -0.8), (0.7, -0.8), (0.7, 0.8), (0.2, 0.8)),
    ),
    "forward": (((-0.8, -0.8), (0.3, 0), (-0.8, 0.8)), _BAR),
    "next turn": (((-1, -0.8), (-0.1, 0), (-1, 0.8)), ((-0.1, -0.8), (0.8, 0), (-0.1, 0.8))),
    "plus": (tuple((y, x) for x, y in _MINUS), _MINUS),
    "minus": (_MINUS,),
    "camera": (_CAMERA,),
}
_MIRRORED = {"back": "forward", "previous turn": "next turn"}


def button_shapes(
    style: TextStyle,
    rect: Rect,
    *,
    sign: str = "",
    label: str = "",
    is_lit: bool = False,
    is_open: bool = True,
    is_selected: bool = False,
) -> Iterator[Shape]:
    """Draw a button with a sign or a label, lit under the mouse, dim while it cannot be clicked, framed if selected."""
    fill = theme.CARD_BRIGHT if is_open else theme.CARD
    ink = theme.TEXT if is_open else theme.FAINT
    if is_lit:
        fill = blend(fill, theme.TEXT, 0.22)
    yield box(rect, fill, theme.CHOICE if is_selected else None, 2, max(rect.height // 5, 3))
    sign_size = round(rect.height * 0.5)
    if sign == "?":
        yield Text(rect.center, "?", round(sign_size * 1.1), ink, "center")
    elif sign:
        yield Use(_sign(sign, ink), rect.center, sign_size)
    else:
        size = style.text_size("normal")
        yield Text(rect.center, style.fitted(label, size, rect.width - size // 2), size, ink, "center")


@functools.cache
def _sign(sign: str, ink: Color) -> Symbol:
    if sign.endswith("engagement"):
        return Symbol(_jump(ink, -1 if sign.startswith("previous") else 1), ink)
    if sign == "restart":
        return Symbol(_circle_arrow(ink), ink)
    mirror = -1 if sign in _MIRRORED else 1
    outlines = _SIGNS[_MIRRORED.get(sign, sign)]
    shapes: list[PlainShape] = [Polygon(tuple((mirror * x, y) for x, y in outline), ink) for outline in outlines]
    if sign == "camera":
        shapes += [Circle((0, 0.12), 0.42, theme.CARD_BRIGHT), Circle((0, 0.12), 0.24, ink)]
    return Symbol(tuple(shapes), ink)


def _jump(ink: Color, direction: int) -> tuple[PlainShape, ...]:
    """Draw a star with an arrow to it."""
    star = []
    for corner in range(16):
        distance = 0.6 * (1 if corner % 2 == 0 else 0.5)
        angle = math.pi * corner / 8
        star.append((0.4 * direction + distance * math.cos(angle), distance * math.sin(angle)))
    tip = -0.3 * direction
    arrow = (tip, 0.0), (tip - 0.7 * direction, -0.55), (tip - 0.7 * direction, 0.55)
    return Polygon(tuple(star), ink), Polygon(arrow, ink)


def _circle_arrow(ink: Color) -> tuple[PlainShape, ...]:
    """Draw an arrow around a circle, open at the top left."""
    start, end, steps = math.radians(-84), math.radians(225), 40
    angles = [start + (end - start) * step / steps for step in range(steps + 1)]
    outer = [(0.8 * math.cos(angle), 0.8 * math.sin(angle)) for angle in angles]
    inner = [(0.52 * math.cos(angle), 0.52 * math.sin(angle)) for angle in reversed(angles)]
    return Polygon((*outer, *inner), ink), Polygon(((-0.05, -1.05), (-0.05, -0.25), (-0.75, -0.65)), ink)
