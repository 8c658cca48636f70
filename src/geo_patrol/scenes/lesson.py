"""The card of a lesson's step, beside the board: title, explanation, what to do, and a hint."""

from collections.abc import Iterator
from typing import NamedTuple

from geo_patrol.scenes import theme
from geo_patrol.scenes.layout import Layout
from geo_patrol.scenes.shapes import Color, Rect, Shape, Text, box
from geo_patrol.sessions.lesson import Card

_WARNING: Color = theme.SIDES_BRIGHT["bravo"]
_SIZES = ("normal", "small", "tiny")


class _Line(NamedTuple):
    """A line of text, and the space above it in lines."""

    text: str
    color: Color
    space: float = 0.0


def lesson_shapes(layout: Layout, card: Card) -> Iterator[Shape]:
    """Draw the card where it covers as little as possible: over the lists, then the tables, at last the header."""
    area, size, lines = _fitted(layout, card)
    padding = round(size * 0.8)
    line_height = size * theme.LINE_HEIGHT
    yield box(area, theme.CARD, theme.CHOICE, layout.stroke(1), padding // 2)
    y = area.top + padding + line_height / 2
    yield Text((area.right - padding, y), card.progress, size, theme.SOFT, "midright")
    for line in lines:
        y += line.space * line_height
        yield Text((area.left + padding, y), line.text, size, line.color)
        y += line_height


def _fitted(layout: Layout, card: Card) -> tuple[Rect, int, list[_Line]]:
    """Return the card's area, the size of its text, and its lines."""
    panel = layout.header
    in_panel = layout.chart.left >= layout.outcomes.left
    bottom = max(layout.outcomes.bottom, layout.chart.bottom if in_panel else 0)
    for top in (layout.outcomes.top, layout.tables[0].top, panel.top):
        for name in _SIZES:
            size = layout.text_size(name)
            padding = round(size * 0.8)
            lines = _lines(layout, card, size, panel.width - 2 * padding)
            height = round(size * theme.LINE_HEIGHT * sum(1 + line.space for line in lines)) + 2 * padding
            if top + height <= bottom:
                return Rect(panel.left, top, panel.width, height), size, lines
    return Rect(panel.left, panel.top, panel.width, bottom - panel.top), size, lines


def _lines(layout: Layout, card: Card, size: int, width: int) -> list[_Line]:
    title_width = width - layout.text_width(card.progress, size) - size
    lines = [_Line(layout.fitted(card.title, size, title_width), theme.TEXT)]
    for text, color in ((card.text, theme.SOFT), (card.hint, _WARNING), (card.task, theme.CHOICE)):
        wrapped = layout.wrapped(text, size, width)
        lines += [_Line(line, color, 0.5 * (i == 0)) for i, line in enumerate(wrapped)]
    return lines
