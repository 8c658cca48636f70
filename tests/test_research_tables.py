"""Tables in the documents are those of the stored results."""

import json

import pytest

from benchmarks.documents import with_blocks
from research import arena, experiments, libraries


def arena_table():
    return arena.table(arena.read_result(path) for path in sorted(arena.RESULTS.glob("*.json")))


def libraries_table():
    stored = json.loads(libraries.PUBLISHED.read_text(encoding="utf-8"))
    return libraries.table([libraries.Result(**result) for result in stored])


@pytest.mark.parametrize(
    ("document", "blocks", "command"),
    [
        (arena.DOCUMENT, lambda: {"arena": arena_table()}, "arena"),
        (libraries.DOCUMENT, lambda: {"libraries": libraries_table()}, "libraries publish"),
        (
            experiments.DOCUMENT,
            lambda: experiments.tables(json.loads(experiments.RESULTS.read_text(encoding="utf-8"))),
            "experiments publish",
        ),
    ],
    ids=["arena", "libraries", "experiments"],
)
def test_tables_are_those_of_the_stored_results(document, blocks, command):
    assert document.read_text(encoding="utf-8") == with_blocks(document, blocks()), f"run python -m research.{command}"
