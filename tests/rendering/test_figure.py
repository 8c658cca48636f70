"""Positions for papers: Matplotlib figures and SVG."""

import io
import sys
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from strategies import games, play_on

from geo_patrol import Game, load_config
from geo_patrol.errors import MissingPackageError
from geo_patrol.rendering import figure, svg
from geo_patrol.scenes.paper import SIZE, caption, goal_shapes, satellite_shapes
from geo_patrol.scenes.shapes import Circle, Polygon, Text

SVG = "{http://www.w3.org/2000/svg}"


def test_a_figure_shows_every_satellite():
    game = play_on(Game("case1", seed=3), 9, seed=1)
    made = figure(game)
    (axes,) = made.axes
    numbers = [text.get_text() for text in axes.texts]
    assert numbers.count("H") == 2
    assert axes.get_title() == caption(game)
    assert f"turn {game.turn}, engagement" in axes.get_title()
    for number in range(1, 8):
        assert numbers.count(str(number)) >= 2
    for form in ("png", "pdf", "svg"):
        stream = io.BytesIO()
        made.savefig(stream, format=form)
        assert len(stream.getvalue()) > 5000


def test_several_positions_in_one_figure():
    from matplotlib.figure import Figure

    together = Figure()
    for axes in together.subplots(1, 2):
        assert figure(Game("od2d", seed=1), axes=axes, title=False) is together
        assert axes.get_title() == ""
    together.savefig(io.BytesIO())


def test_titles_are_plain_text():
    config = load_config("case1", {"title": "$\\frac{<b>&"})
    figure(Game(config, seed=1)).savefig(io.BytesIO())
    assert ET.fromstring(svg(Game(config, seed=1)))[0].text.startswith("$\\frac{<b>&: turn 1")


def test_svg_stands_alone_and_names_what_it_shows():
    game = Game("geo_patrol", seed=1)
    root = ET.fromstring(svg(game))
    assert root.tag == f"{SVG}svg"
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert texts.count("H") == 2
    assert texts.count("15") == 1  # a sector
    assert {element.tag.removeprefix(SVG) for element in root} <= {
        "title",
        "rect",
        "polygon",
        "circle",
        "polyline",
        "text",
    }


def test_without_matplotlib_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'geo_patrol\[plots\]'"):
        figure(Game("case1", seed=1))


@settings(max_examples=25)
@given(games())
def test_any_position_stays_on_the_paper_without_overlap(game):
    shapes = [*goal_shapes(game), *satellite_shapes(game)]
    fleets = sum(len(game.satellites(side)) for side in ("alpha", "bravo"))
    discs = [shape for shape in shapes if isinstance(shape, Circle)]
    assert len(discs) == fleets - 2
    assert sum(isinstance(shape, Polygon) for shape in shapes) == 4  # goals and HVAs
    for shape in discs:
        assert all(shape.radius <= coordinate <= SIZE - shape.radius for coordinate in shape.center)
    for i, one in enumerate(discs):
        for other in discs[:i]:
            distance = ((one.center[0] - other.center[0]) ** 2 + (one.center[1] - other.center[1]) ** 2) ** 0.5
            assert distance >= (one.radius + other.radius) * 0.99
    assert all(label.size > 0 for label in shapes if isinstance(label, Text))
    ET.fromstring(svg(game))
