"""Tables and numbers in the style of all commands."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table


def plain_table(*headings: str) -> "Table":
    """Return an empty table with a line below its headings and no frame."""
    from rich import box
    from rich.table import Table

    return Table(
        *headings, box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold"
    )


def percent_interval(interval: Sequence[float]) -> str:
    """Format an interval of a proportion, such as ``47.6-61.3%``."""
    low, high = interval
    return f"{100 * low:.1f}-{high:.1%}"
