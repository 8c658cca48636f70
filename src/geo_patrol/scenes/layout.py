"""Where the parts of a picture are."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from geo_patrol.config.schema import BoardConfig
from geo_patrol.scenes import theme
from geo_patrol.scenes.geometry import BoardGeometry
from geo_patrol.scenes.shapes import Rect

MIN_SIZE = (320, 240)
MAX_SIZE = (8192, 8192)
_BOARD_FRACTION = 0.56
"""Of the width, at most, beside the panel."""
_LEGEND_WIDTH = 7
"""Width of the legend's words, in lines."""
_MIN_WIDE = 0.75
"""Width over height from which the panel is beside the board: beneath a board that wide it would lack height."""

TextMeasure: TypeAlias = Callable[[str, int], tuple[int, int]]
"""Returns width and height in pixels of a text in a font size."""


def approximate_text_size(text: str, size: int) -> tuple[int, int]:
    """Return about how large a text is, for drawings whose font is not known, such as SVG."""
    return round(0.58 * size * len(text)), size


@dataclass(frozen=True)
class Layout:
    """Rectangles of a picture.

    Attributes:
        scale: by how much texts are larger than in a picture of 1280 x 720.
        board: the square that holds the board.
        header: title, turn, phase and score.
        tables: one for each side.
        outcomes: the list of engagements, or of the orders to choose from.
        chart: the score over the turns.
        legend: the engagement marks explained: a corner of the board, or a line beneath it.
        toolbar: buttons of a window; empty in a picture.
        geometry: of the board.
        measure: returns the size of a text.
    """

    scale: float
    board: Rect
    header: Rect
    tables: tuple[Rect, Rect]
    outcomes: Rect
    chart: Rect
    legend: Rect
    toolbar: Rect
    geometry: BoardGeometry
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


def make_layout(
    width: int,
    height: int,
    board: BoardConfig,
    fleet_size: int,
    toolbar_rows: int = 0,
    measure: TextMeasure = approximate_text_size,
) -> Layout:
    """Lay out a picture.

    Args:
        width: in pixels.
        height: in pixels.
        board: the rings to be drawn.
        fleet_size: satellites of the larger side.
        toolbar_rows: rows of buttons.
        measure: returns the size of a text.

    Raises:
        ValueError: the size is too small or too large.
    """
    for name, value, low, high in zip(("width", "height"), (width, height), MIN_SIZE, MAX_SIZE, strict=True):
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"{name} of a picture = {value!r}: give a whole number from {low} to {high}")
    scale = theme.scale_of(width, height)
    margin = max(round(theme.MARGIN * scale), 5)
    gap = max(margin // 2, 4)
    if width >= _MIN_WIDE * height:
        side = min(height, round(width * _BOARD_FRACTION))
        square = Rect(0, 0, side, side)
        panel = Rect(side + margin, margin, width - side - round(1.8 * margin), height - 2 * margin)
        below = Rect(margin, side, side - 2 * margin, height - side - margin)
    else:
        side = min(width, round(height * 0.52))
        square = Rect((width - side) // 2, 0, side, side)
        panel = Rect(margin, side, width - 2 * margin, height - side - margin)
        below = Rect(0, 0, 0, 0)
    header, tables, rest, toolbar = _split_panel(panel, fleet_size, toolbar_rows, scale, gap)
    legend, outcomes, chart = _place_legend(panel, square, below, rest, scale, gap)
    geometry = BoardGeometry(board, square.center, square.width / 2 - margin)
    return Layout(scale, square, header, tables, outcomes, chart, legend, toolbar, geometry, measure)


def _line_height(name: str, scale: float) -> int:
    return round(theme.text_size(name, scale) * theme.LINE_HEIGHT)


def _split_panel(
    panel: Rect, fleet_size: int, toolbar_rows: int, scale: float, gap: int
) -> tuple[Rect, tuple[Rect, Rect], Rect, Rect]:
    """Return header, tables, what remains of the panel, and toolbar."""
    line, small = _line_height("normal", scale), _line_height("small", scale)
    huge = round(theme.text_size("huge", scale) * 1.05)
    header = Rect(panel.left, panel.top, panel.width, 2 * line + huge + small)
    toolbar_height = toolbar_rows * round(line * 1.75)
    toolbar = Rect(panel.left, panel.bottom - toolbar_height, panel.width, toolbar_height)
    half = (panel.width - gap) // 2
    table_height = small * (fleet_size + 1) + gap
    top = header.bottom + gap
    tables = Rect(panel.left, top, half, table_height), Rect(panel.right - half, top, half, table_height)
    top += table_height + gap
    rest = Rect(panel.left, top, panel.width, (toolbar.top - gap if toolbar_rows else panel.bottom) - top)
    return header, tables, rest, toolbar


def _place_legend(
    panel: Rect, square: Rect, below: Rect, rest: Rect, scale: float, gap: int
) -> tuple[Rect, Rect, Rect]:
    """Return legend, list of outcomes and chart."""
    small, tiny = _line_height("small", scale), _line_height("tiny", scale)
    if below.height >= 5 * small:
        legend = Rect(below.left, below.top, below.width, tiny)
        return legend, rest, Rect(below.left, legend.bottom + gap, below.width, below.height - tiny - gap)
    corner = max(round(8 * scale), 3)
    fits_beside = square.left - panel.left >= _LEGEND_WIDTH * tiny  # of a small board under a wide window
    left = panel.left if fits_beside else square.left + corner
    legend = Rect(left, square.bottom - corner - 5 * tiny, 10 * tiny, 5 * tiny)
    chart_height = min(round(rest.height * 0.42), 8 * small)
    outcomes = Rect(rest.left, rest.top, rest.width, rest.height - chart_height - gap)
    return legend, outcomes, Rect(rest.left, outcomes.bottom + gap, rest.width, chart_height)
