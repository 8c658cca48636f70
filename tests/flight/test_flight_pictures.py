"""Pictures, printable sheets, and the window of the environments."""

import itertools
import re
import sys
from xml.etree import ElementTree as ET

import gymnasium
import numpy as np
import pygame
import pytest
from gymnasium.utils.env_checker import check_env

from geo_patrol.drawing import screen
from geo_patrol.drawing.shapes import Circle, Drawing, Polyline, Rect, Text
from geo_patrol.drawing.sheet import PAPERS, fit
from geo_patrol.drawing.svg import svg_text
from geo_patrol.flight import Flight, load_mission, mission_names
from geo_patrol.flight.envs import PlanetaryProbe, SpaceshipCommander
from geo_patrol.flight.pictures.scene import (
    BLUE,
    COASTED,
    GREEN,
    ORANGE,
    PAPER,
    PULLED,
    SKY,
    VERMILION,
    MapLayout,
    add_path,
    blank_map,
    flight_drawing,
    order_label,
    score_lines,
    score_sheet,
)
from tests.flight.ships import BEST, mission, ship

SAMPLE = ["launch D13", *["coast"] * 5, "engines down-right", *["coast"] * 6, "engines down", "coast"]


def texts(drawing):
    return [shape.text for shape in drawing.shapes if isinstance(shape, Text)]


def lines(drawing, color, layout):
    """Return the lines of a color as pairs of grid points; the legend lies elsewhere."""
    left, top = layout.at((1, 1))

    def point_at(pixel):
        return round((pixel[0] - left) / layout.cell) + 1, round((pixel[1] - top) / layout.cell) + 1

    return [
        (point_at(shape.points[0]), point_at(shape.points[1]))
        for shape in drawing.shapes
        if isinstance(shape, Polyline) and shape.color == color and shape.points[0][1] < layout.bottom + 1
    ]


def test_steps_of_a_turn_have_lines_of_their_own():
    flight = Flight.from_orders("sample", SAMPLE[:7])
    layout = MapLayout(flight.mission)
    whole = flight_drawing(flight)
    assert lines(whole, GREEN, layout) == [((16, 5), (13, 4))]  # the launch
    assert lines(whole, BLUE, layout)[-1] == ((4, 6), (6, 7))
    assert lines(whole, SKY, layout)[-1] == ((4, 6), (4, 7))
    assert lines(whole, ORANGE, layout)[-1] == ((4, 7), (5, 6))
    assert lines(whole, VERMILION, layout) == [((5, 6), (6, 7))]
    coasted, pulled = (flight_drawing(flight, steps=steps) for steps in (COASTED, PULLED))
    assert [len(lines(drawing, ORANGE, layout)) for drawing in (coasted, pulled, whole)] == [4, 5, 5]
    assert lines(pulled, VERMILION, layout) == []


def test_turns_are_numbered_and_scored():
    flight = Flight.from_orders("sample", SAMPLE)
    shown = texts(flight_drawing(flight))
    assert {str(number) for number in range(1, 16)} <= set(shown)
    assert {"G6", "DR", "E23", "microgravity", "21"} <= set(shown)
    assert "Flight complete: 21 points; flown to the last turn, 15." in shown


def turn_labels(flight):
    """Return the numbers of turns beside the path of a flight, and the rectangles that they take."""
    layout = MapLayout(flight.mission)
    drawing = Drawing(layout.width, layout.bottom, PAPER)
    add_path(drawing, layout, flight)
    found = [shape for shape in drawing.shapes if isinstance(shape, Text)]
    return [
        (one.text, Rect.anchored((round(0.58 * one.size * len(one.text)), round(one.size)), one.anchor, one.position))
        for one in found
    ]


@pytest.mark.parametrize("name", ["grand_tour", "sample_20"])
def test_numbers_of_turns_do_not_overlap(name):
    labels = turn_labels(Flight.from_orders(name, BEST[name]["orders"]))
    assert len(labels) > 15
    for (text, rect), (other, beside) in itertools.combinations(labels, 2):
        assert not rect.overlaps(beside), (text, other)


def test_a_turn_that_ends_off_the_map_hides_no_number_at_its_edge():
    flight = Flight.from_orders("sample", ["launch B19", "coast"])
    layout = MapLayout(flight.mission)
    _, (text, rect) = turn_labels(flight)
    assert text == "2"
    assert rect.top > layout.at((22, 1))[1] - 18
    assert layout.at((22, 0))[1] > layout.at((22, 1))[1] - 19, "the endpoint is between the map and its numbers"


def test_wells_have_a_gravity_stroke_at_each_point():
    def num_strokes(drawn):
        dots = [shape for shape in blank_map(drawn).shapes if isinstance(shape, Circle) and shape.radius < 2]
        return sum(dot.center[1] <= MapLayout(drawn).bottom for dot in dots)  # the legend has one as well

    assert num_strokes(load_mission("sample")) == 48 + 24 + 24
    assert num_strokes(mission({"A1": "weak", "E16": "weak"})) == 8 + 24


@pytest.mark.parametrize("name", mission_names())
def test_every_mission_fits_its_paper(name):
    flight = Flight.from_orders(name, BEST[name]["orders"])
    for drawing in (flight_drawing(flight), blank_map(flight.mission), score_sheet(flight.mission)):
        root = ET.fromstring(svg_text(drawing))
        assert root.tag.endswith("svg")
        for shape in drawing.shapes:
            if isinstance(shape, Polyline):
                assert all(0 <= x <= drawing.width and 0 <= y <= drawing.height for x, y in shape.points)


def test_svg_escapes_the_title_of_a_mission():
    flight = Flight(mission(title='<b> & "co"'))
    written = svg_text(flight_drawing(flight))
    assert "<b>" not in written
    assert '<b> & "co"' in "".join(ET.fromstring(written).itertext())


def test_sheets_fit_on_a4():
    for drawing in (blank_map(load_mission("sample")), score_sheet(load_mission("grand_tour"))):
        width, height = fit(drawing, PAPERS["a4"])
        assert min(width, height) <= 190.01
        assert max(width, height) <= 277.01
        assert width / height == pytest.approx(drawing.width / drawing.height)


def test_score_sheet_has_the_lines_that_a_mission_can_score():
    assert score_lines(load_mission("sample_probe")) == ("explore", "survey")
    assert score_lines(load_mission("sample")) == ("explore", "survey", "microgravity", "fuel")
    assert score_lines(load_mission("touchdown")) == ("explore", "survey", "microgravity", "fuel", "launch")
    assert len(score_lines(load_mission("courier"))) == 7
    shown = texts(score_sheet(load_mission("sample_20")))
    assert [text for text in shown if re.fullmatch(r"\d+", text)] == [str(number) for number in range(1, 21)]


# Render modes


@pytest.mark.parametrize("env", [PlanetaryProbe, SpaceshipCommander])
def test_pictures_and_text(env):
    made, text = env(render_mode="rgb_array"), env(render_mode="ansi")
    made.reset()
    text.reset()
    first = made.render()
    assert (first.dtype, first.ndim, first.shape[2]) == (np.uint8, 3, 3)
    made.step(19)
    second = made.render()
    assert second.shape == first.shape
    assert (first != second).any()
    assert text.render() == str(text.flight())


def test_rendering_needs_a_reset_and_a_mode():
    with pytest.raises(RuntimeError, match="call reset first"):
        SpaceshipCommander(render_mode="ansi").render()
    env = SpaceshipCommander()
    env.reset()
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None


# The window


def test_a_closed_window_never_ends_a_run():
    env = SpaceshipCommander(render_mode="human")
    env.metadata = env.metadata | {"render_fps": 1000}
    env.reset()
    env.step(28)
    (window,) = screen.open_screens
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    env.step(0)
    assert not window.is_open
    *_, info = env.step(0)
    assert info["turn"] == 3
    env.close()
    env.close()


def test_a_closed_environment_shows_a_new_window():
    env = PlanetaryProbe(render_mode="human")
    for _ in range(2):
        env.reset()
        assert len(screen.open_screens) == 1
        env.close()
        assert screen.open_screens == []


@pytest.mark.parametrize("name", ["GeoPatrol/PlanetaryProbe-v0", "GeoPatrol/SpaceshipCommander-v0"])
def test_gymnasium_check_of_all_render_modes(name):
    check_env(gymnasium.make(name, render_mode="rgb_array").unwrapped)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there always is a screen")
def test_gymnasiums_check_passes_without_a_screen_and_warns_in_a_line(monkeypatch, caplog):
    for variable in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"):
        monkeypatch.delenv(variable, raising=False)
    check_env(gymnasium.make("GeoPatrol/SpaceshipCommander-v0", disable_env_checker=True).unwrapped)
    (record,) = caplog.records
    assert record.getMessage().startswith("render_mode='human': there is no screen")


# Parts of drawings


def test_choices_say_what_they_cost():
    def labels(flight):
        return [order_label(flight, int(code)) for code in flight.action_mask().nonzero()[0]]

    assert labels(ship(mission(), "A12", (0, 0)))[:2] == ["coast", "engines up, off the map (-2)"]
    assert labels(ship(mission(advanced=True), "F22", landed=True))[:2] == ["stay", "launch C22 (-7)"]
    assert labels(Flight("sample"))[0] == "launch B16"


def test_a_path_that_leaves_the_map_is_straight_up_to_its_edge():
    for start, end in (((25, 2), (28, 1)), ((24, 2), (22, -4)), ((25, 1), (26, 0)), ((3, 3), (-2, 4))):
        layout = MapLayout(load_mission("sample_probe"))
        (x, y), (u, v) = layout.at(start), layout.at(end, start)
        assert (u - x) * (end[1] - start[1]) == pytest.approx((v - y) * (end[0] - start[0]))
        edges = layout.at((-99, -99)), layout.at((99, 99))
        assert any(place == pytest.approx(edge[axis]) for axis, place in enumerate((u, v)) for edge in edges)
