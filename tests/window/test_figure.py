"""Positions for papers: Matplotlib figures and SVG."""

import io
import itertools
import math
import sys
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings

from geo_patrol import Game, load_config
from geo_patrol.base.errors import MissingPackageError
from geo_patrol.drawing.shapes import Box, Circle, Text
from geo_patrol.scenes import figure, svg, theme
from geo_patrol.scenes.paper import SIZE, caption, geometry_of, satellite_shapes
from geo_patrol.scenes.satellites import all_satellites, satellite_anchors
from tests.support.strategies import games, play_on

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.slow
def test_a_figure_shows_every_satellite():
    game = play_on(Game("case1", seed=3), 9, seed=1)
    made = figure(game)
    (axes,) = made.axes
    numbers = [text.get_text() for text in axes.texts]
    assert numbers.count("H") == 2
    assert axes.get_title() == caption(game)
    assert f"turn {game.turn}, engagement" in axes.get_title()
    for number in range(1, 11):
        assert numbers.count(str(number)) >= sum(one.id.number == number for one in living(game))
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
    tags = {element.tag.removeprefix(SVG) for element in root}
    assert tags <= {"title", "rect", "polygon", "circle", "polyline", "text"}


def test_without_matplotlib_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'geo_patrol\[plots\]'"):
        figure(Game("case1", seed=1))


@pytest.mark.slow
@settings(max_examples=25)
@given(games())
def test_any_position_stays_on_the_paper_without_overlap(game):
    geometry = geometry_of(game.config.board)
    anchors = set(satellite_anchors(geometry, living(game)).values())
    tokens = [(geometry.point(anchor.position), anchor.radius) for anchor in anchors]
    for center, radius in tokens:
        assert all(radius <= coordinate <= SIZE - radius for coordinate in center)
    for (one, radius), (other, other_radius) in itertools.combinations(tokens, 2):
        assert math.dist(one, other) >= (radius + other_radius) * 0.99
    assert all(label.size > 0 for label in satellite_shapes(game) if isinstance(label, Text))
    ET.fromstring(svg(game))


def living(game):
    return [one for one in all_satellites(game) if not one.destroyed]


def test_sides_differ_in_shape_on_paper():
    game = Game("geo_patrol", seed=1)
    shapes = list(satellite_shapes(game))
    for side, kind in (("alpha", Circle), ("bravo", Box)):
        fill = theme.LIGHT[theme.SIDES[side]]
        assert sum(isinstance(shape, kind) and shape.fill == fill for shape in shapes) == 11
