"""Write what docs/reference/protocol.md says of the code: the messages' JSON schemas, the presets and agents. ``--check`` says whether it is current."""

import json
import sys
from pathlib import Path

from geo_patrol.web.protocol import schemas
from geo_patrol.web.requests import agent_choices, game_choices

DOCUMENT = Path(__file__).parents[1] / "docs" / "reference" / "protocol.md"
START, END = "```json\n", "\n```\n"
CHOICES, END_OF_CHOICES = "<!-- choices -->\n", "<!-- end of choices -->\n"


def written(text: str) -> str:
    """Return the document with the current choices, and the current schemas as its last block."""
    start, end = text.index(CHOICES) + len(CHOICES), text.index(END_OF_CHOICES)
    text = f"{text[:start]}{choices()}{text[end:]}"
    head = text[: text.rindex(START)]
    return f"{head}{START}{json.dumps(schemas(), indent=1)}{END}"


def choices() -> str:
    """Return the tables of presets and of agents that may be named for a seat."""
    games = [(name, title) for name, title, _ in game_choices()]
    agents = [(name, text.removeprefix(f"{name}: ")) for name, _, text in agent_choices(())]
    tables = (["| `preset` | |", "|---|---|", *_rows(games)], ["| agent | |", "|---|---|", *_rows(agents)])
    return "".join("\n".join(["", *lines, ""]) for lines in tables) + "\n"


def _rows(pairs: list[tuple[str, str]]) -> list[str]:
    return [f"| `{name}` | {text.replace('|', '/')} |" for name, text in pairs]


if __name__ == "__main__":
    document = DOCUMENT.read_text(encoding="utf-8")
    if "--check" in sys.argv:
        sys.exit(document != written(document))
    DOCUMENT.write_text(written(document), encoding="utf-8")
