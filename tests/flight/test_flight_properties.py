"""Properties of flights on any map, in any mission."""

import random

from hypothesis import given
from hypothesis import strategies as st

from geo_patrol.flight import Flight, load_mission
from geo_patrol.flight.mission import LAUNCHES, distance, point_name, read_point
from geo_patrol.flight.rules import Mode, gravity_at, make_params, well_at
from tests.flight.ships import flights, maps, missions


@given(maps())
def test_gravity_moves_exactly_one_grid_toward_the_planet(values):
    loaded = load_mission(values | {"title": "sampled", "turns": 5})
    params = make_params(loaded)
    points = [read_point(name) for name in loaded.planets]
    for column in range(-2, loaded.columns + 3):
        for row in range(-2, loaded.rows + 3):
            shift = gravity_at(params, column, row)
            number = well_at(params, column, row)
            if number < 0 or (column, row) in points:
                assert shift == (0, 0)
                continue
            after = column + shift[0], row + shift[1]
            assert distance((column, row), after) == 1
            planet = points[number]
            assert distance(after, planet) == distance((column, row), planet) - 1


@given(maps(planets=1, columns=(20, 40), rows=(20, 26)), st.integers(0, 23))
def test_without_wells_and_engines_a_flight_is_a_straight_line(values, launch):
    loaded = load_mission(values | {"title": "sampled", "turns": 15})
    flight = Flight(loaded)
    if not flight.action_mask()[9 + launch]:
        return
    flight.fly(9 + launch)
    while not flight.is_over:  # away from its only planet, whose well it has left
        flight.fly("coast")
    home, (right, down) = read_point(loaded.home), LAUNCHES[launch]
    assert [turn.end for turn in flight.turns] == [
        (home[0] + number * right, home[1] + number * down) for number in range(1, flight.turn + 1)
    ]


def flip_point(point, loaded, across, down):
    column, row = point
    return (loaded.columns + 1 - column if across else column, loaded.rows + 1 - row if down else row)


def flip_mission(loaded, across, down):
    def flip(name):
        return point_name(flip_point(read_point(name), loaded, across, down))

    values = loaded.to_dict()
    values["planets"] = {flip(name): gravity for name, gravity in loaded.planets.items()}
    values["home"] = flip(loaded.home)
    for key in ("stations", "survey", "land_on"):
        values[key] = [flip(name) for name in values[key]]
    if loaded.end is not None:
        values["end_at"] = f"{loaded.end[0]} {flip(loaded.end[1])}"
    return load_mission(values)


@given(flights(), st.sampled_from([(True, False), (False, True), (True, True)]))
def test_mirrored_maps_give_mirrored_flights(flight, axes):
    loaded = flight.mission
    mirrored = Flight(flip_mission(loaded, *axes))
    for turn in flight.turns:
        if mirrored.is_over:  # a probe flies on by itself
            break
        expected = flip_point(turn.end, loaded, *axes)
        fits = [code for code in mirrored.action_mask().nonzero()[0] if leads_to(mirrored, int(code), turn, expected)]
        assert len(fits) == 1
        mirrored.fly(int(fits[0]))
    assert [turn.points for turn in mirrored.turns] == [turn.points for turn in flight.turns]
    assert [turn.end for turn in mirrored.turns] == [flip_point(turn.end, loaded, *axes) for turn in flight.turns]
    assert (mirrored.ending, mirrored.is_success) == (flight.ending, flight.is_success)


def leads_to(flight, code, turn, end):
    if turn.is_launch != (code >= 9):
        return False
    trial = flight.copy()
    return trial.fly(code).end == end


@given(flights(turns=(1, 40)))
def test_score_sheet_adds_up(flight):
    loaded, sheet = flight.mission, flight.score_sheet
    assert flight.score == sum(sheet.values()) == sum(turn.score for turn in flight.turns)
    for name, points in sheet.items():
        assert points == sum(turn.points[name] for turn in flight.turns)
    assert sheet["explore"] == 3 * len(flight.surveyed)
    if loaded.is_probe:
        assert sheet["fuel"] == sheet["launch"] == sheet["landing"] == sheet["microgravity"] == 0
        return
    assert sheet["survey"] <= 5 * len(flight.surveyed)
    burns = [turn for turn in flight.turns[1:] if turn.is_launch or turn.engines != (0, 0)]
    assert sheet["fuel"] == -2 * len(burns)
    assert sheet["launch"] == -5 * sum(turn.is_launch for turn in flight.turns[1:])
    assert sheet["landing"] == 10 * loaded.advanced * (len(flight.landed_on) + len(flight.docked_at))
    if loaded.fuel_limit is not None:
        assert -sheet["fuel"] - sheet["launch"] <= loaded.fuel_limit


@given(flights(coasting=0.2, probe=False, turns=(1, 40)))
def test_steps_of_a_turn_lead_to_its_endpoint(flight):
    params = make_params(flight.mission)
    for number, turn in enumerate(flight.turns):
        steps = zip(turn.coasted, turn.gravity, turn.engines, strict=True)
        assert turn.end == tuple(sum(axis) for axis in steps)
        before = flight.turns[number - 1] if number else None
        assert turn.start == (before.end if before else read_point(flight.mission.home))
        if before is not None and before.mode == "flying":
            assert turn.coasted == tuple(a + b for a, b in zip(turn.start, before.move, strict=True))
            assert turn.gravity == gravity_at(params, *turn.coasted)
        elif not turn.is_launch:
            assert turn.coasted == turn.start


@given(flights(coasting=0.8, probe=False, turns=(1, 40)))
def test_spaceships_never_crash(flight):
    assert flight.ending != "crashed"
    loaded, planets = flight.mission, {read_point(name): name for name in flight.mission.planets}
    for turn in flight.turns:
        if turn.end in planets and turn.start != turn.end:
            assert turn.mode == "landed"
            assert distance(turn.start, turn.end) == 1
            assert loaded.can_land_on(planets[turn.end])


@given(flights(turns=(1, 40)))
def test_same_orders_fly_the_same_flight(flight):
    loaded = flight.mission
    assert Flight.from_orders(loaded, flight.order_codes) == flight
    texts = [turn.order for turn in flight.turns][: len(flight.order_codes)]
    assert Flight.from_orders(load_mission(loaded.to_dict()), texts) == flight


@given(missions(probe=False, turns=(1, 40)), st.integers(0, 2**32))
def test_a_landed_or_docked_ship_has_no_move_and_is_at_its_site(loaded, seed):
    flight = Flight(loaded)
    rng = random.Random(seed)
    while not flight.is_over:
        flight.fly(int(rng.choice(flight.action_mask().nonzero()[0])))
        record = flight.record
        if record["mode"] in (Mode.LANDED, Mode.DOCKED):
            assert flight.move == (0, 0)
            assert [*loaded.planets, *loaded.stations][record["site"]] == flight.position_name
            assert (record["mode"] == Mode.LANDED) == (flight.position_name in loaded.planets)
