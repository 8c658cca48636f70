"""The script that counts the words which the vocabulary replaces."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "scripts/count_words.py"


def count(*arguments):
    return subprocess.run([sys.executable, SCRIPT, *map(str, arguments)], capture_output=True, text=True, check=False)


def test_finds_a_word_in_every_kind_of_name(tmp_path):
    (tmp_path / "desk.py").write_text(
        "import numpy as crew\n"
        "def hear(scratch, *, room=1): ...\n"
        "class OrderKeeper:\n    settled: int\n    def f(self): self.told = crew.win_rate(slots=2)\n"
        "_MOST_THINGS = [selves for selves in ()]\n"
    )
    found = count(tmp_path, "--check")
    assert found.returncode == 1
    words = [line.split(":")[0] for line in found.stdout.splitlines() if "->" in line]
    expected = {"desk", "crew", "hear", "scratch", "room", "keeper", "settled", "told", "most", "selves"}
    assert set(words) == expected
    assert found.stdout.endswith("12 left, 1 in their ordinary meaning\n")


def test_passes_files_in_standard_terms_and_lists_doubtful_prose(tmp_path):
    (tmp_path / "plain.py").write_text('"""Return a row that is pleasant to hold."""\n\nindex = 1  # whom it tells\n')
    found = count(tmp_path, "--check", "--prose")
    assert found.returncode == 0, found.stdout
    assert "[pleasant to]" in found.stdout
    assert "[whom]" in found.stdout
