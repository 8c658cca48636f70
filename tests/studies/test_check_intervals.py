"""The script that counts how often intervals contain the long-run rate."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "check_intervals.py"


@pytest.mark.parametrize(
    ("second", "labels"),
    [
        ("idle", ["as alpha", "as bravo", "total"]),
        ("random", ["as alpha", "as bravo", "total", "alpha wins", "bravo wins"]),
    ],
)
def test_a_line_for_each_side_and_the_total(second, labels):
    command = [sys.executable, SCRIPT, "random", second, "--matches", "3", "--games", "6", "--long-run", "40"]
    result = subprocess.run([*command, "--config", "case1"], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert [line.startswith(label) for line, label in zip(lines, labels, strict=True)] == [True] * len(labels)
    assert all(re.search(r"long-run rate \d+\.\d%, covered \d+\.\d%", line) for line in lines)
