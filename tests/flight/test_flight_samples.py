"""The two sample games of the rules, turn by turn."""

import pytest

from geo_patrol.flight import Flight
from geo_patrol.flight.mission import point_name
from tests.flight.ships import SAMPLE, earned

PROBE = [  # endpoint, coasted to, gravity, move, well, points
    ("D13", "E16", (0, 0), (-3, -1), None, {}),
    ("C10", "C10", (0, 0), (-3, -1), None, {}),
    ("C7", "B7", (0, 1), (-3, 0), "E6", {"explore": 3, "survey": 1}),
    ("D5", "C4", (1, 1), (-2, 1), "E6", {"survey": 1}),
    ("E4", "E3", (1, 0), (-1, 1), "E6", {"survey": 1}),
    ("F4", "F3", (1, 0), (0, 1), "E6", {"survey": 1}),
    ("F5", "G4", (1, -1), (1, 0), "E6", {"survey": 1}),
    ("E6", "F6", (0, -1), (1, -1), "E6", {}),
]
SPACESHIP = [
    ("D13", "E16", (0, 0), (-3, -1), {}),
    ("C10", "C10", (0, 0), (-3, -1), {"microgravity": 1}),
    ("C7", "B7", (0, 1), (-3, 0), {"explore": 3, "survey": 1, "microgravity": 1}),
    ("D5", "C4", (1, 1), (-2, 1), {"survey": 1, "microgravity": 1}),
    ("E4", "E3", (1, 0), (-1, 1), {"survey": 1, "microgravity": 1}),
    ("F4", "F3", (1, 0), (0, 1), {"survey": 1, "microgravity": 1}),
    ("G6", "G4", (1, -1), (2, 1), {"survey": 1, "fuel": -2}),
    ("G8", "H8", (0, -1), (2, 0), {"microgravity": 1}),
    ("G10", "G10", (0, 0), (2, 0), {"microgravity": 1}),
    ("G12", "G12", (0, 0), (2, 0), {"microgravity": 1}),
    ("F15", "G14", (1, -1), (3, -1), {"microgravity": 1}),
    ("E17", "E18", (-1, 0), (2, -1), {"microgravity": 1}),
    ("D19", "D19", (0, 0), (2, -1), {"microgravity": 1}),
    ("D21", "C21", (0, 0), (2, 0), {"explore": 3, "survey": 1, "fuel": -2}),
    ("E23", "D23", (0, 1), (2, 1), {"survey": 1, "microgravity": 1}),
]


def test_sample_game_of_planetary_probe():
    flight = Flight("sample_probe")
    flight.fly("launch D13")
    assert [
        (point_name(turn.end), point_name(turn.coasted), turn.gravity, turn.move, turn.well, earned(turn))
        for turn in flight.turns
    ] == PROBE
    assert (flight.ending, flight.turn, flight.score) == ("crashed", 8, 8)
    assert flight.score_sheet == dict.fromkeys(flight.score_sheet, 0) | {"explore": 3, "survey": 5}


def test_sample_game_of_spaceship_commander():
    orders = {1: "launch D13", 7: "engines down-right", 14: "engines down"}
    flight = Flight.from_orders("sample", [orders.get(turn, "coast") for turn in range(1, 16)])
    assert [
        (point_name(turn.end), point_name(turn.coasted), turn.gravity, turn.move, earned(turn)) for turn in flight.turns
    ] == SPACESHIP
    assert [turn.engines for turn in flight.turns if turn.engines != (0, 0)] == [(-3, -1), (1, 1), (0, 1)]
    assert (flight.ending, flight.is_success, flight.score) == ("last turn", True, 21)
    sheet = {"explore": 6, "return": 0, "landing": 0, "survey": 7, "microgravity": 12, "fuel": -4, "launch": 0}
    assert flight.score_sheet == sheet


@pytest.mark.parametrize("name", ["sample", "sample_20", "sample_probe"])
def test_sample_map(name):
    mission = Flight(name).mission
    assert (mission.columns, mission.rows, mission.home, mission.planets) == (25, 9, "E16", SAMPLE)
