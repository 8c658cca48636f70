"""The vocabulary of drawings: a few plain shapes, which the modules beside this one turn into pixels, SVG or print.

Coordinates are in pixels from the top left corner, y pointing down. Shapes are plain data: numbers, strings, tuples.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, TypeAlias

Color: TypeAlias = str
"""As "#rrggbb"."""
Point: TypeAlias = tuple[float, float]
TextAnchor: TypeAlias = Literal[
    "topleft", "midtop", "topright", "midleft", "center", "midright", "bottomleft", "midbottom", "bottomright"
]
DASH_FRACTION = 0.55
"""The part of a dash's period that is drawn."""


class Rect(NamedTuple):
    """A rectangle of whole pixels."""

    left: int
    top: int
    width: int
    height: int

    @classmethod
    def truncated(cls, left: float, top: float, width: float, height: float) -> "Rect":
        """Return the rectangle of fractional coordinates, which are truncated."""
        return cls(int(left), int(top), int(width), int(height))

    @classmethod
    def anchored(cls, size: tuple[int, int], anchor: TextAnchor, point: Point) -> "Rect":
        """Return the rectangle of a size of which one corner, edge or the center is at a point."""
        width, height = size
        x = 0 if "left" in anchor else width if "right" in anchor else width // 2
        y = 0 if "top" in anchor else height if "bottom" in anchor else height // 2
        return cls(int(point[0]) - x, int(point[1]) - y, width, height)

    @property
    def right(self) -> int:
        """The first column beyond it."""
        return self.left + self.width

    @property
    def bottom(self) -> int:
        """The first row beyond it."""
        return self.top + self.height

    @property
    def center(self) -> tuple[int, int]:
        """The pixel in its middle."""
        return self.left + self.width // 2, self.top + self.height // 2

    def contains(self, point: Point) -> bool:
        """Return whether a point is inside."""
        return self.left <= point[0] < self.right and self.top <= point[1] < self.bottom

    def overlaps(self, other: "Rect") -> bool:
        """Return whether two rectangles share a pixel."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )

    def inflated(self, width: float, height: float) -> "Rect":
        """Return a larger (or smaller) rectangle around the same center."""
        x, y = int(width), int(height)
        return Rect(self.left - int(x / 2), self.top - int(y / 2), self.width + x, self.height + y)

    def clamped(self, area: "Rect") -> "Rect":
        """Return the rectangle moved into an area that is large enough."""
        left = min(max(self.left, area.left), area.right - self.width)
        top = min(max(self.top, area.top), area.bottom - self.height)
        return self._replace(left=left, top=top)


# Never changed once they are made, but not frozen: a frozen dataclass takes four times as long to make, and a picture
# has hundreds of them.


@dataclass(slots=True, unsafe_hash=True)
class Polygon:
    """A closed outline.

    Attributes:
        points: its corners.
        fill: color of its interior; None leaves it open.
        stroke: color of its edge; None draws none.
        width: width of the stroke.
        opacity: opacity of the fill.
    """

    points: tuple[Point, ...]
    fill: Color | None = None
    stroke: Color | None = None
    width: float = 1.0
    opacity: float = 1.0


@dataclass(slots=True, unsafe_hash=True)
class Polyline:
    """An open line through points, whole or dashed."""

    points: tuple[Point, ...]
    color: Color
    width: float = 1.0
    dashed: bool = False


@dataclass(slots=True, unsafe_hash=True)
class Circle:
    """A circle; the stroke runs along its radius. Attributes are those of ``Polygon``."""

    center: Point
    radius: float
    fill: Color | None = None
    stroke: Color | None = None
    width: float = 1.0
    opacity: float = 1.0


@dataclass(slots=True, unsafe_hash=True)
class Box:
    """A rectangle, perhaps with round corners; the stroke lies inside."""

    left: float
    top: float
    width: float
    height: float
    fill: Color | None = None
    stroke: Color | None = None
    stroke_width: float = 1.0
    rounding: float = 0.0


@dataclass(slots=True, unsafe_hash=True)
class Text:
    """A line of text.

    Attributes:
        position: where its anchor is.
        text: what is written.
        size: size of the font.
        color: color of the letters.
        anchor: corner, edge or center of the text's box.
        rotation: around its center, counterclockwise, in degrees.
        bold: whether the font is bold.
    """

    position: Point
    text: str
    size: float
    color: Color
    anchor: TextAnchor = "midleft"
    rotation: float = 0.0
    bold: bool = False


@dataclass(frozen=True, eq=False)
class Symbol:
    """A small drawing that is used many times, compared by identity: functions that build one are cached.

    Attributes:
        shapes: in the square from (-1, -1) to (1, 1).
        background: the color that its edges fade to, fully transparent.
        hole: radius of a transparent disc in its middle.
    """

    shapes: "tuple[PlainShape, ...]"
    background: Color
    hole: float = 0.0


@dataclass(slots=True, unsafe_hash=True)
class Use:
    """A symbol, drawn at a point.

    Attributes:
        symbol: what is drawn.
        center: where.
        size: side of its square.
        rotation: counterclockwise, in degrees; None where it is never rotated.
    """

    symbol: Symbol
    center: Point
    size: float
    rotation: float | None = None


PlainShape: TypeAlias = Polygon | Polyline | Circle | Box | Text
Shape: TypeAlias = PlainShape | Use


@dataclass
class Drawing:
    """Shapes on a rectangle of one color, in the order in which they are drawn."""

    width: float
    height: float
    background: Color
    shapes: list[Shape] = field(default_factory=list)

    def add(self, *shapes: Shape) -> None:
        """Put shapes on top."""
        self.shapes.extend(shapes)


def box(rect: Rect, fill: Color | None = None, stroke: Color | None = None, width: float = 1.0, r: float = 0.0) -> Box:
    """Return a rectangle of pixels as a shape; ``r`` rounds its corners."""
    return Box(*rect, fill, stroke, width, r)


def arrow(
    start: Point, end: Point, color: Color, width: float, head: float, offset: float = 0.0, *, dashed: bool = False
) -> Iterator[Polyline | Polygon]:
    """Draw an arrow.

    Args:
        start: start of the arrow.
        end: its tip.
        color: color of line and head.
        width: width of the line.
        head: size of the head; 0 draws a line alone.
        offset: draws two lines, each so far from the middle; 0 draws one.
        dashed: whether the line is dashed.
    """
    for shift in (-offset, offset) if offset else (0.0,):
        yield Polyline(parallel(start, end, shift), color, width, dashed)
    if head:
        yield arrowhead(start, end, color, head)


def arrowhead(start: Point, end: Point, color: Color, size: float, spread: float = 0.45) -> Polygon:
    """Return the head of an arrow from start to end."""
    angle = math.atan2(end[1] - start[1], end[0] - start[0])
    barbs = [
        (end[0] - size * math.cos(angle + turn), end[1] - size * math.sin(angle + turn)) for turn in (-spread, spread)
    ]
    return Polygon((end, *barbs), color, color)


def parallel(start: Point, end: Point, offset: float) -> tuple[Point, Point]:
    """Return the ends of a line moved sideways."""
    distance = math.dist(start, end) or 1.0
    x, y = (end[1] - start[1]) / distance * offset, (start[0] - end[0]) / distance * offset
    return (start[0] + x, start[1] + y), (end[0] + x, end[1] + y)


def between(start: Point, end: Point, fraction: float) -> Point:
    """Return the point at a fraction of the way from start to end."""
    return start[0] + (end[0] - start[0]) * fraction, start[1] + (end[1] - start[1]) * fraction


def dash_segments(points: Iterable[Point], width: float) -> list[tuple[Point, Point]]:
    """Return the dashes of a line of a width."""
    period = dash_period(width)
    dashes = []
    for start, end in itertools.pairwise(points):
        distance = math.dist(start, end)
        for i in range(int(distance // period) + 1):
            ends = [
                min(at, distance) / distance if distance else 0.0 for at in (i * period, (i + DASH_FRACTION) * period)
            ]
            dashes.append((between(start, end, ends[0]), between(start, end, ends[1])))
    return dashes


def dash_period(width: float) -> float:
    """Return the distance from one dash to the next on a line of a width."""
    return 4 * width + 2


def blend(color: Color, other: Color, fraction: float) -> Color:
    """Return the mixture of two colors; ``fraction`` of the other one."""
    mixed = (round(a + (b - a) * fraction) for a, b in zip(rgb(color), rgb(other), strict=True))
    return "#{:02x}{:02x}{:02x}".format(*mixed)


def rgb(color: Color) -> tuple[int, int, int]:
    """Return red, green and blue of a color, 0 to 255."""
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def placed(shapes: Iterable[Shape], origin: Point, scale: float = 1.0) -> Iterator[Shape]:
    """Scale shapes, then move them so that what was at (0, 0) is at a point."""

    def at(point: Point) -> Point:
        return origin[0] + point[0] * scale, origin[1] + point[1] * scale

    for shape in shapes:
        match shape:
            case Polygon():
                yield replace(shape, points=tuple(map(at, shape.points)), width=shape.width * scale)
            case Polyline():
                yield replace(shape, points=tuple(map(at, shape.points)), width=shape.width * scale)
            case Circle():
                yield replace(shape, center=at(shape.center), radius=shape.radius * scale, width=shape.width * scale)
            case Box():
                left, top = at((shape.left, shape.top))
                sizes = (shape.width, shape.height, shape.stroke_width, shape.rounding)
                width, height, stroke, rounding = (size * scale for size in sizes)
                yield Box(left, top, width, height, shape.fill, shape.stroke, stroke, rounding)
            case Text():
                yield replace(shape, position=at(shape.position), size=shape.size * scale)
            case Use():
                yield replace(shape, center=at(shape.center), size=shape.size * scale)


def recolored(shapes: Iterable[PlainShape], colors: Mapping[Color, Color]) -> Iterator[PlainShape]:
    """Replace colors of shapes by others; those that are not named stay."""
    for shape in shapes:
        changed = {
            name: colors.get(getattr(shape, name), getattr(shape, name))
            for name in ("fill", "stroke", "color")
            if hasattr(shape, name)
        }
        yield replace(shape, **changed)
