"""Scenes and sessions: without pygame, and the same drawing for every renderer."""

import dataclasses
import json
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest
from positions import PICTURES, snapshot_of

from geo_patrol import Game
from geo_patrol.browser.records import game_record
from geo_patrol.rendering.painter import paint_drawing
from geo_patrol.rendering.svg_writer import svg_text
from geo_patrol.scenes import theme
from geo_patrol.scenes.picture import picture
from geo_patrol.scenes.shapes import Polygon, Rect, Use
from geo_patrol.sessions.live import Timeline

IMPORT_ALL = """
import importlib, pkgutil, sys
import geo_patrol.scenes, geo_patrol.sessions
for package in (geo_patrol.scenes, geo_patrol.sessions):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
assert "geo_patrol.scenes.picture" in sys.modules and "geo_patrol.sessions.live" in sys.modules
print("pygame" in sys.modules)
"""


def test_scenes_and_sessions_do_not_import_pygame():
    ran = subprocess.run([sys.executable, "-c", IMPORT_ALL], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"


@pytest.mark.parametrize("name", ["crowd", "drifting", "hva destroyed", "ring 7", "upright"])
def test_one_drawing_is_plain_data_svg_and_pixels(name):
    make, progress, size = PICTURES[name]
    drawing = picture(snapshot_of(make), progress, size=size)
    symbols = {shape.symbol for shape in drawing.shapes if isinstance(shape, Use)}
    assert len(symbols) <= sum(isinstance(shape, Use) for shape in drawing.shapes)  # they are shared
    json.dumps([dataclasses.asdict(shape) for shape in drawing.shapes])
    root = ET.fromstring(svg_text(drawing, title=name))
    defined = [element.get("id") for element in root.iter("{http://www.w3.org/2000/svg}symbol")]
    assert sorted(defined) == sorted(
        {element.get("href")[1:] for element in root.iter("{http://www.w3.org/2000/svg}use")}
    )
    assert paint_drawing(drawing, 0.5).get_size() == (size[0] // 2, size[1] // 2)


def test_a_single_position_needs_no_window():
    texts = [shape.text for shape in picture(Game("case1", seed=1)).shapes if hasattr(shape, "text")]
    assert {"MOVEMENT", "TURN 1 OF 50", "SCORE", "prograde"} <= set(texts)


def test_sectors_out_of_sight_are_dark():
    game = Game("geo_patrol_hidden", seed=1, keep_history=True)
    game.step(alpha="P1 radial_in")
    seen = game.seen_by("alpha")
    shapes = picture(seen).shapes
    dark = [one for one in shapes if isinstance(one, Polygon) and one.fill == theme.UNSEEN]
    assert len(dark) == 30 - len(seen.sectors_in_sight)
    assert not [one for one in picture(game).shapes if isinstance(one, Polygon) and one.fill == theme.UNSEEN]
    record = game_record(Timeline(game.history[0].before, ("", "")).seen_by("alpha"), "")
    assert set(record["unseen"]) == set(record["sectors"])
    timeline = Timeline(game.history[0].before, ("", ""))
    timeline.append(game.history[0])
    start, end = game_record(timeline.seen_by("alpha"), "")["moments"][1]["unseen"]
    assert set(end) < set(start)
    assert set(end) == set(range(1, 31)) - seen.sectors_in_sight
    assert game_record(timeline, "")["moments"][1]["unseen"] == [[], []]


def test_rectangles():
    rect = Rect.anchored((10, 5), "bottomright", (100, 50))
    assert rect == Rect(90, 45, 10, 5)
    assert rect.center == (95, 47)
    assert rect.contains((90, 45))
    assert not rect.contains((100, 45))
    assert rect.inflated(4, -2) == Rect(88, 46, 14, 3)
    assert rect.clamped(Rect(0, 0, 95, 100)) == Rect(85, 45, 10, 5)
    assert rect.union(Rect(0, 0, 1, 1)) == Rect(0, 0, 100, 50)
    assert not rect.overlaps(Rect(100, 0, 5, 100))
