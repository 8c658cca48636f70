"""Golden playthroughs: whole games as text, written by ``make golden``."""

import runpy
from pathlib import Path

import pytest

from geo_patrol import preset_names

ROOT = Path(__file__).parents[1]
playthrough = runpy.run_path(str(ROOT / "scripts" / "write_playthroughs.py"))["playthrough"]


@pytest.mark.parametrize("preset", preset_names())
def test_a_whole_game_equals_its_golden_file(preset):
    written = (ROOT / "tests" / "golden" / f"{preset}.txt").read_text(encoding="utf-8")
    assert playthrough(preset) == written


def test_every_golden_file_belongs_to_a_preset():
    assert {path.stem for path in (ROOT / "tests" / "golden").glob("*.txt")} == set(preset_names())
