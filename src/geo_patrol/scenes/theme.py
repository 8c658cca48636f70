"""How pictures look: every color and every size, in one place.

The sides are blue and gold, which people with any color vision tell apart, and which differ in lightness as well
(alpha's numbers are white on blue, bravo's dark on gold). Color alone never carries information.
"""

from geo_patrol.base.sides import Side
from geo_patrol.drawing.shapes import Color

SPACE: Color = "#080b16"
"""The ground of menus, and dark outlines."""
PANEL: Color = "#0d1320"
CARD: Color = "#151d31"
CARD_BRIGHT: Color = "#222c4a"
LINE: Color = "#2c385c"
RING: Color = "#141c30"
BUSY: Color = "#1e2846"
"""A sector with satellites."""
UNSEEN: Color = "#04060d"
"""A sector that a side does not see, over what else it is."""
GRID: Color = "#3d4c74"
SECTOR_NUMBER: Color = "#8b9ac4"

TEXT: Color = "#ecf0fa"
SOFT: Color = "#a4b1d4"
FAINT: Color = "#7e8cb4"

OCEAN: Color = "#184a80"
LAND: Color = "#5c9664"
ICE: Color = "#e2ecf4"
AIR: Color = "#6eb4ff"

SIDES: dict[Side, Color] = {"alpha": "#3574e8", "bravo": "#fbbf24"}
SIDES_BRIGHT: dict[Side, Color] = {"alpha": "#9cc0ff", "bravo": "#ffe08a"}
"""For words and lines on a dark ground."""
SIDES_DARK: dict[Side, Color] = {"alpha": "#20386e", "bravo": "#4d3f1c"}
"""Goal sectors, and grounds of words."""
SIDES_LOST: dict[Side, Color] = {"alpha": "#233a70", "bravo": "#5e4e24"}
LOST_INK: Color = "#aab2c6"
"""Satellites that a card says are lost, and their numbers."""
INK: dict[Side, Color] = {"alpha": "#ffffff", "bravo": "#1c1200"}
"""For numbers on a satellite."""
BURNT: dict[Side, Color] = {"alpha": "#1f4590", "bravo": "#b98610"}
"""The part of the fuel bar that is used up."""

INACTIVE: Color = "#505668"
INACTIVE_INK: Color = "#b4bbcc"
OUTLINE: Color = "#05070e"
"""The edge of a satellite, which carries its shape on any ground."""
RIM: Color = "#f4f8ff"
"""The outer edge of an HVA, and rounds of ammunition."""
FUEL_TRACK: Color = "#2a324a"

HIT: Color = "#ffffff"
LOST: Color = "#ff7b74"
SAFE: Color = "#4ade80"
CHOICE: Color = "#78ffd6"
"""Options, and what the mouse points at."""

WARNING: Color = "#ff9d7a"
"""Notes about danger and lost points."""

LIGHT: dict[Color, Color] = {
    SPACE: "#dfe6f3",
    PANEL: "#ffffff",
    CARD: "#f1f4fa",
    CARD_BRIGHT: "#e6ebf7",
    LINE: "#a9b6d3",
    RING: "#f4f6fb",
    BUSY: "#e2e9f5",
    UNSEEN: "#a3b0ca",
    GRID: "#9aa8c7",
    SECTOR_NUMBER: "#56637f",
    TEXT: "#141b2d",
    SOFT: "#46536f",
    FAINT: "#5f6c8a",
    AIR: "#6fa8dc",
    SIDES["alpha"]: "#1d4ed8",
    SIDES["bravo"]: "#f7b500",
    SIDES_BRIGHT["alpha"]: "#1a52c4",
    SIDES_BRIGHT["bravo"]: "#8a5a00",
    SIDES_DARK["alpha"]: "#c9d8fb",
    SIDES_DARK["bravo"]: "#fde9b0",
    SIDES_LOST["alpha"]: "#a9bdf0",
    SIDES_LOST["bravo"]: "#f7dc96",
    LOST_INK: "#44506e",
    BURNT["alpha"]: "#7f9ae6",
    BURNT["bravo"]: "#b98200",
    OUTLINE: "#10182b",
    RIM: "#ffffff",
    LOST: "#c81e1e",
    SAFE: "#15803d",
    CHOICE: "#00735a",
    WARNING: "#b3451d",
}
"""What colors become on a light page; others stay."""

# Sizes are for a picture of 1280 x 720 and grow with it.
BASE_WIDTH, BASE_HEIGHT = 1280, 720
MIN_TEXT_SIZE = 10
TEXT_SIZES = {"tiny": 11, "small": 13, "normal": 15, "large": 21, "huge": 38}
MARGIN = 14
LINE_HEIGHT = 1.45
"""Height of a line, in sizes of the text."""

EARTH = 0.13
"""The part of the board's radius within the innermost ring."""
GOAL_RING, NEXT_TO_GOAL = 3.0, 1.5
"""Widths of the goals' ring, where fleets start and fight, and of the rings beside it; the others' is 1."""
TOKEN_SPACING = 1.1
"""Distance of neighbouring satellites, in diameters."""
MAX_TOKEN, MIN_TOKEN = 44.0, 25.0
"""Largest diameter of a satellite, in a picture of 1280 x 720, and the smallest one in pixels whose number can be read."""


def scale_of(width: int, height: int) -> float:
    """Return by how much a picture is larger than the one that sizes are given for."""
    return min(max(width, height) / BASE_WIDTH, min(width, height) / BASE_HEIGHT)


def text_size(name: str, scale: float) -> int:
    """Return a text's size in pixels."""
    return max(round(TEXT_SIZES[name] * scale), MIN_TEXT_SIZE)
