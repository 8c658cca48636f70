"""Write the JSON schemas of the server's messages into docs/protocol.md; ``--check`` says whether they are current."""

import json
import sys
from pathlib import Path

from geo_patrol.server.protocol import schemas

DOCUMENT = Path(__file__).parents[1] / "docs" / "protocol.md"
START, END = "```json\n", "\n```\n"


def written(text: str) -> str:
    """Return the document with the current schemas as its last block."""
    head = text[: text.rindex(START)]
    return f"{head}{START}{json.dumps(schemas(), indent=1)}{END}"


if __name__ == "__main__":
    document = DOCUMENT.read_text(encoding="utf-8")
    if "--check" in sys.argv:
        sys.exit(document != written(document))
    DOCUMENT.write_text(written(document), encoding="utf-8")
