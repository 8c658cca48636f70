"""Satellites as they are drawn: HVAs are squares, Patrols discs, with number, fuel and ammo."""

import math
from dataclasses import dataclass

import pygame

from geo_patrol.rendering import glyphs, theme
from geo_patrol.rendering.theme import Colour
from geo_patrol.sides import Side

FUEL_STEPS = 32
"""So many different lengths of the fuel arc are drawn."""
_MOST_PIPS = 6
_HVA_LABEL = "H"


@dataclass(frozen=True)
class Look:
    """All that makes a satellite look as it does.

    Attributes:
        side: its side.
        number: 0 for the HVA.
        fuel: what is left of its first fuel, in steps of ``FUEL_STEPS``.
        ammo: rounds left.
        state: "active", "empty" (no fuel) or "destroyed".
    """

    side: Side
    number: int
    fuel: int
    ammo: int
    state: str

    @property
    def body(self) -> Colour:
        """The colour of its body."""
        return theme.SIDES[self.side] if self.state == "active" else theme.INACTIVE

    @property
    def rim(self) -> Colour:
        """What the rim of an inactive satellite keeps of its side's colour."""
        return theme.blend(theme.INACTIVE, theme.SIDES[self.side], theme.INACTIVE_TINT)

    @property
    def ink(self) -> Colour:
        """The colour of its number."""
        return theme.INK[self.side] if self.state == "active" else theme.INACTIVE_INK


def fuel_steps(fuel: int, full: int) -> int:
    """Return how long a fuel arc is; any fuel shows."""
    return min(math.ceil(FUEL_STEPS * fuel / max(full, 1)), FUEL_STEPS)


def put_token(
    surface: pygame.Surface, look: Look, place: tuple[float, float], radius: float, with_gauges: bool = True
) -> None:
    """Draw a satellite around a place, ``radius`` pixels to its outer edge; gauges are its fuel arc and ammo pips."""
    half = max(round(radius), 2)
    picture = glyphs.drawn(
        (look, with_gauges), 2 * half, 2 * half, lambda large: _draw_token(large, look, with_gauges), theme.TOKEN_EDGE
    )
    surface.blit(picture, (round(place[0] - half), round(place[1] - half)))


def _draw_token(surface: pygame.Surface, look: Look, with_gauges: bool) -> None:
    radius = surface.get_width() / 2
    centre = (radius, radius)
    body = radius * (0.76 if with_gauges else 0.94)
    if with_gauges:
        pygame.draw.circle(surface, theme.TOKEN_EDGE, centre, radius)
        _draw_fuel(surface, look, radius)
    if look.number == 0:
        _draw_square(surface, look, radius, body)
    else:
        pygame.draw.circle(surface, theme.TOKEN_EDGE, centre, body + radius * 0.04)
        pygame.draw.circle(surface, look.body, centre, body)
    pips = look.ammo if with_gauges and look.state == "active" else 0
    if radius / glyphs.SUPERSAMPLING >= theme.SMALLEST_NUMBERED - 1 or not with_gauges:
        _draw_number(surface, look, body, lifted=pips > 0)
    _draw_pips(surface, look, radius, body, pips)
    if look.state == "destroyed":
        _draw_cross(surface, radius)


def _draw_square(surface: pygame.Surface, look: Look, radius: float, body: float) -> None:
    half = body * 0.8
    square = pygame.Rect(0, 0, round(2 * half), round(2 * half))
    square.center = (round(radius), round(radius))
    edge = round(radius * 0.09)
    pygame.draw.rect(surface, theme.TOKEN_EDGE, square.inflate(2 * edge, 2 * edge), border_radius=round(radius * 0.2))
    pygame.draw.rect(surface, look.body, square, border_radius=round(radius * 0.14))
    if look.state == "active":
        rim = square.inflate(-edge, -edge)
        pygame.draw.rect(surface, look.ink, rim, width=max(round(radius * 0.06), 1), border_radius=round(radius * 0.1))


def _draw_fuel(surface: pygame.Surface, look: Look, radius: float) -> None:
    """Draw the fuel as an arc from the top clockwise, on a track that shows what was burnt."""
    centre = (radius, radius)
    rim = theme.FUEL_TRACK if look.state == "active" else look.rim
    pygame.draw.circle(surface, rim, centre, radius * 0.97)
    if look.fuel and look.state == "active":
        start = math.pi / 2
        end = start - math.tau * look.fuel / FUEL_STEPS
        points = [centre]
        steps = max(2, 2 * look.fuel)
        for step in range(steps + 1):
            angle = start + (end - start) * step / steps
            points.append((radius + radius * 0.97 * math.cos(angle), radius - radius * 0.97 * math.sin(angle)))
        pygame.draw.polygon(surface, theme.FUEL, points)
    pygame.draw.circle(surface, theme.TOKEN_EDGE, centre, radius * 0.82)


def _draw_number(surface: pygame.Surface, look: Look, body: float, lifted: bool) -> None:
    label = _HVA_LABEL if look.number == 0 else str(look.number)
    size = round(body * (1.22 if len(label) == 1 else 1.02) * (0.92 if lifted else 1))
    words = glyphs.text(label, max(size, 8), look.ink)
    middle = surface.get_width() / 2
    surface.blit(words, words.get_rect(center=(round(middle), round(middle - body * (0.16 if lifted else -0.03)))))


def _draw_pips(surface: pygame.Surface, look: Look, radius: float, body: float, pips: int) -> None:
    shown = min(pips, _MOST_PIPS)
    size = body * (0.13 if shown < 5 else 0.1)
    for place in range(shown):
        across = (place - (shown - 1) / 2) * size * 2.7
        pygame.draw.circle(surface, look.ink, (radius + across, radius + body * 0.62), size)


def _draw_cross(surface: pygame.Surface, radius: float) -> None:
    """Draw the arms of a cross around the number."""
    for down in (-1, 1):
        for across in (-1, 1):
            start, end = ((radius * (1 + across * reach), radius * (1 + down * reach)) for reach in (0.44, 0.74))
            pygame.draw.line(surface, theme.TOKEN_EDGE, start, end, round(radius * 0.3))
            pygame.draw.line(surface, theme.SOFT, start, end, round(radius * 0.15))
