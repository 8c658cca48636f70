"""How pictures look: every color and every size, in one place.

The sides are blue and gold, which people with any color vision tell apart, and which differ in lightness as well
(alpha's numbers are white on blue, bravo's dark on gold). Color alone never carries information.
"""

from geo_patrol.scenes.shapes import Color
from geo_patrol.sides import Side

SPACE: Color = "#080b16"
STAR: Color = "#96a5c8"
PANEL: Color = "#0e1323"
CARD: Color = "#151c31"
CARD_BRIGHT: Color = "#222c4a"
LINE: Color = "#2c385c"
RINGS: tuple[Color, Color] = ("#11182d", "#161e37")
"""Rings alternate between them."""
GRID: Color = "#303d64"
RING_EDGE: Color = "#425282"
SECTOR_NUMBER: Color = "#7082b4"

TEXT: Color = "#ecf0fa"
SOFT: Color = "#a4b1d4"
FAINT: Color = "#707ea6"

OCEAN: Color = "#184a80"
LAND: Color = "#5c9664"
ICE: Color = "#e2ecf4"
AIR: Color = "#6eb4ff"

SIDES: dict[Side, Color] = {"alpha": "#4884ff", "bravo": "#ffb81c"}
SIDES_BRIGHT: dict[Side, Color] = {"alpha": "#9cc0ff", "bravo": "#ffe08a"}
"""For words and lines on a dark ground."""
SIDES_DARK: dict[Side, Color] = {"alpha": "#182d60", "bravo": "#563c08"}
INK: dict[Side, Color] = {"alpha": "#ffffff", "bravo": "#1c1200"}
"""For numbers on a satellite."""

INACTIVE: Color = "#505668"
INACTIVE_INK: Color = "#9ca4b8"
INACTIVE_TINT = 0.42
"""How much of the side's color the rim of a satellite without fuel keeps."""
SATELLITE_EDGE: Color = "#05070e"
FUEL_TRACK: Color = "#2a324a"
FUEL: Color = "#f4f8ff"

HIT: Color = "#ffffff"
CHOICE: Color = "#78ffd6"
"""Options, and what the mouse points at."""

WARNING: Color = "#ff9d7a"
"""Notes about danger and lost points."""

# Sizes are for a picture of 1280 x 720 and grow with it.
BASE_WIDTH, BASE_HEIGHT = 1280, 720
MIN_TEXT_SIZE = 10
TEXT_SIZES = {"tiny": 11, "small": 13, "normal": 15, "large": 21, "huge": 38}
MARGIN = 14
LINE_HEIGHT = 1.45
"""Height of a line, in sizes of the text."""

EARTH_RADIUS, FIRST_RING = 0.15, 0.2
"""As fractions of the board's radius."""
SATELLITE_SPACING = 1.1
"""Distance of neighbouring satellites, in diameters."""
SATELLITE_RADIUS = 0.26
"""Largest radius of a satellite, as a fraction of its ring's width."""
MIN_NUMBERED_RADIUS = 8
"""Radius in pixels below which a satellite's number could not be read; it is shown magnified instead."""

ENGAGEMENT_FRACTION = 0.62
"""The fraction of a phase's time that an engagement takes; its drift takes the rest."""


def scale_of(width: int, height: int) -> float:
    """Return by how much a picture is larger than the one that sizes are given for."""
    return min(max(width, height) / BASE_WIDTH, min(width, height) / BASE_HEIGHT)


def text_size(name: str, scale: float) -> int:
    """Return a text's size in pixels."""
    return max(round(TEXT_SIZES[name] * scale), MIN_TEXT_SIZE)
