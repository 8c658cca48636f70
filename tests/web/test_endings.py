"""Games that end without being played to their end: somebody resigns, both agree on a draw, an agent of the server fails."""

import asyncio
import contextlib
import gzip
import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from geo_patrol.agents import IdleAgent
from geo_patrol.base.errors import AgentError
from geo_patrol.replays import check, read_replay
from geo_patrol.replays.datasets import ReplayDataset
from geo_patrol.replays.summaries import summarise
from geo_patrol.web import table_server, tables
from tests.web.clients import TABLE, Connection, open_table


@pytest.fixture
def is_own():
    return False


@pytest.fixture
def client(serve, monkeypatch, is_own):
    monkeypatch.setattr(table_server, "FAILURE_SECONDS", 0.0)
    return serve(own_agents=frozenset({"own"}), is_own=is_own)


class Failing(IdleAgent):
    """An agent that raises an exception as often as it is told to."""

    def __init__(self, times):
        self.times, self.resets = times, 0

    def reset(self, new_games):
        self.resets += 1

    def act(self, observations, action_masks, generator):
        if self.times > 0:
            self.times -= 1
            raise RuntimeError("no plan")
        return super().act(observations, action_masks, generator)


def resigned(client, *, phases):
    """Return the name of a table at which alpha resigned after a number of phases, against an agent that holds."""
    table, secrets = open_table(client, bravo="idle")
    alpha = Connection(client, table, secrets["alpha"])
    for _ in range(phases):
        alpha.order(alpha.wait_for("your_turn"))
        alpha.wait_for("event")
    alpha.send("resign")
    while (event := alpha.wait_for("event")["event"])["kind"] != "end":
        pass  # phases without a choice are played at once
    assert (event["winner"], event["reasons"]) == ("bravo", [{"reason": "resigned", "side": "alpha"}])
    alpha.close()
    return table


@pytest.mark.parametrize("phases", [0, 1])
def test_the_replay_of_a_resigned_game_has_its_end(client, phases, tmp_path):
    table = resigned(client, phases=phases)
    answer = client.get(f"/replays/{table}.jsonl.gz")
    assert answer.status_code == 200
    path = tmp_path / "copy.jsonl"
    path.write_bytes(gzip.decompress(answer.content))
    replay = read_replay(path)
    assert bool(replay.phases) == bool(phases)
    assert (replay.end.winner, replay.end.reasons) == ("bravo", ["resigned (alpha)"])
    assert (check(replay), replay.is_finished) == (None, True)
    summary = summarise(replay)
    assert (summary.status, summary.winner) == ("finished", "bravo")
    assert [one.in_words for one in summary.reasons] == ["alpha resigned"]
    client.tables.unload(client.tables.find(table))
    again = client.tables.find(table)
    assert (again.is_over, again.winner, [str(one) for one in again.reasons]) == (True, "bravo", ["resigned (alpha)"])
    page = client.get(f"/replays/{table}.html").text
    assert f"gold wins in turn {summary.turns}" in page
    assert "not over" not in page
    if phases:
        assert sum(len(batch.actions) for batch in ReplayDataset([path]).batches(8)) > 0


def test_a_false_end_of_a_resigned_game_is_a_difference(client, tmp_path):
    table = resigned(client, phases=1)
    *lines, last = gzip.decompress(client.tables.find(table).replay_path.read_bytes()).splitlines(keepends=True)
    path = tmp_path / "copy.jsonl"
    for fields, fault in (
        ({"winner": "alpha"}, "winner: recorded alpha, replayed bravo"),
        ({"winner": None, "reasons": ["agreed"], "score": [0, 0]}, "score: recorded"),
        ({"reasons": ["hva_destroyed (alpha)"]}, "game: recorded over"),
        ({"reasons": ["resigned (alpha)", "agreed"]}, "game: recorded over"),
    ):
        path.write_bytes(b"".join(lines) + json.dumps(json.loads(last) | fields).encode())
        assert fault in check(read_replay(path))


def test_an_agent_that_fails_is_asked_again(client, monkeypatch):
    agent = Failing(2)
    monkeypatch.setattr(tables, "make_match_agent", lambda _: agent)
    table, secrets = open_table(client, bravo="own")
    socket = Connection(client, table, secrets["alpha"])
    socket.order(socket.wait_for("your_turn"))
    event = socket.wait_for("event")["event"]
    assert event["kind"] == "phase"
    assert not socket.wait_for("status")["paused"]
    assert agent.resets == 3  # it began anew before each try


@pytest.mark.parametrize(("is_own", "told"), [(False, "RuntimeError"), (True, "RuntimeError: no plan")])
def test_an_agent_that_fails_again_and_again_loses_and_the_page_is_told_why(client, monkeypatch, told, caplog):
    monkeypatch.setattr(tables, "make_match_agent", lambda _: Failing(9))
    table, secrets = open_table(client, bravo="own")
    socket = Connection(client, table, secrets["alpha"])
    socket.order(socket.wait_for("your_turn"))
    event = socket.wait_for("event")["event"]
    assert (event["kind"], event["winner"]) == ("end", "alpha")
    assert event["reasons"] == [{"reason": "failed", "side": "bravo"}]
    assert event["fault"].endswith(f"act raised {told}")
    assert "RuntimeError: no plan" in caplog.text  # for the operator
    status = socket.wait_for("status")
    assert (status["paused"], status["fault"]) == (False, None)
    socket.close()
    monkeypatch.setattr(tables, "make_match_agent", lambda _: pytest.fail("nobody asks it any more"))
    client.tables.unload(client.tables.find(table))
    assert client.tables.find(table).event(1).event.fault == event["fault"]
    practice = {"index": 0, "side": "alpha", "agent": "scripted"}
    assert client.post(f"/api/tables/{table}/practice", json=practice).status_code == 201


@pytest.mark.parametrize("is_own", [False, True])
def test_why_an_agent_of_the_operator_cannot_be_made_is_told_to_the_operator(client, monkeypatch, is_own, caplog):
    def fail(name):
        raise AgentError(f"agent {name!r} cannot be made: OSError: /home/operator/secret")

    monkeypatch.setattr(tables, "make_match_agent", fail)
    refused = client.post("/api/tables", json=TABLE | {"bravo": "own"})
    assert refused.status_code == 400
    assert ("/home/operator" in refused.text) == is_own
    assert ("/home/operator" in caplog.text) != is_own


def test_a_failure_of_the_server_itself_is_told_and_pauses_nothing_for_good(client, monkeypatch):
    table, secrets = open_table(client, bravo="idle")
    socket = Connection(client, table, secrets["alpha"])
    monkeypatch.setattr(client.tables.find(table).live, "play", lambda _: 1 // 0)
    socket.order(socket.wait_for("your_turn"))
    while not (status := socket.wait_for("status"))["fault"]:
        pass
    assert not status["paused"]
    socket.send("resign")
    assert socket.wait_for("event")["event"]["winner"] == "bravo"


@pytest.fixture
def disk(monkeypatch):
    """Two events: the disk is writing for the event loop or a thread, and it may go on."""
    began, may_go_on = threading.Event(), threading.Event()
    fsync, loop_threads = os.fsync, []

    def wait(descriptor):
        with contextlib.suppress(RuntimeError):
            asyncio.get_running_loop()
            loop_threads.append(threading.current_thread().name)
        began.set()
        assert may_go_on.wait(30)
        fsync(descriptor)

    yield lambda: monkeypatch.setattr(os, "fsync", wait), began, may_go_on
    may_go_on.set()
    assert loop_threads == [], "the event loop waited for the disk"


@pytest.mark.parametrize("message", ["resign", "leave", "hello"])
def test_nobody_waits_for_the_disk_but_who_has_something_written(client, disk, message):
    """While it writes for one table, others are served; nothing is told that is not saved yet."""
    stall, began, may_go_on = disk
    (table, secrets), (other, others) = open_table(client), open_table(client)
    neighbour, bravo = Connection(client, other, others["alpha"]), Connection(client, table, secrets["bravo"])
    neighbour.wait_for("your_turn")
    bravo.wait_for("your_turn")
    stall()
    alpha = Connection(client, table, secrets["alpha"], name="Ada" if message == "hello" else None)
    if message != "hello":
        alpha.wait_for("your_turn")
        alpha.send(message)
    assert began.wait(30)
    neighbour.send("ping", number=7)
    assert neighbour.wait_for("pong")["number"] == 7
    bravo.send("ping", number=8)
    while (told := bravo.receive())["type"] != "pong":
        assert told["type"] == "status"
        assert told["phase"] == "movement"
        assert told["names"]["alpha"] == "person"
    seen = client.get(f"/api/tables/{table}").json()
    assert (seen["over"], seen["seats"]["alpha"]["kind"], seen["seats"]["alpha"]["name"]) == (
        False,
        "taken",
        "person",
    )
    may_go_on.set()
    answer = {"resign": "event", "leave": "left", "hello": "welcome"}[message]
    assert alpha.wait_for(answer).get("names", {"alpha": "Ada"})["alpha"] == "Ada"


def test_of_two_who_take_a_seat_at_once_one_has_it(client, disk):
    stall, began, may_go_on = disk
    table, _ = open_table(client, bravo="open")
    stall()
    with ThreadPoolExecutor(2) as threads:
        asked = [threads.submit(client.post, f"/api/tables/{table}/seats/bravo") for _ in range(2)]
        assert began.wait(30)
        assert client.get(f"/api/tables/{table}").json()["seats"]["bravo"]["kind"] == "open"
        may_go_on.set()
        answers = [one.result() for one in asked]
    assert sorted(one.status_code for one in answers) == [201, 409]
    secret = next(one.json()["secret"] for one in answers if one.status_code == 201)
    assert client.tables.read(table).bravo.accepts(secret)
