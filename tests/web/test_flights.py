"""Flights on the page: a mission is flown by the rules, with hints, and the server keeps nothing of it."""

from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from geo_patrol.flight import Flight, load_mission, random_flight
from geo_patrol.flight.flight import move_words
from geo_patrol.flight.lesson import FlightLesson
from geo_patrol.flight.pictures import scene
from geo_patrol.web import flights
from tests.flight.ships import BEST

SHORT = 'extends = "sample"\nturns = 3\n'
IMPOSSIBLE = 'extends = "sample"\nturns = 1\nend_at = "well E6"'
WINNING = ["launch D13", "coast", "engines down"]


def post(client, path="", status=200, **body):
    response = client.post(f"/api/flights{path}", json=body)
    assert response.status_code == status, response.text
    return response.json()


def page_of(client, **asked):
    """Return what the address of the page says of a random mission, or one's own."""
    response = client.post("/api/missions", json=asked)
    assert response.status_code == 200, response.text
    page = urlsplit(response.json()["page"])
    assert page.path == "/static/flight.html"
    return {key: value for key, (value,) in parse_qs(page.fragment).items()}


@pytest.mark.parametrize("mission", ["courier", "touchdown", "probe_slalom"])
def test_a_flight_equals_the_engines(client, mission):
    """Each turn: legal orders, score and log are those of ``Flight`` with the same orders."""
    flight, orders = Flight(mission), []
    for code in random_flight(np.random.default_rng(5), flight.mission).order_codes:
        state = post(client, mission=mission, orders=orders)
        assert [choice["order"] for choice in state["choices"]] == list(flight.legal_orders())
        assert f"score {flight.score}" in state["status"]
        orders.append(flight.order_text(code))
        flight.fly(orders[-1])
    state = post(client, mission=mission, orders=orders)
    assert (state["over"], state["success"], state["choices"]) == (True, flight.is_success and not flight.is_lost, [])
    assert [row[1] for row in reversed(state["log"])] == [turn.order for turn in flight.turns]
    assert dict(state["points"]).items() <= flight.score_sheet.items()


@pytest.mark.parametrize("mission", ["sample", "base_camp", "docking_race", "touchdown"])
def test_what_an_order_means_is_what_it_does(mission):
    flight = Flight(mission)
    for code in BEST[mission]["orders"]:
        order = flight.order_text(code)
        choices = {choice["order"]: choice["means"] for choice in flights.flight_record(flight)["choices"]}
        turn = flight.fly(order)
        if turn.end == turn.start:
            expected = "stays where it is"
        elif turn.mode == "flying":
            expected = f"The move is then {move_words(turn.move)}, each turn"
        else:
            expected = {"landed": "lands there", "docked": "docks there"}[turn.mode]
        assert expected in choices[order]
    lost = flights.flight_record(Flight.from_orders("sample", ["launch B16"]))["choices"][0]
    assert (lost["order"], lost["means"]) == ("coast", "The ship leaves the map and is lost in space.")


def test_a_chosen_order_shows_its_path_and_leaves_the_map_in_a_straight_line():
    flight = Flight.from_orders("sample", ["launch B16"])
    record = flights.flight_record(flight)
    layout = scene.MapLayout(flight.mission)
    start, width = layout.at(flight.position), flight.mission.columns
    for choice, code in zip(record["choices"], flight.action_mask().nonzero()[0].tolist(), strict=True):
        paths = [shape for shape in choice["chosen"] if shape[0] == "L"]
        assert any(shape[-2:] == pytest.approx(choice["at"], abs=0.01) for shape in paths), choice["order"]
        column, row = flight.end_of(code)
        if choice["end"] != "off" or width < column:
            continue
        ahead = layout.left + (column - 1) * layout.cell - start[0], (row - flight.position[1]) * layout.cell
        shown = choice["at"][0] - start[0], choice["at"][1] - start[1]
        assert ahead[0] * shown[1] == pytest.approx(ahead[1] * shown[0], abs=0.01), "on the line to its endpoint"


@pytest.mark.parametrize("order", ["coast", "launch A1", "<b>", "engines up", ""])
def test_illegal_orders_are_refused(client, order):
    post(client, status=400, orders=[order])
    post(client, status=400, orders=["launch D13", "coast", order and f"{order} {order}"])


def test_more_orders_than_a_mission_has_turns_are_refused(client):
    post(client, status=400, orders=["launch D13"] + ["coast"] * 40)
    post(client, status=400, scenario=SHORT, orders=[*WINNING, "coast"])


@pytest.mark.parametrize(
    ("setup", "known"),
    [
        ({"mission": "grand_tour"}, "Best known: 108 points."),
        ({"mission": "probe_race"}, "Best known: 5 turns, proved."),
        ({"scenario": 'extends = "sample_probe"\nturns = 24'}, "Best known: 8 points, proved."),
        ({"scenario": IMPOSSIBLE}, "No flight is known that accomplishes the mission."),
    ],
)
def test_the_best_known_flight(client, setup, known):
    assert post(client, "/mission", **setup)["known"] == known


def test_a_flight_that_is_over_is_compared_with_the_best_known(client):
    best = Flight.from_orders("sample", BEST["sample"]["orders"])
    orders = [turn.order for turn in best.turns]
    assert "21 of 21 points" in post(client, orders=orders)["result"]
    assert post(client, orders=orders[:-1])["result"] == ""
    lost = post(client, orders=["launch B15", "coast"])
    assert (lost["over"], lost["success"]) == (True, False), "in space"
    own = post(client, scenario='extends = "sample_probe"\nturns = 24', orders=["launch D13"])
    assert "8 of 8 points" in own["result"]


@pytest.mark.parametrize(
    ("mission", "known"), [("sample", "a flight with 21 points"), ("docking_race", "a flight with 6 turns")]
)
def test_a_hint_names_the_best_known_flight_where_it_is_better(client, monkeypatch, mission, known):
    monkeypatch.setattr(flights, "QUICK_STATES", 1)
    assert known in post(client, "/hint", mission=mission)["text"]


def test_a_hint_is_the_best_order(client):
    assert "leads to 21 points" in post(client, "/hint", mission="sample")["text"]
    assert post(client, "/hint", mission="docking_race")["order"] == "launch D7"
    assert "the flight is over" in post(client, "/hint", 409, scenario=SHORT, orders=WINNING)["text"]


def test_the_picture_of_a_flight(client):
    orders = ["launch D13", "coast"]
    assert post(client, "/picture", orders=orders)["svg"] == Flight.from_orders("sample", orders).svg()


def test_the_same_seed_gives_the_same_random_mission(client):
    pages = [page_of(client, seed=seed, game="planetary_probe") for seed in (3, 3, 4)]
    one, same, other = (post(client, "/mission", **page) for page in pages)
    assert one == same
    assert one["map"] != other["map"]
    assert one["title"] == "Random mission 3"
    assert one["about"].startswith("Planetary Probe, up to 25 turns. ")


@pytest.mark.parametrize("name", flights.mission_names())
def test_the_address_of_a_page_holds_its_mission(name):
    assert flights.flight_page(load_mission(name)) == f"/static/flight.html#mission={name}"
    changed = load_mission(name, {"title": 'Half "the" time + 1 & more'})
    ((key, (scenario,)),) = parse_qs(urlsplit(flights.flight_page(changed)).fragment).items()
    assert (key, flights.AskedFlight(scenario=scenario).fly().mission) == ("scenario", changed)


@pytest.mark.parametrize(
    ("setup", "text"),
    [
        ({"mission": "../configs/flight/sample"}, "mission must be one of base_camp, courier, "),
        ({"scenario": 'extends = "/etc/passwd"'}, "name of a mission"),
        ({"scenario": "turns = 0"}, "turns"),
        ({"scenario": "a" + ".a" * 300 + " = 1"}, "dots"),
        ({"scenario": "x" * 70_000}, "scenario"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_wrong_missions_are_refused(client, setup, text):
    assert text in post(client, "/mission", 400, **setup)["text"]


@pytest.mark.parametrize("setup", [{"scenario": "turns = 0"}, {"seed": -1}, {"game": "chess"}, {"mission": "sample"}])
def test_wrong_missions_of_ones_own_are_refused(client, setup):
    response = client.post("/api/missions", json=setup)
    assert response.status_code == 400
    assert next(iter(setup if "scenario" not in setup else ["turns"])) in response.json()["text"]


def test_nothing_of_a_flight_is_stored(client, tmp_path):
    before = sorted(tmp_path.rglob("*"))
    post(client, "/mission", scenario=SHORT)
    post(client, scenario=SHORT, orders=WINNING)
    assert sorted(tmp_path.rglob("*")) == before


def test_the_missions_of_the_package_are_offered_from_easy_to_hard(client):
    offered = client.get("/api/missions").json()
    missions = [mission for _, missions in offered["levels"] for mission in missions]
    names = [mission["name"] for mission in missions]
    assert sorted(names) == sorted(flights.mission_names())
    difficulties = [mission["difficulty"] for mission in missions]
    assert difficulties == sorted(difficulties)
    assert [level for level, _ in offered["levels"]] == ["Easy", "Medium", "Hard"]
    for mission in missions:
        assert mission["task"].endswith((".", "?"))
        assert mission["known"]


# The guided first flight


STEPS = FlightLesson().steps


@pytest.mark.parametrize("number", range(1, len(STEPS) + 1))
def test_a_step_is_done_by_the_order_that_its_lesson_requires(client, number):
    where, step = f"/api/flight-lesson/{number}", STEPS[number - 1]
    begun = client.get(where).json()
    assert (begun["steps"], begun["done"], begun["order"]) == (len(STEPS), False, step.orders[0])
    offered = [choice["order"] for choice in begun["flight"]["choices"]]
    assert step.orders[0] in offered
    wrong = client.post(where, json={"order": next(order for order in offered if order != step.orders[0])}).json()
    assert (wrong["done"], wrong["flight"], wrong["story"]) == (False, begun["flight"], [])
    assert wrong["card"]["hint"] != ""
    right = client.post(where, json={"order": step.orders[0]}).json()
    assert (right["done"], right["card"]["task"]) == (True, "")
    assert right["flight"]["number"] == len(step.flown) + 1
    assert len(right["story"]) == len(right["flight"]["steps"]) + 1
    assert client.get(where).json() == begun


def test_other_steps_and_orders_are_refused(client):
    for number in (0, 7):
        assert client.get(f"/api/flight-lesson/{number}").json()["text"] == f"step must be 1 to 6, got {number}"
    for body in ({"order": "<b>"}, {"order": "coast" * 9}, {"order": 3}, {}, {"order": "coast", "more": 1}):
        assert client.post("/api/flight-lesson/2", json=body).status_code == 400
