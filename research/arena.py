"""The table of docs/arena.md, from the results in ``research/arena``: ``python -m research.arena``."""

from collections.abc import Iterable
from pathlib import Path

from benchmarks.publish import put_between_markers
from geo_patrol.evaluation.arena import ArenaResult, read_result

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "arena.md"
RESULTS = Path(__file__).with_name("arena")


def table(results: Iterable[ArenaResult]) -> str:
    """Return a table in Markdown, the best agent first."""
    lines = ["| agent | score | visible | held out | weakest against | weakest on |", "|---|---|---|---|---|---|"]
    for result in sorted(results, key=lambda one: -one.total.score):
        weakest = [
            min(groups.items(), key=lambda group: group[1].score) for groups in (result.opponents(), result.boards())
        ]
        worst = " | ".join(f"{name}, {score.score:.0%}" for name, score in weakest)
        lines.append(f"| `{result.agent}` | {result.total} | {result.visible} | {result.held_out} | {worst} |")
    return "\n".join(lines)


def main() -> None:
    """Write the table into the document."""
    results = [read_result(path) for path in sorted(RESULTS.glob("*.json"))]
    text = put_between_markers(DOCUMENT.read_text("utf-8"), table(results), "arena")
    DOCUMENT.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
