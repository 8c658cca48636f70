"""The documentation of the flight games agrees with the code."""

import re
from pathlib import Path

import pytest

from geo_patrol import flight as package
from geo_patrol.drawing.sheet import PAPERS, fit
from geo_patrol.drawing.svg import svg_text
from geo_patrol.flight import load_mission, mission_names
from geo_patrol.flight.flight import Flight
from geo_patrol.flight.pictures.scene import flight_drawing
from tests.flight.ships import BEST

ROOT = Path(__file__).parents[2]
DOCS = {
    name: (ROOT / "docs" / "play" / f"{name}.md").read_text(encoding="utf-8")
    for name in ("planetary_probe", "spaceship_commander")
}


def test_best_scores_of_the_docs():
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\| ([^|]*) \|$", "\n".join(DOCS.values()), re.MULTILINE)
    shown = dict(rows)
    assert set(shown) >= set(mission_names())
    for name, known in BEST.items():
        turns = f"{known['turns']} turns, " if load_mission(name).race else ""
        points = " points" if turns else ""
        assert shown[name].startswith(f"{turns}{known['score']}{points}"), name


def test_picture_of_the_sample_game():
    orders = ["launch D13", *["coast"] * 5, "engines down-right", *["coast"] * 6, "engines down", "coast"]
    drawing = flight_drawing(Flight.from_orders("sample", orders))
    written = (ROOT / "docs" / "pictures" / "sample_flight.svg").read_text(encoding="utf-8")
    assert written == svg_text(drawing, millimeters=fit(drawing, PAPERS["a4"]))


def test_public_names():
    for name in package.__all__:
        assert getattr(package, name) is not None
        assert name in dir(package)
    with pytest.raises(AttributeError, match="has no attribute 'Flihgt'"):
        package.Flihgt  # noqa: B018
