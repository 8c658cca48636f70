"""The page of one person: who has the key comes in, games are prepared behind it, and it ends by itself."""

import contextlib
import json
import os
import re
import stat
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from http.cookiejar import CookieJar

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from geo_patrol import load_config
from geo_patrol.cli.play import GameSaver, start_game
from geo_patrol.play.live import LiveGame
from geo_patrol.web import local
from geo_patrol.web.app import Server
from geo_patrol.web.local import LocalPage, running_address
from geo_patrol.web.records import game_record
from geo_patrol.web.tables import TableStore
from tests.support.commands import run


def games():
    return Starlette(routes=[Route("/api/tables", lambda _: PlainTextResponse("games"))])


@pytest.fixture
def page():
    """A page whose preparation waits for an event."""
    event = threading.Event()
    page = LocalPage([("the rules", event.wait)], lambda: (games(), "/static/table.html#table=1"))
    page.event = event
    yield page
    event.set()


def until_ready(client):
    for _ in range(200):
        if client.get("/api/ready").json()["ready"]:
            return
        time.sleep(0.02)
    pytest.fail("it is not ready")


def test_only_who_has_the_key_comes_in(page):
    with TestClient(page, follow_redirects=False) as client:
        for path in ("/", "/?key=wrong", "/static/start.html", "/api/ready", "/api/tables"):
            assert client.get(path).status_code == 403
        entered = client.get(f"/?key={page.key}")
        assert (entered.status_code, entered.headers["location"]) == (303, "/static/start.html#open")
        assert "HttpOnly" in entered.headers["set-cookie"]
        assert client.get("/static/start.html").status_code == 200
        assert client.get("/").headers["location"] == "/static/start.html"


def test_cookies_of_other_pages_of_this_computer_do_not_lock_out(page):
    """Cookies are those of a host, whatever the port; not all programs write them as the standard says."""
    with TestClient(page, follow_redirects=False) as client:
        name, value = client.get(f"/?key={page.key}").headers["set-cookie"].partition(";")[0].split("=")
        client.cookies.clear()
        for other in ("a:b=1", 'theme={"dark":true}', "plain"):
            headers = {"cookie": f"{other}; {name}={value}"}
            assert client.get("/static/start.html", headers=headers).status_code == 200
        assert client.get("/static/start.html", headers={"cookie": f"a:b=1; {name}=wrong"}).status_code == 403


def test_pages_are_there_at_once_and_games_when_they_are_prepared(page):
    with TestClient(page) as client:
        client.get(f"/?key={page.key}")
        state = client.get("/api/ready").json()
        assert (state["done"], state["total"], state["piece"], state["ready"]) == (0, 1, "the rules", False)
        assert client.get("/api/tables").status_code == 503
        page.event.set()
        until_ready(client)
        assert client.get("/api/ready").json()["page"] == "/static/table.html#table=1"
        assert client.get("/api/tables").text == "games"


def test_a_board_at_rest_and_its_colors_are_there_before_games(page):
    with TestClient(page) as client:
        client.get(f"/?key={page.key}")
        assert "light-dark(" in client.get("/static/theme.css").text
        board = client.get("/static/board.json").json()
    start = game_record(LiveGame(load_config("geo_patrol"), (None, None), 1).timeline, "")
    drawn, begun = ([one["shapes"][i] for i in one["moments"][0]["frames"][-1]] for one in (board, start))
    assert sorted(str(list(shape)) for shape in drawn) == sorted(str(list(shape)) for shape in begun), (
        "it is the position in which games begin"
    )
    assert board["moments"][0]["occupied"] == start["moments"][0]["occupied"]
    assert board["board"] == start["board"]


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """A page that really listens, whose computer has the address 127.0.0.2 in its network, and an opener with its key."""
    monkeypatch.setattr(local, "network_address", lambda: "127.0.0.2")
    page = LocalPage([], lambda: (Server(TableStore(tmp_path), ("*",)).app(), None))
    told = []
    thread = threading.Thread(target=page.run, args=(0, tmp_path, told.append))
    thread.start()
    while not told:
        time.sleep(0.01)
    page.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    page.opener.open(told[0]).close()
    page.base = told[0].partition("?")[0]
    while not ask(page, "api/ready")["ready"]:
        time.sleep(0.05)
    yield page
    monkeypatch.setattr(local, "IDLE_SECONDS", -1.0)
    thread.join(20)
    assert not thread.is_alive()


def ask(page, path, body=None, base=None, headers=None):
    """Return the answer to whoever has the key; without it where another address is given."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{base or page.base}{path}", data, headers or {})
    with (page.opener.open if base is None else urllib.request.urlopen)(request, timeout=10) as answer:
        return json.load(answer)


def test_its_owner_opens_it_to_the_network_and_the_key_stays_the_owners(opened):
    others = opened.base.replace("127.0.0.1", "127.0.0.2")
    ready = ask(opened, "api/ready")
    assert (ready["others"], ready["offer"]) == (None, "127.0.0.2")
    with pytest.raises(urllib.error.URLError, match="refused"):
        ask(opened, "api/tables", base=others)
    for options in ({"base": opened.base}, {"headers": {"origin": "http://example.org"}}):
        with pytest.raises(urllib.error.HTTPError, match="403"):
            ask(opened, "api/network", {"open": True}, **options)
    assert ask(opened, "api/network", {"open": True}) == {"others": others}
    assert ask(opened, "api/network", {"open": True}) == {"others": others}
    assert ask(opened, "api/tables", base=others) == {"tables": []}
    assert ask(opened, "api/ready", base=others)["others"] == others
    with pytest.raises(urllib.error.HTTPError, match=r"40[45]"):
        ask(opened, "api/network", {"open": True}, base=others)
    with pytest.raises(urllib.error.HTTPError, match="403"):
        ask(opened, "api/tables", base=opened.base)  # on this computer nobody comes in without the key, as before
    room = ask(opened, "api/classes", {})
    overview = ask(opened, f"api/classes/{room['class']}/overview", {"secret": room["secret"]})
    assert overview["address"] == f"{others}class/{room['class']}"


def test_a_computer_without_a_network_is_not_opened(opened, monkeypatch):
    monkeypatch.setattr(local, "network_address", lambda: None)
    assert ask(opened, "api/ready")["offer"] is None
    with pytest.raises(urllib.error.HTTPError, match="409") as refused:
        ask(opened, "api/network", {"open": True})
    assert json.load(refused.value)["text"] == "this computer has no address in a network"


def test_what_cannot_be_prepared_is_said():
    def fail():
        raise ValueError("the disk is full")

    page = LocalPage([("the rules", fail)], lambda: (games(), None))
    with TestClient(page) as client:
        client.get(f"/?key={page.key}")
        for _ in range(100):
            if (failure := client.get("/api/ready").json()["failure"]) is not None:
                break
            time.sleep(0.02)
        assert failure == "the disk is full"


def test_it_is_idle_only_without_pages(page, tmp_path):
    page = LocalPage([], lambda: (Server(TableStore(tmp_path)).app(), None))
    with TestClient(page) as client:
        client.get(f"/?key={page.key}")
        until_ready(client)
        table = client.post("/api/tables", json={"alpha": "link", "bravo": "idle"}).json()["table"]
        with client.websocket_connect(f"/ws/{table}"):
            time.sleep(0.05)
            assert page.idle_seconds == 0
        client.get("/api/ready")
        time.sleep(0.05)
        assert 0.05 <= page.idle_seconds < 5


@contextlib.contextmanager
def playing(*arguments, home):
    """Run ``geo-patrol play``; yield the address that it prints, opened in a browser without scripts."""
    command = [sys.executable, "-m", "geo_patrol", "play", "--no-browser", *arguments]
    environment = os.environ | {"XDG_STATE_HOME": str(home)}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        lines = []
        while not (lines and lines[-1].startswith("http")):
            lines.append(process.stderr.readline())
            assert lines[-1], lines
        yield process, lines[-1].split()[0], lines
    finally:
        process.terminate()
        process.communicate(timeout=20)


def until_prepared(opener, base):
    """Wait for the games of a page; return its state."""
    for _ in range(600):
        with opener.open(f"{base}api/ready") as answer:
            state = json.load(answer)
        if state["ready"]:
            return state
        time.sleep(0.1)
    return pytest.fail("it is not ready")


@pytest.mark.slow
def test_a_second_command_opens_its_game_on_the_page_that_is_open(tmp_path):
    folder = tmp_path / "geo_patrol" / "games"
    file, opener = folder / ".page", urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    with playing("-c", "duel", "--against", "idle", "--seed", "3", home=tmp_path) as (first, address, _):
        base = address.partition("?")[0]
        assert file.read_text() == address
        assert sys.platform == "win32" or stat.S_IMODE(file.stat().st_mode) == 0o600
        opener.open(address).close()
        game = re.search(r"table\.html#table=(\w+)&secret=\S{20}", until_prepared(opener, base)["page"])[1]
        assert (folder / f"{game}.json").exists()
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(base)
        with playing("-c", "duel", "--against", "idle", "--as", "bravo", home=tmp_path) as (second, another, _):
            assert second.wait(60) == 0
        assert another.startswith(f"{address}&page=/static/table.html%23table%3D")
        with opener.open(another) as answer:
            table = re.search(r"/static/table\.html#table=(\w+)&secret=\S{20}", answer.geturl())[1]
        with opener.open(f"{base}api/tables/{table}") as answer:
            assert json.load(answer)["seats"]["alpha"]["name"] == "idle"
        first.kill()
        first.wait(20)
    assert file.exists()  # of the page that has crashed
    with playing(home=tmp_path) as (_, third, _):
        assert third != address
        assert file.read_text() == third
        assert third.startswith(base), "a browser keeps a person's games for an address and its port"


@pytest.mark.parametrize(
    "page", ["https://example.org/", "//example.org", "/static/../x.html", "/static/a.html\r\nx: y"]
)
def test_nobody_is_led_elsewhere(page):
    own = LocalPage([], lambda: (games(), None))
    with TestClient(own, follow_redirects=False) as client:
        entered = client.get("/", params={"key": own.key, "page": page})
        assert entered.headers["location"] == "/static/start.html#open"
        good = client.get("/", params={"key": own.key, "page": "/static/learn.html"})
        assert good.headers["location"] == "/static/learn.html"


@pytest.mark.parametrize("content", ["", "http://127.0.0.1:9/?key=a", "http://example.org/?key=a", "x" * 500])
def test_an_address_at_which_no_page_answers_is_none(tmp_path, content):
    (tmp_path / ".page").write_text(content)
    assert running_address(tmp_path) is None


def test_an_interrupted_game_of_a_file_goes_on_at_a_table(tmp_path):
    live = start_game("case1", (None, None), 3, has_window=False)
    with GameSaver.create(f"{tmp_path}/game.jsonl", live):
        live.advance()
    from geo_patrol.replays.files import unfinished_game

    replay = unfinished_game(tmp_path / "game.jsonl")
    store = TableStore(tmp_path / "tables")
    codes = (phase.codes for phase in replay.phases)
    table, keys = store.make_continued_table(replay.config, 3, replay.agents, codes)
    store.add(table)
    assert set(keys) == {"alpha", "bravo"}
    assert table.game.is_same_position(live.game)
    store.close()
    again = TableStore(tmp_path / "tables")
    assert again.find(table.id).game.is_same_position(live.game)
    again.close()


@pytest.mark.slow
def test_without_a_writable_home_games_are_played_and_one_line_warns(tmp_path):
    (tmp_path / "geo_patrol").write_text("not a folder")
    with playing(home=tmp_path) as (_, _, lines):
        warnings = [line for line in lines if line.startswith("Games are not saved: ")]
        assert len(warnings) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--save", "game.jsonl"], "the page keeps games in a folder"),
        (["--resume", "none.jsonl"], "none.jsonl"),
        (["--as", "charlie"], "--as must be alpha or bravo, got charlie"),
        (["--against", "nobody"], "there is no agent 'nobody'"),
        (["--seed", "-1"], "seed must be a non-negative integer"),
    ],
)
def test_wrong_arguments_are_explained_before_a_page_opens(arguments, message):
    ran = run("play", "--no-browser", *arguments)
    assert ran.exit_code == 2
    assert message in ran.stderr
