"""Results as lines of JSON: what has a line is not done again, so an interrupted run continues with what is left.

What takes long inside one result, a training or a tournament, continues by itself in its folder.
"""

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

RESULTS = "results.jsonl"
Line = TypeVar("Line", bound=BaseModel)


def read_lines(file: Path, kind: type[Line]) -> list[Line]:
    """Read results, one a line; none if there is no file."""
    if not file.exists():
        return []
    return [kind.model_validate_json(line) for line in file.read_text(encoding="utf-8").splitlines()]


def append_line(file: Path, line: BaseModel) -> None:
    """Add a result to a file."""
    with file.open("a", encoding="utf-8") as lines:
        lines.write(line.model_dump_json() + "\n")
