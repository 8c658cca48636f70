"""Scenes: the same drawing for every renderer."""

import dataclasses
import json
import math
from xml.etree import ElementTree as ET

import pytest

from geo_patrol import Game
from geo_patrol.drawing.painter import paint_drawing
from geo_patrol.drawing.shapes import Box, Polygon, Rect, Text
from geo_patrol.drawing.svg import svg_text
from geo_patrol.game.notation import Order, SatelliteId, read_settled
from geo_patrol.game.timeline import Timeline
from geo_patrol.play.lesson import GameLesson, LessonSession
from geo_patrol.play.order_entry import OrderEntry
from geo_patrol.play.text_game import game_text
from geo_patrol.scenes import theme
from geo_patrol.scenes.layout import make_layout, middle_angle
from geo_patrol.scenes.orders import cost_shapes, pending_order_shapes
from geo_patrol.scenes.picture import picture
from geo_patrol.scenes.satellites import Anchor, all_satellites, satellite_anchors
from geo_patrol.web.records import SceneEncoder, game_record
from tests.support.positions import PICTURES, moves, shots, snapshot_of


@pytest.mark.parametrize("name", ["crowd", "drifting", "hva destroyed", "ring 7", "upright"])
def test_one_drawing_is_plain_data_svg_and_pixels(name):
    make, progress, size = PICTURES[name]
    drawing = picture(snapshot_of(make), progress, size=size)
    json.dumps([dataclasses.asdict(shape) for shape in drawing.shapes])
    root = ET.fromstring(svg_text(drawing, title=name))
    defined = [element.get("id") for element in root.iter("{http://www.w3.org/2000/svg}symbol")]
    used = {element.get("href")[1:] for element in root.iter("{http://www.w3.org/2000/svg}use")}
    assert sorted(defined) == sorted(used)
    assert paint_drawing(drawing, 0.5).get_size() == (size[0] // 2, size[1] // 2)


def test_a_single_position_needs_no_window():
    texts = [shape.text for shape in picture(Game("case1", seed=1)).shapes if hasattr(shape, "text")]
    assert {"MOVEMENT", "TURN 1 OF 50", "SCORE", "prograde"} <= set(texts)


@pytest.mark.parametrize(
    ("settled", "result", "reason"),
    [
        ("resigned (alpha)", "BRAVO WINS", "alpha resigned"),
        ("failed (bravo)", "ALPHA WINS", "bravo's agent failed"),
        ("agreed", "DRAW", "draw agreed"),
    ],
)
@pytest.mark.parametrize(
    "make", [lambda: Timeline(Game("case1", seed=1)), moves, shots], ids=["start", "moves", "shots"]
)
def test_the_end_of_a_game_that_was_not_played_on_shows_its_result(make, settled, result, reason):
    timeline = make()
    timeline.settled = read_settled(settled)
    last = timeline.snapshot(-1)
    assert {result, reason} <= texts_of(picture(last))
    if last.last_phase is not None:
        assert result not in texts_of(picture(last, 0.99)) | texts_of(picture(timeline.snapshot(0)))
    told = "".join(game_text(timeline[0], timeline.phases, ("a", "b"), timeline.settled))
    assert f"{result.lower()}: {settled}" in told


def texts_of(drawing):
    return {shape.text for shape in drawing.shapes if isinstance(shape, Text)}


def test_an_empty_goal_shows_its_number():
    lesson = GameLesson()
    lesson.go(len(lesson.steps) - 1)
    session = LessonSession(lesson)
    session.entry.give_all([Order.parse("P1 collide HVA")])
    session.commit()
    game = session.live.game
    assert game.satellite("bravo", 0).destroyed
    drawn = picture(session.live.timeline[-1]).shapes
    edges = [i for i, one in enumerate(drawn) if isinstance(one, Polygon) and one.stroke in theme.SIDES.values()]
    assert str(game.goals["bravo"]) in [one.text for one in drawn[edges[-1] :] if isinstance(one, Text)]
    assert str(game.goals["alpha"]) not in [one.text for one in drawn[edges[-1] :] if isinstance(one, Text)]


def test_either_all_choices_are_labelled_on_the_board_or_none():
    game = Game("geo_patrol", seed=1)
    layout = make_layout(1000, 1000, game.config.board, 11)
    options = OrderEntry(game, "alpha").options(1)
    anchors = satellite_anchors(layout.geometry, all_satellites(game))
    labels = [shape for shape in cost_shapes(layout, all_satellites(game), anchors, options) if isinstance(shape, Text)]
    assert len(labels) == len(options)
    in_the_way = {SatelliteId("bravo", 9): Anchor((layout.geometry.middle(4), middle_angle(options[0].sector)), 200.0)}
    assert list(cost_shapes(layout, all_satellites(game), anchors | in_the_way, options)) == []


@pytest.mark.parametrize("is_narrow", [False, True])
def test_the_arrow_of_a_move_ends_in_its_sector_on_no_satellite_and_no_number(is_narrow):
    game = Game("geo_patrol", seed=1)
    layout = SceneEncoder(game.config, is_narrow=is_narrow).layout
    geometry, entry = layout.geometry, OrderEntry(game, "alpha")
    anchors = satellite_anchors(geometry, all_satellites(game))
    moves = [(one.id, option) for one in game.satellites("alpha") for option in entry.options(one.id.number)]
    assert len(moves) > 30
    for actor, option in moves:
        head = list(pending_order_shapes(layout, anchors, actor, option, theme.CHOICE))[-1]
        tip = head.points[0]
        assert geometry.sector_of(tip) == option.sector
        assert math.dist(tip, geometry.sector_center(option.sector)) > layout.text_size("tiny") / 2
        for anchor in anchors.values():
            assert math.dist(tip, geometry.point(anchor.position)) > anchor.radius


def test_labels_of_choices_leave_the_numbers_of_sectors_in_sight():
    game = Game("geo_patrol", seed=1)
    layout = SceneEncoder(game.config).layout
    satellites = all_satellites(game)
    anchors = satellite_anchors(layout.geometry, satellites)
    options = OrderEntry(game, "alpha").options(4)
    boxes = [one for one in cost_shapes(layout, satellites, anchors, options) if isinstance(one, Box)]
    assert len(boxes) == len(options)
    for box in boxes:
        for option in options:
            x, y = layout.geometry.sector_center(option.sector)
            assert not (box.left <= x <= box.left + box.width and box.top <= y <= box.top + box.height)


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
    assert not rect.overlaps(Rect(100, 0, 5, 100))
