"""What clients may ask for: as much as they need, then an error that says when to try again."""

import contextlib
import json

import pytest

pytest.importorskip("starlette")
pytest.importorskip("httpx2")

from starlette.testclient import TestClient

from geo_patrol.server import app, hall, limits
from geo_patrol.server.app import Server
from geo_patrol.server.hall import Hall
from geo_patrol.server.limits import AddressLimits, MessageLimit
from geo_patrol.server.protocol import ProtocolError

TABLE = {"preset": "king_of_the_hill", "seed": 4, "alpha": "link", "bravo": "link"}


@pytest.fixture
def serve(tmp_path):
    """Return a function that starts a server, with arguments of ``Server``."""
    with contextlib.ExitStack() as stack:

        def start(**options):
            server = Server(Hall(tmp_path), **options)
            client = stack.enter_context(TestClient(server.app()))
            client.server, client.connections = server, stack.enter_context(contextlib.ExitStack())
            return client

        yield start


def open_table(client):
    opened = client.post("/api/tables", json=TABLE).json()
    return opened["table"], opened["secrets"]


def join(client, table, **hello):
    socket = client.connections.enter_context(client.websocket_connect(f"/ws/{table}"))
    socket.send_text(json.dumps({"type": "hello", "version": 1, "table": table, **hello}))
    return socket


def next_of(socket, *kinds):
    while (message := json.loads(socket.receive_text()))["type"] not in kinds:
        pass
    return message


def test_a_bucket_refills():
    limit = MessageLimit(2.0, 3)
    for _ in range(3):
        limit.take(10.0)
    with pytest.raises(ProtocolError) as caught:
        limit.take(10.25)
    assert caught.value.retry_after == 0.25
    limit.take(10.5)


def test_each_address_has_limits_of_its_own_and_a_site_is_one_address():
    addresses = AddressLimits(2)
    for _ in range(100):
        addresses.take_request("192.0.2.1", 0.0)
    with pytest.raises(ProtocolError):
        addresses.take_request("192.0.2.1", 0.0)
    addresses.take_request("192.0.2.2", 0.0)
    with contextlib.ExitStack() as stack:
        stack.enter_context(addresses.connection("2001:db8::1"))
        stack.enter_context(addresses.connection("2001:db8::2"))
        with pytest.raises(ProtocolError, match="2 connections from your address"):
            stack.enter_context(addresses.connection("2001:db8::3"))
        stack.enter_context(addresses.connection("2001:db8:0:1::3"))
    stack.enter_context(addresses.connection("2001:db8::3"))


def test_too_many_requests_get_429_and_a_time(serve, monkeypatch):
    monkeypatch.setattr(limits, "_REQUESTS", (0.2, 3))
    client = serve()
    for _ in range(3):
        assert client.post("/api/tables", json=TABLE).status_code == 201
    refused = client.post("/api/tables", json=TABLE)
    assert refused.status_code == 429
    assert 3 <= int(refused.headers["retry-after"]) <= 5
    assert refused.json()["code"] == "too_many"


def test_too_many_connections_are_refused_and_others_stay(serve):
    client = serve(max_connections=2)
    table, secrets = open_table(client)
    seats = [join(client, table, secret=secret) for secret in secrets.values()]
    error = next_of(join(client, table), "error")
    assert (error["code"], error["retry_after"]) == ("too_many", 30.0)
    for seat in seats:
        assert next_of(seat, "your_turn")["turn"] == 1


def test_too_many_messages_are_refused_with_a_time(serve):
    client = serve()
    table, _ = open_table(client)
    socket = join(client, table)
    for number in range(300):
        socket.send_text(json.dumps({"type": "ping", "number": number}))
    answers = [next_of(socket, "pong", "error") for _ in range(300)]
    refused = [one for one in answers if one["type"] == "error"]
    assert {one["code"] for one in refused} == {"too_many"}
    assert all(0 <= one["retry_after"] <= 1 for one in refused)
    assert sum(one["type"] == "pong" for one in answers) >= 200


def test_who_says_nothing_is_disconnected(serve, monkeypatch):
    monkeypatch.setattr(app, "_HELLO_SECONDS", 0.05)
    client = serve()
    table, _ = open_table(client)
    socket = client.connections.enter_context(client.websocket_connect(f"/ws/{table}"))
    assert json.loads(socket.receive_text())["code"] == "closed"


def test_a_game_that_nobody_plays_leaves_memory_and_comes_back(serve):
    client = serve()
    table, secrets = open_table(client)
    first, other = open_table(client), open_table(client)
    seats = {side: join(client, table, secret=secret) for side, secret in secrets.items()}
    for seat in seats.values():
        turn = next_of(seat, "your_turn")
        seat.send_text(
            json.dumps({key: turn[key] for key in ("game", "turn", "phase")} | {"type": "orders", "orders": []})
        )
    for seat in seats.values():
        while next_of(seat, "your_turn")["submitted"] is not None:  # a phase in which nobody has a choice
            pass
    before = client.get(f"/api/tables/{table}").json()
    staying = join(client, other[0])
    next_of(staying, "welcome")
    for seat in seats.values():
        seat.close()
    client.portal.call(client.server.unload)
    assert set(client.server.hall.tables) == {table, first[0], other[0]}  # for an hour
    while table in client.server.hall.tables:  # the server may not have noticed yet that they left
        client.portal.call(client.server.unload, 0.0)
    assert set(client.server.hall.tables) == {other[0]}
    after = client.get(f"/api/tables/{table}").json()
    assert [after[key] for key in ("turn", "phase", "score")] == [before[key] for key in ("turn", "phase", "score")]
    again = join(client, table, secret=secrets["alpha"], last_event=0)
    assert len(next_of(again, "welcome")["events"]) >= 1
    assert next_of(again, "your_turn")["phase"] == before["phase"]


def test_games_that_are_over_stay_in_the_lobby_up_to_a_number(serve, monkeypatch, tmp_path):
    for module in (app, hall):
        monkeypatch.setattr(module, "MAX_FINISHED", 2)
    client = serve()
    tables = []
    for _ in range(4):
        table, secrets = open_table(client)
        tables.append(table)
        game = client.server.hall.table(table)
        while not game.is_over:
            game.close_phase()
            game.play()
            game.finish_phase()
        seat = join(client, table, secret=secrets["alpha"])
        next_of(seat, "welcome")
        seat.close()
    while len(client.server.hall.tables) > 2:
        client.portal.call(client.server.unload)
    assert [one["table"] for one in client.get("/api/tables").json()["tables"]] == tables[2:]
    assert client.get(f"/replays/{tables[0]}.jsonl.gz").status_code == 200
    restarted = Hall(tmp_path)
    assert len(restarted.tables) == 2
    assert restarted.table(tables[0]).is_over
