"""Where the parts of a picture are, computed apart from drawing them."""

from dataclasses import dataclass

from pygame import Rect

from geo_patrol.config.schema import BoardConfig
from geo_patrol.rendering import theme
from geo_patrol.scenes.geometry import BoardGeometry

SMALLEST = (320, 240)
LARGEST = (8192, 8192)
_BOARD_PART = 0.56
"""Of the width, at most, beside the panel; of the height above it."""
_LEGEND_WORDS = 7
"""Width of the legend's words, in lines."""
_LEAST_WIDE = 0.75
"""Width over height from which the panel is beside the board: beneath a board that wide it would lack height."""


@dataclass(frozen=True)
class Layout:
    """Rectangles of a picture.

    Attributes:
        scale: by how much texts are larger than in a picture of 1280 x 720.
        board: the square that holds the board.
        header: title, turn, phase and score.
        tables: one for each side.
        outcomes: the list of engagements, or of the orders to choose from.
        chart: the course of the score.
        legend: what the marks mean: a corner of the board, or a line beneath it.
        toolbar: buttons of a window; empty in a picture.
        geometry: of the board.
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

    def text_size(self, name: str) -> int:
        """Return a text's size in pixels."""
        return theme.text_size(name, self.scale)

    def line(self, name: str) -> int:
        """Return the height of a line of text in pixels."""
        return round(self.text_size(name) * theme.LINE_HEIGHT)


def make_layout(width: int, height: int, board: BoardConfig, fleet: int, toolbar_rows: int = 0) -> Layout:
    """Lay out a picture.

    Args:
        width: in pixels.
        height: in pixels.
        board: the rings to be drawn.
        fleet: satellites of the larger side.
        toolbar_rows: rows of buttons.

    Raises:
        ValueError: there is no room, or far too much.
    """
    for name, value, low, high in zip(("width", "height"), (width, height), SMALLEST, LARGEST, strict=True):
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"{name} of a picture = {value!r}: give a whole number from {low} to {high}")
    scale = theme.scale_of(width, height)
    margin = max(round(theme.MARGIN * scale), 5)
    wide = width >= _LEAST_WIDE * height
    if wide:
        side = min(height, round(width * _BOARD_PART))
        panel = Rect(side + margin, margin, width - side - round(1.8 * margin), height - 2 * margin)
    else:
        side = min(width, round(height * 0.52))
        panel = Rect(margin, side, width - 2 * margin, height - side - margin)
    square = Rect(0 if wide else (width - side) // 2, 0, side, side)
    below = Rect(margin, side, side - 2 * margin, height - side - margin) if wide else Rect(0, 0, 0, 0)
    return _fill(panel, square, below, board, fleet, toolbar_rows, scale, margin)


def _fill(
    panel: Rect, square: Rect, below: Rect, board: BoardConfig, fleet: int, toolbar_rows: int, scale: float, margin: int
) -> Layout:
    line, small = (round(theme.text_size(name, scale) * theme.LINE_HEIGHT) for name in ("normal", "small"))
    gap = max(margin // 2, 4)
    huge = round(theme.text_size("huge", scale) * 1.05)
    header = Rect(panel.left, panel.top, panel.width, 2 * line + huge + small)
    toolbar_height = toolbar_rows * round(line * 1.75)
    toolbar = Rect(panel.left, panel.bottom - toolbar_height, panel.width, toolbar_height)
    half = (panel.width - gap) // 2
    table_height = small * (fleet + 1) + gap
    top = header.bottom + gap
    tables = (
        Rect(panel.left, top, half, table_height),
        Rect(panel.right - half, top, half, table_height),
    )
    top += table_height + gap
    rest = Rect(panel.left, top, panel.width, (toolbar.top - gap if toolbar_rows else panel.bottom) - top)
    tiny = round(theme.text_size("tiny", scale) * theme.LINE_HEIGHT)
    corner = max(round(8 * scale), 3)
    is_beside = square.left - panel.left >= _LEGEND_WORDS * tiny  # a small board under a wide window leaves room there
    left = panel.left if is_beside else square.left + corner
    legend = Rect(left, square.bottom - corner - 5 * tiny, 10 * tiny, 5 * tiny)
    if below.height >= 5 * small:
        legend = Rect(below.left, below.top, below.width, tiny)
        outcomes, chart = rest, Rect(below.left, legend.bottom + gap, below.width, below.height - tiny - gap)
    else:
        chart_height = min(round(rest.height * 0.42), 8 * small)
        outcomes = Rect(rest.left, rest.top, rest.width, rest.height - chart_height - gap)
        chart = Rect(rest.left, outcomes.bottom + gap, rest.width, chart_height)
    geometry = BoardGeometry(board, square.center, square.width / 2 - margin)
    return Layout(scale, square, header, tables, outcomes, chart, legend, toolbar, geometry)
