"""Engagements on the board: shots, collisions and guards, each with a mark of its own.

A shot is a thin line, a collision a double one, a guard carries a shield. What succeeds is drawn in full, with a star
where something was hit and a filled shield; what fails is drawn broken, with an open ring and an empty shield.
"""

import math
from collections.abc import Sequence

import pygame

from geo_patrol.notation import Outcome, SatelliteId
from geo_patrol.rendering import glyphs, theme
from geo_patrol.rendering.motion import Clock, Motion
from geo_patrol.rendering.theme import Colour
from geo_patrol.scenes.geometry import BoardGeometry, Point


def put_engagement(
    surface: pygame.Surface,
    geometry: BoardGeometry,
    motion: Motion,
    outcomes: Sequence[Outcome],
    clock: Clock,
    scale: float,
) -> None:
    """Draw the marks of an engagement, as far as it has come.

    Args:
        surface: on which.
        geometry: where the board is.
        motion: where its satellites are.
        outcomes: what happened.
        clock: how far.
        scale: of the picture.
    """
    if clock.grown <= 0:
        return
    stroke = max(round(2.2 * scale), 1)
    for outcome in outcomes:
        ends = _ends(geometry, motion, outcome, clock)
        if ends is not None:
            _put_line(surface, outcome, *ends, clock.grown, stroke)
    if clock.is_revealed:
        for outcome in outcomes:
            _put_result(surface, geometry, motion, outcome, clock, scale)


def _ends(geometry: BoardGeometry, motion: Motion, outcome: Outcome, clock: Clock) -> tuple[Point, Point] | None:
    """Return where a mark's line begins and ends: at the satellites' edges; None if it has none."""
    actor = _actor(outcome)
    start, end = (geometry.point(motion.origin(one, clock)) for one in (actor, outcome.target))
    radii = [motion.slot(one, clock).radius for one in (actor, outcome.target)]
    distance = math.dist(start, end)
    if distance <= sum(radii) * 1.02:
        return None if outcome.action == "guard" else (start, end)
    across, down = (end[0] - start[0]) / distance, (end[1] - start[1]) / distance
    return (
        (start[0] + across * radii[0], start[1] + down * radii[0]),
        (end[0] - across * radii[1], end[1] - down * radii[1]),
    )


def _actor(outcome: Outcome) -> SatelliteId:
    actor = outcome.guardian if outcome.action == "guard" else outcome.attacker
    assert actor is not None
    return actor


def _put_line(surface: pygame.Surface, outcome: Outcome, start: Point, end: Point, grown: float, stroke: int) -> None:
    reached = start[0] + (end[0] - start[0]) * grown, start[1] + (end[1] - start[1]) * grown
    colour = theme.SIDES_BRIGHT[_actor(outcome).side]
    if outcome.action == "collide":
        for offset in (-1.3, 1.3):
            put_stroke(surface, colour, *_beside(start, reached, offset * stroke), stroke, outcome.success)
    else:
        put_stroke(surface, colour, start, reached, stroke, outcome.success)
    if outcome.action != "guard":
        put_arrowhead(surface, colour, start, reached, stroke * 4.2)


def _beside(start: Point, end: Point, offset: float) -> tuple[Point, Point]:
    distance = math.dist(start, end) or 1.0
    across, down = (end[1] - start[1]) / distance * offset, (start[0] - end[0]) / distance * offset
    return (start[0] + across, start[1] + down), (end[0] + across, end[1] + down)


def put_stroke(surface: pygame.Surface, colour: Colour, start: Point, end: Point, width: int, whole: bool) -> None:
    """Draw a line; one that is not whole is dashed."""
    if whole:
        pygame.draw.aaline(surface, colour, start, end, width)
        return
    dash = 4 * width + 2
    distance = math.dist(start, end)
    for place in range(int(distance // dash) + 1):
        parts = [min(at, distance) / distance if distance else 0.0 for at in (place * dash, (place + 0.55) * dash)]
        ends = [(start[0] + (end[0] - start[0]) * part, start[1] + (end[1] - start[1]) * part) for part in parts]
        pygame.draw.aaline(surface, colour, ends[0], ends[1], width)


def put_arrowhead(surface: pygame.Surface, colour: Colour, start: Point, end: Point, size: float) -> None:
    """Draw the head of an arrow from start to end."""
    angle = math.atan2(end[1] - start[1], end[0] - start[0])
    corners = [end] + [
        (end[0] - size * math.cos(angle + turn), end[1] - size * math.sin(angle + turn)) for turn in (-0.45, 0.45)
    ]
    pygame.draw.polygon(surface, colour, corners)
    pygame.draw.aalines(surface, colour, True, corners)


def _put_result(
    surface: pygame.Surface, geometry: BoardGeometry, motion: Motion, outcome: Outcome, clock: Clock, scale: float
) -> None:
    actor = _actor(outcome)
    if outcome.action == "guard":
        slot = motion.slot(actor, clock)
        place, reach = geometry.point(slot.place), slot.radius * 0.8
        put_symbol(surface, outcome, (place[0] + reach, place[1] - reach), round(max(slot.radius, 8 * scale)))
        return
    target = geometry.point(motion.origin(outcome.target, clock))
    radius = motion.slot(outcome.target, clock).radius
    if outcome.success:
        put_symbol(surface, outcome, target, round(max(radius * 2.3, 14 * scale)))
        return
    source = geometry.point(motion.origin(actor, clock))
    distance = math.dist(source, target) or 1.0
    beyond = radius / distance
    place = target[0] - (target[0] - source[0]) * beyond, target[1] - (target[1] - source[1]) * beyond
    put_symbol(surface, outcome, place, round(max(radius * 0.9, 8 * scale)))


def put_symbol(surface: pygame.Surface, outcome: Outcome, place: Point, size: int) -> None:
    """Draw the sign of a result around a place: star or open ring, filled or empty shield."""
    size = max(size, 6)
    idle = outcome.action == "guard" and outcome.attacker is None
    kind = "shield" if outcome.action == "guard" else "hit"
    colour = theme.SIDES_BRIGHT[_actor(outcome).side]
    if idle:
        colour = theme.blend(colour, theme.PANEL, 0.45)
    heavy = outcome.action == "collide"

    def draw(large: pygame.Surface) -> None:
        if kind == "shield":
            draw_shield(large, colour, outcome.success)
        elif outcome.success:
            draw_star(large, colour, heavy)
        else:
            draw_miss(large, colour)

    picture = glyphs.drawn((kind, colour, outcome.success, heavy), size, size, draw, theme.TOKEN_EDGE)
    surface.blit(picture, (round(place[0] - size / 2), round(place[1] - size / 2)))


def draw_star(surface: pygame.Surface, colour: Colour, heavy: bool) -> None:
    """Draw the star of a hit, open in the middle so that the satellite stays visible; a collision's has more points."""
    middle = surface.get_width() / 2
    points = 12 if heavy else 8
    for reach, fill in ((0.98, theme.TOKEN_EDGE), (0.9, colour), (0.8, theme.HIT)):
        corners = []
        for corner in range(2 * points):
            distance = middle * reach * (1 if corner % 2 == 0 else 0.66)
            angle = math.pi * corner / points
            corners.append((middle + distance * math.cos(angle), middle + distance * math.sin(angle)))
        pygame.draw.polygon(surface, fill, corners)
    pygame.draw.circle(surface, (*theme.TOKEN_EDGE, 0), (middle, middle), middle * 0.42)


def draw_miss(surface: pygame.Surface, colour: Colour) -> None:
    """Draw the open ring of a miss."""
    middle = surface.get_width() / 2
    pygame.draw.circle(surface, theme.TOKEN_EDGE, (middle, middle), middle * 0.98)
    pygame.draw.circle(surface, colour, (middle, middle), middle * 0.86)
    pygame.draw.circle(surface, theme.TOKEN_EDGE, (middle, middle), middle * 0.5)


def draw_shield(surface: pygame.Surface, colour: Colour, filled: bool) -> None:
    """Draw a guard's shield."""
    size = surface.get_width()

    def outline(reach: float) -> list[Point]:
        shape = [
            (-0.8, -0.85),
            (0, -1.0),
            (0.8, -0.85),
            (0.76, 0.1),
            (0.45, 0.62),
            (0, 1.0),
            (-0.45, 0.62),
            (-0.76, 0.1),
        ]
        return [(size / 2 + x * reach * size / 2, size / 2 + y * reach * size / 2) for x, y in shape]

    pygame.draw.polygon(surface, theme.TOKEN_EDGE, outline(1.0))
    pygame.draw.polygon(surface, colour, outline(0.84))
    pygame.draw.polygon(surface, theme.HIT if filled else theme.TOKEN_EDGE, outline(0.56))
