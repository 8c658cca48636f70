"""Classes: pupils are paired fairly, come back to their seats, and the teacher alone pauses and takes the results."""

import csv
import io
import os
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import segno
from starlette.testclient import TestClient

from geo_patrol.base.files import atomic_write
from geo_patrol.web import classes, requests, store
from geo_patrol.web.app import Server
from geo_patrol.web.tables import Table, TableStore
from tests.web.clients import Connection, play_to_the_end

HIDDEN = 'extends = "geo_patrol_hidden"\nturn_limit = 1\n'
SHORT = 'extends = "case1"\nturn_limit = 1\n'
LONG = "Maximiliane Wilhelmina von und zu Hohenstein"


class Classroom:
    """A class, as its pages speak to the server."""

    def __init__(self, client, **setup):
        self.client, self.secrets = client, {}
        opened = self.request("", 201, **({"title": "Physics", "scenario": SHORT} | setup))
        self.name, self.teacher = opened["class"], opened["secret"]

    def request(self, path, status=200, **body):
        """Return the answer; wait as pages do where there are too many requests."""
        where = f"/api/classes/{self.name}/{path}" if path else "/api/classes"
        response = self.client.post(where, json=body)
        while response.status_code == 429 and status != 429 and response.json()["retry_after"] < 1.0:
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
        for table in list(self.client.tables.items.values()):
            self.client.portal.call(self.client.tables.unload, table)
        self.client.portal.call(self.client.server._classes.save_notes)

    def teach(self, path="overview", status=200, **body):
        """Ask as the teacher."""
        return self.request(path, status, secret=self.teacher, **body)

    def results(self):
        return list(csv.DictReader(io.StringIO(self.teach("results"))))

    def play(self, name):
        """Play the pupil's game to its end, without orders."""
        self.client.portal.call(play_to_the_end, self.client.tables.find(self.seat(name)["table"]))

    def connect(self, name):
        """Return a pupil's connection to the game in progress."""
        return Connection(self.client, self.seat(name)["table"], self.secrets[name], name="Somebody")


def test_pupils_are_paired_as_they_come(client):
    lesson = Classroom(client)
    lesson.arrive("Ada", "Ben", "Cem")
    ada, ben, cem = map(lesson.seat, lesson.secrets)
    assert ada["table"] == ben["table"] is not None
    assert (ada["waiting"], cem["waiting"], cem["table"]) == (False, True, None)
    lesson.arrive("Dua")
    assert lesson.seat("Cem")["table"] == lesson.seat("Dua")["table"] != ada["table"]
    seen = lesson.teach()
    assert seen["pupils"] == ["Ada", "Ben", "Cem", "Dua"]
    assert [table["names"] for table in seen["tables"]] == [["Cem", "Dua"], ["Ada", "Ben"]]
    assert client.get("/api/tables").json()["tables"] == [], "the lobby does not list them"


def test_one_without_a_partner_plays_the_agent_when_the_teacher_says_so(client):
    lesson = Classroom(client, agent="idle")
    lesson.arrive("Ada", "Ben", "Cem")
    seen = lesson.teach("agent")
    assert seen["waiting"] == []
    assert seen["tables"][0]["names"] == ["Cem", "idle"]


def test_pupils_see_no_score_of_hidden_enemies_on_the_teachers_page(client):
    lesson = Classroom(client, scenario=HIDDEN)
    lesson.arrive("Ada", "Ben")
    assert lesson.teach()["tables"][0]["score"] is None
    (row,) = lesson.results()
    assert (row["blue_score"], row["gold_score"]) == ("", "")
    lesson.play("Ada")
    assert lesson.teach()["tables"][0]["score"] == [210, 210]


def test_sides_alternate_and_results_are_complete(client):
    lesson = Classroom(client)
    lesson.arrive("Ada", "=1+1")
    for _ in range(2):
        lesson.play("Ada")
        assert lesson.seat("Ada")["over"]
        for pupil in lesson.secrets:
            lesson.request("again", secret=lesson.secrets[pupil])
    tables = lesson.teach()["tables"]
    assert [table["names"] for table in tables] == [["Ada", "=1+1"], ["=1+1", "Ada"], ["Ada", "=1+1"]]
    rows = lesson.results()
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
    seen = lesson.teach("pause", paused=True)
    assert (seen["paused"], [table["paused"] for table in seen["tables"]]) == (True, [True])
    status = lesson.connect("Ada").wait_for("status")
    assert (status["paused"], status["seconds_left"]) == (True, None)
    lesson.arrive("Cem", "Dua")
    assert [table["paused"] for table in lesson.teach()["tables"]] == [True, True], "also tables that are opened now"
    second = lesson.seat("Cem")["table"]
    seen = lesson.teach("pause", paused=False, table=second)
    assert {table["table"]: table["paused"] for table in seen["tables"]} == {first: True, second: False}
    assert not any(table["paused"] for table in lesson.teach("pause", paused=False)["tables"])


def test_orders_are_refused_during_a_pause_and_asked_for_again_after_it(client):
    lesson = Classroom(client)
    lesson.arrive("Ada", "Ben")
    seat = lesson.connect("Ada")
    turn = seat.wait_for("your_turn")
    lesson.teach("pause", paused=True)
    while not seat.wait_for("status")["paused"]:
        pass
    seat.order(turn)
    assert seat.wait_for("error")["code"] == "paused"
    for words in ("none", "nothing that can be read"):
        seat.send("answer", game=seat.table, turn=1, phase="movement", text=words)
        assert seat.wait_for("error")["code"] == "paused"
    lesson.teach("pause", paused=False)
    assert seat.wait_for("your_turn")["submitted"] is None
    seat.order(turn)
    seat.wait_for("accepted")


def test_a_class_goes_on_after_a_restart(serve):
    lesson = Classroom(serve())
    lesson.arrive("Ada", "Ben", "Cem")
    lesson.play("Ada")
    lesson.teach("pause", paused=True)
    before, seat = lesson.teach(), lesson.seat("Cem")
    lesson.client = serve()
    assert lesson.teach() == before
    assert lesson.seat("Cem") == seat
    lesson.arrive("Dua")
    assert lesson.seat("Cem")["table"] == lesson.seat("Dua")["table"] is not None


def test_a_class_and_its_games_leave_memory_and_are_found_again(client):
    lesson = Classroom(client)
    lesson.arrive("Ada", "Ben", "Cem", "Dua")
    lesson.play("Ada")
    store, before, seat = client.server._classes.classes, lesson.teach(), lesson.seat("Cem")
    client.portal.call(client.server.unload, 600.0)
    assert list(store.items) == [lesson.name], "somebody has just used it"
    lesson.unload()
    client.portal.call(client.server.unload, -1.0)
    assert not store.items
    assert lesson.teach() == before
    assert (lesson.seat("Ada")["over"], lesson.seat("Cem")) == (True, seat)
    assert sorted(row["reasons"] for row in lesson.results()) == ["", "turn_limit"]


def test_pupils_are_seated_when_a_table_becomes_free(serve):
    lesson = Classroom(client := serve(max_tables=1))
    lesson.arrive("Ada", "Ben")
    watching = Connection(client, lesson.seat("Ada")["table"])
    watching.wait_for("welcome")
    lesson.arrive("Cem", "Dua")
    assert lesson.seat("Dua")["table"] is None
    assert "try again later" in lesson.teach("agent", 429)["text"]
    watching.close()
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
    assert [len(name) <= 40 and name.isprintable() for name in lesson.teach()["pupils"]] == [True, True]


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("search:1s", "search:1s"),
        (LONG, LONG),
        ("José", "Jose\u0301"),
        ("Ada\x07", "Ada\x07"),
    ],
)
def test_whoever_types_the_name_of_a_pupil_who_is_expected_has_the_seat(client, first, again):
    lesson = Classroom(client)
    lesson.arrive(first, "Ben")
    seat = lesson.seat(first)
    (shown,) = {*lesson.teach()["pupils"]} - {"Ben"}
    assert seat["name"] == shown
    lesson.teach("readmit", pupil=shown)
    lesson.arrive(again)
    assert lesson.seat(again) == seat
    assert lesson.teach()["expected"] == []


def test_a_class_is_bounded(client, monkeypatch):
    monkeypatch.setattr(classes, "MAX_PUPILS", 3)
    lesson = Classroom(client)
    lesson.arrive("Ada", "Ben", "Cem")
    assert "at most 3" in lesson.request("pupils", 429, name="another")["text"]


@pytest.mark.parametrize(
    ("setup", "text"),
    [
        ({"agent": "nobody"}, "nobody"),
        ({"agent": "bot.py:Mine"}, "does not run user-defined agents"),
        ({"scenario": None, "preset": "case9"}, "preset must be one of case1, "),
        ({"colour": "red"}, "colour = "),
    ],
)
def test_wrong_setups_are_refused_and_nothing_is_stored(client, tmp_path, setup, text):
    response = client.post("/api/classes", json={"scenario": SHORT} | setup)
    assert response.status_code == 400
    assert text in response.json()["text"]
    assert not list(tmp_path.glob("classes/*"))


def test_a_damaged_file_is_named(tmp_path):
    (tmp_path / "classes").mkdir()
    (tmp_path / "classes" / "a.json").write_text("{}")
    (fault,) = Server(TableStore(tmp_path)).damaged
    assert "a.json" in fault


# What the teacher does with a pupil


def test_a_pupil_is_renamed(client):
    lesson = Classroom(client)
    lesson.arrive("Ada", "Ben")
    seen = lesson.teach("rename", pupil="Ada", name="Ada L.")
    assert seen["tables"][0]["names"] == ["Ada L.", "Ben"]
    table = lesson.seat("Ada")["table"]
    assert client.get(f"/api/tables/{table}").json()["seats"]["alpha"]["name"] == "Ada L."
    assert "add a letter" in lesson.teach("rename", 409, pupil="Ada L.", name="ben")["text"]
    assert "nobody called 'Ada'" in lesson.teach("rename", 400, pupil="Ada", name="x")["text"]


def test_a_pupil_who_is_removed_is_kept_out_and_the_partner_plays_somebody_else(client):
    lesson = Classroom(client)
    lesson.arrive("Ada", "Ben", "Cem")
    ada = lesson.connect("Ada")
    first = lesson.seat("Ada")["table"]
    seen = lesson.teach("remove", pupil="Ada")
    ada.wait_for("left")
    assert (seen["pupils"], seen["waiting"]) == (["Ben", "Cem"], [])
    assert lesson.request("place", 403, secret=lesson.secrets["Ada"])
    assert lesson.seat("Ben")["table"] == lesson.seat("Cem")["table"] != first
    rows = lesson.results()
    assert [(row["blue"], row["reasons"], row["winner"]) for row in rows] == [
        ("Ada", "ended by the teacher", ""),
        ("Ben", "", ""),
    ]
    lesson.arrive("Ada")
    assert lesson.seat("Ada")["waiting"]


def test_a_pupil_is_reseated_with_another_one_or_the_agent(client):
    lesson = Classroom(client, agent="idle")
    lesson.arrive("Ada", "Ben", "Cem", "Dua")
    seen = lesson.teach("reseat", pupil="Ada", partner="Cem")
    assert [sorted(table["names"]) for table in seen["tables"]] == [["Ben", "Dua"], ["Ada", "Cem"]]
    seen = lesson.teach("reseat", pupil="Ada", partner=None)
    assert sorted(seen["tables"][0]["names"]) == ["Ada", "idle"]
    assert seen["waiting"] == ["Cem"]
    assert "nobody plays alone" in lesson.teach("reseat", 400, pupil="Ben", partner="Ben")["text"]


def test_a_pupil_on_another_device_has_the_seat_when_the_teacher_says_so(client):
    lesson = Classroom(client)
    lesson.arrive("Ada", "Ben")
    old, table = lesson.secrets["Ada"], lesson.seat("Ada")["table"]
    lesson.request("pupils", 409, name="Ada")
    assert lesson.teach("readmit", pupil="Ada")["expected"] == ["Ada"]
    lesson.arrive("ada")
    lesson.secrets["Ada"] = lesson.secrets.pop("ada")
    assert lesson.seat("Ada")["table"] == table
    lesson.connect("Ada").wait_for("welcome")
    lesson.request("place", 403, secret=old)
    lesson.request("pupils", 409, name="Ada")
    assert lesson.teach()["expected"] == []


def test_a_short_code_leads_to_the_class(client):
    lesson = Classroom(client)
    assert re.fullmatch(r"[B-DF-HJ-NP-TV-Z2-9]{6}", lesson.name)
    answer = client.get(f"/class/{lesson.name}", follow_redirects=False)
    assert answer.headers["location"] == f"/static/class.html#class={lesson.name}"
    assert client.get(f"/api/classes/{lesson.name.lower()}").json() == {"class": lesson.name, "title": "Physics"}
    assert client.get("/api/classes/XXXXXX").status_code == 404
    assert client.post("/api/classes/XXXXXX/place", json={"secret": ""}).status_code == 404
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
        told = lesson.teach()["address"]
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
    seen = lesson.teach("next")
    going = [sorted(table["names"]) for table in seen["tables"] if not table["over"]]
    assert sorted(going) == [["Ada", "Cem"], ["Ben", "Dua"], ["Eva", "Fei"]]
    assert lesson.teach("next") == seen, "nobody is taken out of a game"


@pytest.mark.parametrize("is_in_memory", [False, True])
def test_old_classes_expire_with_the_names_of_their_pupils(client, tmp_path, is_in_memory):
    lesson, new = Classroom(client, pairs=False), Classroom(client)
    lesson.arrive("Ada")
    table, store = lesson.seat("Ada")["table"], client.server._classes.classes
    if not is_in_memory:
        del store.items[lesson.name]
    os.utime(tmp_path / "classes" / f"{lesson.name}.json", (1_000, 1_000))
    client.portal.call(store.expire, 180.0)
    lesson.teach("overview", 404)
    assert [path.stem for path in (tmp_path / "classes").glob("*.json")] == [new.name]
    assert not list(tmp_path.glob(f"{table}*"))


@pytest.mark.slow
def test_pupils_are_seated_in_more_classes_than_stay_in_memory(serve, monkeypatch):
    """Games of the classes before, which nobody plays any more, leave memory, and go on when somebody comes back."""
    monkeypatch.setattr(classes, "MAX_CLASSES", 5)
    client = serve(max_tables=80)
    lessons = [Classroom(client) for _ in range(20)]
    assert len(client.server._classes.classes.items) == 5
    for lesson in (*lessons[:1], *lessons[10:]):
        lesson.arrive("Ada", "Ben")
        assert lesson.seat("Ada")["table"] is not None
    assert not lessons[0].teach()["tables"][0]["over"]


@pytest.mark.slow
def test_a_class_with_a_cheap_agent_never_waits_for_one_with_a_searching_agent(serve, monkeypatch):
    """Both are behind one address: arriving, coming back to a game that has left memory, and playing take no search."""
    thinking, begun, play, in_time = threading.Event(), threading.Semaphore(0), Table.play, []

    def play_slowly(self):
        if self.is_slow:
            begun.release()
            in_time.append(thinking.wait(5))
        play(self)

    monkeypatch.setattr(Table, "play", play_slowly)
    client = serve(address="192.0.2.7")
    cheap, searching = (Classroom(client, pairs=False, agent=agent) for agent in ("idle", "search:rollouts=500"))
    cheap.arrive("Ada")
    cheap.unload()
    searching.arrive("Ben", "Cem", "Dua")
    for name in searching.secrets:
        seat = searching.connect(name)
        seat.order(seat.wait_for("your_turn"))
    assert begun.acquire(timeout=10)
    assert begun.acquire(timeout=10), "as many searches as an address may have at once"
    cheap.arrive("Eva")
    for name in cheap.secrets:
        seat = cheap.connect(name)
        seat.order(seat.wait_for("your_turn"))
        seat.wait_for("event")
    thinking.set()
    client.connections.close()
    assert in_time
    assert all(in_time)


def test_who_comes_again_with_the_same_secret_has_come_already(client):
    """As where the answer to the first arrival was lost."""
    lesson, secret = Classroom(client), "s" * 32
    for _ in range(2):
        assert lesson.request("pupils", 201, name="Ada", secret=secret) == {"secret": secret}
    assert lesson.request("pupils", 201, name="ada ", secret=secret) == {"secret": secret}
    lesson.request("pupils", 409, name="Ben", secret=secret)
    lesson.request("pupils", 409, name="Ada", secret="t" * 32)
    lesson.request("pupils", 400, name="Cem", secret="short")
    assert lesson.teach()["pupils"] == ["Ada"]
    lesson.teach("remove", pupil="Ada")
    lesson.request("pupils", 403, name="Ada", secret=secret)


def test_a_table_that_no_class_lists_is_swept_at_the_start(serve, tmp_path):
    """As where the server was killed after the table was saved, and before its class was."""
    lesson = Classroom(client := serve())
    lesson.arrive("Ada")
    path = tmp_path / "classes" / f"{lesson.name}.json"
    before = path.read_bytes()
    lesson.arrive("Ben")
    (table,) = client.tables.items
    client.tables.close()
    path.write_bytes(before)
    lesson.client = client = serve()
    assert list(client.tables.items) == []
    assert not (tmp_path / f"{table}.json").exists()
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
    lesson.teach("pause", paused=True)
    assert sorted(lesson.teach()["pupils"]) == sorted(names)
    assert len(client.server.tables.items) == 4
    assert {name.partition("_")[0] for name in threads} == {"files"}


@pytest.mark.parametrize(
    ("messages", "winner", "reasons"),
    [([None, "resign"], "blue", "resigned (gold)"), (["draw", "draw"], "draw", "agreed")],
)
def test_results_say_why_a_game_ended_that_would_have_gone_on(client, messages, winner, reasons):
    lesson = Classroom(client)
    lesson.arrive("Ada", "Ben")
    (names,) = [one["names"] for one in lesson.teach()["tables"]]
    seats = [lesson.connect(name) for name in names]
    for seat, message in zip(seats, messages, strict=True):
        if message is not None:
            seat.send(message)
    seats[0].wait_for("event")
    (row,) = lesson.results()
    assert (row["blue"], row["gold"], row["winner"], row["reasons"]) == (*names, winner, reasons)
    assert client.get(row["replay"]).status_code == 200


def test_levels_have_their_names_alone(client):
    lesson = Classroom(client, agent="level:sputnik", pairs=False)
    lesson.arrive("Ada")
    assert lesson.teach()["agent"] == "Sputnik"
    assert sorted(lesson.teach()["tables"][0]["names"]) == ["Ada", "Sputnik"]
    (row,) = lesson.results()
    assert sorted((row["blue"], row["gold"])) == ["Ada", "Sputnik"]
    seats = client.get(f"/api/tables/{lesson.seat('Ada')['table']}").json()["seats"]
    assert {(seat["name"], seat["agent"]) for seat in seats.values()} == {("Ada", None), ("Sputnik", "level:sputnik")}
