"""Every rule of Planetary Probe and Spaceship Commander by its name."""

import itertools

import pytest

from geo_patrol import OrderError
from geo_patrol.flight import Flight, rank
from geo_patrol.flight.mission import DIRECTION_NAMES, DIRECTIONS, distance, point_name, read_point
from geo_patrol.flight.rules import gravity_at, make_params, passes_planet, well_at
from tests.flight.ships import earned, mission, ship

# Map


@pytest.mark.parametrize(("planet", "reach"), [("E6", 3), ("E16", 2), ("F22", 2)])
def test_gravity_well_is_a_square_of_two_grids_for_weak_and_three_for_strong_planets(planet, reach):
    loaded = mission()
    params = make_params(loaded)
    number = list(loaded.planets).index(planet)
    for point in itertools.product(range(1, 26), range(1, 10)):
        assert (well_at(params, *point) == number) == (distance(point, read_point(planet)) <= reach)


def test_well_is_cut_off_at_the_edge_of_the_map():
    params = make_params(mission({"A1": "weak", "E16": "weak"}))
    assert [well_at(params, *point) for point in ((1, 1), (3, 3), (0, 1), (1, 0), (-1, -1))] == [0, 0, -1, -1, -1]
    assert gravity_at(params, 0, 1) == (0, 0)


# Launch


@pytest.mark.parametrize("flight", [Flight(mission()), ship(mission(advanced=True), "E16", landed=True)])
def test_launch_endpoints_are_the_24_points_at_a_distance_of_three(flight):
    """The path of a launch from a landed ship starts from a planet, which it does not crash onto."""
    points = [read_point(name.removeprefix("launch ")) for name in flight.legal_orders() if name.startswith("launch")]
    assert len(set(points)) == 24
    assert {distance(point, (16, 5)) for point in points} == {3}
    assert [point_name(point) for point in points[:4]] == ["B16", "B17", "B18", "B19"]


def test_launch_is_the_first_move_and_knows_no_gravity():
    flight = Flight(mission({"E13": "weak", "E18": "weak"}, home="E13"))
    turn = flight.fly("launch E16")  # in the well of E18
    assert (turn.gravity, turn.move, turn.well) == ((0, 0), (3, 0), "E18")
    assert earned(turn) == {"explore": 3, "survey": 1}
    assert flight.move == (3, 0)


def test_launch_points_off_the_map_are_not_legal():
    flight = Flight(mission({"B2": "weak", "F22": "weak"}, home="B2"))
    assert flight.legal_orders() == tuple(
        f"launch {name}" for name in ("A5", "B5", "C5", "D5", "E5", "E4", "E3", "E2", "E1")
    )
    with pytest.raises(OrderError, match=r"\(2, -1\) is not on the map"):
        flight.fly(9)


# Coast, gravity, engines


def test_coast_repeats_the_last_move():
    flight = ship(mission(), "I2", (3, -1))
    turn = flight.fly("coast")
    assert (turn.coasted, turn.end, turn.move) == ((5, 8), (5, 7), (3, -2))  # gravity bent it
    assert flight.move == (3, -2)
    assert ship(mission(), "I9", (2, 0)).fly("coast").end == (11, 9)


SHIFTS = {
    (0, 1): ("B6", "C7"),
    (0, -1): ("H6", "H8"),
    (1, 0): ("E3", "F3"),
    (-1, 0): ("E9", "D9"),
    (1, 1): ("D5",),
    (-1, 1): ("B9",),
    (1, -1): ("H3",),
    (-1, -1): ("G8",),
    (0, 0): ("E6", "A6", "E10"),
}


@pytest.mark.parametrize("shift", SHIFTS)
def test_gravity_shifts_one_grid_along_the_longer_offset_or_diagonally_where_they_are_equal(shift):
    params = make_params(mission())
    assert {gravity_at(params, *read_point(point)) for point in SHIFTS[shift]} == {shift}


def test_gravity_acts_at_the_coasted_point_and_before_the_engines():
    flight = ship(mission(), "E11", (-1, 0))  # coasts to E10, just outside the well
    assert flight.copy().fly("engines left").gravity == (0, 0)
    inside = ship(mission(), "E11", (-2, 0)).fly("engines right")
    assert (inside.coasted, inside.gravity, inside.engines, inside.end) == ((9, 5), (-1, 0), (1, 0), (9, 5))


@pytest.mark.parametrize("direction", range(9))
def test_engines_shift_one_grid_in_any_of_eight_directions(direction):
    turn = ship(mission(), "H11", (1, 0)).fly(f"engines {DIRECTION_NAMES[direction]}")
    right, down = DIRECTIONS[direction]
    assert turn.end == (12 + right, 8 + down)
    assert turn.points["fuel"] == (-2 if direction else 0)


def test_move_of_a_turn_is_its_endpoint_minus_the_one_before():
    turn = ship(mission(), "E12", (-3, 0)).fly("engines up")
    assert turn.move == (-4, -1)  # three by coasting, one by gravity, one up by the engines


@pytest.mark.parametrize(
    ("start", "move", "passes"),
    [
        ("D4", (4, 2), True),
        ("D4", (4, 1), False),
        ("D4", (5, 2), False),
        ("D4", (2, 1), False),  # it ends there, which is another rule
        ("A2", (8, 8), True),
        ("H6", (0, -4), True),
        ("E9", (-6, 0), True),
        ("E6", (3, 0), False),
        ("E9", (3, 0), False),  # it leads away
    ],
)
def test_path_counts_only_where_it_passes_exactly_through_the_planet(start, move, passes):
    assert passes_planet(make_params(mission()), *read_point(start), *move) == passes


# What a turn leads to and earns

ADVANCED = {"advanced": True}
DOCKING = {"advanced": True, "stations": ["H12"]}
IN_WELLS = {"advanced": True, "stations": ["C6", "D22"]}
PROBE = {"game": "planetary_probe", "turns": 25}
NEW = {"explore": 3, "survey": 1}
FREE = {"microgravity": 1}
BURN = {"fuel": -2}

TURNS = [  # rule, mission, mode and point before, move before, order, mode and point after, points
    ("explore", {}, "flying C10", (-3, 0), "coast", "flying D7", NEW | FREE),
    ("home is not explored", {}, "flying E13", (1, 0), "coast", "flying E15", FREE),
    ("a probe knows no microgravity", PROBE, "flying E13", (1, 0), "coast", "flying E16", {}),
    ("off the map nothing is earned", {}, "flying A12", (0, -1), "coast", "flying (12, 0)", {}),
    ("engines cost off the map, too", {}, "flying A12", (0, -1), "engines up", "flying (12, -1)", BURN),
    ("engines bring a ship back onto it", {}, "flying A12", (0, -1), "engines down", "flying A12", BURN),
    ("landing", ADVANCED, "flying E22", (0, 0), "coast", "landed F22", NEW | FREE | {"landing": 10}),
    ("landing diagonally", ADVANCED, "flying E21", (0, 0), "coast", "landed F22", NEW | FREE | {"landing": 10}),
    ("landing at home", ADVANCED, "flying D16", (0, 0), "coast", "landed E16", FREE | {"landing": 10}),
    ("landing by land_on", {"land_on": ["F22"]}, "flying E22", (0, 0), "coast", "landed F22", NEW | FREE),
    ("engines lead elsewhere", ADVANCED, "flying E23", (0, 0), "engines up", "flying E22", NEW | BURN),
    ("staying on a planet", ADVANCED, "landed F22", (0, 0), "stay", "landed F22", NEW),
    ("staying at home", ADVANCED, "landed E16", (0, 0), "stay", "landed E16", {}),
    ("launching again", ADVANCED, "landed F22", (0, 0), "launch F19", "flying F19", BURN | {"launch": -5}),
    ("docking", DOCKING, "flying H11", (1, 0), "coast", "docked H12", FREE | {"landing": 10}),
    ("docking without points", {"stations": ["H12"]}, "flying H11", (1, 0), "coast", "docked H12", FREE),
    ("passing over a station", DOCKING, "flying H10", (4, 0), "coast", "flying H14", FREE),
    ("longer move onto a station", DOCKING, "flying H10", (2, 0), "coast", "flying H12", FREE),
    ("staying at a station", DOCKING, "docked H12", (0, 0), "stay", "docked H12", FREE),
    ("leaving a station", DOCKING, "docked H12", (0, 0), "engines up-right", "flying G13", BURN),
    ("gravity at a station", IN_WELLS, "docked C6", (0, 0), "stay", "flying D6", NEW | FREE),
    ("leaving with gravity", IN_WELLS, "docked C6", (0, 0), "engines left", "flying D5", NEW | BURN),
    ("engines against gravity", IN_WELLS, "docked C6", (0, 0), "engines up", "docked C6", NEW | BURN),
]


@pytest.mark.parametrize(("rule", "values", "before", "move", "order", "after", "points"), TURNS)
def test_a_turn(rule, values, before, move, order, after, points):
    mode, at = before.split()
    flight = ship(mission(**values), at, move, docked=mode == "docked", landed=mode == "landed")
    turn = flight.fly(order)
    assert (f"{flight.mode} {flight.position_name}", earned(turn)) == (after, points)
    assert turn.mode == flight.mode
    assert flight.move == (turn.move if flight.mode == "flying" else (0, 0))
    if mode != "flying":
        assert turn.coasted == turn.start


ILLEGAL = [  # mission, mode and point, move, order, message, an order that is legal
    ({}, "flying E10", (-3, 0), "coast", "the ship would crash on its way from E10 to E6", "engines up"),
    ({}, "flying H6", (0, -5), "coast", "from H6 to D6", "engines left"),  # straight through E6
    ({"land_on": ["F22"]}, "flying D16", (0, 0), "coast", "from D16 to E16", "engines left"),
    (ADVANCED, "flying C22", (0, 2), "coast", "a landing is a move of exactly one grid, this one is 3", "engines up"),
    (ADVANCED, "flying D6", (0, 0), "coast", "this planet cannot be landed on", "engines left"),
    (ADVANCED, "landed F22", (0, 0), "engines up", "the ship is landed; it stays, or is launched", "stay"),
    (DOCKING, "docked H12", (0, 0), "launch E12", "only a ship on a planet is launched", "stay"),
]


@pytest.mark.parametrize(("values", "before", "move", "order", "message", "other"), ILLEGAL)
def test_an_order_that_is_not_legal(values, before, move, order, message, other):
    mode, at = before.split()
    flight = ship(mission(**values), at, move, docked=mode == "docked", landed=mode == "landed")
    with pytest.raises(OrderError, match=message):
        flight.fly(order)
    assert flight.turn == 3
    assert order not in flight.legal_orders()
    assert other in flight.legal_orders()


def test_the_first_turn_is_a_launch():
    with pytest.raises(OrderError, match="the first turn is a launch"):
        Flight(mission()).fly("coast")


# How a flight ends

WELL, LAND, SURVEY = {"end_at": "well E6"}, {"land_on": ["F22"], "turns": 4}, {"survey": ["F22"], "turns": 4}
STATION = {"stations": ["H12"], "end_at": "station H12"}
DONE, FLOWN = "everything done in turn 4", "flown to the last turn, 4"

ENDINGS = [  # mission, point and move before a turn of coasting, ending, whether it is a success, reason
    ({}, "A12", (0, -1), "left the map", True, "left the map in turn 4"),
    ({}, "I12", (0, 2), "left the map", True, "left the map in turn 4"),
    ({}, "E1", (-1, 0), "left the map", True, "left the map in turn 4"),
    ({}, "E25", (1, 0), "left the map", True, "left the map in turn 4"),
    (WELL, "A12", (0, -1), "left the map", False, "left the map in turn 4; missing: end at well E6"),
    (WELL, "C10", (-3, 0), "end reached", True, "reached well E6 in turn 4"),
    (
        WELL | {"survey": ["F22"]},
        "C10",
        (-3, 0),
        "end reached",
        False,
        "reached well E6 in turn 4; missing: survey F22",
    ),
    ({"end_at": "planet F22"}, "E22", (0, 2), "end reached", True, "reached planet F22 in turn 4"),
    ({"end_at": "planet F22"}, "C22", (0, 1), "under way", False, ""),  # in its well
    (STATION, "H11", (1, 0), "end reached", True, "reached station H12 in turn 4"),
    (SURVEY, "F19", (1, 0), "last turn", True, FLOWN),
    (SURVEY, "H11", (1, 0), "last turn", False, f"{FLOWN}; missing: survey F22"),
    (LAND, "E22", (0, 0), "last turn", True, FLOWN),
    (LAND, "D22", (0, 0), "last turn", False, f"{FLOWN}; missing: land on F22"),
    ({"survey": ["E6"], "race": True}, "C10", (-3, 0), "goals met", True, DONE),
    ({"fuel_limit": 0}, "E10", (-2, 0), "trapped", False, "no order was left"),  # E7: gravity leads through E6
    ({}, "E10", (-2, 0), "under way", True, ""),
]


@pytest.mark.parametrize(("values", "at", "move", "ending", "success", "reason"), ENDINGS)
def test_a_flight_ends(values, at, move, ending, success, reason):
    flight = ship(mission(**values), at, move)
    flight.fly("coast")
    assert (flight.is_over, flight.ending) == (ending != "under way", ending)
    if flight.is_over:
        assert (flight.is_success, flight.is_lost) == (success, ending == "left the map")
        assert reason in flight.reason
        assert flight.missing == (tuple(flight.reason.split("missing: ")[1:]))
        assert flight.legal_orders() == ()


@pytest.mark.parametrize("turns", [1, 10, 15, 20])
def test_game_ends_after_the_last_turn_of_the_mission(turns):
    flight = Flight(mission({"E16": "weak"}, turns=turns))
    braking = ["launch E13", "engines right", "engines right", "engines right"]
    flight.fly_all([*braking, *["coast"] * 20][:turns])
    assert (flight.turn, flight.ending) == (turns, "last turn")


def test_race_is_won_by_the_fewest_turns_and_the_score_breaks_ties():
    loaded = mission(end_at="well E6", race=True)
    slow, fast = (ship(loaded, "C10", (-3, 0), turn=turn) for turn in (8, 4))
    rich = fast.copy()
    rich.record["points"][0] = 3
    slow.record["points"][0] = 90
    lost = ship(loaded, "A12", (0, -1), turn=2)
    lost.record["points"][0] = 99
    for flight in (slow, fast, rich, lost):
        flight.fly("coast")
    assert sorted([slow, lost, fast, rich], key=rank, reverse=True) == [rich, fast, slow, lost]


def test_without_a_race_the_score_decides_and_a_won_flight_beats_every_other():
    won, lost = ship(mission(survey=["E6"], turns=4), "C10", (-3, 0)), ship(mission(survey=["E6"], turns=4), "H11")
    lost.record["points"][0] = 99
    for flight in (won, lost):
        flight.fly("coast")
    assert rank(won) > rank(lost)


# Planetary Probe


def probe(launch, planets=None, **values):
    return Flight.from_orders(mission(planets, **(PROBE | values)), [launch])


def test_probe_decides_nothing_but_its_launch():
    flight = Flight("sample_probe")
    assert len(flight.legal_orders()) == 24
    flight.fly("launch E13")
    assert flight.is_over
    assert {turn.order for turn in flight.turns[1:]} == {"coast"}


def test_probe_earns_nothing_in_the_well_of_its_home_planet():
    flight = probe("launch E13", {"E16": "weak"}, columns=40)
    assert flight.score == 0
    back = ship(mission(**PROBE), "E13", (1, 0))
    back.fly("coast")
    assert back.turns[3].well == "E16"


def test_probe_earns_nothing_in_the_turn_of_a_crash_or_of_leaving_the_map():
    crashed = probe("launch D13")
    assert (crashed.ending, crashed.turns[-1].score) == ("crashed", 0)
    leaving = ship(mission({"E13": "weak", "E3": "weak"}, home="E13", game="planetary_probe"), "B3", (0, -3))
    leaving.fly("coast")
    assert (leaving.ending, leaving.score) == ("left the map", 0)


def test_probe_is_not_limited_to_five_points_of_a_well():
    flight = ship(mission(**PROBE), "C7", (-3, 0))
    flight.record["survey"][0] = 7
    assert flight.fly("coast").points["survey"] == 1


def test_log_of_a_probe_ends_after_its_turns():
    flight = probe("launch E13", {"E16": "weak"}, columns=40, turns=4)
    assert (flight.turn, flight.ending) == (4, "last turn")


# Spaceship Commander


def test_explore_earns_three_points_once_for_each_planet():
    flight = ship(mission(), "C10", (-3, 0))
    assert [flight.fly("coast").points["explore"] for _ in range(2)] == [3, 0]


def test_survey_earns_a_point_a_turn_up_to_five_for_each_well():
    flight = ship(mission(turns=40), "C10", (-2, 0), turn=0)
    orders = ["coast", "engines right", "engines left"]
    gained = []
    while len(gained) < 8:
        order = next(order for order in [*orders, *flight.legal_orders()] if stays_in_well(flight, order))
        gained.append(flight.fly(order).points["survey"])
    assert gained == [1, 1, 1, 1, 1, 0, 0, 0]


def stays_in_well(flight, order):
    if order not in flight.legal_orders():
        return False
    trial = flight.copy()
    return trial.fly(order).well == "E6" and not trial.is_over


def test_each_turn_after_the_launch_earns_microgravity_or_costs_fuel():
    flight = Flight(mission())
    turns = flight.fly_all(["launch E13", "coast", "up", "down"])
    assert [(turn.points["microgravity"], turn.points["fuel"]) for turn in turns] == [(0, 0), (1, 0), (0, -2), (0, -2)]


def test_limited_fuel_allows_no_order_beyond_it():
    flight = Flight(mission(fuel_limit=3))
    flight.fly("launch F19")
    assert flight.fuel_left == 3  # turn 1 is free
    flight.fly("engines up")
    assert flight.fuel_left == 1
    assert flight.legal_orders() == ("coast",)
    with pytest.raises(OrderError, match="it costs 2 points of fuel and launching, 1 are left"):
        flight.fly("engines up")


def test_limited_fuel_counts_launches_too():
    flight = ship(mission(advanced=True, fuel_limit=7), "F22", landed=True)
    assert any(order.startswith("launch") for order in flight.legal_orders())
    flight.record["spent"] = 1
    assert flight.legal_orders() == ("stay",)


# Advanced rules


def test_landing_earns_ten_points_once_for_each_planet():
    flight = ship(mission(**ADVANCED), "E22")
    flight.record["visited"][2] = 1
    assert flight.fly("coast").points["landing"] == 0


def test_docking_earns_ten_points_once():
    flight = ship(mission(**DOCKING), "H11", (1, 0))
    *_, turn = flight.fly_all(["coast", "engines right", "engines left", "engines left"])
    assert (flight.mode, earned(turn)) == ("docked", BURN)


def test_return_earns_five_points_for_each_planet_landed_on_before_each_once():
    planets = {"E16": "weak", "F22": "weak", "E6": "weak"}
    flight = ship(mission(planets, **ADVANCED), "D16")
    flight.record["visited"][1:3] = 1
    assert flight.fly("coast").points["return"] == 10
    again = ship(mission(planets, **ADVANCED), "D16")
    again.record["visited"][:3], again.record["returned"][1] = 1, 1
    assert earned(again.fly("coast")) == {"return": 5, "microgravity": 1}


def test_survey_points_while_landed_are_within_the_five_of_the_well():
    flight = ship(mission(**ADVANCED), "F22", landed=True)
    assert [flight.fly("stay").points["survey"] for _ in range(7)] == [1, 1, 1, 1, 1, 0, 0]


def test_advanced_flight_from_pad_to_landing_and_home_again():
    """One whole flight with a landing, a stay, a launch and a return, with every score computed from the rules."""
    orders = ["launch E19", "engines left", "coast", *["stay"] * 4, "launch F19", "engines right", "coast"]
    flight = Flight.from_orders(mission(turns=10, **ADVANCED), orders)
    assert [turn.score for turn in flight.turns] == [0, 2, 12, 1, 1, 1, 0, -7, -2, 16]
    sheet = {"explore": 3, "return": 5, "landing": 20, "survey": 5, "microgravity": 2, "fuel": -6, "launch": -5}
    assert flight.score_sheet == sheet
    assert (flight.score, flight.landed_on) == (24, ("E16", "F22"))
