"""Pages of text that a window shows over the game: tabs of lines, which scroll."""

from dataclasses import dataclass
from typing import NamedTuple


class PageLine(NamedTuple):
    """A line of a page: what it is about, and what there is to say; without the latter it is a heading."""

    left: str
    right: str = ""


class Tab(NamedTuple):
    """A part of a page."""

    title: str
    lines: tuple[PageLine, ...]


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
