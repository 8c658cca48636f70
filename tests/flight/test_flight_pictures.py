"""Pictures, printable sheets, and the window of the environments."""

import itertools
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import gymnasium
import numpy as np
import pytest

from geo_patrol.drawing.shapes import Circle, Drawing, Polyline, Rect, Text
from geo_patrol.drawing.sheet import PAPERS, fit
from geo_patrol.drawing.svg import svg_text
from geo_patrol.flight import Flight, load_mission, mission_names, solve
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
    score_lines,
    score_sheet,
)
from tests.flight.ships import mission, ship

SAMPLE = ["launch D13", *["coast"] * 5, "engines down-right", *["coast"] * 6, "engines down", "coast"]


@pytest.fixture
def no_screen(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


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
    for text in (
        "G6",
        "DR",
        "E23",
        "microgravity",
        "21",
        "Flight complete: 21 points; flown to the last turn, 15.",
    ):
        assert text in shown


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
    recorded = json.loads((Path(__file__).parents[1] / "data" / "best_flights.json").read_text())
    labels = turn_labels(Flight.from_orders(name, recorded[name]["orders"]))
    assert len(labels) > 15
    for (text, rect), (other, beside) in itertools.combinations(labels, 2):
        assert not rect.overlaps(beside), (text, other)


def test_a_turn_that_ends_off_the_map_hides_no_number_at_its_edge():
    flight = Flight.from_orders("sample", ["launch B19", "coast"])
    layout = MapLayout(flight.mission)
    (_, _), (text, rect) = turn_labels(flight)
    assert text == "2"
    _, y = layout.at((22, 0))
    assert rect.top > layout.at((22, 1))[1] - 18
    assert y > layout.at((22, 1))[1] - 19, "the mark of the endpoint is between the map and its numbers"


def test_wells_have_a_gravity_stroke_at_each_point():
    def num_strokes(drawn):
        dots = [shape for shape in blank_map(drawn).shapes if isinstance(shape, Circle) and shape.radius < 2]
        return sum(dot.center[1] <= MapLayout(drawn).bottom for dot in dots)  # the legend has one as well

    assert num_strokes(load_mission("sample")) == 48 + 24 + 24
    assert num_strokes(mission({"A1": "weak", "E16": "weak"})) == 8 + 24


@pytest.mark.parametrize("name", mission_names())
def test_every_mission_fits_its_paper(name):
    flight = solve(name, max_states=300).flight
    for drawing in (flight_drawing(flight), blank_map(flight.mission), score_sheet(flight.mission)):
        root = ET.fromstring(svg_text(drawing))
        assert root.tag.endswith("svg")
        for shape in drawing.shapes:
            if isinstance(shape, Polyline):
                for x, y in shape.points:
                    assert 0 <= x <= drawing.width
                    assert 0 <= y <= drawing.height


def test_svg_escapes_the_title_of_a_mission():
    flight = Flight(mission(title='<b> & "co"'))
    written = svg_text(flight_drawing(flight))
    assert "<b>" not in written
    assert '<b> & "co"' in "".join(ET.fromstring(written).itertext())


@pytest.mark.parametrize("title", ["\x00\x1b", "\ud800", "a\x0bb"])
def test_titles_that_cannot_be_printed_raise(title):
    with pytest.raises(
        ValueError,
        match=r"title must be a text in quotes, of at most 100 characters that can be printed, got '",
    ):
        mission(title=title)


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
def test_rgb_array(env):
    made = env(render_mode="rgb_array")
    made.reset()
    first = made.render()
    assert first.dtype == np.uint8
    assert first.ndim == 3
    assert first.shape[2] == 3
    made.step(19)
    second = made.render()
    assert second.shape == first.shape
    assert (first != second).any()


@pytest.mark.parametrize("env", [PlanetaryProbe, SpaceshipCommander])
def test_ansi(env):
    made = env(render_mode="ansi")
    made.reset()
    assert made.render() == str(made.flight())


def test_rendering_needs_a_reset_and_a_mode():
    with pytest.raises(RuntimeError, match="call reset first"):
        SpaceshipCommander(render_mode="ansi").render()
    env = SpaceshipCommander()
    env.reset()
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None


@pytest.mark.parametrize("name", ["GeoPatrol/PlanetaryProbe-v0", "GeoPatrol/SpaceshipCommander-v0"])
@pytest.mark.usefixtures("no_screen")
def test_gymnasium_check_of_all_render_modes(name):
    from gymnasium.utils.env_checker import check_env

    check_env(gymnasium.make(name, render_mode="rgb_array").unwrapped)


# The window


@pytest.fixture
def window(no_screen):
    from geo_patrol.flight.pictures.viewer import FlightViewer

    made = FlightViewer(fps=1000)
    yield made
    made.close()


def test_a_closed_window_never_ends_a_run(window):
    import pygame

    env = SpaceshipCommander(render_mode="human")
    env._window = window
    env.reset()
    env.step(28)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    env.step(0)
    assert window.is_closed
    *_, info = env.step(0)
    assert info["turn"] == 3
    env.close()
    env.close()


def test_human_mode_opens_a_window_by_itself(no_screen, monkeypatch):
    env = PlanetaryProbe(render_mode="human")
    env.metadata = env.metadata | {"render_fps": 1000}
    env.reset()
    env.step(19)
    assert not env._window.is_closed
    env.close()
    env.reset()
    env.close()


def test_best_known_flights_are_those_of_the_solver():
    from geo_patrol.flight.best import _BEST, best_known

    recorded = json.loads((Path(__file__).parents[1] / "data" / "best_flights.json").read_text())
    assert {name: (best.score, best.turns, best.is_proved) for name, best in _BEST.items()} == {
        name: (best["score"], best["turns"], best["status"] == "proved") for name, best in recorded.items()
    }
    assert best_known(load_mission("sample", {"turns": 9})) is None


def test_choices_say_what_they_cost(window):
    from geo_patrol.flight.pictures.scene import order_label

    def labels(flight):
        return [order_label(flight, int(code)) for code in flight.action_mask().nonzero()[0]]

    assert labels(ship(mission(), "A12", (0, 0)))[:2] == ["coast", "engines up, off the map (-2)"]
    assert labels(ship(mission(advanced=True), "F22", landed=True))[:2] == ["stay", "launch C22 (-7)"]
    assert labels(Flight("sample"))[0] == "launch B16"


def run_without_a_screen(*arguments):
    environment = {
        key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")
    }
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)


CHECK = """
import gymnasium
import geo_patrol
from gymnasium.utils.env_checker import check_env

check_env(gymnasium.make("GeoPatrol/SpaceshipCommander-v0", disable_env_checker=True).unwrapped)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there always is a screen")
def test_gymnasiums_check_passes_without_a_screen_and_warns_in_a_line():
    ran = run_without_a_screen("-W", "error", "-c", CHECK)
    assert ran.returncode == 0, ran.stderr
    (line,) = [line for line in ran.stderr.splitlines() if "compiling" not in line]
    assert line.startswith("render_mode='human': there is no screen")


def test_fonts_are_loaded_once_a_size():
    from geo_patrol.drawing import painter

    drawing = flight_drawing(Flight("sample"))
    painter.paint_drawing(drawing)
    before = painter._font.cache_info().misses
    painter._text_surface.cache_clear()
    painter.paint_drawing(drawing)
    assert painter._font.cache_info().misses == before


def test_a_path_that_leaves_the_map_is_straight_up_to_its_edge():
    for start, end in (((25, 2), (28, 1)), ((24, 2), (22, -4)), ((25, 1), (26, 0)), ((3, 3), (-2, 4))):
        layout = MapLayout(load_mission("sample_probe"))
        (x, y), (u, v) = layout.at(start), layout.at(end, start)
        assert (u - x) * (end[1] - start[1]) == pytest.approx((v - y) * (end[0] - start[0]))
        edges = layout.at((-99, -99)), layout.at((99, 99))
        assert any(place == pytest.approx(edge[axis]) for axis, place in enumerate((u, v)) for edge in edges)
