"""``join`` at servers that send anything: every answer ends in a message, an error of the package, or nothing."""

import contextlib
import copy
import http.server
import json
import socket
import threading
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.sync.server import serve

from geo_patrol.agents import make_agent
from geo_patrol.base.errors import GeoPatrolError
from geo_patrol.web import client as client_module
from geo_patrol.web.client import AgentPlayer, Client, play_seat, read_link, seats
from geo_patrol.web.tables import NewTable, TableStore

HOSTILE = [
    None,
    -1,
    0,
    2**31,
    2**64,
    10**30,
    1e300,
    float("nan"),
    float("inf"),
    "",
    "x" * 5000,
    "\x1b[2J",
    [],
    {},
    True,
]


@contextlib.contextmanager
def serving(*messages):
    """Serve messages to everybody who connects; yield a link to a seat."""

    def answer(connection):
        connection.recv()
        for message in (*messages, "no message"):  # nobody waits for more
            connection.send(message if isinstance(message, (str, bytes)) else json.dumps(message))
        with contextlib.suppress(Exception):
            while True:
                connection.recv()

    with serve(answer, "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        port = server.socket.getsockname()[1]
        yield f"http://127.0.0.1:{port}/static/table.html#table=1&secret=2"
        server.shutdown()
        thread.join()


def play(link):
    with Client(link, "bot") as client:
        return play_seat(client, AgentPlayer(make_agent("scripted"), 1))


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """What a server sends to alpha in the first phases of a game, and at its end."""
    tables = TableStore(tmp_path_factory.mktemp("games"))
    table, _ = tables.open_table(NewTable(preset="king_of_the_hill", alpha="link", bravo="idle", seed=3))
    sent = [table.welcome("alpha", 0), table.your_turn("alpha", 0.0)]
    for _ in range(2):
        table.close_phase()
        table.play()
        table.finish_phase()
        sent += [table.event(table.num_events), table.your_turn("alpha", 0.0)]
    table.resign("alpha")
    sent.append(table.event(table.num_events))
    tables.close()
    return [json.loads(message.model_dump_json()) for message in sent]


def test_the_session_is_one_that_can_be_played(session):
    with serving(*session) as link:
        assert play(link).winner == "bravo"


@pytest.mark.parametrize("seconds", [-0.5, float("nan"), float("inf"), 1e300, "soon"])
def test_times_after_which_nobody_can_try_again_are_refused(seconds):
    error = {"type": "error", "code": "too_many", "text": "later", "retry_after": seconds}
    with serving(error) as link, pytest.raises(GeoPatrolError, match="retry_after must be "):
        play(link)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda sent: sent[1:], "your_turn comes before welcome"),
        (lambda sent: sent[2:], "event comes before welcome"),
        (lambda sent: [sent[0], sent[0]], "welcome comes twice"),
        (lambda sent: [sent[0], sent[4]], "event 2 follows event 0"),
        (lambda sent: [*sent[:3], sent[2]], "event 1 follows event 1"),
        (lambda sent: [sent[0] | {"first_event": 5}], "welcome begins with event 5 after event 0"),
        (lambda sent: [sent[0] | {"start": None}, sent[1]], "without a position"),
        (lambda sent: [sent[0] | {"you": None}], "only watches"),
        (lambda sent: [sent[0], sent[1] | {"turn": 9}], "your_turn is for turn 9, movement, in turn 1, movement"),
        (
            lambda sent: [sent[0], sent[1] | {"options": {"P1": [sent[1]["options"]["P1"][0] | {"order": "fly"}]}}],
            "fly",
        ),
        (lambda _: ["{"], "(?i)invalid JSON"),
        (lambda _: [b"\xff\xfe"], "(?i)invalid"),
        (lambda _: ["[" * 100_000], "(?i)invalid JSON|recursion"),
        (lambda _: [{"type": "greeting"}], "greeting"),
        (lambda _: [[]], "message"),
    ],
)
def test_messages_out_of_order_are_named(session, change, fault):
    with serving(*change(copy.deepcopy(session))) as link, pytest.raises(GeoPatrolError, match=fault):
        play(link)


class Played(Client):
    """A client that is sent messages without a connection."""

    def __init__(self, messages):
        self._socket, self.messages = self, messages
        self.connections = 0
        super().__init__("http://127.0.0.1/#table=1&secret=2")

    def _connect(self):
        self.connections += 1
        self._socket = iter([json.dumps(message) for message in self.messages])
        self._is_welcomed = False
        if self.connections > 1:
            raise GeoPatrolError("enough")

    def send(self, message):
        message.model_dump_json()


def paths(value, path=()):
    yield path
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from paths(inner, (*path, key))


@given(data=st.data())
def test_no_field_of_a_message_ends_in_a_traceback(session, data):
    messages = copy.deepcopy(session)
    for _ in range(data.draw(st.integers(1, 2))):
        *path, last = data.draw(st.sampled_from([path for path in paths(messages) if path]))
        inner = messages
        for key in path:
            inner = inner[key]
        inner[last] = data.draw(st.sampled_from(HOSTILE) | st.integers(-300, 300))
    with pytest.MonkeyPatch.context() as patch, contextlib.suppress(GeoPatrolError):
        patch.setattr("time.sleep", lambda _: None)
        play_seat(Played(messages), AgentPlayer(make_agent("scripted"), 1))


# Requests


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers every request in the same way."""

    answer: ClassVar = (200, b"")

    def do_GET(self):
        status, body = self.answer
        if status is None:
            self.wfile.write(body)
            return
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET  # noqa: N815

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def answering(status, body, protocol="HTTP/1.1"):
    handler = type("Answering", (Handler,), {"answer": (status, body)})
    with http.server.HTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("path", ["class/ABCDEF", "table/1"])
@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b""),
        (200, b"{}"),
        (200, b"[]"),
        (200, b"[" * 100_000),
        (200, b'{"secret": 5}'),
        (200, b'{"secret": "a b"}'),
        (200, b"\xff"),
        (404, b""),
        (404, b'{"type": "error", "code": "no_table", "text": "\\u001b[2J", "retry_after": null}'),
        (429, b'{"type": "error", "code": "too_many", "text": "", "retry_after": NaN}'),
        (500, b"<html>"),
        (502, b"<html>"),
        (301, b""),
        (None, b"SSH-2.0-OpenSSH_9.6\r\n"),
        (None, b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{}"),
        (None, b""),
    ],
)
def test_answers_of_other_servers_are_errors(path, status, body):
    with answering(status, body) as address, pytest.raises((GeoPatrolError, ConnectionError)) as caught:
        next(seats(f"{address}/{path}", "bot"))
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize(
    "link",
    [
        "",
        "http://[::1/#table=1",
        "http://127.0.0.1:99999/#table=1",
        "http://127.0.0.1/#table=a b",
        "http://127.0.0.1/#table=1&secret=a b",
        "http://127.0.0.1/static/table.html",
        "ftp://127.0.0.1/#table=1",
        f"http://{'a' * 70}.example/#table=1&secret=2",
        "http://a..example/#table=1&secret=2",
    ],
)
def test_links_that_are_none(link):
    with pytest.raises((GeoPatrolError, ConnectionError)):
        play(link)
    with pytest.raises((GeoPatrolError, ConnectionError)):
        play(next(seats(link, "bot")))


def test_a_link_is_read():
    assert read_link("https://a.example:1/static/table.html#table=1&secret=2") == ("wss://a.example:1", "1", "2")
    assert read_link("http://[::1]:8000/table/1") == ("ws://[::1]:8000", "1", None)


def test_no_proxy_stands_between_this_computer_and_itself(monkeypatch):
    with socket.socket() as proxy:
        proxy.bind(("127.0.0.1", 0))
        proxy.listen()
        for name in ("http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "socks_proxy", "ws_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.getsockname()[1]}")
        monkeypatch.delenv("no_proxy", raising=False)
        for host in ("127.0.0.1", "localhost", "127.0.0.2", "[::1]"):
            with pytest.raises(ConnectionError):
                play(f"http://{host}:1/#table=1&secret=2")
            with pytest.raises(ConnectionError):
                next(seats(f"http://{host}:1/class/ABCDEF", "bot"))
        proxy.setblocking(False)
        with pytest.raises(BlockingIOError):
            proxy.accept()
    assert not client_module._is_own("http://192.0.2.1:8000/")
