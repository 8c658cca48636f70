"""Where things are in a picture: polar geometry of the board, and the parts beside it."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from geo_patrol.board import azimuth_of, ring_of, sector_at
from geo_patrol.config.schema import BoardConfig
from geo_patrol.scenes import theme
from geo_patrol.scenes.shapes import Point, Rect
from geo_patrol.scenes.theme import EARTH_RADIUS, FIRST_RING

Polar: TypeAlias = tuple[float, float]
"""Distance in pixels, angle in radians."""


@dataclass(frozen=True)
class BoardGeometry:
    """Rings around a center.

    Attributes:
        board: the rings.
        center: center of the Earth, in pixels.
        radius: radius of the outermost ring's outer edge, in pixels.
    """

    board: BoardConfig
    center: Point
    radius: float

    @property
    def earth_radius(self) -> float:
        """The Earth's radius in pixels."""
        return self.radius * EARTH_RADIUS

    @property
    def ring_width(self) -> float:
        """The width of a ring in pixels."""
        return self.radius * (1 - FIRST_RING) / (self.board.outer_ring - self.board.inner_ring + 1)

    def inner_edge(self, ring: int) -> float:
        """Return a ring's inner radius in pixels."""
        return self.radius * FIRST_RING + (ring - self.board.inner_ring) * self.ring_width

    def outer_edge(self, ring: int) -> float:
        """Return a ring's outer radius in pixels."""
        return self.inner_edge(ring) + self.ring_width

    def point(self, position: Polar) -> Point:
        """Return a polar position in pixels of the picture."""
        distance, angle = position
        return self.center[0] + distance * math.cos(angle), self.center[1] - distance * math.sin(angle)

    def sector_center(self, sector: int) -> Point:
        """Return the middle of a sector in pixels of the picture."""
        ring = int(ring_of(sector))
        return self.point(((self.inner_edge(ring) + self.outer_edge(ring)) / 2, middle_angle(sector)))

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
        x, y = point[0] - self.center[0], self.center[1] - point[1]
        ring = math.floor((math.hypot(x, y) - self.radius * FIRST_RING) / self.ring_width) + self.board.inner_ring
        if not self.board.inner_ring <= ring <= self.board.outer_ring:
            return None
        return int(sector_at(ring, math.floor(math.atan2(y, x) / sector_angle(ring))))


def sector_angle(ring: int) -> float:
    """Return the angle that a sector of a ring spans."""
    return math.tau / (1 << ring)


def middle_angle(sector: int) -> float:
    """Return the angle of a sector's middle."""
    return (int(azimuth_of(sector)) + 0.5) * sector_angle(int(ring_of(sector)))


MIN_SIZE = (320, 240)
MAX_SIZE = (8192, 8192)
_BOARD_FRACTION = 0.56
"""Largest fraction of the width that the board takes beside the panel."""
_LEGEND_WIDTH = 7
"""Width of the legend's words, in lines."""
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
LEGEND_ITEMS = 5
_LEGEND_ITEM_WIDTH = 4.5
"""Width of a mark and its word in a flat legend, in lines."""

TextMeasure: TypeAlias = Callable[[str, int], tuple[int, int]]
"""Returns width and height in pixels of a text in a font size."""

ToolbarHeight: TypeAlias = Callable[[int], int]
"""Returns the height in pixels that a toolbar of a width takes."""


def no_toolbar(_width: int) -> int:
    """Return 0: pictures have no buttons."""
    return 0


def approximate_text_size(text: str, size: int) -> tuple[int, int]:
    """Return about how large a text is, for drawings whose font is not known, such as SVG."""
    return round(0.58 * size * len(text)), size


def wrap_text(text: str, size: int, width: int, measure: TextMeasure) -> list[str]:
    """Break a text between words into lines of at most a width in pixels; leading blanks indent all of them."""
    indent = text[: len(text) - len(text.lstrip())]
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else indent + word
        if lines and measure(longer, size)[0] <= width:
            lines[-1] = longer
        else:
            lines.append(indent + word)
    return lines


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
        return fitted_text(self.measure, text, size, width)

    def wrapped(self, text: str, size: int, width: int) -> list[str]:
        """Break a text into lines, as ``wrap_text`` does."""
        return wrap_text(text, size, width, self.measure)


@dataclass(frozen=True)
class Layout(TextStyle):
    """Rectangles of a picture.

    Attributes:
        board: the square that holds the board.
        header: title, turn, phase and score.
        tables: one for each side.
        outcomes: the list of engagements, or of the orders to choose from.
        chart: the score over the turns.
        legend: the engagement marks explained: a corner of the board, or a line beneath it.
        toolbar: buttons of a window; empty in a picture.
        geometry: geometry of the board.
    """

    board: Rect
    header: Rect
    tables: tuple[Rect, Rect]
    outcomes: Rect
    chart: Rect
    legend: Rect
    toolbar: Rect
    geometry: BoardGeometry


def fitted_text(measure: TextMeasure, text: str, size: int, width: int) -> str:
    """Return a text, shortened with two dots if it is wider than so many pixels."""
    if measure(text, size)[0] <= width:
        return text
    while text and measure(text + "..", size)[0] > width:
        text = text[:-1]
    return text + ".."


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

    @property
    def tables(self) -> int:
        return self.line("small") * (self.fleet_size + 1) + self.gap

    def legend(self, width: int) -> int:
        """Return the height of a flat legend, which has a second row where it is narrow."""
        tiny = self.line("tiny")
        return tiny if width >= LEGEND_ITEMS * _LEGEND_ITEM_WIDTH * tiny else 2 * tiny


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
    toolbar: ToolbarHeight = no_toolbar,
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
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"the {name} of a picture must be an integer from {low} to {high}, got {value!r}")
    metrics = _Metrics(theme.scale_of(width, height), fleet_size, toolbar)
    areas = _wide(width, height, metrics) if width >= _MIN_WIDE * height else _tall(width, height, metrics)
    header, tables, rest, buttons = _split_panel(areas, metrics)
    legend, outcomes, chart = _place_legend(areas, rest, metrics)
    geometry = BoardGeometry(board, areas.square.center, areas.square.width / 2 - metrics.margin)
    return Layout(metrics.scale, measure, areas.square, header, tables, outcomes, chart, legend, buttons, geometry)


def _wide(width: int, height: int, metrics: _Metrics) -> _Areas:
    """Place the panel beside the board, and the toolbar beneath the board where the panel lacks height."""
    side = min(height, round(width * _BOARD_FRACTION))
    usual = _beside(side, width, height, metrics)
    panel = usual.panel
    rest = panel.height - metrics.header - metrics.tables - metrics.toolbar(panel.width) - 3 * metrics.gap
    if not metrics.toolbar(panel.width) or rest >= _MIN_LIST_LINES * metrics.line("small"):
        return usual
    areas = usual
    while side >= _MIN_BOARD_FRACTION * usual.square.width:
        below = areas.below
        toolbar = metrics.toolbar(below.width)
        fitting = height - metrics.margin - metrics.legend(below.width) - metrics.gap - toolbar
        if fitting >= side:
            legend = below._replace(height=below.height - toolbar - metrics.gap)
            return areas._replace(below=legend, toolbar=Rect(below.left, below.bottom - toolbar, below.width, toolbar))
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
    used = metrics.header + metrics.tables + metrics.toolbar(panel_width) + 3 * metrics.gap + margin
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
    half = (panel.width - gap) // 2
    top = header.bottom + gap
    tables = (
        Rect(panel.left, top, half, metrics.tables),
        Rect(panel.right - half, top, half, metrics.tables),
    )
    top += metrics.tables + gap
    bottom = within.top - gap if toolbar_height and areas.toolbar is None else panel.bottom
    return header, tables, Rect(panel.left, top, panel.width, max(bottom - top, 0)), areas.toolbar or within


def _place_legend(areas: _Areas, rest: Rect, metrics: _Metrics) -> tuple[Rect, Rect, Rect]:
    """Return legend, list of outcomes and chart."""
    square, below, gap, scale = areas.square, areas.below, metrics.gap, metrics.scale
    small, tiny = metrics.line("small"), metrics.line("tiny")
    if areas.toolbar is not None or below.height >= 5 * small:
        legend = Rect(below.left, below.top, below.width, metrics.legend(below.width))
        top = legend.bottom + gap
        return legend, rest, Rect(below.left, top, below.width, max(below.bottom - top, 0))
    corner = max(round(8 * scale), 3)
    fits_beside = square.left - areas.panel.left >= _LEGEND_WIDTH * tiny  # of a small board under a wide window
    left = areas.panel.left if fits_beside else square.left + corner
    height = LEGEND_ITEMS * tiny
    legend = Rect(left, square.bottom - corner - height, 10 * tiny, height)
    chart_height = min(round(rest.height * 0.42), 8 * small)
    outcomes = Rect(rest.left, rest.top, rest.width, max(rest.height - chart_height - gap, 0))
    return legend, outcomes, Rect(rest.left, outcomes.bottom + gap, rest.width, chart_height)
