"""Write the results of a run into the documents."""

import re
from pathlib import Path

from benchmarks.report import report
from benchmarks.results import Results

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "benchmarks.md"
PLOT = ROOT / "docs" / "pictures" / "throughput.svg"
PUBLISHED = Path(__file__).with_name("published.json")
"""The raw results that the documents show."""


def put_between_markers(text: str, block: str, name: str = "benchmarks") -> str:
    """Replace the text between the two comments of a name that mark results in a document.

    Raises:
        ValueError: there is not exactly one pair of these comments.
    """
    marked = re.compile(rf"(<!-- {name}: begin[^>]*-->\n).*?(<!-- {name}: end -->)", re.DOTALL)
    if len(marked.findall(text)) != 1:
        raise ValueError(f"a document needs exactly one pair of <!-- {name}: begin --> and <!-- {name}: end -->")
    return marked.sub(lambda found: f"{found[1]}{block.strip()}\n{found[2]}", text)


def document(results: Results) -> str:
    """Return the text of the document with the results of a run."""
    plot = f"![Agent steps a second over the number of games]({PLOT.relative_to(DOCUMENT.parent)})"
    return put_between_markers(DOCUMENT.read_text(encoding="utf-8"), f"{report(results)}\n{plot}")
