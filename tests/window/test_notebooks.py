"""Games and flights as notebooks show them."""

from xml.etree import ElementTree as ET

import pytest

from geo_patrol import Game
from geo_patrol.flight import Flight
from geo_patrol.game.timeline import Snapshot
from geo_patrol.scenes.picture import picture_svg

SVG = "{http://www.w3.org/2000/svg}"


def texts(svg):
    return {element.text for element in ET.fromstring(svg).iter(f"{SVG}text")}


def test_a_game_is_the_picture_of_the_window():
    game = Game("case1", seed=3)
    assert game._repr_svg_() == game.svg() == picture_svg(Snapshot.of(game))
    assert {f"TURN 1 OF {game.config.turn_limit}", "MOVEMENT", str(game.scores["alpha"])} <= texts(game.svg())
    before = game.svg()
    game.step("P1 prograde", "")
    assert game.svg() != before


def test_sizes_are_checked():
    assert ET.fromstring(Game(seed=1).svg((640, 360))).get("viewBox") == "0 0 640 360"
    with pytest.raises(ValueError, match="width of a picture must be an integer from 320 to 8192, got 10"):
        Game(seed=1).svg((10, 360))


def test_a_flight_is_its_map_and_score_sheet():
    flight = Flight("sample")
    start = texts(flight._repr_svg_())
    flight.fly("launch D13")
    assert flight.svg() == flight._repr_svg_()
    assert texts(flight.svg()) != start
