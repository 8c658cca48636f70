"""The Earth, seen from above the north pole, drawn by code.

The outlines of the continents are coarse: a few points each, in degrees of longitude and latitude.
"""

import math

import pygame

from geo_patrol.rendering import glyphs, theme

_LANDS: tuple[tuple[tuple[int, int], ...], ...] = (
    # North and Central America
    (
        (-168, 66),
        (-156, 71),
        (-135, 69),
        (-115, 68),
        (-95, 72),
        (-82, 68),
        (-94, 59),
        (-82, 53),
        (-78, 62),
        (-65, 59),
        (-56, 52),
        (-66, 44),
        (-75, 38),
        (-81, 31),
        (-80, 25),
        (-84, 30),
        (-97, 27),
        (-97, 20),
        (-88, 21),
        (-84, 11),
        (-78, 8),
        (-92, 14),
        (-105, 20),
        (-112, 27),
        (-117, 32),
        (-124, 41),
        (-124, 48),
        (-135, 58),
        (-152, 60),
        (-165, 55),
        (-158, 60),
    ),
    ((-73, 78), (-60, 82), (-32, 83), (-20, 76), (-22, 70), (-40, 65), (-45, 60), (-53, 66), (-58, 75)),  # Greenland
    # Eurasia
    (
        (-9, 43),
        (-9, 37),
        (-2, 37),
        (4, 43),
        (12, 42),
        (16, 38),
        (14, 45),
        (20, 40),
        (24, 37),
        (28, 41),
        (36, 37),
        (35, 31),
        (44, 13),
        (58, 20),
        (50, 30),
        (62, 25),
        (72, 20),
        (77, 8),
        (81, 16),
        (90, 22),
        (98, 9),
        (103, 2),
        (105, 10),
        (109, 18),
        (121, 28),
        (121, 39),
        (128, 36),
        (130, 43),
        (140, 50),
        (156, 58),
        (158, 52),
        (164, 60),
        (179, 66),
        (160, 70),
        (130, 72),
        (105, 77),
        (80, 73),
        (68, 69),
        (45, 67),
        (28, 71),
        (14, 67),
        (5, 60),
        (11, 57),
        (20, 63),
        (22, 56),
        (9, 54),
        (-2, 48),
        (-1, 44),
    ),
    ((-6, 50), (1, 51), (-3, 58), (-6, 56)),  # Britain
    ((-23, 64), (-14, 65), (-20, 67)),  # Iceland
    ((131, 32), (140, 35), (142, 43), (138, 37)),  # Japan
    # Africa north of the equator
    (
        (-6, 35),
        (10, 37),
        (20, 31),
        (32, 31),
        (43, 11),
        (51, 11),
        (42, -2),
        (10, -2),
        (8, 4),
        (-8, 5),
        (-17, 14),
        (-16, 22),
    ),
    ((-77, 7), (-62, 10), (-50, 0), (-50, -2), (-80, -2)),  # South America
)
_EDGE_LATITUDE = -2.0
"""The parallel that the rim of the picture shows."""


def _project(longitude: float, latitude: float, radius: float) -> tuple[float, float]:
    distance = radius * math.sin(math.radians(90 - max(latitude, _EDGE_LATITUDE)) * 0.98)
    return (
        radius + distance * math.cos(math.radians(longitude)),
        radius - distance * math.sin(math.radians(longitude)),
    )


def _along(land: tuple[tuple[int, int], ...], radius: float) -> list[tuple[float, float]]:
    """Return an outline with points between its own, as a straight line on the globe is none in the picture."""
    points = []
    for (longitude, latitude), (to_longitude, to_latitude) in zip(land, (*land[1:], land[0]), strict=True):
        for step in range(4):
            part = step / 4
            points.append(
                _project(
                    longitude + (to_longitude - longitude) * part, latitude + (to_latitude - latitude) * part, radius
                )
            )
    return points


def _draw_globe(surface: pygame.Surface) -> None:
    radius = surface.get_width() / 2
    centre = (radius, radius)
    pygame.draw.circle(surface, theme.OCEAN, centre, radius)
    for land in _LANDS:
        pygame.draw.polygon(surface, theme.LAND, _along(land, radius))
    pygame.draw.circle(surface, theme.ICE, _project(0, 90, radius), radius * 0.1)
    pygame.draw.polygon(surface, theme.ICE, _along(_LANDS[1], radius))


def _draw_light(surface: pygame.Surface) -> None:
    """Draw night, and the edge of the globe: a clear surface that darkens what is under it."""
    radius = surface.get_width() / 2
    for step in range(28):  # the sun stands on the left above
        part = step / 28
        shade = pygame.Surface(surface.get_size(), pygame.SRCALPHA)
        pygame.draw.circle(shade, (2, 4, 14, 9), (radius, radius), radius)
        hole = radius * (1.5 - 0.62 * part)
        pygame.draw.circle(shade, (0, 0, 0, 0), (radius * 0.72, radius * 0.62), hole)
        surface.blit(shade, (0, 0))
    pygame.draw.circle(surface, (*theme.AIR, 150), (radius, radius), radius, max(2, round(radius * 0.03)))


def draw_air(surface: pygame.Surface, centre: tuple[float, float], radius: float) -> None:
    """Draw the glow around the Earth."""
    for step in range(10, 0, -1):
        size = round(radius * (1 + 0.028 * step))
        glow = pygame.Surface((2 * size, 2 * size), pygame.SRCALPHA)
        pygame.draw.circle(glow, (*theme.AIR, 9), (size, size), size)
        surface.blit(glow, (centre[0] - size, centre[1] - size))


def draw_earth(surface: pygame.Surface, centre: tuple[float, float], radius: float, turned: float) -> None:
    """Draw the Earth.

    Args:
        surface: on which.
        centre: of the Earth, in pixels.
        radius: in pixels.
        turned: how far it has turned counterclockwise, in radians.
    """
    size = 2 * max(round(radius), 4)
    globe = glyphs.drawn("globe", size, size, _draw_globe, theme.OCEAN)
    turned_globe = pygame.transform.rotozoom(globe, math.degrees(turned), 1.0)
    surface.blit(turned_globe, turned_globe.get_rect(center=(round(centre[0]), round(centre[1]))))
    light = glyphs.drawn("light", size, size, _draw_light, theme.SPACE)
    surface.blit(light, (round(centre[0] - size / 2), round(centre[1] - size / 2)))
