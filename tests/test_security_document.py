"""SECURITY.md names a test for what it promises."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (ROOT / "SECURITY.md").read_text(encoding="utf-8"))


def test_tests_are_named():
    assert len(NAMED) > 10


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_every_named_test_exists(file, name):
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
