"""A drawing: shapes in order, to be written as SVG or painted as pixels. Lengths are in pixels of the plain size."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Anchor: TypeAlias = Literal["start", "middle", "end"]
Color: TypeAlias = str
"""As "#rrggbb"."""

PAPER: Color = "#ffffff"
INK: Color = "#222222"
GREY: Color = "#767676"
FAINT: Color = "#d5d5d5"
# Okabe and Ito's colours, which people with any kind of colour vision tell apart; lines differ in form as well.
BLUE: Color = "#0072b2"
SKY: Color = "#56b4e9"
ORANGE: Color = "#e69f00"
VERMILION: Color = "#d55e00"
GREEN: Color = "#009e73"
PURPLE: Color = "#cc79a7"


@dataclass(frozen=True)
class Line:
    """A straight line, perhaps dashed, perhaps with an arrowhead at its end."""

    start: tuple[float, float]
    end: tuple[float, float]
    color: Color
    width: float
    dashed: bool = False
    arrow: bool = False


@dataclass(frozen=True)
class Circle:
    """A circle, filled or open."""

    center: tuple[float, float]
    radius: float
    fill: Color | None
    stroke: Color | None = None
    width: float = 1.0


@dataclass(frozen=True)
class Box:
    """A rectangle, filled or open, perhaps with dashed sides."""

    corner: tuple[float, float]
    size: tuple[float, float]
    fill: Color | None
    stroke: Color | None = None
    width: float = 1.0
    dashed: bool = False


@dataclass(frozen=True)
class Diamond:
    """A square on its tip."""

    center: tuple[float, float]
    radius: float
    fill: Color | None
    stroke: Color | None = None
    width: float = 1.0


@dataclass(frozen=True)
class Text:
    """A line of text; its place is at the middle of its height."""

    place: tuple[float, float]
    text: str
    size: float
    color: Color = INK
    anchor: Anchor = "middle"


Shape: TypeAlias = Line | Circle | Box | Diamond | Text


@dataclass
class Drawing:
    """Shapes on a sheet of paper."""

    width: float
    height: float
    shapes: list[Shape] = field(default_factory=list)

    def add(self, *shapes: Shape) -> None:
        """Put shapes on top."""
        self.shapes.extend(shapes)
