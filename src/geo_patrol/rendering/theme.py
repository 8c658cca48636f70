"""How pictures look: every colour and every size, in one place.

The sides are blue and gold, which people with any colour vision tell apart, and which differ in lightness as well
(alpha's numbers are white on blue, bravo's dark on gold). Nothing is told by colour alone.
"""

from typing import TypeAlias

from geo_patrol.sides import Side

Colour: TypeAlias = tuple[int, int, int]

SPACE: Colour = (8, 11, 22)
STAR: Colour = (150, 165, 200)
PANEL: Colour = (14, 19, 35)
CARD: Colour = (21, 28, 49)
CARD_BRIGHT: Colour = (34, 44, 74)
LINE: Colour = (44, 56, 92)
RINGS: tuple[Colour, Colour] = ((17, 24, 45), (22, 30, 55))
"""Rings in turn."""
GRID: Colour = (48, 61, 100)
RING_EDGE: Colour = (66, 82, 130)
SECTOR_NUMBER: Colour = (112, 130, 180)

TEXT: Colour = (236, 240, 250)
SOFT: Colour = (164, 177, 212)
FAINT: Colour = (112, 126, 166)

OCEAN: Colour = (24, 74, 128)
LAND: Colour = (92, 150, 100)
ICE: Colour = (226, 236, 244)
AIR: Colour = (110, 180, 255)

SIDES: dict[Side, Colour] = {"alpha": (72, 132, 255), "bravo": (255, 184, 28)}
SIDES_BRIGHT: dict[Side, Colour] = {"alpha": (156, 192, 255), "bravo": (255, 224, 138)}
"""For words and lines on a dark ground."""
SIDES_DARK: dict[Side, Colour] = {"alpha": (24, 45, 96), "bravo": (86, 60, 8)}
INK: dict[Side, Colour] = {"alpha": (255, 255, 255), "bravo": (28, 18, 0)}
"""For numbers on a satellite."""

INACTIVE: Colour = (80, 86, 104)
INACTIVE_INK: Colour = (156, 164, 184)
INACTIVE_TINT = 0.42
"""How much of the side's colour the rim of a satellite without fuel keeps."""
TOKEN_EDGE: Colour = (5, 7, 14)
FUEL_TRACK: Colour = (42, 50, 74)
FUEL: Colour = (244, 248, 255)

HIT: Colour = (255, 255, 255)
MISS: Colour = (168, 180, 210)
CHOICE: Colour = (120, 255, 214)
"""What may be chosen, or is pointed at."""

# Sizes are for a picture of 1280 x 720 and grow with it.
BASE_WIDTH, BASE_HEIGHT = 1280, 720
SMALLEST_TEXT = 10
TEXT_SIZES = {"tiny": 11, "small": 13, "normal": 15, "large": 21, "huge": 38}
MARGIN = 14
LINE_HEIGHT = 1.45
"""Of the size of the text."""

EARTH_RADIUS, FIRST_RING = 0.15, 0.2
"""As parts of the board's radius."""
TOKEN_GAP = 1.1
"""Distance of neighbouring satellites, in diameters."""
TOKEN_OF_BAND = 0.26
"""Largest radius of a satellite, as a part of its ring's width."""
SMALLEST_NUMBERED = 8
"""Radius in pixels below which a satellite's number could not be read; it is shown magnified instead."""

ENGAGEMENT_PART = 0.62
"""The part of a phase's time that an engagement takes; its drift takes the rest."""


def scale_of(width: int, height: int) -> float:
    """Return by how much a picture is larger than the one that sizes are given for."""
    return min(max(width, height) / BASE_WIDTH, min(width, height) / BASE_HEIGHT)


def text_size(name: str, scale: float) -> int:
    """Return a text's size in pixels."""
    return max(round(TEXT_SIZES[name] * scale), SMALLEST_TEXT)


def blend(colour: Colour, other: Colour, part: float) -> Colour:
    """Return the mixture of two colours; ``part`` of the other one."""
    red, green, blue = (round(a + (b - a) * part) for a, b in zip(colour, other, strict=True))
    return red, green, blue
