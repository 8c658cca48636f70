"""Names that people give themselves, and their results for spreadsheets."""

import csv
import io
from collections.abc import Iterable

from geo_patrol.errors import printable, show
from geo_patrol.server.protocol import ProtocolError

_MAX_NAME = 40


def read_name(text: str, taken: Iterable[str]) -> str:
    """Return a name on one line, with everything escaped that is no character.

    Args:
        text: what somebody has typed.
        taken: the names of the others.

    Raises:
        ProtocolError: it is empty, or somebody else's.
    """
    name = printable(text.strip(), _MAX_NAME)
    if not name:
        raise ProtocolError("bad_message", "name: give your name")
    if name.casefold() in map(str.casefold, taken):
        raise ProtocolError("no_seat", f"name: there is a {show(name)} already; add a letter")
    return name


def csv_text(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table as CSV; texts that a spreadsheet would compute begin with an apostrophe."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows([_safe(value) for value in row] for row in rows)
    return text.getvalue()


def _safe(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t")) else value
