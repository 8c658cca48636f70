"""Every rule of Planetary Probe and Spaceship Commander by its name."""

import itertools

import pytest

from geo_patrol import OrderError
from geo_patrol.flight import Flight, rank
from geo_patrol.flight.mission import DIRECTION_NAMES, DIRECTIONS, distance, point_name, read_point
from geo_patrol.flight.rules import gravity_at, make_params, passes_planet, well_at
from tests.flight.ships import ends, mission, ship


def points_of(turn):
    return {name: points for name, points in turn.points.items() if points}


def gravity(loaded, point):
    return gravity_at(make_params(loaded), *read_point(point))


# Map


@pytest.mark.parametrize(("planet", "reach"), [("E6", 3), ("E16", 2), ("F22", 2)])
def test_gravity_well_is_a_square_of_two_grids_for_weak_and_three_for_strong_planets(planet, reach):
    loaded = mission()
    params = make_params(loaded)
    number = list(loaded.planets).index(planet)
    for point in itertools.product(range(1, 26), range(1, 10)):
        assert (well_at(params, *point) == number) == (distance(point, read_point(planet)) <= reach)


def test_well_is_cut_off_at_the_edge_of_the_map():
    loaded = mission({"A1": "weak", "E16": "weak"})
    params = make_params(loaded)
    assert [well_at(params, *point) for point in ((1, 1), (3, 3), (0, 1), (1, 0), (-1, -1))] == [0, 0, -1, -1, -1]
    assert gravity_at(params, 0, 1) == (0, 0)


# Launch


def test_launch_endpoints_are_the_24_points_at_a_distance_of_three():
    flight = Flight(mission())
    orders = flight.legal_orders()
    assert len(orders) == 24
    points = [read_point(order.removeprefix("launch ")) for order in orders]
    assert len(set(points)) == 24
    assert {distance(point, (16, 5)) for point in points} == {3}
    assert [point_name(point) for point in points[:4]] == ["B16", "B17", "B18", "B19"]


def test_launch_is_the_first_move_and_knows_no_gravity():
    flight = Flight(mission({"E13": "weak", "E18": "weak"}, home="E13"))
    turn = flight.fly("launch E16")  # in the well of E18
    assert (turn.gravity, turn.move, turn.well) == ((0, 0), (3, 0), "E18")
    assert points_of(turn) == {"explore": 3, "survey": 1}
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


@pytest.mark.parametrize(
    ("point", "shift"),
    [
        ("B6", (0, 1)),
        ("H6", (0, -1)),
        ("E3", (1, 0)),
        ("E9", (-1, 0)),
        ("C7", (0, 1)),
        ("F3", (1, 0)),
        ("D9", (-1, 0)),
        ("H8", (0, -1)),
        ("D5", (1, 1)),
        ("B9", (-1, 1)),
        ("H3", (1, -1)),
        ("G8", (-1, -1)),
        ("E6", (0, 0)),
        ("A6", (0, 0)),
        ("E10", (0, 0)),
    ],
)
def test_gravity_shifts_one_grid_along_the_longer_offset_or_diagonally_where_they_are_equal(point, shift):
    assert gravity(mission(), point) == shift


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


# Crash


def test_crash_onto_a_planet_is_illegal():
    flight = ship(mission(), "E10", (-3, 0))  # coasts to E7, gravity takes it onto E6
    with pytest.raises(OrderError, match="the ship would crash on its way from E10 to E6"):
        flight.fly("coast")
    assert flight.turn == 3
    assert "engines up" in flight.legal_orders()


def test_crash_on_the_straight_path_through_a_planet_is_illegal():
    flight = ship(mission(), "H6", (0, -5))  # coasts to C6, gravity pulls back to D6: right through E6
    with pytest.raises(OrderError, match="from H6 to D6"):
        flight.fly("coast")
    assert "engines left" in flight.legal_orders()  # from H6 to D5 the path misses E6


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
    params = make_params(mission())
    assert passes_planet(params, *read_point(start), *move) == passes


def test_the_point_that_a_path_starts_from_is_not_counted():
    flight = ship(mission(advanced=True), "E16", landed=True)
    assert sum(order.startswith("launch") for order in flight.legal_orders()) == 24


def test_crash_ends_the_flight_of_a_probe():
    flight = Flight.from_orders("sample_probe", ["launch D13"])
    assert (flight.ending, flight.position_name) == ("crashed", "E6")


# The map's edge


@pytest.mark.parametrize(("at", "move"), [("A12", (0, -1)), ("I12", (0, 2)), ("E1", (-1, 0)), ("E25", (1, 0))])
def test_leaving_the_map_ends_the_game(at, move):
    flight = ship(mission({"E16": "weak"}), at, move)
    flight.fly("coast")
    assert (flight.is_over, flight.ending, flight.is_success, flight.is_lost) == (True, "left the map", True, True)
    assert flight.legal_orders() == ()


def test_engines_may_bring_a_ship_back_that_coasts_off_the_map():
    flight = ship(mission(), "A12", (0, -1))
    assert flight.fly("engines down").end == (12, 1)
    assert not flight.is_over


# Planetary Probe


def probe(launch, planets=None, **values):
    return Flight.from_orders(mission(planets, game="planetary_probe", **({"turns": 25} | values)), [launch])


def test_probe_decides_nothing_but_its_launch():
    flight = Flight("sample_probe")
    assert len(flight.legal_orders()) == 24
    flight.fly("launch E13")
    assert flight.is_over
    assert {turn.order for turn in flight.turns[1:]} == {"coast"}


def test_probe_earns_a_point_for_each_turn_in_a_well_and_three_for_each_planet():
    flight = probe("launch D13")
    assert [turn.score for turn in flight.turns] == [0, 0, 4, 1, 1, 1, 1, 0]


def test_probe_earns_nothing_in_the_well_of_its_home_planet():
    flight = probe("launch E13", {"E16": "weak"}, home="E16", columns=40)
    assert flight.score == 0
    back = ship(mission(game="planetary_probe", turns=25), "E13", (1, 0))
    assert back.fly("coast").points["survey"] == 0
    assert back.turns[3].well == "E16"


def test_probe_earns_nothing_in_the_turn_of_a_crash_or_of_leaving_the_map():
    assert probe("launch D13").turns[-1].score == 0
    leaving = ship(mission({"E13": "weak", "E3": "weak"}, home="E13", game="planetary_probe"), "B3", (0, -3))
    leaving.fly("coast")
    assert (leaving.ending, leaving.score) == ("left the map", 0)


def test_probe_is_not_limited_to_five_points_of_a_well():
    loaded = mission(game="planetary_probe", turns=25)
    flight = ship(loaded, "C7", (-3, 0))
    flight.record["survey"][0] = 7
    assert flight.fly("coast").points["survey"] == 1


def test_log_of_a_probe_ends_after_its_turns():
    flight = probe("launch E13", {"E16": "weak"}, columns=40, turns=4)
    assert (flight.turn, flight.ending) == (4, "last turn")
    assert Flight("sample_probe").mission.turns == 25


# Spaceship Commander


@pytest.mark.parametrize("turns", [1, 10, 15, 20])
def test_game_ends_after_the_last_turn_of_the_mission(turns):
    flight = Flight(mission({"E16": "weak"}, turns=turns))
    braking = ["launch E13", "engines right", "engines right", "engines right"]
    flight.fly_all([*braking, *["coast"] * 20][:turns])
    assert (flight.turn, flight.ending) == (turns, "last turn")


def test_where_every_order_would_crash_the_game_ends_and_the_mission_has_failed():
    flight = ship(mission(fuel_limit=0), "E10", (-2, 0))  # without fuel it can only coast
    flight.fly("coast")  # to E7; from there it would be pulled back through E6
    assert (flight.position_name, flight.ending, flight.is_over, flight.is_success) == ("E7", "trapped", True, False)
    assert "no order was left" in flight.reason
    free = ship(mission(), "E10", (-2, 0))
    free.fly("coast")
    assert not free.is_over


def test_explore_earns_three_points_once_for_each_planet_but_home():
    flight = ship(mission(), "C10", (-3, 0))
    assert flight.fly("coast").points["explore"] == 3
    assert flight.fly("coast").points["explore"] == 0
    home = ship(mission(), "E13", (1, 0)).fly("coast")
    assert (home.well, home.points["explore"], home.points["survey"]) == ("E16", 0, 0)


def test_survey_earns_a_point_a_turn_up_to_five_for_each_well():
    flight = ship(mission(turns=40), "C10", (-2, 0), turn=0)
    orders = ["coast", "engines right", "engines left"]
    earned = []
    while len(earned) < 8:
        order = next(order for order in [*orders, *flight.legal_orders()] if stays_in_well(flight, order))
        earned.append(flight.fly(order).points["survey"])
    assert earned == [1, 1, 1, 1, 1, 0, 0, 0]


def stays_in_well(flight, order):
    if order not in flight.legal_orders() and order != "coast":
        return False
    trial = flight.copy()
    try:
        return trial.fly(order).well == "E6" and not trial.is_over
    except OrderError:
        return False


def test_microgravity_earns_a_point_for_each_turn_after_the_launch_without_engines():
    flight = Flight(mission())
    assert [flight.fly(order).points["microgravity"] for order in ("launch E13", "coast", "up", "coast")] == [
        0,
        1,
        0,
        1,
    ]


def test_fuel_costs_two_points_for_each_turn_with_engines():
    flight = Flight(mission())
    assert [flight.fly(order).points["fuel"] for order in ("launch E13", "coast", "up", "down")] == [0, 0, -2, -2]


def test_nothing_is_earned_in_the_turn_of_leaving_the_map_but_engines_cost():
    flight = ship(mission(), "A12", (0, -1))
    assert points_of(flight.copy().fly("coast")) == {}
    assert points_of(flight.fly("engines up")) == {"fuel": -2}


# Optional rules


def test_end_at_a_well_ends_the_game_and_wins():
    flight = ship(mission(end_at="well E6"), "C10", (-3, 0))
    flight.fly("coast")
    assert (flight.ending, flight.is_success, flight.reason) == ("end reached", True, "reached well E6 in turn 4")


def test_end_at_a_planet_ends_the_game_with_the_landing():
    flight = ship(mission(end_at="planet F22"), "C22", (0, 1))
    flight.fly("coast")  # to E22, in the well all the while
    assert not flight.is_over
    assert flight.fly("coast").end == (22, 6)  # to G22, and pulled back
    assert (flight.ending, flight.mode, flight.is_success) == ("end reached", "landed", True)


def test_end_at_a_station_ends_the_game_with_the_docking():
    flight = ship(mission(stations=["H12"], end_at="station H12"), "H11", (1, 0))
    flight.fly("coast")
    assert (flight.ending, flight.is_success) == ("end reached", True)


def test_a_flight_that_does_not_reach_its_end_has_failed():
    flight = ship(mission(end_at="well E6"), "A12", (0, -1))
    flight.fly("coast")
    assert (flight.is_success, flight.missing) == (False, ("end at well E6",))


def test_winning_flight_must_survey():
    loaded = mission(survey=["F22"], turns=4)
    lost, won = ship(loaded, "H11", (1, 0)), ship(loaded, "F19", (1, 0))
    lost.fly("coast")
    won.fly("coast")
    assert [flight.is_success for flight in (lost, won)] == [False, True]
    assert lost.reason == "flown to the last turn, 4; missing: survey F22"


def test_winning_flight_must_land_on():
    loaded = mission(land_on=["F22"], turns=4)
    won, lost = ship(loaded, "E22", (0, 0)), ship(loaded, "D22", (0, 0))
    won.fly("coast")
    lost.fly("coast")
    assert (won.mode, won.is_success, won.landed_on) == ("landed", True, ("F22",))
    assert (lost.is_success, lost.missing) == (False, ("land on F22",))


def test_land_on_allows_the_landing_without_the_advanced_rules_but_pays_nothing():
    turn = ship(mission(land_on=["F22"]), "E22").fly("coast")
    assert (turn.mode, points_of(turn)) == ("landed", {"explore": 3, "survey": 1, "microgravity": 1})
    other = ship(mission(land_on=["F22"]), "D16")
    assert "coast" in ship(mission(advanced=True), "D16").legal_orders()
    assert "coast" not in other.legal_orders()  # E16 is not one of them: a crash


def test_reaching_the_end_before_the_rest_is_done_fails():
    flight = ship(mission(end_at="well E6", survey=["F22"]), "C10", (-3, 0))
    flight.fly("coast")
    assert (flight.is_over, flight.is_success) == (True, False)
    assert flight.reason == "reached well E6 in turn 4; missing: survey F22"


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
    loaded = mission(advanced=True, fuel_limit=7)
    flight = ship(loaded, "F22", landed=True)
    assert any(order.startswith("launch") for order in flight.legal_orders())
    flight.record["spent"] = 1
    assert flight.legal_orders() == ("stay",)


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


def test_race_without_a_destination_is_over_when_everything_is_done():
    flight = ship(mission(survey=["E6"], race=True), "C10", (-3, 0))
    flight.fly("coast")
    assert (flight.ending, flight.is_success, flight.reason) == ("goals met", True, "everything done in turn 4")


def test_without_a_race_the_score_decides_and_a_won_flight_beats_every_other():
    won, lost = ship(mission(survey=["E6"], turns=4), "C10", (-3, 0)), ship(mission(survey=["E6"], turns=4), "H11")
    lost.record["points"][0] = 99
    for flight in (won, lost):
        flight.fly("coast")
    assert rank(won) > rank(lost)


def test_stations_can_be_docked_at_without_the_advanced_rules():
    turn = ship(mission(stations=["H12"]), "H11", (1, 0)).fly("coast")
    assert (turn.mode, turn.points["landing"]) == ("docked", 0)


# Advanced rules: landing

ADVANCED = {"advanced": True}


@pytest.mark.parametrize(
    ("at", "move", "order"), [("E22", (0, 0), "coast"), ("E21", (0, 0), "coast"), ("C22", (0, 2), "engines up")]
)
def test_landing_is_a_move_of_exactly_one_grid_onto_a_planet_with_weak_gravity(at, move, order):
    flight = ship(mission(**ADVANCED), at, move)
    if at == "C22":
        with pytest.raises(OrderError, match="a landing is a move of exactly one grid, this one is 3"):
            flight.fly("coast")
        return
    turn = flight.fly(order)
    assert (turn.mode, flight.position_name, flight.move) == ("landed", "F22", (0, 0))
    assert turn.points["landing"] == 10


def test_strong_planets_cannot_be_landed_on():
    flight = ship(mission(**ADVANCED), "D6")
    with pytest.raises(OrderError, match="this planet cannot be landed on"):
        flight.fly("coast")


def test_landing_earns_ten_points_once_for_each_planet():
    loaded = mission(**ADVANCED)
    flight = ship(loaded, "E22")
    assert flight.fly("coast").points["landing"] == 10
    again = ship(loaded, "E22")
    again.record["visited"][:] = flight.record["visited"]
    assert again.fly("coast").points["landing"] == 0


def test_landing_on_the_home_planet_earns_ten_points_too():
    turn = ship(mission(**ADVANCED), "D16").fly("coast")
    assert points_of(turn) == {"landing": 10, "microgravity": 1}


def test_landing_turn_without_engines_earns_microgravity_and_its_survey_point():
    turn = ship(mission(**ADVANCED), "E22").fly("coast")
    assert points_of(turn) == {"explore": 3, "landing": 10, "survey": 1, "microgravity": 1}
    burning = ship(mission(**ADVANCED), "E23", (0, 0))  # pulled to F22 by itself; the engines send it elsewhere
    assert burning.fly("engines up").points["microgravity"] == 0


def test_return_earns_five_points_for_each_planet_landed_on_before_each_once():
    planets = {"E16": "weak", "F22": "weak", "E6": "weak"}
    flight = ship(mission(planets, **ADVANCED), "D16")
    flight.record["visited"][1:3] = 1
    assert flight.fly("coast").points["return"] == 10
    again = ship(mission(planets, **ADVANCED), "D16")
    again.record["visited"][:3], again.record["returned"][1] = 1, 1
    assert points_of(again.fly("coast")) == {"return": 5, "microgravity": 1}


def test_return_counts_no_planet_landed_on_later():
    flight = ship(mission(**ADVANCED), "D16")
    assert flight.fly("coast").points["return"] == 0


# Advanced rules: launching again, staying


def test_launching_again_costs_five_points_and_two_for_the_engines():
    turn = ship(mission(**ADVANCED), "F22", landed=True).fly("launch F19")
    assert points_of(turn) == {"fuel": -2, "launch": -5}


def test_launching_again_follows_the_launch_rule_without_coasting():
    flight = ship(mission(**ADVANCED), "F22", landed=True)
    launches = [order for order in flight.legal_orders() if order.startswith("launch")]
    assert len(launches) == 24
    turn = flight.fly("launch C23")
    assert (turn.coasted, turn.gravity, turn.move) == ((22, 6), (0, 0), (1, -3))
    assert flight.move == (1, -3)


def test_ship_that_remains_landed_earns_a_survey_point_and_no_microgravity():
    flight = ship(mission(**ADVANCED), "F22", landed=True)
    turn = flight.fly("stay")
    assert (turn.mode, turn.end) == ("landed", (22, 6))
    assert points_of(turn) == {"explore": 3, "survey": 1}


def test_ship_that_remains_on_its_home_planet_earns_nothing():
    assert points_of(ship(mission(**ADVANCED), "E16", landed=True).fly("stay")) == {}


def test_survey_points_while_landed_are_within_the_five_of_the_well():
    flight = ship(mission(**ADVANCED), "F22", landed=True)
    assert [flight.fly("stay").points["survey"] for _ in range(7)] == [1, 1, 1, 1, 1, 0, 0]


# Advanced rules: stations

DOCKING = {"advanced": True, "stations": ["H12"]}


def test_docking_is_a_move_of_exactly_one_grid_and_earns_ten_points_once():
    flight = ship(mission(**DOCKING), "H11", (1, 0))
    turn = flight.fly("coast")
    assert (turn.mode, points_of(turn)) == ("docked", {"landing": 10, "microgravity": 1})
    flight.fly("engines right")
    flight.fly("engines left")
    assert points_of(flight.fly("engines left")) == {"fuel": -2}
    assert flight.mode == "docked"


def test_passing_over_a_station_is_no_crash():
    flight = ship(mission(**DOCKING), "H10", (4, 0))
    assert flight.fly("coast").mode == "flying"


def test_longer_move_onto_a_station_is_no_crash_and_no_docking():
    flight = ship(mission(**DOCKING), "H10", (2, 0))
    turn = flight.fly("coast")
    assert (turn.end, turn.mode, turn.points["landing"]) == ((12, 8), "flying", 0)
    assert flight.move == (2, 0)


def test_docked_ship_that_does_not_use_its_engines_stays_and_earns_microgravity():
    flight = ship(mission(**DOCKING), "H12", docked=True)
    for _ in range(2):
        turn = flight.fly("stay")
        assert (turn.mode, turn.end, points_of(turn)) == ("docked", (12, 8), {"microgravity": 1})


def test_leaving_a_station_by_the_engines_does_not_coast():
    flight = ship(mission(**DOCKING), "H12", docked=True)
    turn = flight.fly("engines up-right")
    assert (turn.coasted, turn.gravity, turn.end, turn.mode) == ((12, 8), (0, 0), (13, 7), "flying")
    assert flight.move == (1, -1)


def test_leaving_a_station_in_a_well_gravity_acts():
    loaded = mission(advanced=True, stations=["C6", "D22"])
    flight = ship(loaded, "C6", docked=True)
    turn = flight.copy().fly("stay")
    assert (turn.gravity, turn.end, turn.mode) == ((0, 1), (6, 4), "flying")
    assert points_of(turn) == {"explore": 3, "survey": 1, "microgravity": 1}
    assert flight.copy().fly("engines left").end == (5, 4)
    held = flight.fly("engines up")
    assert (held.end, held.mode, points_of(held)) == ((6, 3), "docked", {"explore": 3, "survey": 1, "fuel": -2})


def test_docked_ships_are_not_launched_and_landed_ones_have_no_engines():
    docked = ship(mission(**DOCKING), "H12", docked=True)
    with pytest.raises(OrderError, match="only a ship on a planet is launched"):
        docked.fly("launch E12")
    with pytest.raises(OrderError, match="the ship is landed; it stays, or is launched"):
        ship(mission(**ADVANCED), "F22", landed=True).fly("engines up")
    with pytest.raises(OrderError, match="the first turn is a launch"):
        Flight(mission()).fly("coast")


def test_advanced_flight_from_pad_to_landing_and_home_again():
    """One whole flight with a landing, a stay, a launch and a return, with every score computed from the rules."""
    from geo_patrol.flight import solve

    flight = solve("sample", {"advanced": True, "turns": 10}).flight
    assert ends(flight).count(flight.mission.home) >= 1
    sheet = flight.score_sheet
    assert sum(sheet.values()) == flight.score == sum(turn.score for turn in flight.turns)
    assert sheet["landing"] == 10 * len(flight.landed_on)
    assert sheet["return"] == 5
