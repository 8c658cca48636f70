"""Pages of text over the picture: a card with tabs and lines, which scroll where they do not fit."""

from collections.abc import Iterator
from dataclasses import dataclass

from geo_patrol.drawing.shapes import Polygon, Rect, Shape, Text, box
from geo_patrol.drawing.sheet import Tab
from geo_patrol.scenes import theme
from geo_patrol.scenes.buttons import button_shapes
from geo_patrol.scenes.layout import TextStyle

_WIDTH = 52
"""Largest width of the card, in sizes of the text."""
_MAX_LEFT = 0.36
"""Largest fraction of the card's width that the left column takes."""
_SHADE = 0.75


@dataclass
class Page:
    """A page that is shown.

    Attributes:
        tabs: its parts.
        index: index of the tab that is shown.
        first: number of the row at the top; whoever draws the page knows how many rows there are and limits it.
    """

    tabs: tuple[Tab, ...]
    index: int = 0
    first: int = 0

    @property
    def tab(self) -> Tab:
        """The tab that is shown."""
        return self.tabs[self.index]

    def turn_to(self, index: int) -> None:
        """Show a tab from its beginning; the index wraps around."""
        self.index, self.first = index % len(self.tabs), 0

    def scroll(self, rows: int) -> None:
        """Scroll down by so many rows, or up if they are negative."""
        self.first = max(self.first + rows, 0)


@dataclass(frozen=True)
class _Row:
    left: str
    right: str
    is_heading: bool = False


@dataclass(frozen=True)
class PageLayout:
    """Where the parts of a page are.

    Attributes:
        card: the page.
        tabs: buttons of the tabs.
        body: where the rows are.
        left: width of the left column.
        rows: the rows of the tab that is shown, wrapped.
        count: rows that the body has space for.
    """

    card: Rect
    tabs: tuple[Rect, ...]
    body: Rect
    left: int
    rows: tuple[_Row, ...]
    count: int

    @property
    def last_first(self) -> int:
        """The number of the row at the top when the end is shown."""
        return max(len(self.rows) - self.count, 0)


def lay_out_page(style: TextStyle, size: tuple[int, int], page: Page) -> PageLayout:
    """Lay a page out in a window of a size; every tab takes the same space.

    Args:
        style: style of the texts.
        size: size of the window.
        page: what is shown.
    """
    text, line = style.text_size("normal"), style.line_height("normal")
    padding = text
    width = min(size[0] - padding, _WIDTH * text)
    body_width = width - 2 * padding
    columns = [_left_width(style, tab, body_width) for tab in page.tabs]
    wrapped = [tuple(_rows(style, tab, body_width, left)) for tab, left in zip(page.tabs, columns, strict=True)]
    above = round(2.2 * text) + padding // 2
    height = min(above + line * max(map(len, wrapped)) + 2 * padding, size[1] - padding)
    card = Rect.anchored((width, height), "center", (size[0] // 2, size[1] // 2))
    body = Rect(card.left + padding, card.top + padding // 2 + above, body_width, height - above - padding)
    tabs = []
    left = body.left
    for tab in page.tabs:
        tab_width = style.text_width(tab.title, text) + text
        tabs.append(Rect(left, card.top + padding // 2, tab_width, round(2.1 * text)))
        left += tab_width + text // 2
    return PageLayout(card, tuple(tabs), body, columns[page.index], wrapped[page.index], body.height // line)


def _left_width(style: TextStyle, tab: Tab, width: int) -> int:
    size = style.text_size("normal")
    widths = (style.text_width(line.left, size) for line in tab.lines if line.right)
    return min(max(widths, default=0) + size, round(width * _MAX_LEFT))


def _rows(style: TextStyle, tab: Tab, width: int, left: int) -> Iterator[_Row]:
    size = style.text_size("normal")
    for line in tab.lines:
        if not line.right:
            yield from (_Row(text, "", is_heading=True) for text in style.wrapped(line.left, size, width))
            continue
        names = style.wrapped(line.left, size, left)
        texts = style.wrapped(line.right, size, width - left)
        for i in range(max(len(names), len(texts))):
            yield _Row(names[i] if i < len(names) else "", texts[i] if i < len(texts) else "")


def page_shapes(
    style: TextStyle, size: tuple[int, int], page: Page, pointer: tuple[int, int] | None
) -> Iterator[Shape]:
    """Draw a page."""
    placed = lay_out_page(style, size, page)
    width, height = size
    text, line = style.text_size("normal"), style.line_height("normal")
    yield Polygon(((0, 0), (width, 0), (width, height), (0, height)), theme.SPACE, opacity=_SHADE)
    yield box(placed.card, theme.PANEL, theme.GRID, style.stroke(1), text)
    for i, (tab, rect) in enumerate(zip(page.tabs, placed.tabs, strict=True)):
        is_lit = pointer is not None and rect.contains(pointer)
        yield from button_shapes(style, rect, label=tab.title, is_lit=is_lit, is_selected=i == page.index)
    first = min(page.first, placed.last_first)
    for i, row in enumerate(placed.rows[first : first + placed.count]):
        y = placed.body.top + line * (i + 0.5)
        color = theme.TEXT if row.is_heading else theme.CHOICE
        columns = (placed.body.left, row.left, color), (placed.body.left + placed.left, row.right, theme.TEXT)
        yield from (Text((x, y), words, text, ink) for x, words, ink in columns if words)
    if placed.last_first:
        yield from _scroll_bar(style, placed, first)


def _scroll_bar(style: TextStyle, placed: PageLayout, first: int) -> Iterator[Shape]:
    width = max(round(4 * style.scale), 3)
    track = Rect(placed.card.right - 3 * width, placed.body.top, width, placed.body.height)
    thumb = round(track.height * placed.count / len(placed.rows))
    top = track.top + round((track.height - thumb) * first / placed.last_first)
    yield box(track, theme.FUEL_TRACK, r=width // 2)
    yield box(Rect(track.left, top, width, thumb), theme.SOFT, r=width // 2)
