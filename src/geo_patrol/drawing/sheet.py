"""Sheets of paper, whatever is on them: their sizes, colors and headings, and pages of text to print.

A sheet is a drawing; one that is fitted on paper keeps its proportions. A unit is about a quarter of a millimeter there.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from geo_patrol.drawing.shapes import Color, Drawing, Point, Polyline, Shape, Text

PAPER, INK, SOFT, GRID = "#ffffff", "#1d2433", "#6b7689", "#c3ccda"
"""White paper, ink, lighter ink, and lines between parts."""
WIDTH = 760.0
"""Width of sheets that are printed upright."""
HEIGHT = 1100.0
"""Height of sheets that fill a page."""
HEADING, TEXT = 24, 17
"""Sizes of type."""
MIN_TEXT = 16
"""The smallest size of text on a page: 11 points on A4."""


class PageLine(NamedTuple):
    """A line of a page: what it is about, and what there is to say; without the latter it is a heading."""

    left: str
    right: str = ""


class Tab(NamedTuple):
    """A part of a page."""

    title: str
    lines: tuple[PageLine, ...]


class Paper(NamedTuple):
    """A size of paper, in millimeters, upright."""

    width: float
    height: float


PAPERS = {"a4": Paper(210, 297), "letter": Paper(215.9, 279.4)}
MARGIN = 10.0
"""Millimeters on each side that printers may leave white."""


def fit(drawing: Drawing, paper: Paper) -> tuple[float, float]:
    """Return the size in millimeters in which a drawing fills a sheet of paper, upright or not, within the margins."""
    sizes = []
    for width, height in (paper, paper[::-1]):
        scale = min((width - 2 * MARGIN) / drawing.width, (height - 2 * MARGIN) / drawing.height)
        sizes.append((drawing.width * scale, drawing.height * scale))
    return max(sizes)


def new_sheet(title: str, subtitle: str) -> Drawing:
    """Return a page with a heading."""
    drawing = Drawing(WIDTH, HEIGHT, PAPER)
    drawing.add(Text((20, 36), title, HEADING, INK, bold=True))
    drawing.add(Text((WIDTH - 20, 36), subtitle, 16, SOFT, "midright"))
    drawing.add(Polyline(((20, 60), (WIDTH - 20, 60)), GRID, 2))
    return drawing


def add_tabs(drawing: Drawing, tabs: Sequence[Tab], top: float, bottom: float = HEIGHT - 20) -> float:
    """Write parts of a page below each other, as large as fits, in two columns; return where they end."""
    for size in range(TEXT, MIN_TEXT - 1, -1):
        shapes, end = _tab_shapes(tabs, top, size)
        if end <= bottom:
            break
    drawing.add(*shapes)
    return end


def _tab_shapes(tabs: Sequence[Tab], top: float, size: int) -> tuple[list[Shape], float]:
    """Return the texts of a page's parts, and where they end."""
    shapes: list[Shape] = []
    line, y = 1.32 * size, top
    for tab in tabs:
        shapes.append(Text((20, y), tab.title, size + 3, INK, bold=True))
        names = [text_size(row.left.strip(), size)[0] for row in tab.lines if row.right]
        left = max(names, default=0) + size
        y += 1.5 * line
        for row in tab.lines:
            indent = left if row.right else 0
            if row.right:
                shapes.append(Text((20, y), row.left.strip(), size, SOFT))
            for text in wrapped(row.right or row.left, size, WIDTH - 40 - indent):
                shapes.append(Text((20 + indent, y), text, size, INK, bold=not row.right))
                y += line
        y += line
    return shapes, y - line


def wrapped(text: str, size: int, width: float) -> list[str]:
    """Break a text into lines of a width."""
    return wrap_text(text, size, round(width), text_size)


def text_size(text: str, size: int) -> tuple[int, int]:
    """Return about how large a text is in print; lines of the font that PDFs are written with stay shorter."""
    return round(0.53 * size * len(text)), size


def add_text(drawing: Drawing, text: str, corner: Point, width: float, size: int = TEXT, color: Color = INK) -> float:
    """Write a text in lines of a width, the first one at a height; return the height of the line after the last one."""
    x, y = corner
    for line in wrapped(text, size, width):
        drawing.add(Text((x, y), line, size, color))
        y += 1.4 * size
    return y


TextMeasure: TypeAlias = Callable[[str, int], tuple[int, int]]
"""Returns width and height in pixels of a text in a font size."""


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
