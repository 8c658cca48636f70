"""Engagements on the board: shots, collisions and guards, each with a mark of its own.

A shot is a thin line, a collision a double one, a guard carries a shield. Successes are drawn in full, with a star on
what was hit and a filled shield; failures are drawn dashed, with an open ring and an empty shield.
"""

import functools
import math
from collections.abc import Iterator, Sequence

from geo_patrol.notation import Outcome
from geo_patrol.scenes import theme
from geo_patrol.scenes.geometry import BoardGeometry
from geo_patrol.scenes.motion import Clock, Motion
from geo_patrol.scenes.shapes import (
    Circle,
    Color,
    PlainShape,
    Point,
    Polygon,
    Polyline,
    Shape,
    Symbol,
    Use,
    arrowhead,
    between,
    blend,
    parallel,
)

_SHIELD = ((-0.8, -0.85), (0, -1.0), (0.8, -0.85), (0.76, 0.1), (0.45, 0.62), (0, 1.0), (-0.45, 0.62), (-0.76, 0.1))


def engagement_shapes(
    geometry: BoardGeometry, motion: Motion, outcomes: Sequence[Outcome], clock: Clock, scale: float
) -> Iterator[Shape]:
    """Draw the marks of an engagement.

    Args:
        geometry: of the board.
        motion: of its satellites.
        outcomes: of the engagement.
        clock: progress of the phase.
        scale: of the picture.
    """
    if clock.growth <= 0:
        return
    width = max(round(2.2 * scale), 1)
    for outcome in outcomes:
        ends = _ends(geometry, motion, outcome, clock)
        if ends is not None:
            yield from _line(outcome, *ends, clock.growth, width)
    if clock.shows_results:
        for outcome in outcomes:
            yield _result(geometry, motion, outcome, clock, scale)


def _ends(geometry: BoardGeometry, motion: Motion, outcome: Outcome, clock: Clock) -> tuple[Point, Point] | None:
    """Return the ends of a mark's line, which are at the satellites' edges; None if it has no line."""
    actor = outcome.actor
    start, end = (geometry.point(motion.origin(one, clock)) for one in (actor, outcome.target))
    radii = [motion.anchor(one, clock).radius for one in (actor, outcome.target)]
    distance = math.dist(start, end)
    if distance <= sum(radii) * 1.02:
        return None if outcome.action == "guard" else (start, end)
    return between(start, end, radii[0] / distance), between(end, start, radii[1] / distance)


def _line(outcome: Outcome, start: Point, end: Point, growth: float, width: int) -> Iterator[Shape]:
    tip = between(start, end, growth)
    color = theme.SIDES_BRIGHT[outcome.actor.side]
    for offset in (-1.3, 1.3) if outcome.action == "collide" else (0.0,):
        yield Polyline(parallel(start, tip, offset * width), color, width, dashed=not outcome.success)
    if outcome.action != "guard":
        yield arrowhead(start, tip, color, width * 4.2)


def _result(geometry: BoardGeometry, motion: Motion, outcome: Outcome, clock: Clock, scale: float) -> Use:
    actor = outcome.actor
    if outcome.action == "guard":
        anchor = motion.anchor(actor, clock)
        (x, y), shift = geometry.point(anchor.position), anchor.radius * 0.8
        return outcome_symbol(outcome, (x + shift, y - shift), round(max(anchor.radius, 8 * scale)))
    target = geometry.point(motion.origin(outcome.target, clock))
    radius = motion.anchor(outcome.target, clock).radius
    if outcome.success:
        return outcome_symbol(outcome, target, round(max(radius * 2.3, 14 * scale)))
    source = geometry.point(motion.origin(actor, clock))
    edge = between(target, source, radius / (math.dist(source, target) or 1.0))
    return outcome_symbol(outcome, edge, round(max(radius * 0.9, 8 * scale)))


def outcome_symbol(outcome: Outcome, center: Point, size: int) -> Use:
    """Draw the symbol of a result: star or open ring, filled or empty shield."""
    color = theme.SIDES_BRIGHT[outcome.actor.side]
    if outcome.action != "guard":
        symbol = _star(color, outcome.action == "collide") if outcome.success else _miss(color)
    elif outcome.attacker is None:
        symbol = shield(blend(color, theme.PANEL, 0.45), outcome.success)
    else:
        symbol = shield(color, outcome.success)
    return Use(symbol, center, max(size, 6))


@functools.cache
def _star(color: Color, is_collision: bool) -> Symbol:
    """Return the star of a hit, open in the middle so that the satellite stays visible."""
    points = 12 if is_collision else 8
    stars = []
    for reach, fill in ((0.98, theme.SATELLITE_EDGE), (0.9, color), (0.8, theme.HIT)):
        corners = []
        for corner in range(2 * points):
            distance = reach * (1 if corner % 2 == 0 else 0.66)
            angle = math.pi * corner / points
            corners.append((distance * math.cos(angle), distance * math.sin(angle)))
        stars.append(Polygon(tuple(corners), fill))
    return Symbol(tuple(stars), theme.SATELLITE_EDGE, hole=0.42)


@functools.cache
def _miss(color: Color) -> Symbol:
    radii = ((0.98, theme.SATELLITE_EDGE), (0.86, color), (0.5, theme.SATELLITE_EDGE))
    return Symbol(tuple(Circle((0, 0), radius, fill) for radius, fill in radii), theme.SATELLITE_EDGE)


@functools.cache
def shield(color: Color, filled: bool) -> Symbol:
    """Return a guard's shield."""

    def outline(reach: float, fill: Color) -> PlainShape:
        return Polygon(tuple((x * reach, y * reach) for x, y in _SHIELD), fill)

    inner = theme.HIT if filled else theme.SATELLITE_EDGE
    shapes = outline(1.0, theme.SATELLITE_EDGE), outline(0.84, color), outline(0.56, inner)
    return Symbol(shapes, theme.SATELLITE_EDGE)
