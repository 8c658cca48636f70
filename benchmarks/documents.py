"""Tables in Markdown, and where they stand in the documents."""

import re
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def markdown_table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown, with each row on a line; nothing without rows."""
    columns = list(columns)
    head, *body = [f"| {' | '.join(row)} |" for row in (columns, *rows)]
    return "\n".join([head, f"|{'---|' * len(columns)}", *body]) if body else ""


def paragraph(text: str) -> str:
    """Wrap a text at the line length of the documents."""
    return textwrap.fill(text, 120, break_on_hyphens=False, break_long_words=False)


def put_between_markers(text: str, block: str, name: str) -> str:
    """Replace the text between the two comments of a name that mark results in a document.

    Raises:
        ValueError: there is not exactly one pair of these comments.
    """
    marked = re.compile(rf"(<!-- {name}: begin[^>]*-->\n).*?(<!-- {name}: end -->)", re.DOTALL)
    if len(marked.findall(text)) != 1:
        raise ValueError(f"a document needs exactly one pair of <!-- {name}: begin --> and <!-- {name}: end -->")
    return marked.sub(lambda found: f"{found[1]}{block.strip()}\n{found[2]}", text)


def with_blocks(document: Path, blocks: Mapping[str, str]) -> str:
    """Return the text of a document with other blocks between their markers."""
    text = document.read_text(encoding="utf-8")
    for name, block in blocks.items():
        text = put_between_markers(text, block, name)
    return text
