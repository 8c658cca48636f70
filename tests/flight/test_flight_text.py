"""Orders, grid references and flights as text."""

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geo_patrol import OrderError
from geo_patrol.flight import Flight, flight
from geo_patrol.flight.best import best_known
from geo_patrol.flight.flight import map_text, move_text, result_text
from geo_patrol.flight.mission import LAUNCHES, point_name, read_point
from tests.flight.ships import BEST, mission, ship


def test_examples_of_flight():
    result = doctest.testmod(flight)
    assert result.attempted > 3
    assert result.failed == 0


@given(st.integers(1, 99), st.integers(1, 26))
def test_grid_references_name_points(column, row):
    assert read_point(point_name((column, row))) == (column, row)


@pytest.mark.parametrize("text", ["", "E", "6E", "E0", "E100", "É6", "E-6", "E٣", None, 6])
def test_wrong_grid_references(text):
    assert read_point("E6 ") == (6, 5)
    with pytest.raises(ValueError, match="a grid reference"):
        read_point(text)


def test_launches_go_round_clockwise():
    assert LAUNCHES[::6] == ((0, -3), (3, 0), (0, 3), (-3, 0))
    assert len(set(LAUNCHES)) == 24
    for one, other in zip(LAUNCHES, (*LAUNCHES[1:], LAUNCHES[0]), strict=True):
        assert max(abs(one[0] - other[0]), abs(one[1] - other[1])) == 1


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ("", "order must be \"launch D13\", got ''"),
        ("launch E13 now", "must be a grid reference: the letter of a row and the number of a column, such as E16"),
        ("launch nowhere", "must be a grid reference: the letter of a row and the number of a column, such as E16"),
        ("launch E12", "must name a point at a distance of exactly three grids from E16"),
        ("launch A99", "must name a point at a distance of exactly three grids from E16"),
        (33, 'order must be "launch D13", or a code from 0 to 32, got 33'),
        (True, "or a code from 0 to 32"),
    ],
)
def test_invalid_orders_raise_and_change_nothing(order, message):
    flown = Flight("sample")
    with pytest.raises(OrderError) as error:
        flown.fly(order)
    assert message in str(error.value)
    assert flown == Flight("sample")


def test_orders_are_read_in_several_forms():
    loaded = mission()
    for text in ("engines up-right", "UP-RIGHT", " engines   up-right ", 2):
        assert ship(loaded, "H11", (1, 0)).read_order(text) == 2
    for text in ("coast", "none", "engines none", 0):
        assert ship(loaded, "H11", (1, 0)).read_order(text) == 0
    assert Flight("sample").read_order("Launch d13") == Flight("sample").read_order("launch D13") == 28


def test_orders_after_the_end_raise():
    over = Flight.from_orders("sample_probe", ["launch D13"])
    with pytest.raises(OrderError, match="the flight is over"):
        over.fly("coast")


def test_flight_log_has_the_format_of_the_paper_one():
    text = str(Flight.from_orders("sample", ["launch D13", "coast", "coast", "engines up"]))
    assert "   1  E16  -         -           launch      D13  L3 U1" in text
    assert "   3  C10  B7        down        -           C7   L3      explore +3, survey +1, microgravity +1" in text
    assert "   4  C7   C4        down-right  up          C5   L2      survey +1, fuel -2" in text
    assert "explore        .  .  3  .      3" in text
    assert "total          .  1  5 -1      5" in text
    assert "Flight complete" not in text


def test_crash_and_the_edge_are_noted():
    crashed = str(Flight.from_orders("sample_probe", ["launch D13"]))
    assert "E6   R1 U1" in crashed
    assert "(crash)" in crashed
    left = ship(mission(), "A12", (0, -1), turn=0)
    left.fly("coast")
    assert "(off the map)" in str(left)


@pytest.mark.parametrize(
    ("name", "orders", "text"),
    [
        ("base_camp", ["launch B10", *["coast"] * 2], "Lost in space: 0 of 47 points; left the map in turn 2."),
        ("sample", BEST["sample"]["orders"], "Flight complete: 21 of 21 points; flown to the last turn, 15."),
        ("sample_probe", ["launch D13"], "Crashed: 8 of 8 points; crashed at E6 in turn 8."),
        ("touchdown", BEST["touchdown"]["orders"], "Mission accomplished: 19 of 19 points; flown to the last turn, 15."),
        ("docking_race", BEST["docking_race"]["orders"], "Mission accomplished: 6 turns (best known: 6), 4 points; reached station B19 in turn 6."),
        ("probe_slalom", ["launch G6"], "Mission failed: "),
    ],
)  # fmt: skip
def test_results_say_what_became_of_a_flight(name, orders, text):
    flight = Flight(name)
    for order in orders:
        if not flight.is_over:
            flight.fly(order)
    assert result_text(flight, best_known(flight.mission)).startswith(text)


def test_map_shows_planets_wells_stations_and_turns():
    flown = Flight.from_orders(mission(stations=["I1"]), ["launch D13", "coast"])
    lines = map_text(flown).splitlines()
    assert lines[0].split() == [str(column) for column in range(1, 26)]
    signs = {line[0]: line[2:] for line in lines[1:10]}
    at = lambda name: signs[name[0]][3 * int(name[1:]) - 1]  # noqa: E731
    assert [at(name) for name in ("E6", "E16", "F22", "I1", "D13", "C10", "B3", "A1")] == list("@HOS12+.")


@pytest.mark.parametrize(("move", "text"), [((0, 0), "0"), ((3, -1), "R3 U1"), ((-2, 0), "L2"), ((0, 4), "D4")])
def test_moves_as_text(move, text):
    assert move_text(move) == text


def test_longest_flight_has_a_mark_for_each_turn():
    hover = ["launch E13", "engines right", "engines right", "engines right", *["coast"] * 36]
    flown = Flight.from_orders(mission({"E16": "weak"}, turns=40), hover)
    assert flown.turn == 40
    assert "E" in map_text(flown)
    assert repr(flown) == "<Flight 'test': turn 40, flying at E10, score 30, last turn>"
