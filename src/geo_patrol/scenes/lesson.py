"""The card of a lesson's step: title, explanation, what to do, and a hint."""

from collections.abc import Iterator
from typing import NamedTuple

from geo_patrol.scenes import theme
from geo_patrol.scenes.layout import Layout, TextMeasure, wrap_text
from geo_patrol.scenes.shapes import Color, Rect, Shape, Text, box
from geo_patrol.sessions.lesson import Card

_WARNING: Color = theme.SIDES_BRIGHT["bravo"]
_SIZES = ("normal", "small", "tiny")


class _LessonLine(NamedTuple):
    """A line of text, and the space above it in lines."""

    text: str
    color: Color
    space: float = 0.0


class CardLayout:
    """A card with its text broken into lines.

    Args:
        card: what is written.
        width: width of the card in pixels.
        size: size of its text in pixels.
        measure: returns the size of a text.

    Attributes:
        height: height of the card in pixels.
    """

    def __init__(self, card: Card, width: int, size: int, measure: TextMeasure) -> None:
        self._card, self._width, self._size = card, width, size
        self._padding = round(size * 0.8)
        self._lines = [_LessonLine(card.title, theme.TEXT)]
        for text, color in ((card.text, theme.SOFT), (card.hint, _WARNING), (card.task, theme.CHOICE)):
            lines = wrap_text(text, size, width - 2 * self._padding, measure)
            self._lines += [_LessonLine(line, color, 0.5 * (i == 0)) for i, line in enumerate(lines)]
        count = sum(1 + line.space for line in self._lines)
        self.height = round(size * theme.LINE_HEIGHT * count) + 2 * self._padding

    def shapes(self, left: int, top: int) -> Iterator[Shape]:
        """Draw the card with its top left corner at a pixel."""
        size, padding = self._size, self._padding
        line_height = size * theme.LINE_HEIGHT
        yield box(Rect(left, top, self._width, self.height), theme.CARD, theme.CHOICE, max(size // 12, 1), padding // 2)
        y = top + padding + line_height / 2
        yield Text((left + self._width - padding, y), self._card.progress, size, theme.SOFT, "midright")
        for line in self._lines:
            y += line.space * line_height
            yield Text((left + padding, y), line.text, size, line.color)
            y += line_height


def lesson_shapes(layout: Layout, card: Card) -> Iterator[Shape]:
    """Draw the card beside the board, where it covers little: over the lists, then the tables, at last the header."""
    chart = layout.chart if layout.chart.left >= layout.outcomes.left else Rect(0, 0, 0, 0)  # beneath the board
    bottom = max(layout.outcomes.bottom, chart.bottom)
    fitted, top = _fitted(layout, card, bottom)
    if chart.top < top + fitted.height < chart.bottom:
        yield box(chart, theme.PANEL)  # rather than a piece of it
    yield from fitted.shapes(layout.header.left, top)


def _fitted(layout: Layout, card: Card, bottom: int) -> tuple[CardLayout, int]:
    """Return the card as large as fits above a row of pixels, and its top."""
    panel = layout.header
    for top in (layout.outcomes.top, layout.tables[0].top, panel.top):
        for name in _SIZES:
            fitted = CardLayout(card, panel.width, layout.text_size(name), layout.measure)
            if top + fitted.height <= bottom:
                return fitted, top
    return fitted, panel.top
