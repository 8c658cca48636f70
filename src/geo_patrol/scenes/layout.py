"""Where things are in a picture: polar geometry of the board, and the parts beside it."""

import bisect
import functools
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import NamedTuple, TypeAlias

from geo_patrol.base.board import azimuth_of, ring_of, sector_at
from geo_patrol.config.schema import BoardConfig
from geo_patrol.drawing.shapes import Point, Rect
from geo_patrol.drawing.sheet import TextMeasure, wrap_text
from geo_patrol.scenes import theme

Polar: TypeAlias = tuple[float, float]
"""Distance in pixels, angle in radians."""


@dataclass(frozen=True)
class BoardGeometry:
    """Rings around a center: the goals' ring is the widest, whatever the position, so that nothing jumps.

    Attributes:
        board: the rings.
        center: center of the Earth, in pixels.
        radius: radius of the outermost ring's outer edge, in pixels.
        max_token: largest diameter of a satellite, in pixels.
        min_token: diameter below which satellites of a sector are shown as stacks, in pixels.
    """

    board: BoardConfig
    center: Point
    radius: float
    max_token: float = theme.MAX_TOKEN
    min_token: float = theme.MIN_TOKEN

    @functools.cached_property
    def edges(self) -> tuple[float, ...]:
        """Radii of the rings' edges in pixels, from the inner edge of the innermost ring outward."""
        rings = range(self.board.inner_ring, self.board.outer_ring + 1)
        near = (theme.GOAL_RING, theme.NEXT_TO_GOAL)
        distances = (abs(ring - self.board.goal_ring) for ring in rings)
        parts = [near[distance] if distance < len(near) else 1.0 for distance in distances]
        unit = self.radius * (1 - theme.EARTH) / sum(parts)
        return tuple(itertools.accumulate((part * unit for part in parts), initial=self.radius * theme.EARTH))

    @property
    def earth_radius(self) -> float:
        """The Earth's radius in pixels."""
        return self.edges[0] * 0.8

    def inner_edge(self, ring: int) -> float:
        """Return a ring's inner radius in pixels."""
        return self.edges[ring - self.board.inner_ring]

    def outer_edge(self, ring: int) -> float:
        """Return a ring's outer radius in pixels."""
        return self.edges[ring - self.board.inner_ring + 1]

    def middle(self, ring: int) -> float:
        """Return the radius of a ring's middle in pixels."""
        return (self.inner_edge(ring) + self.outer_edge(ring)) / 2

    def point(self, position: Polar) -> Point:
        """Return a polar position in pixels of the picture."""
        distance, angle = position
        return self.center[0] + distance * math.cos(angle), self.center[1] - distance * math.sin(angle)

    def polar(self, point: Point) -> Polar:
        """Return the polar position of a pixel of the picture."""
        x, y = point[0] - self.center[0], self.center[1] - point[1]
        return math.hypot(x, y), math.atan2(y, x)

    def sector_center(self, sector: int) -> Point:
        """Return the middle of a sector in pixels of the picture."""
        ring = int(ring_of(sector))
        return self.point((self.middle(ring), middle_angle(sector)))

    def outline(self, sector: int, rotation: float = 0.0, inset: float = 0.0) -> tuple[Point, ...]:
        """Return a sector's outline.

        Args:
            sector: number of the sector.
            rotation: how far it has turned, in sectors of its ring.
            inset: how far inside its edges the outline runs, in pixels.
        """
        ring = int(ring_of(sector))
        width = sector_angle(ring)
        start = (int(azimuth_of(sector)) + rotation) * width
        inner, outer = self.inner_edge(ring) + inset, self.outer_edge(ring) - inset
        steps = max(2, math.ceil(width / 0.05))
        return tuple(
            self.point((distance, start + (width - 2 * inset / distance) * step / steps + inset / distance))
            for distance, order in ((inner, range(steps + 1)), (outer, range(steps, -1, -1)))
            for step in order
        )

    def sector_of(self, point: Point) -> int | None:
        """Return the sector at a pixel of the picture; None if there is none."""
        distance, angle = self.polar(point)
        ring = bisect.bisect_right(self.edges, distance) - 1 + self.board.inner_ring
        if not self.board.inner_ring <= ring <= self.board.outer_ring:
            return None
        return int(sector_at(ring, math.floor(angle / sector_angle(ring))))


def sector_angle(ring: int) -> float:
    """Return the angle that a sector of a ring spans."""
    return math.tau / (1 << ring)


def middle_angle(sector: int) -> float:
    """Return the angle of a sector's middle."""
    return (int(azimuth_of(sector)) + 0.5) * sector_angle(int(ring_of(sector)))


MIN_SIZE = (320, 240)
MAX_SIZE = (8192, 8192)
_BOARD_FRACTION = 0.625
"""Largest fraction of the width that the board takes beside the panel."""
_AROUND = 22
"""Space around the board for numbers, in a picture of 1280 x 720."""
_MIN_WIDE = 0.75
"""Width over height from which the panel is beside the board: beneath a board that wide it would lack height."""
_TALL_BOARD_FRACTION = 0.52
"""Largest fraction of the height that the board takes above the panel."""
_MIN_LIST_LINES = 8
"""Lines for the list of engagements, below which the toolbar goes beneath the board if it can."""
_MIN_TALL_LIST_LINES = 5
"""Lines for that list, for which the board above the panel is made smaller."""
_MIN_BOARD_FRACTION = 0.78
"""Smallest fraction of its side that the board keeps when it makes space for a toolbar or a list."""
_FLEET_TOKEN, _MIN_FLEET_CELL = 34, 26
"""Diameter of a satellite in its fleet's row, and the width below which the fleet takes two rows."""

ToolbarHeight: TypeAlias = Callable[[int], int]
"""Returns the height in pixels that a toolbar of a width takes."""


def approximate_text_size(text: str, size: int) -> tuple[int, int]:
    """Return about how large a text is, for drawings whose font is not known, such as SVG."""
    return round(0.58 * size * len(text)), size


@dataclass(frozen=True)
class TextStyle:
    """How texts are written in a picture.

    Attributes:
        scale: by how much they are larger than in a picture of 1280 x 720.
        measure: returns the size of a text.
    """

    scale: float
    measure: TextMeasure

    def text_size(self, name: str) -> int:
        """Return the font size of a kind of text in pixels."""
        return theme.text_size(name, self.scale)

    def line_height(self, name: str) -> int:
        """Return the height of a line of a kind of text in pixels."""
        return round(self.text_size(name) * theme.LINE_HEIGHT)

    def text_width(self, text: str, size: int) -> int:
        """Return the width of a text in pixels."""
        return self.measure(text, size)[0]

    def stroke(self, width: float) -> int:
        """Return the width of a line in pixels, given for a picture of 1280 x 720."""
        return max(round(width * self.scale), 1)

    def fitted(self, text: str, size: int, width: int) -> str:
        """Return a text, shortened with two dots if it is wider than so many pixels."""
        if self.text_width(text, size) <= width:
            return text
        while text and self.text_width(text + "..", size) > width:
            text = text[:-1]
        return text + ".."

    def wrapped(self, text: str, size: int, width: int) -> list[str]:
        """Break a text into lines, as ``wrap_text`` does."""
        return wrap_text(text, size, width, self.measure)


@dataclass(frozen=True)
class Layout(TextStyle):
    """Rectangles of a picture.

    Attributes:
        board: the square that holds the board.
        header: title, turn, phase and score.
        tables: the fleet of each side.
        columns: satellites in a row of a fleet.
        token: diameter of a satellite there, in pixels.
        outcomes: the cards of the last engagement.
        chart: the score over the turns.
        toolbar: buttons of a window; empty in a picture.
        geometry: geometry of the board.
    """

    board: Rect
    header: Rect
    tables: tuple[Rect, Rect]
    columns: int
    token: int
    outcomes: Rect
    chart: Rect
    toolbar: Rect
    geometry: BoardGeometry


class _Metrics(NamedTuple):
    """Heights of the parts of a panel."""

    scale: float
    fleet_size: int
    toolbar: ToolbarHeight

    @property
    def margin(self) -> int:
        return max(round(theme.MARGIN * self.scale), 5)

    @property
    def gap(self) -> int:
        return max(self.margin // 2, 4)

    def line(self, name: str) -> int:
        return round(theme.text_size(name, self.scale) * theme.LINE_HEIGHT)

    @property
    def header(self) -> int:
        return 2 * self.line("normal") + round(theme.text_size("huge", self.scale) * 1.05) + self.line("small")

    def columns(self, width: int) -> int:
        """Return how many satellites of a fleet stand in a row."""
        return self.fleet_size if width >= _MIN_FLEET_CELL * self.fleet_size else -(-self.fleet_size // 2)

    def token(self, width: int) -> int:
        """Return the diameter of a satellite in such a row."""
        return min(max(round(_FLEET_TOKEN * self.scale), 24), round(0.9 * width / self.columns(width)))

    def fleet(self, width: int) -> int:
        """Return the height of a fleet."""
        rows = -(-self.fleet_size // self.columns(width))
        return self.line("small") + rows * (self.token(width) + self.line("tiny"))

    def tables(self, width: int) -> int:
        """Return the height of both fleets."""
        return 2 * self.fleet(width) + self.gap


class _Areas(NamedTuple):
    """The board, the panel, the area beneath the board, and the toolbar beneath the board if it is there."""

    square: Rect
    panel: Rect
    below: Rect
    toolbar: Rect | None = None


def make_layout(
    width: int,
    height: int,
    board: BoardConfig,
    fleet_size: int,
    toolbar: ToolbarHeight = lambda _width: 0,
    measure: TextMeasure = approximate_text_size,
) -> Layout:
    """Lay out a picture.

    Args:
        width: in pixels.
        height: in pixels.
        board: the rings to be drawn.
        fleet_size: satellites of the larger side.
        toolbar: returns the height of the buttons in a width.
        measure: returns the size of a text.

    Raises:
        ValueError: the size is too small or too large.
    """
    for name, value, low, high in zip(("width", "height"), (width, height), MIN_SIZE, MAX_SIZE, strict=True):
        if isinstance(value, bool) or not isinstance(value, Integral) or not low <= value <= high:
            raise ValueError(f"the {name} of a picture must be an integer from {low} to {high}, got {value!r}")
    width, height = int(width), int(height)  # NumPy's integers too
    metrics = _Metrics(theme.scale_of(width, height), fleet_size, toolbar)
    areas = _wide(width, height, metrics) if width >= _MIN_WIDE * height else _tall(width, height, metrics)
    header, tables, rest, buttons = _split_panel(areas, metrics)
    outcomes, chart = _place_lists(areas, rest, metrics)
    around = max(round(_AROUND * metrics.scale), theme.MIN_TEXT_SIZE + 4)
    largest = max(theme.MAX_TOKEN * metrics.scale, theme.MIN_TOKEN)
    geometry = BoardGeometry(board, areas.square.center, areas.square.width / 2 - around, largest)
    columns, token = metrics.columns(header.width), metrics.token(header.width)
    return Layout(
        metrics.scale, measure, areas.square, header, tables, columns, token, outcomes, chart, buttons, geometry
    )


def _wide(width: int, height: int, metrics: _Metrics) -> _Areas:
    """Place the panel beside the board, and the toolbar beneath the board where the panel lacks height."""
    side = min(height, round(width * _BOARD_FRACTION))
    usual = _beside(side, width, height, metrics)
    panel = usual.panel
    rest = panel.height - metrics.header - metrics.tables(panel.width) - metrics.toolbar(panel.width)
    rest -= 3 * metrics.gap
    if not metrics.toolbar(panel.width) or rest >= _MIN_LIST_LINES * metrics.line("small"):
        return usual
    areas = usual
    while side >= _MIN_BOARD_FRACTION * usual.square.width:
        below = areas.below
        toolbar = metrics.toolbar(below.width)
        fitting = height - metrics.margin - toolbar
        if fitting >= side:
            free = below._replace(height=below.height - toolbar - metrics.gap)
            return areas._replace(below=free, toolbar=Rect(below.left, below.bottom - toolbar, below.width, toolbar))
        side = fitting  # which leaves less width to the toolbar
        areas = _beside(side, width, height, metrics)
    return usual


def _beside(side: int, width: int, height: int, metrics: _Metrics) -> _Areas:
    margin = metrics.margin
    panel = Rect(side + margin, margin, width - side - round(1.8 * margin), height - 2 * margin)
    below = Rect(margin, side, side - 2 * margin, height - side - margin)
    return _Areas(Rect(0, 0, side, side), panel, below)


def _tall(width: int, height: int, metrics: _Metrics) -> _Areas:
    """Place the panel beneath the board, which leaves it the height that it needs."""
    margin = metrics.margin
    panel_width = width - 2 * margin
    used = metrics.header + metrics.tables(panel_width) + metrics.toolbar(panel_width) + 3 * metrics.gap + margin
    largest = min(width, round(height * _TALL_BOARD_FRACTION))
    fitting = height - used - _MIN_TALL_LIST_LINES * metrics.line("small")
    side = min(largest, max(fitting, round(largest * _MIN_BOARD_FRACTION)))
    square = Rect((width - side) // 2, 0, side, side)
    return _Areas(square, Rect(margin, side, panel_width, height - side - margin), Rect(0, 0, 0, 0))


def _split_panel(areas: _Areas, metrics: _Metrics) -> tuple[Rect, tuple[Rect, Rect], Rect, Rect]:
    """Return header, tables, what remains of the panel, and toolbar."""
    panel, gap = areas.panel, metrics.gap
    header = Rect(panel.left, panel.top, panel.width, metrics.header)
    toolbar_height = metrics.toolbar(panel.width)
    within = Rect(panel.left, panel.bottom - toolbar_height, panel.width, toolbar_height)
    top, fleet = header.bottom + gap, metrics.fleet(panel.width)
    tables = (
        Rect(panel.left, top, panel.width, fleet),
        Rect(panel.left, top + fleet + gap, panel.width, fleet),
    )
    top = tables[1].bottom + gap
    bottom = within.top - gap if toolbar_height and areas.toolbar is None else panel.bottom
    return header, tables, Rect(panel.left, top, panel.width, max(bottom - top, 0)), areas.toolbar or within


def _place_lists(areas: _Areas, rest: Rect, metrics: _Metrics) -> tuple[Rect, Rect]:
    """Return where the cards of an engagement and the chart are: the chart beneath the board if it has space there."""
    small, below = metrics.line("small"), areas.below
    if below.height >= 5 * small:
        return rest, below
    height = min(round(rest.height * 0.3), 6 * small)
    outcomes = rest._replace(height=max(rest.height - height - metrics.gap, 0))
    return outcomes, Rect(rest.left, outcomes.bottom + metrics.gap, rest.width, height)
