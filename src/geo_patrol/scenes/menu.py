"""The start menu: a list of entries beneath the Earth."""

from collections.abc import Iterator
from dataclasses import dataclass

from geo_patrol.scenes import theme
from geo_patrol.scenes.board import atmosphere_shapes, earth_shapes
from geo_patrol.scenes.layout import TextMeasure, fitted_text
from geo_patrol.scenes.shapes import Rect, Shape, Text, box
from geo_patrol.sessions.menu import Menu

_WIDTH = 46
"""Largest width of the list, in sizes of the text."""


@dataclass(frozen=True)
class MenuLayout:
    """Where the parts of a menu are.

    Attributes:
        scale: by how much texts are larger than in a window of 1280 x 720.
        title: the line of the question.
        back: the button that returns to the list before.
        earth: the square of the Earth; empty where there is no space.
        entries: rectangles of the entries that are shown.
        first: index of the first of them.
        hint: the line at the bottom.
    """

    scale: float
    title: Rect
    back: Rect
    earth: Rect
    entries: tuple[Rect, ...]
    first: int
    hint: Rect

    def entry_at(self, point: tuple[int, int]) -> int | None:
        """Return the index of the entry at a point; None if there is none."""
        return next((self.first + i for i, rect in enumerate(self.entries) if rect.contains(point)), None)


def lay_out_menu(width: int, height: int, menu: Menu) -> MenuLayout:
    """Lay a menu out in a window; the selected entry is always shown."""
    scale = theme.scale_of(width, height)
    text, small = theme.text_size("normal", scale), theme.text_size("small", scale)
    margin = text
    row = round(1.5 * text + 1.5 * small + 0.6 * text)
    gap = max(text // 3, 3)
    column = min(width - 2 * margin, _WIDTH * text)
    left = (width - column) // 2
    count, index = len(menu.current.entries), menu.current.index
    heading, footer = 3 * text, 2 * text
    available = height - 2 * margin - heading - footer
    shown = min(count, max(available // (row + gap), 1))
    spare = available - shown * (row + gap)
    side = min(round(spare * 0.8), round(0.3 * height)) if spare >= 4 * text else 0
    top = margin + (spare - side) // 2 if side else margin
    earth = Rect((width - side) // 2, top, side, side)
    title = Rect(left, earth.bottom + (text if side else 0), column, heading - gap)
    first = min(max(menu.current.first, index - shown + 1, 0), index, count - shown)
    tops = (title.bottom + gap + i * (row + gap) for i in range(shown))
    entries = tuple(Rect(left, top, column, row) for top in tops)
    back = Rect(left, title.top, 5 * text, 2 * text)
    return MenuLayout(scale, title, back, earth, entries, first, Rect(left, height - margin - text, column, text))


def menu_shapes(layout: MenuLayout, menu: Menu, measure: TextMeasure) -> Iterator[Shape]:
    """Draw a menu."""
    text, large = theme.text_size("normal", layout.scale), theme.text_size("large", layout.scale)
    if layout.earth.width:
        radius = layout.earth.width / 2
        yield from atmosphere_shapes(layout.earth.center, radius * 0.8)
        yield from earth_shapes(layout.earth.center, radius * 0.8, 0.4)
    title = fitted_text(measure, menu.current.title, large, layout.title.width - 2 * layout.back.width)
    yield Text(layout.title.center, title, large, theme.TEXT, "center")
    if not menu.is_first:
        yield box(layout.back, theme.CARD_BRIGHT, theme.LINE, 1, text // 2)
        yield Text(layout.back.center, "Back", text, theme.TEXT, "center")
    for i, rect in enumerate(layout.entries, start=layout.first):
        yield from _entry_shapes(layout, menu, i, rect, measure)
    yield from _hint_shapes(layout, menu, measure)


def _entry_shapes(layout: MenuLayout, menu: Menu, index: int, rect: Rect, measure: TextMeasure) -> Iterator[Shape]:
    entry, is_selected = menu.current.entries[index], index == menu.current.index
    text, small = theme.text_size("normal", layout.scale), theme.text_size("small", layout.scale)
    fill = theme.CARD_BRIGHT if is_selected else theme.CARD
    yield box(rect, fill, theme.CHOICE if is_selected else theme.LINE, 2 if is_selected else 1, text // 2)
    width = rect.width - 2 * text
    label = fitted_text(measure, entry.label, text, width)
    note = fitted_text(measure, entry.note, small, width)
    yield Text((rect.left + text, rect.top + round(0.3 * text + 0.75 * text)), label, text, theme.TEXT)
    if note:
        yield Text((rect.left + text, rect.bottom - round(0.3 * text + 0.75 * small)), note, small, theme.SOFT)


def _hint_shapes(layout: MenuLayout, menu: Menu, measure: TextMeasure) -> Iterator[Shape]:
    """Write the message, or how to choose, and which entries are shown."""
    small = theme.text_size("small", layout.scale)
    count, shown = len(menu.current.entries), len(layout.entries)
    hint = "click, or arrow keys and Enter; Escape goes back"
    if shown < count:
        hint = f"{layout.first + 1} to {layout.first + shown} of {count}; {hint}"
    color = theme.CHOICE if menu.message else theme.SOFT
    line = fitted_text(measure, menu.message or hint, small, layout.hint.width)
    yield Text(layout.hint.center, line, small, color, "center")
