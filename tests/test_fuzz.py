"""Short runs of the scripts that fuzz the rules and files."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.fuzz import fuzz

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_random_phases_violate_no_invariant(capsys):
    """Without bounds checks, for which the engine would be compiled again: ``make fuzz`` has them, every night."""
    assert fuzz(20_000, seed=1) == 0
    (line,) = capsys.readouterr().out.splitlines()
    pattern = (
        r"ok: ([\d,]+) phases on ([\d,]+) boards, ([\d,]+) outcomes, ([\d,]+) illegal orders, ([\d,]+) finished games"
    )
    phases, boards, outcomes, illegal, finished = (
        int(number.replace(",", "")) for number in re.match(pattern, line).groups()
    )
    assert phases >= 20_000
    assert boards >= 25
    assert min(outcomes, illegal, finished) > 50


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="measures memory as Linux does")
def test_damaged_files_are_loaded_or_refused_within_bounds():
    command = [sys.executable, "-m", "scripts.fuzz_files", "--mutations", "300", "--seed", "1"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600)
    assert result.returncode == 0, result.stdout + result.stderr
    loaded, refused = re.match(r"ok: 300 mutations, (\d+) loaded, (\d+) refused", result.stdout).groups()
    assert min(int(loaded), int(refused)) > 50
