"""Sheets of paper: their sizes, and pages of text and tables to print.

A sheet is a drawing; one that is fitted on paper keeps its proportions. A unit is about a quarter of a millimeter there.
"""

from typing import NamedTuple

from geo_patrol.scenes.layout import wrap_text
from geo_patrol.scenes.paper import GRID, INK, PAPER, SOFT
from geo_patrol.scenes.shapes import Drawing, Polyline, Text
from geo_patrol.sessions.pages import Tab

WIDTH = 760.0
"""Of sheets that are printed upright."""
HEIGHT = 1100.0
"""Of sheets that fill a page."""
HEADING, TEXT, SMALL = 24, 14, 11


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


def add_tab(drawing: Drawing, tab: Tab, top: float) -> float:
    """Write a page's part in two columns, and return where it ends."""
    left, line = 130.0, 19.0
    drawing.add(Text((20, top), tab.title, 18, INK, bold=True))
    y = top + 26
    for row in tab.lines:
        width = drawing.width - 40 - (left if row.right else 0)
        texts = wrap_text(row.right or row.left, TEXT, round(width), _text_size)
        if row.right:
            drawing.add(Text((20, y), row.left.strip(), TEXT, SOFT))
        for text in texts:
            x = 20 + (left if row.right else 0)
            drawing.add(Text((x, y), text, TEXT, INK, bold=not row.right))
            y += line
    return y


def _text_size(text: str, size: int) -> tuple[int, int]:
    """Return about how large a text is in print; lines of the font that PDFs are written with stay shorter."""
    return round(0.54 * size * len(text)), size
