"""Challenges: everybody flies the same mission by the same rules, flights survive a restart, and the best are ranked."""

import csv
import io
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("httpx2")

from starlette.testclient import TestClient

from geo_patrol.flight import Flight, load_mission, random_flight, solve
from geo_patrol.flight.flight import move_words
from geo_patrol.flight.lesson import FlightLesson
from geo_patrol.web import flights
from geo_patrol.web.app import Server
from geo_patrol.web.flights import MAX_PILOTS
from geo_patrol.web.tables import TableStore

SHORT = 'extends = "sample"\nturns = 3\n'
WINNING = ["launch D13", "coast", "engines down"]
BEST = json.loads((Path(__file__).parents[1] / "data" / "best_flights.json").read_text(encoding="utf-8"))


@pytest.fixture
def client(tmp_path):
    with TestClient(Server(TableStore(tmp_path)).app()) as client:
        yield client


class FlightDay:
    """A challenge, as its pages speak to the server."""

    def __init__(self, client, **setup):
        self.client, self.secrets = client, {}
        self.name = self.request("", 201, **setup)["challenge"]

    def request(self, path, status=200, **body):
        where = f"/api/flights/{self.name}/{path}" if path else "/api/flights"
        response = self.client.post(where, json=body)
        assert response.status_code == status, response.text
        return response.json()

    def get(self, path=""):
        response = self.client.get(f"/api/flights/{self.name}{path}")
        assert response.status_code == 200, response.text
        return response

    def arrive(self, *names):
        for name in names:
            self.secrets[name] = self.request("pilots", 201, name=name)["secret"]

    def state(self, name):
        return self.request("flight", secret=self.secrets[name])

    def fly(self, name, *orders):
        for order in orders:
            number = self.state(name)["number"]
            state = self.request("orders", secret=self.secrets[name], number=number, order=order)
        return state

    def take_back(self, name, path="undo"):
        return self.request(path, secret=self.secrets[name], number=self.state(name)["number"])

    def ranking(self):
        return self.get("/ranking").json()["ranking"]


@pytest.mark.parametrize("mission", ["sample", "courier", "touchdown", "short_tank", "probe_slalom", "survey_sprint"])
def test_a_flight_equals_the_engines(client, mission):
    """Each turn: legal orders, score and log are those of ``Flight`` with the same orders."""
    day, flight = FlightDay(client, mission=mission), Flight(mission)
    day.arrive("Ada")
    for code in random_flight(np.random.default_rng(5), flight.mission).order_codes:
        state = day.state("Ada")
        assert [choice["order"] for choice in state["choices"]] == list(flight.legal_orders())
        assert f"score {flight.score}" in state["status"]
        order = flight.order_text(code)
        flight.fly(order)
        day.fly("Ada", order)
    state = day.state("Ada")
    assert state["over"]
    assert state["choices"] == []
    assert [row[1] for row in reversed(state["log"])] == [turn.order for turn in flight.turns]
    assert dict(state["points"]).items() <= flight.score_sheet.items()
    (row,) = day.ranking()
    assert (row["score"], row["turns"], row["accomplished"]) == (flight.score, flight.turn, flight.is_success)


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


def test_the_best_flight_counts_and_equal_ones_rank_equally(client):
    day = FlightDay(client, scenario=SHORT)
    day.arrive("Ada", "Ben", "Cem", "Dua")
    day.fly("Ada", "launch D13", "coast", "coast")
    day.fly("Ben", *WINNING)
    day.take_back("Ben", "again")
    day.fly("Ben", "launch D13", "coast", "coast")
    day.fly("Cem", "launch B16", "coast")
    rows = day.ranking()
    assert [(row["rank"], row["name"], row["flights"]) for row in rows] == [
        (1, "Ada", 1), (1, "Ben", 2), (None, "Cem", 1), (None, "Dua", 0),
    ]  # fmt: skip
    assert [row["lost"] for row in rows] == [False, False, True, False]
    best = Flight.from_orders(load_mission("sample", {"turns": 3}), ["launch D13", "coast", "coast"])
    assert rows[0]["score"] == rows[1]["score"] == best.score > rows[2]["score"]


def test_a_race_is_won_by_the_fewest_turns(client):
    race = 'extends = "sample"\nturns = 6\nend_at = "well E6"\nrace = true\n'
    day = FlightDay(client, scenario=race)
    day.arrive("slow", "fast", "lost")
    day.fly("slow", "launch C13", "engines down-right", "engines down-right", "coast")
    day.fly("fast", "launch D13", "coast", "coast")
    day.fly("lost", "launch B16", "coast")
    assert next((row["name"], row["accomplished"]) for row in day.ranking()) == ("fast", True)
    assert day.ranking()[-1]["name"] == "lost"


def test_turns_are_taken_back(client):
    day = FlightDay(client, scenario=SHORT)
    day.arrive("Ada")
    day.fly("Ada", *WINNING[:2])
    before = day.state("Ada")
    day.fly("Ada", WINNING[2])
    assert day.take_back("Ada") == before | {"steps": before["steps"]}
    day.fly("Ada", "coast")
    assert day.ranking()[0]["flights"] == 2
    day.take_back("Ada", "again")
    assert day.state("Ada")["number"] == 0


def test_an_order_that_is_sent_twice_counts_once(client):
    day = FlightDay(client)
    day.arrive("Ada")
    order = {"secret": day.secrets["Ada"], "number": 0, "order": "launch D13"}
    assert day.request("orders", **order) == day.request("orders", **order)
    assert "1 orders have been flown" in day.request("orders", 400, **order | {"order": "launch C13"})["text"]
    day.request("orders", 400, **order | {"number": 2, "order": "coast"})
    day.request("undo", 400, secret=day.secrets["Ada"], number=0)
    assert day.state("Ada")["number"] == 1


@pytest.mark.parametrize("order", ["coast", "launch A1", "<b>", "engines up", ""])
def test_illegal_orders_change_nothing(client, order):
    day = FlightDay(client)
    day.arrive("Ada")
    day.request("orders", 400, secret=day.secrets["Ada"], number=0, order=order)
    assert day.state("Ada")["number"] == 0


def test_a_killed_server_goes_on_with_flights_and_ranking(tmp_path):
    """The second server reads a copy of the folder, made while the first one has not been closed."""
    with TestClient(Server(TableStore(tmp_path)).app()) as client:
        day = FlightDay(client, scenario=SHORT)
        day.arrive("Ada", "Ben")
        day.fly("Ada", *WINNING)
        day.take_back("Ada", "again")
        day.fly("Ada", "launch D13")
        before = day.state("Ada"), day.ranking(), day.get().json()
        copy = shutil.copytree(tmp_path, tmp_path / "copy", ignore=shutil.ignore_patterns(".lock"))
        with TestClient(Server(TableStore(copy)).app()) as day.client:
            assert (day.state("Ada"), day.ranking(), day.get().json()) == before
            day.fly("Ada", "coast")


def test_the_ranking_as_csv_has_orders_that_fly_again(client):
    day = FlightDay(client, scenario=SHORT)
    day.arrive("=1+1")
    day.fly("=1+1", *WINNING)
    answer = day.get("/ranking.csv")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    (row,) = csv.DictReader(io.StringIO(answer.text))
    flight = Flight.from_orders(load_mission("sample", {"turns": 3}), row["orders"].split("; "))
    assert (row["name"], int(row["score"]), row["accomplished"]) == ("'=1+1", flight.score, "True")


@pytest.mark.parametrize(
    ("setup", "known"),
    [
        ({"mission": "grand_tour"}, {"score": 108, "turns": 40, "is_proved": False}),
        ({"mission": "probe_race"}, {"score": 9, "turns": 5, "is_proved": True}),
        ({"scenario": 'extends = "sample_probe"\nturns = 24'}, {"score": 8, "turns": 8, "is_proved": True}),
        ({"scenario": 'extends = "sample"\nturns = 1\nend_at = "well E6"'}, None),
    ],
)
def test_the_best_known_score(client, setup, known):
    assert FlightDay(client, **setup).get("/ranking").json()["best_known"] == known


def test_a_better_flight_becomes_the_best_known(client, monkeypatch):
    monkeypatch.setattr(flights, "_MAX_STATES", 1)
    day = FlightDay(client, scenario='extends = "sample"\ntitle = "Another sample"')
    found = day.get("/ranking").json()["best_known"]["score"]
    assert found < 21
    day.arrive("Ada", "Ben")
    best = [turn.order for turn in solve("sample").flight.turns]
    assert "21 of 21 points" in day.fly("Ada", *best)["result"]
    assert day.get("/ranking").json()["best_known"] == {"score": 21, "turns": 15, "is_proved": False}
    day.fly("Ben", "launch B16", "coast")
    assert day.get("/ranking").json()["best_known"]["score"] == 21


@pytest.mark.parametrize(
    ("mission", "known"), [("sample", "a flight with 21 points"), ("docking_race", "a flight with 6 turns")]
)
def test_a_hint_names_the_best_known_flight_where_it_is_better(client, monkeypatch, mission, known):
    monkeypatch.setattr(flights, "QUICK_STATES", 1)
    day = FlightDay(client, mission=mission, hints=True)
    day.arrive("Ada")
    assert known in day.request("hint", secret=day.secrets["Ada"])["text"]


def test_a_hint_may_find_a_better_flight_than_the_best_known(client, monkeypatch):
    monkeypatch.setattr(flights, "_MAX_STATES", 1)
    day = FlightDay(client, scenario='extends = "sample"\ntitle = "Another sample"', hints=True)
    day.arrive("Ada")
    assert "leads to 21 points" in day.request("hint", secret=day.secrets["Ada"])["text"]
    assert day.get("/ranking").json()["best_known"]["score"] == 21


def test_the_picture_of_a_flight(client):
    day = FlightDay(client)
    day.arrive("Ada")
    day.fly("Ada", "launch D13", "coast")
    svg = day.request("picture", secret=day.secrets["Ada"])["svg"]
    assert svg == Flight.from_orders("sample", ["launch D13", "coast"]).svg()
    day.request("picture", 403, secret="x")


def test_the_same_seed_gives_the_same_random_mission(client):
    days = [FlightDay(client, mission="random", seed=seed, game="planetary_probe") for seed in (3, 3, 4)]
    one, same, other = (day.get().json() for day in days)
    assert one == same
    assert one["map"] != other["map"]
    assert one["title"] == "Random mission 3"
    assert one["about"].startswith("Planetary Probe, up to 25 turns. ")


@pytest.mark.parametrize(
    ("setup", "text"),
    [
        (
            {"mission": "case1"},
            "mission must be one of base_camp, courier, docking_race, grand_tour, probe_race, probe_slalom, sample, sample_20, sample_probe, short_tank, survey_loop, survey_sprint, touchdown, got 'case1'",
        ),
        (
            {"mission": "../configs/flight/sample"},
            "must be one of base_camp, courier, docking_race, grand_tour, probe_race, probe_slalom, sample, sample_20, sample_probe, short_tank, survey_loop, survey_sprint, touchdown",
        ),
        ({"scenario": 'extends = "/etc/passwd"'}, "name of a mission"),
        ({"scenario": "turns = 0"}, "turns"),
        ({"scenario": "a" + ".a" * 300 + " = 1"}, "dots"),
        ({"scenario": "x" * 70_000}, "scenario"),
        ({"mission": "random", "seed": -1}, "seed"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_wrong_missions_are_refused_and_nothing_is_stored(client, tmp_path, setup, text):
    response = client.post("/api/flights", json=setup)
    assert response.status_code == 400
    assert text in response.json()["text"]
    assert not list(tmp_path.glob("flights/*"))


def test_secrets(client, tmp_path):
    """Nobody flies another pilot's flight, or that of another challenge; only hashes are stored, none is told."""
    day, other = FlightDay(client), FlightDay(client)
    day.arrive("Ada")
    other.arrive("Ada")
    for secret in ("", "x", other.secrets["Ada"]):
        for path, body in (("flight", {}), ("orders", {"number": 0, "order": "launch D13"}), ("again", {"number": 0})):
            day.request(path, 403, secret=secret, **body)
    stored = (tmp_path / "flights" / f"{day.name}.json").read_text()
    answers = stored + day.get().text + day.get("/ranking").text + json.dumps(day.state("Ada"))
    assert day.secrets["Ada"] not in answers


def test_names_and_numbers_are_bounded(client, monkeypatch):
    day = FlightDay(client)
    day.arrive("Ada")
    assert "add a letter" in day.request("pilots", 409, name=" ada ")["text"]
    day.request("pilots", 400, name="  ")
    day.arrive("a\x1b[31m" + "b" * 90)
    assert all(len(row["name"]) <= 40 and row["name"].isprintable() for row in day.ranking())
    monkeypatch.setattr(flights, "MAX_PILOTS", 2)
    day.request("pilots", 429, name="another")
    assert client.post("/api/flights/nothing/flight", json={"secret": ""}).status_code == 404


def test_the_largest_challenge_can_be_restored(tmp_path):
    """A file with as many pilots and orders as there can be is not too large to be read."""
    with TestClient(Server(TableStore(tmp_path)).app()) as client:
        day = FlightDay(client, mission="grand_tour")
    challenge = flights.ChallengeStore(tmp_path).find(day.name)
    orders, name = ["engines down-right"] * 40, "\U0001f600" * 40
    best = {"orders": orders, "turns": 40, "rank": (1, 0, 99), "lost": False}
    pilot = flights.Pilot(name=name, secret_hash="0" * 64, orders=orders, num_flights=10**6, best=best)
    challenge.saved.pilots = [pilot] * MAX_PILOTS
    challenge.save()
    assert flights.ChallengeStore(tmp_path).damaged == {}


def test_a_damaged_file_is_named(tmp_path):
    (tmp_path / "flights").mkdir()
    (tmp_path / "flights" / "a.json").write_text("{}")
    (fault,) = Server(TableStore(tmp_path)).damaged
    assert "a.json" in fault


def test_the_missions_of_the_package_are_offered_from_easy_to_hard(client):
    offered = client.get("/api/missions").json()
    missions = [mission for _, missions in offered["levels"] for mission in missions]
    names = [mission["name"] for mission in missions]
    assert sorted(names) == sorted(flights.mission_names())
    assert names[:2] == ["sample_probe", "sample"]
    assert names[-1] == "grand_tour"
    difficulties = [mission["difficulty"] for mission in missions]
    assert difficulties == sorted(difficulties)
    assert set(difficulties) == {1, 2, 3, 4, 5}
    assert [level for level, _ in offered["levels"]] == ["Easy", "Medium", "Hard"]
    for mission in missions:
        assert mission["task"].endswith((".", "?"))
        assert mission["known"]
    assert [line for line, _ in offered["scoring"]] == ["explore", "survey", "microgravity", "fuel"]


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


def test_who_comes_again_with_the_same_secret_has_come_already(client):
    """As where the answer to the first arrival was lost."""
    day, secret = FlightDay(client), "s" * 32
    for name, status in (("Ada", 201), (" ada", 201), ("Ben", 409)):
        answer = client.post(f"/api/flights/{day.name}/pilots", json={"name": name, "secret": secret})
        assert answer.status_code == status
        assert status != 201 or answer.json() == {"secret": secret}
    ranking = client.get(f"/api/flights/{day.name}/ranking").json()["ranking"]
    assert [row["name"] for row in ranking] == ["Ada"]
