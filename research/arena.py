"""The table of docs/results/arena.md, from the results in ``research/arena``: ``python -m research.arena``."""

from collections.abc import Iterable
from pathlib import Path

from benchmarks.documents import DOCS, markdown_table, with_blocks
from geo_patrol.evaluation.arena import ArenaResult, read_result

DOCUMENT = DOCS / "results" / "arena.md"
RESULTS = Path(__file__).with_name("arena")


def table(results: Iterable[ArenaResult]) -> str:
    """Return a table in Markdown, the best agent first."""
    rows = []
    for result in sorted(results, key=lambda one: -one.total.score):
        weakest = [
            min(groups.items(), key=lambda group: group[1].score) for groups in (result.opponents(), result.boards())
        ]
        scores = [str(score) for score in (result.total, result.visible, result.held_out)]
        rows.append([f"`{result.agent}`", *scores, *(f"{name}, {score.score:.0%}" for name, score in weakest)])
    return markdown_table(("agent", "score", "visible", "held out", "weakest against", "weakest on"), rows)


if __name__ == "__main__":
    submissions = [read_result(path) for path in sorted(RESULTS.glob("*.json"))]
    DOCUMENT.write_text(with_blocks(DOCUMENT, {"arena": table(submissions)}), encoding="utf-8")
