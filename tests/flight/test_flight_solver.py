"""The solver: equal to brute force, never beaten, and the best known flights of the missions of the package."""

import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from geo_patrol.flight import Flight, load_mission, mission_names, rank, solve
from geo_patrol.flight.best import best_known
from geo_patrol.flight.solver import HOPELESS, max_remaining_points, min_landing_interval
from tests.flight.ships import BEST, fly_at_random, mission, missions, sample_mission, ship

LONG = {"grand_tour"}
"""Missions that take the solver more than a few seconds."""


def every_flight(flight):
    """Yield all flights of a mission that have ended."""
    if flight.is_over:
        yield flight
        return
    for code in flight.action_mask().nonzero()[0]:
        trial = flight.copy()
        trial.fly(int(code))
        yield from every_flight(trial)


@pytest.mark.slow
@settings(max_examples=60)
@given(missions(probe=False, turns=(2, 4), columns=(7, 12), rows=(7, 9), planets=3))
def test_solver_equals_brute_force_on_small_maps(loaded):
    best = max(every_flight(Flight(loaded)), key=rank)
    solution = solve(loaded)
    assert rank(solution.flight) == rank(best)
    assert solution.is_proved
    assert solution.bound == solution.score


NEAR = {"E6": "weak", "E11": "weak"}
NEAR_MISSIONS = [
    {"advanced": True, "home": "E6"},
    {"advanced": True, "home": "E11", "stations": ["C8", "G9"]},
    {"land_on": ["E11"], "home": "E6", "fuel_limit": 6},
    {"end_at": "planet E11", "home": "E6", "race": True},
    {"end_at": "station G9", "stations": ["G9"], "home": "E6", "race": True, "advanced": True},
    {"survey": ["E11"], "land_on": ["E6"], "home": "E6", "advanced": True, "race": True},
]


@pytest.mark.parametrize("values", NEAR_MISSIONS, ids=str)
def test_solver_equals_brute_force_where_planets_are_near(values):
    loaded = mission(NEAR, turns=4, columns=13, **values)
    best = max(every_flight(Flight(loaded)), key=rank)
    assert rank(solve(loaded).flight) == rank(best)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(mission_names()) - LONG))
def test_best_known_scores(name):
    solution = solve(name)
    known = BEST[name]
    assert (solution.score, solution.flight.turn, solution.status) == (known["score"], known["turns"], known["status"])
    assert solution.flight.is_success
    assert solution.bound_turns == (known["turns"] if solution.flight.mission.race else None)


@pytest.mark.parametrize("name", mission_names())
def test_best_known_flights(name):
    known = BEST[name]
    flight = Flight.from_orders(name, known["orders"])
    best = best_known(flight.mission)
    assert (flight.is_over, flight.is_success) == (True, True)
    assert (flight.score, flight.turn) == (known["score"], known["turns"]) == (best.score, best.turns)
    assert best.is_proved == (known["status"] == "proved")
    assert best_known(load_mission(name, {"turns": "+1" if flight.mission.turns < 40 else "-1"})) is None


@settings(max_examples=30)
@given(missions(turns=(1, 15)), st.integers(0, 2**32))
@example(sample_mission(random.Random(6), turns=(1, 15)), 0)  # the second, wider search wins the race sooner
def test_random_flights_never_beat_the_solver(loaded, seed):
    solution = solve(loaded, max_states=2_000)
    rng = random.Random(seed)
    for _ in range(20):
        flight = fly_at_random(Flight(loaded), rng)
        if solution.is_proved:
            assert rank(flight) <= rank(solution.flight)
        elif flight.is_success and not loaded.race:
            assert flight.score <= solution.bound
        elif flight.is_success:
            assert flight.turn >= solution.bound_turns


@settings(max_examples=60)
@given(missions(probe=False, turns=(1, 25)), st.integers(0, 2**32))
def test_bound_of_what_can_still_be_earned_is_never_too_low(loaded, seed):
    flight = Flight(loaded)
    params = flight.params
    params["min_landing_interval"] = min_landing_interval(params)
    bounds, scores = [], []
    rng = random.Random(seed)
    while not flight.is_over:
        if flight.turn:
            bounds.append(max_remaining_points(params, flight.record))
            scores.append(flight.score)
        orders = [
            int(code) for code in (flight.staying_mask() if rng.random() < 0.9 else flight.action_mask()).nonzero()[0]
        ]
        flight.fly(rng.choice(orders or [int(flight.action_mask().argmax())]))
    for bound, score in zip(bounds, scores, strict=True):
        assert flight.score <= score + bound or (bound <= HOPELESS // 2 and not flight.is_success)


TURNS_BACK = [
    ({"F4": "weak", "D9": "weak"}, {"home": "F4", "end_at": "well D9"}, "E5", (-3, 1), 2),
    ({"F12": "strong", "A1": "weak", "F6": "weak"}, {"home": "A1", "end_at": "well A1"}, "G6", (2, -2), 2),
    ({"B1": "weak", "F6": "weak", "A6": "weak"}, {"home": "B1", "survey": ["A6"]}, "D6", (-2, 4), 3),
]
"""Planets, mission, position, move, turns left: flights won by landing and at once launching the other way."""


@pytest.mark.parametrize(("planets", "values", "at", "move", "left"), TURNS_BACK, ids=str)
def test_bound_knows_that_a_landing_turns_a_ship_round(planets, values, at, move, left):
    flight = ship(mission(planets, advanced=True, **values), at, move, turn=20 - left)
    params = flight.params
    params["min_landing_interval"] = min_landing_interval(params)
    best = max(every_flight(flight), key=rank)
    assert best.is_success
    assert best.score <= max_remaining_points(params, flight.record)


def test_solver_finds_a_flight_that_lands_to_turn_round():
    planets = {"D4": "weak", "J11": "weak", "D12": "weak", "J2": "weak"}
    loaded = mission(planets, home="J11", turns=5, columns=13, rows=10, advanced=True, end_at="well D12")
    turns_back = Flight.from_orders(loaded, ["launch H8", "coast", "engines down-right", "launch C7", "coast"])
    assert turns_back.landed_on == ("D4",)
    assert rank(solve(loaded).flight) >= rank(turns_back)


@pytest.mark.parametrize("name", ["base_camp", "grand_tour"])
def test_narrow_search_says_best_found_and_gives_a_bound(name):
    narrow = solve(name, max_states=200)
    assert narrow.status == "best found"
    assert narrow.score <= BEST[name]["score"] <= narrow.bound


def test_race_that_is_not_proved_has_a_bound_of_turns():
    narrow = solve("courier", max_states=300)
    assert narrow.status == "best found"
    assert narrow.bound_turns <= BEST["courier"]["turns"] <= narrow.flight.turn


def test_mission_that_cannot_be_fulfilled_is_proved_to_be_so():
    loaded = mission(survey=["E6"], turns=1)
    solution = solve(loaded)
    assert (solution.is_proved, solution.flight.is_success) == (True, False)
    probe = solve("probe_slalom", {"survey": ["F15", "G20", "G9"], "turns": 3})
    assert (probe.is_proved, probe.flight.is_success) == (True, False)


@pytest.mark.slow
def test_progress_is_reported_turn_by_turn():
    calls = []
    solve("base_camp", max_states=20_000, progress=lambda turn, turns: calls.append((turn, turns)))
    assert (18, 18) in calls


@pytest.mark.parametrize("states", [0, -1, 1.5, True, "many", 10**9])
def test_wrong_number_of_states(states):
    with pytest.raises(ValueError, match=r"max_states must be an integer from 1 to 10000000, got .*"):
        solve("sample", max_states=states)


def test_same_mission_same_flight():
    assert solve("survey_loop").flight == solve(load_mission("survey_loop")).flight


@pytest.mark.parametrize("name", ["sample", "docking_race", "sample_probe"])
def test_the_rest_of_a_best_flight_is_the_best_way_to_go_on(name):
    best = solve(name).flight
    for turns in (0, 1, len(best.order_codes)):
        start = Flight.from_orders(name, best.order_codes[:turns])
        solution = solve(start)
        assert solution.flight.order_codes[:turns] == start.order_codes
        assert rank(solution.flight) == rank(best)
        assert solution.is_proved


def test_going_on_badly_is_never_better():
    start = Flight.from_orders("sample", ["launch B16", "engines up"])
    assert solve(start).score <= 21
