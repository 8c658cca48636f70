"""Satellites as they are drawn: HVAs are squares, Patrols discs, with number, fuel and ammo."""

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass

from geo_patrol.config.ranges import largest
from geo_patrol.game import Game
from geo_patrol.notation import Satellite
from geo_patrol.scenes import theme
from geo_patrol.scenes.shapes import Box, Circle, Color, PlainShape, Point, Polygon, Polyline, Symbol, Text, Use, blend
from geo_patrol.sides import Side

FUEL_STEPS = 32
"""Number of different lengths of the fuel arc."""
_MAX_PIPS = 6


@dataclass(frozen=True)
class Style:
    """All that decides how a satellite looks.

    Attributes:
        side: its side.
        number: 0 for the HVA.
        fuel: the rest of its initial fuel, in steps of ``FUEL_STEPS``.
        ammo: rounds left.
        state: "active", "empty" (no fuel) or "destroyed".
    """

    side: Side
    number: int
    fuel: int = 0
    ammo: int = 0
    state: str = "active"

    @property
    def body(self) -> Color:
        """The color of its body."""
        return theme.SIDES[self.side] if self.state == "active" else theme.INACTIVE

    @property
    def ink(self) -> Color:
        """The color of its number."""
        return theme.INK[self.side] if self.state == "active" else theme.INACTIVE_INK


def full_fuel(game: Game, side: Side, number: int) -> int:
    """Return the most fuel that a satellite may have started with."""
    config = game.config
    fleet = config.side("alpha" if config.mirror else side)
    return int(largest(fleet.hva.fuel if number == 0 else fleet.patrols.fuel))


def fuel_steps(fuel: int, full: int) -> int:
    """Return the length of a fuel arc in steps, rounded up."""
    return min(math.ceil(FUEL_STEPS * fuel / max(full, 1)), FUEL_STEPS)


def style_of(game: Game, satellite: Satellite) -> Style:
    """Return how a satellite of a game looks."""
    state = "active" if satellite.is_active else "destroyed" if satellite.destroyed else "empty"
    steps = fuel_steps(satellite.fuel, full_fuel(game, satellite.id.side, satellite.id.number))
    return Style(satellite.id.side, satellite.id.number, steps, satellite.ammo, state)


def satellite_shape(style: Style, center: Point, radius: float, with_gauges: bool = True) -> Use:
    """Draw a satellite.

    Args:
        style: how it looks.
        center: where it is.
        radius: to its outer edge, in pixels.
        with_gauges: whether fuel arc and ammo pips are drawn.
    """
    half = max(round(radius), 2)
    numbered = half >= theme.MIN_NUMBERED_RADIUS - 1 or not with_gauges
    return Use(_satellite_symbol(style, with_gauges, numbered), center, 2 * half)


@functools.lru_cache(maxsize=4096)
def _satellite_symbol(style: Style, with_gauges: bool, numbered: bool) -> Symbol:
    return Symbol(tuple(_satellite(style, with_gauges, numbered)), theme.SATELLITE_EDGE)


def _satellite(style: Style, with_gauges: bool, numbered: bool) -> Iterator[PlainShape]:
    body = 0.76 if with_gauges else 0.94
    if with_gauges:
        yield Circle((0, 0), 1, theme.SATELLITE_EDGE)
        yield from _fuel(style)
    if style.number == 0:
        yield from _square(style, body * 0.8)
    else:
        yield Circle((0, 0), body + 0.04, theme.SATELLITE_EDGE)
        yield Circle((0, 0), body, style.body)
    pips = min(style.ammo, _MAX_PIPS) if with_gauges and style.state == "active" else 0
    if numbered:
        label = "H" if style.number == 0 else str(style.number)
        size = body * (1.22 if len(label) == 1 else 1.02) * (0.92 if pips else 1)
        yield Text((0, -body * (0.16 if pips else -0.03)), label, size, style.ink, "center")
    radius = body * (0.13 if pips < 5 else 0.1)
    for i in range(pips):
        yield Circle(((i - (pips - 1) / 2) * radius * 2.7, body * 0.62), radius, style.ink)
    if style.state == "destroyed":
        yield from _cross()


def _square(style: Style, half: float) -> Iterator[Box]:
    edge = 0.09
    outer = half + edge
    yield Box(-outer, -outer, 2 * outer, 2 * outer, theme.SATELLITE_EDGE, rounding=0.2)
    yield Box(-half, -half, 2 * half, 2 * half, style.body, rounding=0.14)
    if style.state == "active":
        rim = half - edge / 2
        yield Box(-rim, -rim, 2 * rim, 2 * rim, None, style.ink, 0.06, 0.1)


def _fuel(style: Style) -> Iterator[PlainShape]:
    """Draw the fuel as an arc from the top clockwise, on a track that shows what was burnt."""
    rim = blend(theme.INACTIVE, theme.SIDES[style.side], theme.INACTIVE_TINT)
    yield Circle((0, 0), 0.97, theme.FUEL_TRACK if style.state == "active" else rim)
    if style.fuel and style.state == "active":
        steps = max(2, 2 * style.fuel)
        angles = [math.tau * style.fuel / FUEL_STEPS * step / steps for step in range(steps + 1)]
        arc = [(0.97 * math.sin(angle), -0.97 * math.cos(angle)) for angle in angles]
        yield Polygon(((0, 0), *arc), theme.FUEL)
    yield Circle((0, 0), 0.82, theme.SATELLITE_EDGE)


def _cross() -> Iterator[Polyline]:
    """Draw the arms of a cross around the number."""
    for y in (-1, 1):
        for x in (-1, 1):
            arm = (x * 0.44, y * 0.44), (x * 0.74, y * 0.74)
            yield Polyline(arm, theme.SATELLITE_EDGE, 0.3)
            yield Polyline(arm, theme.SOFT, 0.15)
