"""Figures and tables as Markdown."""

import io
import textwrap
from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.table import Table

from benchmarks.results import Summary


def markdown_table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table, figures to the right."""
    table = Table(box=box.MARKDOWN)
    for place, column in enumerate(columns):
        table.add_column(column, justify="left" if place == 0 else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    text = io.StringIO()
    Console(file=text, width=2000, markup=False, emoji=False, highlight=False, color_system=None).print(table)
    return "\n".join(line.rstrip() for line in text.getvalue().strip().splitlines())


def paragraph(text: str) -> str:
    """Return a text in lines as long as those of the documents."""
    return textwrap.fill(text, 120, break_on_hyphens=False, break_long_words=False)


def show_rate(value: float) -> str:
    """Return a rate with three digits that count."""
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k"), (1.0, "")):
        if value >= 0.9995 * size:  # what would be rounded up to it
            digits = f"{value / size:#.3g}"
            return f"{digits.rstrip('.')}{unit}"
    return f"{value:.2f}"


def show_spread(figures: Summary) -> str:
    """Return the lowest and the highest of rates."""
    return f"{show_rate(figures.low)} .. {show_rate(figures.high)}"


def show_ratio(figures: Summary | None) -> str:
    """Return the median of ratios; empty if there are none."""
    return f"{figures.median:.2f}" if figures else ""


def show_range(figures: Summary) -> str:
    """Return the lowest and the highest of ratios; empty for a single one."""
    return f"{figures.low:.2f} .. {figures.high:.2f}" if figures.low != figures.high else ""
