"""What clients may ask for: as much as they need, then an error that says when to try again."""

import asyncio
import contextlib
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.requests import Request

from geo_patrol.web import app, requests
from geo_patrol.web import tables as table_module
from geo_patrol.web.protocol import ProtocolError
from geo_patrol.web.requests import ClientLimits, TokenBucket, client_site
from geo_patrol.web.tables import NewTable, TableStore
from tests.web.clients import TABLE, Connection, open_table, play_to_the_end


class Clock:
    """Time that a test tells."""

    def __init__(self, monkeypatch):
        self.now = 1000.0
        monkeypatch.setattr(requests.time, "monotonic", lambda: self.now)


def site(address):
    return client_site(Request({"type": "http", "client": (address, 1), "headers": []}))


def test_a_bucket_refills():
    limit = TokenBucket(2.0, 3)
    for _ in range(3):
        limit.take(10.0)
    with pytest.raises(ProtocolError) as caught:
        limit.take(10.25)
    assert caught.value.retry_after == 0.25
    limit.take(10.5)


def test_each_address_has_limits_of_its_own_and_a_site_is_one_address(monkeypatch):
    clock, limits = Clock(monkeypatch), ClientLimits(2, 200)
    for _ in range(100):
        limits.take("requests", site("192.0.2.1"))
    for same in ("192.0.2.1", "::ffff:192.0.2.1"):
        with pytest.raises(ProtocolError):
            limits.take("requests", site(same))
    for other in ("192.0.2.2", "::ffff:192.0.2.3"):
        limits.take("requests", site(other))
    with contextlib.ExitStack() as stack:
        stack.enter_context(limits.connection(site("2001:db8::1")))
        stack.enter_context(limits.connection(site("2001:db8::2")))
        with pytest.raises(ProtocolError, match="2 connections from your address"):
            stack.enter_context(limits.connection(site("2001:db8::3")))
        stack.enter_context(limits.connection(site("2001:db8:0:1::3")))
    clock.now += 20
    stack.enter_context(limits.connection(site("2001:db8::3")))


def test_who_connects_again_and_again_has_to_wait(monkeypatch):
    Clock(monkeypatch)
    limits = ClientLimits(30, 200)
    for _ in range(30):
        with limits.connection("192.0.2.1"):
            pass
    with pytest.raises(ProtocolError) as caught, limits.connection("192.0.2.1"):
        pass
    assert caught.value.retry_after == pytest.approx(1 / 3, abs=0.01)


def test_an_address_cannot_open_all_tables(serve):
    client = serve(max_tables=8)
    opened = [client.post("/api/tables", json=TABLE) for _ in range(3)]
    assert [one.status_code for one in opened] == [201, 201, 429]
    assert 60 < int(opened[-1].headers["retry-after"]) <= 1800
    assert client.post("/api/classes", json={}).status_code == 429


def test_a_game_that_has_not_begun_leaves_memory_though_it_has_a_clock(client):
    table = client.post("/api/tables", json=TABLE | {"clock": 3600}).json()["table"]
    client.portal.call(client.server.unload, -1.0)
    assert table not in client.server.tables.items
    assert client.get(f"/api/tables/{table}").json()["clock"] == 3600


def test_a_server_restores_the_latest_games_and_others_when_they_are_opened(tmp_path):
    first = TableStore(tmp_path)
    tables = [first.open_table(NewTable(**TABLE), opener=f"192.0.2.{i}")[0] for i in range(3)]
    for age, table in enumerate(tables):
        os.utime(tmp_path / f"{table.id}.json", (1e9 - age, 1e9 - age))
    first.close()
    second = TableStore(tmp_path, max_tables=2)
    assert set(second.items) == {table.id for table in tables[:2]}
    assert second.find(tables[2].id).saved.seed == TABLE["seed"]
    assert set(second.items) == {tables[0].id, tables[2].id}, "instead of the one that was not used for longest"


def test_a_busy_server_says_when_to_try_again(client, monkeypatch):
    (table, secrets), (over, _) = open_table(client), open_table(client)
    play_to_the_end(client.tables.find(over))
    monkeypatch.setattr(requests, "_MAX_JOBS", 0)
    secret = {"secret": secrets["alpha"]}
    for answer in (client.get(f"/replays/{over}.html"), client.post(f"/api/tables/{table}/hint", json=secret)):
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "2")


def test_too_many_requests_get_429_and_a_time(serve, monkeypatch):
    monkeypatch.setitem(requests.RATES, "requests", (0.2, 3))
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
    seats = [Connection(client, table, secret=secret) for secret in secrets.values()]
    error = Connection(client, table).wait_for("error")
    assert (error["code"], error["retry_after"]) == ("too_many", 30.0)
    for seat in seats:
        assert seat.wait_for("your_turn")["turn"] == 1


def test_too_many_messages_are_refused_with_a_time(client, monkeypatch):
    take = TokenBucket.take
    monkeypatch.setattr(TokenBucket, "take", lambda bucket, _, count=1: take(bucket, 0.0, count))  # all at once
    table, _ = open_table(client)
    socket = Connection(client, table)
    for number in range(300):
        socket.send("ping", number=number)
    answers = [socket.wait_for("pong", "error") for _ in range(300)]
    refused = [one for one in answers if one["type"] == "error"]
    assert {one["code"] for one in refused} == {"too_many"}
    assert all(0 <= one["retry_after"] <= 1 for one in refused)
    assert sum(one["type"] == "pong" for one in answers) >= 200


def test_who_says_nothing_is_disconnected(client, monkeypatch):
    monkeypatch.setattr(app, "_HELLO_SECONDS", 0.05)
    table, _ = open_table(client)
    socket = client.connections.enter_context(client.websocket_connect(f"/ws/{table}"))
    assert json.loads(socket.receive_text())["code"] == "closed"


def test_a_game_that_nobody_plays_leaves_memory_and_comes_back(client):
    table, secrets = open_table(client)
    first, other = open_table(client), open_table(client)
    seats = {side: Connection(client, table, secret=secret) for side, secret in secrets.items()}
    for seat in seats.values():
        turn = seat.wait_for("your_turn")
        seat.order(turn)
    for seat in seats.values():
        while seat.wait_for("your_turn")["submitted"] is not None:  # a phase in which nobody has a choice
            pass
    before = client.get(f"/api/tables/{table}").json()
    staying = Connection(client, other[0])
    staying.wait_for("welcome")
    for seat in seats.values():
        seat.close()
    client.portal.call(client.server.unload)
    assert set(client.server.tables.items) == {table, first[0], other[0]}  # for five minutes
    while table in client.server.tables.items:  # the server may not have noticed yet that they left
        client.portal.call(client.server.unload, 0.0)
    assert set(client.server.tables.items) == {other[0]}
    assert table not in client.get("/api/tables").text
    after = client.get(f"/api/tables/{table}").json()
    assert [after[key] for key in ("turn", "phase", "score")] == [before[key] for key in ("turn", "phase", "score")]
    again = Connection(client, table, secret=secrets["alpha"], last_event=0)
    assert len(again.wait_for("welcome")["events"]) >= 1
    assert again.wait_for("your_turn")["phase"] == before["phase"]


def test_games_that_are_over_stay_in_the_lobby_up_to_a_number(serve, monkeypatch, tmp_path):
    monkeypatch.setattr(table_module, "MAX_FINISHED", 2)
    monkeypatch.setattr(app, "_IDLE_SECONDS", 0.1)  # after a tenth of which the server looks each time
    client = serve()
    opened = []
    for _ in range(4):
        table, secrets = open_table(client)
        opened.append(table)
        game = client.server.tables.find(table)
        play_to_the_end(game)
        seat = Connection(client, table, secrets["alpha"])
        seat.wait_for("welcome")
        seat.close()
    while len(client.server.tables.items) > 2:
        time.sleep(0.01)
    assert [one["table"] for one in client.get("/api/tables").json()["tables"]] == opened[2:]
    assert client.get(f"/replays/{opened[0]}.jsonl.gz").status_code == 200
    client.server.tables.close()
    restarted = TableStore(tmp_path)
    assert len(restarted.items) == 2
    assert restarted.find(opened[0]).is_over


def test_a_body_that_does_not_arrive_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(requests, "_BODY_SECONDS", 0.05)
    messages = [{"type": "http.request", "body": b"{", "more_body": True}]

    async def receive():
        return messages.pop() if messages else await asyncio.Future()

    request = Request({"type": "http", "method": "POST", "headers": []}, receive)
    with ThreadPoolExecutor() as in_thread, pytest.raises(ProtocolError, match=r"did not arrive in 0\.05 s"):
        in_thread.submit(asyncio.run, requests.read_body(request, requests.Body)).result()
