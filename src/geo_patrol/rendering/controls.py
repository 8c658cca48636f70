"""Buttons: a name that says what to do, a sign or a word, and the keys that do the same."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import pygame

from geo_patrol.rendering import glyphs, theme
from geo_patrol.rendering.theme import Colour

Shape: TypeAlias = list[tuple[float, float]]

_SIGNS: dict[str, tuple[Shape, ...]] = {  # polygons in a square from -1 to 1
    "play": ([(-0.6, -0.8), (0.8, 0), (-0.6, 0.8)],),
    "pause": (
        [(-0.7, -0.8), (-0.2, -0.8), (-0.2, 0.8), (-0.7, 0.8)],
        [(0.2, -0.8), (0.7, -0.8), (0.7, 0.8), (0.2, 0.8)],
    ),
    "forward": ([(-0.8, -0.8), (0.3, 0), (-0.8, 0.8)], [(0.4, -0.8), (0.75, -0.8), (0.75, 0.8), (0.4, 0.8)]),
    "next turn": ([(-1, -0.8), (-0.1, 0), (-1, 0.8)], [(-0.1, -0.8), (0.8, 0), (-0.1, 0.8)]),
    "plus": (
        [(-0.15, -0.7), (0.15, -0.7), (0.15, 0.7), (-0.15, 0.7)],
        [(-0.7, -0.15), (0.7, -0.15), (0.7, 0.15), (-0.7, 0.15)],
    ),
    "minus": ([(-0.7, -0.15), (0.7, -0.15), (0.7, 0.15), (-0.7, 0.15)],),
    "camera": (
        [
            (-0.9, -0.45),
            (-0.4, -0.45),
            (-0.25, -0.75),
            (0.25, -0.75),
            (0.4, -0.45),
            (0.9, -0.45),
            (0.9, 0.7),
            (-0.9, 0.7),
        ],
    ),
}
_MIRRORED = {"back": "forward", "previous turn": "next turn"}


@dataclass(frozen=True)
class Control:
    """Something that can be done in a window.

    Attributes:
        name: what it does, in a few words, as the page of keys lists it.
        do: does it.
        keys: names of keys as pygame gives them, "space", "left", or characters, "+".
        sign: the picture on its button; "" writes ``label``.
        label: the word on its button; a control without sign and label has keys only.
        is_open: whether it can be done now.
        is_main: whether it is what one is expected to do in the end; its button stands out.
    """

    name: str
    do: Callable[[], None]
    keys: tuple[str, ...] = ()
    sign: str = ""
    label: str = ""
    is_open: Callable[[], bool] = field(default=lambda: True)
    is_main: bool = False

    @property
    def has_button(self) -> bool:
        """Whether it can be clicked."""
        return bool(self.sign or self.label)


def find_key(controls: Sequence[Control], event: pygame.event.Event) -> Control | None:
    """Return the control that a key belongs to; None if there is none."""
    names = {pygame.key.name(event.key), getattr(event, "unicode", "")}
    shifted = "shift+" if getattr(event, "mod", 0) & pygame.KMOD_SHIFT else ""
    with_shift = {shifted + name for name in names if name}
    for wanted in (with_shift, names) if shifted else (names,):
        for control in controls:
            if wanted & set(control.keys):
                return control
    return None


class ButtonBar:
    """Buttons in a row; the row wraps where it is full.

    Args:
        controls: those with a button get one.
    """

    def __init__(self, controls: Sequence[Control]) -> None:
        self.controls = [control for control in controls if control.has_button]
        self._places: list[tuple[Control, pygame.Rect]] = []

    def place(self, area: pygame.Rect, size: int) -> int:
        """Lay the buttons out in an area for words of a size in pixels; return how many rows they take."""
        height, gap = round(size * 2.1), max(round(size * 0.35), 3)
        left, top = area.left, area.top
        self._places = []
        for control in self.controls:
            width = height if control.sign else round(glyphs.text_width(control.label, size) + size * 1.2)
            if left + width > area.right and left > area.left:
                left, top = area.left, top + height + gap
            self._places.append((control, pygame.Rect(left, top, width, height)))
            left += width + gap
        return 1 + (top - area.top) // (height + gap)

    def rect_of(self, name: str) -> pygame.Rect:
        """Return where the button of a control is."""
        return next(rect for control, rect in self._places if control.name == name)

    def at(self, pixel: tuple[int, int]) -> Control | None:
        """Return the control whose button is at a pixel; None if there is none."""
        return next((control for control, rect in self._places if rect.collidepoint(pixel)), None)

    def draw(self, surface: pygame.Surface, size: int, pointed_at: tuple[int, int] | None) -> None:
        """Draw the buttons; the one that is pointed at is lit."""
        for control, rect in self._places:
            lit = pointed_at is not None and rect.collidepoint(pointed_at) and control.is_open()
            draw_button(
                surface,
                rect,
                size,
                sign=control.sign,
                label=control.label,
                lit=lit,
                is_open=control.is_open(),
                strong=control.is_main,
            )


def draw_button(
    surface: pygame.Surface,
    rect: pygame.Rect,
    size: int,
    *,
    sign: str = "",
    label: str = "",
    lit: bool = False,
    is_open: bool = True,
    strong: bool = False,
    chosen: bool = False,
) -> None:
    """Draw a button with a sign or a label; one that is not open is faint, a strong one bright, a chosen one framed."""
    ground = theme.CHOICE if strong and is_open else theme.CARD_BRIGHT if is_open else theme.CARD
    ink = theme.SPACE if strong and is_open else theme.TEXT if is_open else theme.FAINT
    if lit:
        ground = theme.blend(ground, theme.TEXT, 0.22)
    radius = max(rect.height // 5, 3)
    pygame.draw.rect(surface, ground, rect, border_radius=radius)
    if chosen:
        pygame.draw.rect(surface, theme.CHOICE, rect, width=2, border_radius=radius)
    if sign:
        put_sign(surface, sign, rect.center, round(rect.height * 0.5), ink)
    else:
        glyphs.put_text(surface, glyphs.fitted(label, size, rect.width - size // 2), size, ink, rect.center, "center")


def put_sign(surface: pygame.Surface, sign: str, centre: tuple[int, int], size: int, ink: Colour) -> None:
    """Draw the sign of a button."""
    if sign == "?":
        glyphs.put_text(surface, "?", round(size * 1.1), ink, centre, "center")
        return
    picture = glyphs.drawn(("sign", sign, ink), size, size, lambda large: _draw_sign(large, sign, ink), ink)
    surface.blit(picture, picture.get_rect(center=centre))


def _draw_sign(surface: pygame.Surface, sign: str, ink: Colour) -> None:
    half = surface.get_width() / 2
    if sign.endswith("engagement"):
        _draw_jump(surface, half, ink, -1 if sign.startswith("previous") else 1)
        return
    if sign == "restart":
        _draw_circle_arrow(surface, half, ink)
        return
    mirror = -1 if sign in _MIRRORED else 1
    for shape in _SIGNS[_MIRRORED.get(sign, sign)]:
        pygame.draw.polygon(surface, ink, [(half + mirror * x * half, half + y * half) for x, y in shape])
    if sign == "camera":
        pygame.draw.circle(surface, theme.CARD_BRIGHT, (half, half * 1.12), half * 0.42)
        pygame.draw.circle(surface, ink, (half, half * 1.12), half * 0.24)


def _draw_jump(surface: pygame.Surface, half: float, ink: Colour, way: int) -> None:
    """Draw a star with an arrow to it."""
    corners = []
    for corner in range(16):
        distance = half * 0.6 * (1 if corner % 2 == 0 else 0.5)
        angle = math.pi * corner / 8
        corners.append((half * (1 + 0.4 * way) + distance * math.cos(angle), half + distance * math.sin(angle)))
    pygame.draw.polygon(surface, ink, corners)
    tip = half * (1 - 0.3 * way)
    pygame.draw.polygon(
        surface, ink, [(tip, half), (tip - half * 0.7 * way, half * 0.45), (tip - half * 0.7 * way, half * 1.55)]
    )


def _draw_circle_arrow(surface: pygame.Surface, half: float, ink: Colour) -> None:
    pygame.draw.circle(surface, ink, (half, half), half * 0.8)
    pygame.draw.circle(surface, (*ink, 0), (half, half), half * 0.52)
    pygame.draw.polygon(surface, (*ink, 0), [(half, half), (0, 0), (half * 1.1, 0)])
    pygame.draw.polygon(
        surface, ink, [(half * 0.95, -half * 0.05), (half * 0.95, half * 0.75), (half * 0.25, half * 0.35)]
    )
