"""Short runs of the scripts that fuzz the rules and files."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run(*arguments):
    """Run a module of scripts; return what it prints."""
    result = subprocess.run(
        [sys.executable, "-m", *arguments, "--seed", "1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_random_phases_violate_no_invariant():
    out = run("scripts.fuzz", "--phases", "8000")
    line = (
        r"ok: ([\d,]+) phases on ([\d,]+) boards, ([\d,]+) outcomes, ([\d,]+) illegal orders, ([\d,]+) finished games"
    )
    phases, boards, outcomes, illegal, finished = (
        int(number.replace(",", "")) for number in re.match(line, out).groups()
    )
    assert phases >= 8000
    assert boards >= 10
    assert min(outcomes, illegal, finished) > 50
    assert len(out.splitlines()) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="measures memory as Linux does")
def test_damaged_files_are_loaded_or_refused_within_bounds():
    out = run("scripts.fuzz_files", "--mutations", "300")
    loaded, refused = re.match(r"ok: 300 mutations, (\d+) loaded, (\d+) refused", out).groups()
    assert min(int(loaded), int(refused)) > 50
