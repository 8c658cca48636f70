"""Classes: pupils are paired fairly, come back to their seats, and the teacher alone pauses and takes the results."""

import contextlib
import csv
import errno
import io
import itertools
import json
import os
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("starlette")
pytest.importorskip("httpx2")

import segno
from starlette.testclient import TestClient

from geo_patrol.base.files import atomic_write
from geo_patrol.web import requests, store
from geo_patrol.web.app import Server
from geo_patrol.web.classes import MAX_PUPILS
from geo_patrol.web.tables import Table, TableStore

HIDDEN = 'extends = "geo_patrol_hidden"\nturn_limit = 1\n'
SHORT = 'extends = "case1"\nturn_limit = 1\n'


class Classroom:
    """A class, as its pages speak to the server."""

    def __init__(self, client, **setup):
        self.client, self.secrets = client, {}
        opened = self.request("", 201, **({"title": "Physics", "scenario": SHORT} | setup))
        self.name, self.teacher = opened["class"], opened["secret"]

    def request(self, path, status=200, **body):
        where = f"/api/classes/{self.name}/{path}" if path else "/api/classes"
        response = self.client.post(where, json=body)
        while response.status_code == 429 and status != 429 and response.json()["retry_after"] < 1.0:  # as pages wait
            time.sleep(response.json()["retry_after"])
            response = self.client.post(where, json=body)
        assert response.status_code == status, response.text
        return response.json() if response.headers["content-type"] == "application/json" else response.text

    def arrive(self, *names):
        for name in names:
            self.secrets[name] = self.request("pupils", 201, name=name)["secret"]

    def seat(self, name):
        return self.request("place", secret=self.secrets[name])

    def unload(self):
        """Let all tables leave memory."""
        self.client.portal.call(self.client.server.unload, -1.0)
        for table in list(self.client.server.tables.items.values()):
            self.client.portal.call(self.client.server.tables.unload, table)
        self.client.portal.call(self.client.server._classes.save_notes)

    def overview(self, **body):
        return self.request("overview", secret=self.teacher, **body)

    def play(self, name):
        """Play the pupil's game to its end, with no orders; the other side has to do that, too."""
        table = self.seat(name)["table"]
        players = [other for other in self.secrets if self.seat(other)["table"] == table]
        sockets = [self.client.websocket_connect(f"/ws/{table}") for _ in players]
        for player, socket in zip(players, sockets, strict=True):
            socket.__enter__()
            hello = {"type": "hello", "version": 1, "table": table, "secret": self.secrets[player], "name": "Somebody"}
            socket.send_text(json.dumps(hello))
        ended = 0
        for socket in sockets * 3:
            while ended < len(sockets):
                message = json.loads(socket.receive_text())
                if message["type"] == "your_turn" and message["submitted"] is None:
                    orders = {key: message[key] for key in ("game", "turn", "phase")} | {"type": "orders", "orders": []}
                    socket.send_text(json.dumps(orders))
                    break
                if message["type"] == "event" and message["event"]["kind"] == "end":
                    ended += 1
                    break
        for socket in sockets:
            socket.__exit__(None, None, None)
        return table


def test_pupils_are_paired_as_they_come(client):
    lesson = Classroom(client)
    lesson.arrive("Ada", "Ben", "Cem")
    ada, ben, cem = map(lesson.seat, lesson.secrets)
    assert ada["table"] == ben["table"] is not None
    assert (ada["waiting"], cem["waiting"], cem["table"]) == (False, True, None)
    lesson.arrive("Dua")
    assert lesson.seat("Cem")["table"] == lesson.seat("Dua")["table"] != ada["table"]
    seen = lesson.overview()
    assert seen["pupils"] == ["Ada", "Ben", "Cem", "Dua"]
    assert [table["names"] for table in seen["tables"]] == [["Cem", "Dua"], ["Ada", "Ben"]]
    assert client.get("/api/tables").json()["tables"] == [], "the lobby does not list them"


def test_one_without_a_partner_plays_the_agent_when_the_teacher_says_so(client):
    lesson = Classroom(client, agent="idle")
    lesson.arrive("Ada", "Ben", "Cem")
    seen = lesson.request("agent", secret=lesson.teacher)
    assert seen["waiting"] == []
    assert seen["tables"][0]["names"] == ["Cem", "idle"]


def test_a_class_against_the_agent(client):
    lesson = Classroom(client, pairs=False, agent="random")
    lesson.arrive("Ada", "Ben")
    assert [table["names"] for table in lesson.overview()["tables"]] == [["Ben", "random"], ["Ada", "random"]]


def test_pupils_see_no_score_of_hidden_enemies_on_the_teachers_page(client):
    lesson = Classroom(client, scenario=HIDDEN)
    lesson.arrive("Ada", "Ben")
    assert lesson.overview()["tables"][0]["score"] is None
    (row,) = csv.DictReader(io.StringIO(lesson.request("results", secret=lesson.teacher)))
    assert (row["blue_score"], row["gold_score"]) == ("", "")
    lesson.play("Ada")
    assert lesson.overview()["tables"][0]["score"] == [210, 210]


def test_sides_alternate_and_results_are_complete(client):
    lesson = Classroom(client)
    lesson.arrive("Ada", "=1+1")
    for _ in range(2):
        lesson.play("Ada")
        assert lesson.seat("Ada")["over"]
        for pupil in lesson.secrets:
            lesson.request("again", secret=lesson.secrets[pupil])
    tables = lesson.overview()["tables"]
    assert [table["names"] for table in tables] == [["Ada", "=1+1"], ["=1+1", "Ada"], ["Ada", "=1+1"]]
    rows = list(csv.DictReader(io.StringIO(lesson.request("results", secret=lesson.teacher))))
    assert [row["over"] for row in rows] == ["True", "True", "False"]
    assert [row["blue"] for row in rows] == ["Ada", "'=1+1", "Ada"]
    assert [row["gold_is"] for row in rows] == ["pupil"] * 3
    assert rows[0]["reasons"] == "turn_limit"
    assert rows[0]["replay"].startswith("http://testserver/replays/")
    assert client.get(rows[0]["replay"]).status_code == 200
    assert rows[2]["replay"] == rows[2]["winner"] == ""


def test_clocks_stand_still_while_the_teacher_pauses(client):
    lesson = Classroom(client, clock=1)
    lesson.arrive("Ada", "Ben")
    first = lesson.seat("Ada")["table"]
    seen = lesson.request("pause", secret=lesson.teacher, paused=True)
    assert seen["paused"]
    assert [table["paused"] for table in seen["tables"]] == [True]
    with client.websocket_connect(f"/ws/{first}") as socket:
        hello = {"type": "hello", "version": 1, "table": first, "secret": lesson.secrets["Ada"]}
        socket.send_text(json.dumps(hello))
        messages = [json.loads(socket.receive_text()) for _ in range(3)]
        assert messages[1]["type"] == "status"
        assert messages[1]["paused"]
        assert messages[1]["seconds_left"] is None
    lesson.arrive("Cem", "Dua")
    assert [table["paused"] for table in lesson.overview()["tables"]] == [True, True], "also tables that are opened now"
    second = lesson.seat("Cem")["table"]
    seen = lesson.request("pause", secret=lesson.teacher, paused=False, table=second)
    assert {table["table"]: table["paused"] for table in seen["tables"]} == {first: True, second: False}
    assert not any(table["paused"] for table in lesson.request("pause", secret=lesson.teacher, paused=False)["tables"])


def test_a_class_goes_on_after_a_restart(tmp_path):
    with TestClient(Server(TableStore(tmp_path)).app()) as client:
        lesson = Classroom(client)
        lesson.arrive("Ada", "Ben", "Cem")
        lesson.play("Ada")
        lesson.request("pause", secret=lesson.teacher, paused=True)
        before, seat = lesson.overview(), lesson.seat("Cem")
    with TestClient(Server(TableStore(tmp_path)).app()) as lesson.client:
        assert lesson.overview() == before
        assert lesson.seat("Cem") == seat
        lesson.arrive("Dua")
        assert lesson.seat("Cem")["table"] == lesson.seat("Dua")["table"] is not None


def test_a_game_that_was_paused_alone_stays_paused_after_a_restart(tmp_path):
    with TestClient(Server(TableStore(tmp_path)).app()) as client:
        lesson = Classroom(client)
        lesson.arrive("Ada", "Ben", "Cem", "Dua")
        lesson.request("pause", secret=lesson.teacher, paused=True, table=lesson.seat("Ada")["table"])
        before = lesson.overview()
    with TestClient(Server(TableStore(tmp_path)).app()) as lesson.client:
        assert lesson.overview() == before
        assert [table["paused"] for table in before["tables"]] == [False, True]


def test_pupils_are_seated_when_a_table_becomes_free(tmp_path):
    with TestClient(Server(TableStore(tmp_path, max_tables=1)).app()) as client:
        lesson = Classroom(client)
        lesson.arrive("Ada", "Ben")
        table = lesson.seat("Ada")["table"]
        with client.websocket_connect(f"/ws/{table}") as socket:
            socket.send_text(json.dumps({"type": "hello", "version": 1, "table": table}))
            socket.receive_text()
            lesson.arrive("Cem", "Dua")
            assert lesson.seat("Dua")["table"] is None
            assert "try again later" in lesson.request("agent", 429, secret=lesson.teacher)["text"]
        lesson.play("Ada")
        assert lesson.seat("Dua")["table"] == lesson.seat("Cem")["table"] is not None


def test_secrets(client, tmp_path):
    """Pupils have no rights of the teacher, and see no table but their own; only hashes are stored."""
    lesson = Classroom(client)
    lesson.arrive("Ada")
    for path, body in (("overview", {}), ("agent", {}), ("results", {}), ("pause", {"paused": True})):
        for secret in (lesson.secrets["Ada"], "", "x"):
            lesson.request(path, 403, secret=secret, **body)
    for path in ("place", "again"):
        lesson.request(path, 403, secret=lesson.teacher)
    stored = (tmp_path / "classes" / f"{lesson.name}.json").read_text()
    assert lesson.teacher not in stored
    assert lesson.secrets["Ada"] not in stored


def test_names(client):
    lesson = Classroom(client)
    lesson.arrive("Ada")
    assert "add a letter" in lesson.request("pupils", 409, name=" ada ")["text"]
    lesson.request("pupils", 400, name="  ")
    lesson.arrive("a\x1b[31m" + "b" * 90)
    assert [len(name) <= 40 and name.isprintable() for name in lesson.overview()["pupils"]] == [True, True]


LONG = "Maximiliane Wilhelmina von und zu Hohenstein"


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("Random", "Random"),
        ("search:1s", "search:1s"),
        (LONG, LONG),
        ("José", "Jose\u0301"),
        ("Jose\u0301", "José"),
        ("Ada  B", "Ada  B"),
        ("Ada B", "ada \u00a0 b"),
        ("क्\u200dष", "क्\u200dष"),
        ("क्\u200dष", "क्ष"),
        ("👩\u200d👧", "👩\u200d👧"),
        ("Ada\x07", "Ada\x07"),
        ("Straße", "STRASSE"),
    ],
)
def test_whoever_types_the_name_of_a_pupil_who_is_expected_has_the_seat(client, first, again):
    lesson = Classroom(client)
    lesson.arrive(first, "Ben")
    seat = lesson.seat(first)
    (shown,) = {*lesson.overview()["pupils"]} - {"Ben"}
    assert seat["name"] == shown
    lesson.request("readmit", secret=lesson.teacher, pupil=shown)
    lesson.arrive(again)
    assert lesson.seat(again) == seat
    assert lesson.overview()["expected"] == []


def test_names_are_shown_as_they_are_written(client):
    lesson = Classroom(client)
    lesson.arrive("क्\u200dष", "👩\u200d👧")
    assert lesson.overview()["tables"][0]["names"] == ["क्\u200dष", "👩\u200d👧"]
    lesson.request("pupils", 400, name="\u3164")
    refused = lesson.request("pupils", 409, name="क्ष")["text"]
    assert "there is a 'क्ष' already" in refused


def test_a_class_is_bounded(client):
    lesson = Classroom(client)
    lesson.arrive(*(f"pupil {i}" for i in range(MAX_PUPILS)))
    assert "at most 60" in lesson.request("pupils", 429, name="another")["text"]


@pytest.mark.parametrize(
    ("setup", "text"),
    [
        ({"agent": "nobody"}, "nobody"),
        ({"agent": "search:60s"}, "at most 2.0 s"),
        ({"agent": "bot.py:Mine"}, "does not run user-defined agents"),
        (
            {"scenario": None, "preset": "case9"},
            "preset must be one of case1, case2, case3, case4, case5, duel, geo_patrol, geo_patrol_hidden, king_of_the_hill, od2d, outposts, skirmish, got 'case9'",
        ),
        ({"scenario": "turn_limit = 0"}, "turn_limit"),
        ({"alpha": "scripted"}, "alpha must be "),
        ({"colour": "red"}, "colour = "),
    ],
)
def test_wrong_setups_are_refused_and_nothing_is_stored(client, tmp_path, setup, text):
    response = client.post("/api/classes", json={"scenario": SHORT} | setup)
    assert response.status_code == 400
    assert text in response.json()["text"]
    assert not list(tmp_path.glob("classes/*"))


def test_there_is_no_such_class(client):
    assert client.post("/api/classes/nothing/place", json={"secret": ""}).status_code == 404


def test_a_damaged_file_is_named(tmp_path):
    (tmp_path / "classes").mkdir()
    (tmp_path / "classes" / "a.json").write_text("{}")
    (fault,) = Server(TableStore(tmp_path)).damaged
    assert "a.json" in fault


# What the teacher does with a pupil


def connect(lesson, name):
    """Return a pupil's connection to the game in progress, and the request for orders."""
    table = lesson.seat(name)["table"]
    socket = lesson.client.connections.enter_context(lesson.client.websocket_connect(f"/ws/{table}"))
    socket.send_text(json.dumps({"type": "hello", "version": 1, "table": table, "secret": lesson.secrets[name]}))
    return socket, next_of(socket, "your_turn")


def next_of(socket, kind):
    while (message := json.loads(socket.receive_text()))["type"] != kind:
        pass
    return message


def test_orders_are_refused_during_a_pause_and_asked_for_again_after_it(client):
    lesson = Classroom(client)
    lesson.arrive("Ada", "Ben")
    socket, turn = connect(lesson, "Ada")
    lesson.request("pause", secret=lesson.teacher, paused=True)
    while not next_of(socket, "status")["paused"]:
        pass
    orders = {key: turn[key] for key in ("game", "turn", "phase")} | {"type": "orders", "orders": []}
    socket.send_text(json.dumps(orders))
    assert next_of(socket, "error")["code"] == "paused"
    lesson.request("pause", secret=lesson.teacher, paused=False)
    assert next_of(socket, "your_turn")["submitted"] is None
    socket.send_text(json.dumps(orders))
    next_of(socket, "accepted")


def test_a_game_stays_paused_when_its_table_leaves_memory(client):
    lesson = Classroom(client)
    lesson.arrive("Ada", "Ben")
    table = lesson.seat("Ada")["table"]
    lesson.unload()
    seen = lesson.request("pause", secret=lesson.teacher, paused=True)
    assert [table["paused"] for table in seen["tables"]] == [True]
    _, turn = connect(lesson, "Ada")
    assert turn["game"] == table
    assert lesson.overview()["tables"][0]["paused"]


def test_the_teacher_sees_games_whose_tables_have_left_memory(client):
    lesson = Classroom(client)
    lesson.arrive("Ada", "Ben")
    lesson.play("Ada")
    before = lesson.overview()
    lesson.unload()
    assert lesson.overview() == before
    assert lesson.seat("Ada")["over"]
    assert "turn_limit" in lesson.request("results", secret=lesson.teacher)


def test_a_pupil_is_renamed(client):
    lesson = Classroom(client)
    lesson.arrive("Ada", "Ben")
    seen = lesson.request("rename", secret=lesson.teacher, pupil="Ada", name="Ada L.")
    assert seen["tables"][0]["names"] == ["Ada L.", "Ben"]
    table = lesson.seat("Ada")["table"]
    assert client.get(f"/api/tables/{table}").json()["seats"]["alpha"]["name"] == "Ada L."
    assert "add a letter" in lesson.request("rename", 409, secret=lesson.teacher, pupil="Ada L.", name="ben")["text"]
    assert "nobody called 'Ada'" in lesson.request("rename", 400, secret=lesson.teacher, pupil="Ada", name="x")["text"]


def test_a_pupil_who_is_removed_is_kept_out_and_the_partner_plays_somebody_else(client):
    lesson = Classroom(client)
    lesson.arrive("Ada", "Ben", "Cem")
    socket, _ = connect(lesson, "Ada")
    first = lesson.seat("Ada")["table"]
    seen = lesson.request("remove", secret=lesson.teacher, pupil="Ada")
    next_of(socket, "left")
    assert (seen["pupils"], seen["waiting"]) == (["Ben", "Cem"], [])
    assert lesson.request("place", 403, secret=lesson.secrets["Ada"])
    assert lesson.seat("Ben")["table"] == lesson.seat("Cem")["table"] != first
    rows = list(csv.DictReader(io.StringIO(lesson.request("results", secret=lesson.teacher))))
    assert [(row["blue"], row["reasons"], row["winner"]) for row in rows] == [
        ("Ada", "ended by the teacher", ""),
        ("Ben", "", ""),
    ]
    lesson.arrive("Ada")
    assert lesson.seat("Ada")["waiting"]


def test_a_pupil_is_reseated_with_another_one_or_the_agent(client):
    lesson = Classroom(client, agent="idle")
    lesson.arrive("Ada", "Ben", "Cem", "Dua")
    seen = lesson.request("reseat", secret=lesson.teacher, pupil="Ada", partner="Cem")
    assert [sorted(table["names"]) for table in seen["tables"]] == [["Ben", "Dua"], ["Ada", "Cem"]]
    seen = lesson.request("reseat", secret=lesson.teacher, pupil="Ada", partner=None)
    assert sorted(seen["tables"][0]["names"]) == ["Ada", "idle"]
    assert seen["waiting"] == ["Cem"]
    assert (
        "nobody plays alone" in lesson.request("reseat", 400, secret=lesson.teacher, pupil="Ben", partner="Ben")["text"]
    )


def test_a_pupil_on_another_device_has_the_seat_when_the_teacher_says_so(client):
    lesson = Classroom(client)
    lesson.arrive("Ada", "Ben")
    old, table = lesson.secrets["Ada"], lesson.seat("Ada")["table"]
    lesson.request("pupils", 409, name="Ada")
    assert lesson.request("readmit", secret=lesson.teacher, pupil="Ada")["expected"] == ["Ada"]
    lesson.arrive("ada")
    lesson.secrets["Ada"] = lesson.secrets.pop("ada")
    assert lesson.seat("Ada")["table"] == table
    connect(lesson, "Ada")
    lesson.request("place", 403, secret=old)
    lesson.request("pupils", 409, name="Ada")
    assert lesson.overview()["expected"] == []


def test_a_short_code_leads_to_the_class(client):
    lesson = Classroom(client)
    assert re.fullmatch(r"[B-DF-HJ-NP-TV-Z2-9]{6}", lesson.name)
    answer = client.get(f"/class/{lesson.name}", follow_redirects=False)
    assert answer.headers["location"] == f"/static/class.html#class={lesson.name}"
    assert client.get(f"/api/classes/{lesson.name.lower()}").json() == {"class": lesson.name, "title": "Physics"}
    assert client.get("/api/classes/XXXXXX").status_code == 404
    assert client.get("/class/XXXXXX", follow_redirects=False).status_code == 307, "the page says what is wrong"


@pytest.mark.parametrize(
    ("host", "asked", "address"),
    [
        ("127.0.0.1", "localhost", None),
        ("0.0.0.0", "localhost:8000", "http://198.51.100.7:8000/"),
        ("0.0.0.0", "0.0.0.0:8000", "http://198.51.100.7:8000/"),
        ("0.0.0.0", "192.0.2.9:8000", "http://192.0.2.9:8000/"),
        ("192.0.2.9", "127.0.0.1:8000", "http://192.0.2.9:8000/"),
        ("127.0.0.1", "play.example.org", "http://play.example.org/"),
    ],
)
def test_the_teacher_is_told_which_address_pupils_can_open(tmp_path, monkeypatch, host, asked, address):
    monkeypatch.setattr(requests, "network_address", lambda: "198.51.100.7")
    app = Server(TableStore(tmp_path), ("*",), host=host).app()
    with TestClient(app, base_url=f"http://{asked}") as client:
        lesson = Classroom(client)
        told = lesson.overview()["address"]
    assert told == (None if address is None else f"{address}class/{lesson.name}")


def test_the_qr_code_is_a_picture_of_the_address_for_pupils(client):
    lesson = Classroom(client)
    picture = client.get(f"/api/classes/{lesson.name}/qr.svg")
    assert picture.headers["content-type"] == "image/svg+xml"
    modules = len(segno.make_qr(f"http://testserver/class/{lesson.name}").matrix) + 2 * 4
    assert f'viewBox="0 0 {modules} {modules}"' in picture.text
    assert client.get("/api/classes/XXXXXX/qr.svg").status_code == 404


@pytest.mark.parametrize(("host", "text"), [("localhost", "only this computer"), ("a" * 400, "more than 300")])
def test_an_address_that_makes_no_qr_code_is_refused(tmp_path, host, text):
    app = Server(TableStore(tmp_path), ("*",)).app()
    with TestClient(app) as client:
        lesson = Classroom(client)
        answer = client.get(f"/api/classes/{lesson.name}/qr.svg", headers={"host": host})
    assert answer.status_code in (400, 404)
    assert text in answer.json()["text"]


def test_the_next_game_begins_for_all_whose_game_is_over_with_other_partners(client):
    lesson = Classroom(client)
    lesson.arrive("Ada", "Ben", "Cem", "Dua", "Eva", "Fei")
    for name in ("Ada", "Cem"):
        lesson.play(name)
    seen = lesson.request("next", secret=lesson.teacher)
    going = [sorted(table["names"]) for table in seen["tables"] if not table["over"]]
    assert sorted(going) == [["Ada", "Cem"], ["Ben", "Dua"], ["Eva", "Fei"]]
    assert lesson.request("next", secret=lesson.teacher) == seen, "nobody is taken out of a game"


def test_an_idle_class_leaves_memory_and_is_found_again(client):
    lesson = Classroom(client)
    lesson.arrive("Ada", "Ben")
    table, before = lesson.seat("Ada")["table"], lesson.overview()
    store = client.server._classes.classes
    client.portal.call(client.server.unload, 600.0)
    assert list(store.items) == [lesson.name], "somebody has just used it"
    lesson.unload()
    client.portal.call(client.server.unload, -1.0)
    assert not store.items
    assert lesson.overview() == before
    assert lesson.seat("Ada")["table"] == table


def test_an_old_class_expires_though_the_server_has_it_in_memory(client, tmp_path):
    lesson = Classroom(client)
    lesson.arrive("Ada", "Ben")
    store = client.server._classes.classes
    os.utime(tmp_path / "classes" / f"{lesson.name}.json", (1_000, 1_000))
    client.portal.call(store.expire, 180.0)
    lesson.request("overview", 404, secret=lesson.teacher)
    assert not list((tmp_path / "classes").glob("*.json"))


@pytest.mark.slow
def test_pupils_of_a_schools_hundredth_class_are_seated(tmp_path):
    """Games of the classes before, which nobody plays any more, leave memory, and go on when somebody comes back."""
    with TestClient(Server(TableStore(tmp_path, max_tables=400)).app()) as client:
        client.server = None
        lessons = [Classroom(client) for _ in range(100)]
        for lesson in (*lessons[:1], *lessons[90:]):
            lesson.arrive("Ada", "Ben")
            assert lesson.seat("Ada")["table"] is not None
        assert not lessons[0].overview()["tables"][0]["over"]


@pytest.mark.slow
def test_a_class_with_a_cheap_agent_never_waits_for_one_with_a_searching_agent(tmp_path, monkeypatch):
    """Both are behind one address: arriving, coming back to a game that has left memory, and playing take no search."""
    thinking, begun, play, in_time = threading.Event(), threading.Semaphore(0), Table.play, []

    def play_slowly(self):
        if self.is_slow:
            begun.release()
            in_time.append(thinking.wait(5))
        play(self)

    monkeypatch.setattr(Table, "play", play_slowly)
    server = Server(TableStore(tmp_path))
    with TestClient(server.app(), client=("192.0.2.7", 5000)) as client, contextlib.ExitStack() as client.connections:
        client.server = server
        cheap, searching = (Classroom(client, pairs=False, agent=agent) for agent in ("idle", "search:2s"))
        cheap.arrive("Ada")
        cheap.unload()
        searching.arrive("Ben", "Cem", "Dua")
        for name in searching.secrets:
            commit_nothing(*connect(searching, name))
        assert begun.acquire(timeout=10)
        assert begun.acquire(timeout=10), "as many searches as an address may have at once"
        cheap.arrive("Eva")
        for name in cheap.secrets:
            socket, turn = connect(cheap, name)
            commit_nothing(socket, turn)
            next_of(socket, "event")
        thinking.set()
    assert in_time
    assert all(in_time)


def commit_nothing(socket, turn):
    orders = {key: turn[key] for key in ("game", "turn", "phase")} | {"type": "orders", "orders": []}
    socket.send_text(json.dumps(orders))


ACTIONS = {
    "pause": {"paused": True},
    "rename": {"pupil": "Ada", "name": "Ada L."},
    "remove": {"pupil": "Ada"},
    "reseat": {"pupil": "Ada", "partner": "Cem"},
    "agent": {},
}


@pytest.mark.parametrize("is_unloaded", [False, True])
@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("number", range(5))
def test_on_a_full_disk_an_action_happens_wholly_or_not_at_all(tmp_path, monkeypatch, action, number, is_unloaded):
    server = Server(TableStore(tmp_path))
    with TestClient(server.app()) as client:
        client.server = server
        lesson = Classroom(client)
        lesson.arrive("Ada", "Ben", "Cem", "Dua", "Eva")
        if is_unloaded:
            lesson.unload()
        before, calls = lesson.overview(), itertools.count()

        def write(path):
            if next(calls) >= number:
                raise OSError(errno.ENOSPC, "No space left on device")
            return atomic_write(path)

        with monkeypatch.context() as patch:
            patch.setattr(store, "atomic_write", write)
            body = {"secret": lesson.teacher, **ACTIONS[action]}
            answer = client.post(f"/api/classes/{lesson.name}/{action}", json=body)
            during = lesson.overview()
        assert answer.status_code == 200 or (answer.status_code, during) == (507, before)
        assert number or answer.status_code == 507
    server = Server(TableStore(tmp_path))
    with TestClient(server.app()) as lesson.client:
        assert lesson.overview() == during
        games = json.loads((tmp_path / "classes" / f"{lesson.name}.json").read_text())["games"]
        assert {path.stem for path in tmp_path.glob("[!.]*.json")} == {game["table"] for game in games}
        for game in games:
            saved = server.tables.find(game["table"]).saved
            assert (saved.is_stopped, saved.is_paused) == (game["is_stopped"], game["is_paused"])
            shown = [one["names"] for one in during["tables"] if one["table"] == game["table"]]
            assert shown in ([], [[saved.alpha.name, saved.bravo.name]])


def test_a_pupil_who_comes_back_on_a_full_disk_has_the_seat_or_the_old_secret(client, monkeypatch):
    lesson = Classroom(client)
    lesson.arrive("Ada", "Ben")
    lesson.unload()
    lesson.request("readmit", secret=lesson.teacher, pupil="Ada")
    calls = itertools.count()

    def write(path):
        if next(calls):
            raise OSError(errno.ENOSPC, "No space left on device")
        return atomic_write(path)

    with monkeypatch.context() as patch:
        patch.setattr(store, "atomic_write", write)
        lesson.arrive("Ada")
    table = lesson.seat("Ada")["table"]
    with client.websocket_connect(f"/ws/{table}") as socket:
        socket.send_text(json.dumps({"type": "hello", "version": 1, "table": table, "secret": lesson.secrets["Ada"]}))
        assert json.loads(socket.receive_text())["type"] == "welcome"


def test_who_comes_again_with_the_same_secret_has_come_already(client):
    """As where the answer to the first arrival was lost."""
    lesson, secret = Classroom(client), "s" * 32
    for _ in range(2):
        assert lesson.request("pupils", 201, name="Ada", secret=secret) == {"secret": secret}
    assert lesson.request("pupils", 201, name="ada ", secret=secret) == {"secret": secret}
    lesson.request("pupils", 409, name="Ben", secret=secret)
    lesson.request("pupils", 409, name="Ada", secret="t" * 32)
    lesson.request("pupils", 400, name="Cem", secret="short")
    assert lesson.overview()["pupils"] == ["Ada"]
    lesson.request("remove", secret=lesson.teacher, pupil="Ada")
    lesson.request("pupils", 403, name="Ada", secret=secret)


def test_a_table_that_no_class_lists_is_swept_at_the_start(tmp_path):
    """As where the server was killed after the table was saved, and before its class was."""
    server = Server(TableStore(tmp_path))
    with TestClient(server.app()) as client:
        client.server = server
        lesson = Classroom(client)
        lesson.arrive("Ada")
        before = (tmp_path / "classes" / f"{lesson.name}.json").read_bytes()
        lesson.arrive("Ben")
        (table,) = server.tables.items
    (tmp_path / "classes" / f"{lesson.name}.json").write_bytes(before)
    server = Server(TableStore(tmp_path))
    assert list(server.tables.items) == []
    assert not (tmp_path / f"{table}.json").exists()
    with TestClient(server.app()) as lesson.client:
        lesson.arrive("Ben")
        assert lesson.seat("Ben")["table"] is not None


def test_a_class_is_changed_outside_of_the_event_loop_one_change_at_a_time(client, monkeypatch):
    lesson, threads, at_once = Classroom(client), set(), []

    def write(path):
        threads.add(threading.current_thread().name)
        at_once.append(1)
        time.sleep(0.01)
        assert len(at_once) == 1
        at_once.pop()
        return atomic_write(path)

    monkeypatch.setattr(store, "atomic_write", write)
    names = [f"Pupil {number}" for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lesson.arrive, names))
    lesson.request("pause", secret=lesson.teacher, paused=True)
    assert sorted(lesson.overview()["pupils"]) == sorted(names)
    assert len(client.server.tables.items) == 4
    assert {name.partition("_")[0] for name in threads} == {"files"}


@pytest.mark.parametrize(
    ("messages", "winner", "reasons"),
    [([None, "resign"], "blue", "resigned (gold)"), (["draw", "draw"], "draw", "agreed")],
)
def test_results_say_why_a_game_ended_that_would_have_gone_on(client, messages, winner, reasons):
    lesson = Classroom(client)
    lesson.arrive("Ada", "Ben")
    table = lesson.seat("Ada")["table"]
    (names,) = [one["names"] for one in lesson.overview()["tables"]]
    with contextlib.ExitStack() as stack:
        for name, message in zip(names, messages, strict=True):
            socket = stack.enter_context(client.websocket_connect(f"/ws/{table}"))
            hello = {"type": "hello", "version": 1, "table": table, "secret": lesson.secrets[name]}
            socket.send_text(json.dumps(hello))
            if message is not None:
                socket.send_text(json.dumps({"type": message}))
        while json.loads(socket.receive_text()).get("event", {}).get("kind") != "end":
            pass
    (row,) = csv.DictReader(io.StringIO(lesson.request("results", secret=lesson.teacher)))
    assert (row["blue"], row["gold"], row["winner"], row["reasons"]) == (*names, winner, reasons)


def test_levels_have_their_names_alone(client):
    lesson = Classroom(client, agent="level:sputnik", pairs=False)
    lesson.arrive("Ada")
    assert lesson.overview()["agent"] == "Sputnik"
    assert sorted(lesson.overview()["tables"][0]["names"]) == ["Ada", "Sputnik"]
    (row,) = csv.DictReader(io.StringIO(lesson.request("results", secret=lesson.teacher)))
    assert sorted((row["blue"], row["gold"])) == ["Ada", "Sputnik"]
    seats = client.get(f"/api/tables/{lesson.seat('Ada')['table']}").json()["seats"]
    assert {(seat["name"], seat["agent"]) for seat in seats.values()} == {("Ada", None), ("Sputnik", "level:sputnik")}
