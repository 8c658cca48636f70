"""Tables in the documents are those of the stored results."""

import json

import pytest

from benchmarks.documents import with_blocks
from research import arena, experiments, independence, libraries, offline_data


def arena_table():
    return arena.table(arena.read_result(path) for path in sorted(arena.RESULTS.glob("*.json")))


def libraries_table():
    stored = json.loads(libraries.PUBLISHED.read_text(encoding="utf-8"))
    return libraries.table([libraries.Result(**result) for result in stored])


def references_table():
    stored = json.loads(offline_data.PUBLISHED.read_text(encoding="utf-8"))
    return offline_data.table([offline_data.Reference(**reference) for reference in stored])


@pytest.mark.parametrize(
    ("document", "blocks", "command"),
    [
        (arena.DOCUMENT, lambda: {"arena": arena_table()}, "arena"),
        (offline_data.DOCUMENT, lambda: {"offline data": references_table()}, "offline_data publish"),
        (libraries.DOCUMENT, lambda: {"libraries": libraries_table()}, "libraries publish"),
        (
            independence.DOCUMENT,
            lambda: {"independence": independence.table(json.loads(independence.RESULTS.read_text(encoding="utf-8")))},
            "independence",
        ),
        (
            experiments.DOCUMENT,
            lambda: experiments.tables(json.loads(experiments.RESULTS.read_text(encoding="utf-8"))),
            "experiments publish",
        ),
    ],
    ids=["arena", "offline data", "libraries", "independence", "experiments"],
)
def test_tables_are_those_of_the_stored_results(document, blocks, command):
    assert document.read_text(encoding="utf-8") == with_blocks(document, blocks()), f"run python -m research.{command}"
