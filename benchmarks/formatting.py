"""Numbers and tables as Markdown."""

import io
import textwrap
from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.table import Table

from benchmarks.results import Summary


def markdown_table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table with all columns but the first right-aligned."""
    table = Table(box=box.MARKDOWN)
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i == 0 else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    text = io.StringIO()
    Console(file=text, width=2000, markup=False, emoji=False, highlight=False, color_system=None).print(table)
    return "\n".join(line.rstrip() for line in text.getvalue().strip().splitlines())


def paragraph(text: str) -> str:
    """Wrap a text at the line length of the documents."""
    return textwrap.fill(text, 120, break_on_hyphens=False, break_long_words=False)


def format_quantity(value: float) -> str:
    """Format a quantity with three significant digits and a unit prefix."""
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k"), (1.0, "")):
        if value >= 0.9995 * size:  # 999.5 would be rounded up to the next unit
            digits = f"{value / size:#.3g}"
            return f"{digits.rstrip('.')}{unit}"
    return f"{value:.2f}"


def format_spread(summary: Summary) -> str:
    """Format the lowest and the highest of quantities."""
    return f"{format_quantity(summary.low)} .. {format_quantity(summary.high)}"


def format_ratio(summary: Summary | None) -> str:
    """Format the median of ratios; empty if there are none."""
    return f"{summary.median:.2f}" if summary else ""


def format_range(summary: Summary) -> str:
    """Format the lowest and the highest of ratios; empty if they are equal."""
    return f"{summary.low:.2f} .. {summary.high:.2f}" if summary.low != summary.high else ""
