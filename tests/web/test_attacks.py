"""What strangers, a full disk and damaged files did to others before: each of these attacks was successful once."""

import asyncio
import contextlib
import errno
import json
import os
import random
import socket
import sys
import threading
import time
from pathlib import Path

import pytest
import uvicorn
from starlette.testclient import TestClient

from geo_patrol.base.errors import GeoPatrolError
from geo_patrol.config.schema import GameConfig
from geo_patrol.replays import check, files, read_replay
from geo_patrol.web import local, requests
from geo_patrol.web.protocol import ProtocolError
from geo_patrol.web.tables import NewTable, TableStore
from tests.support.coroutines import run_coroutine
from tests.web.clients import TABLE, Connection, open_table, play_phase_of, play_to_the_end


def of_address(client, address):
    """Return a client with another address, of the same server."""
    other = TestClient(client.app, client=(address, 50_000))
    other.portal = client.portal
    return other


# A server that is filled


@pytest.mark.slow
def test_names_that_nobody_plays_keep_nobody_out(serve, monkeypatch):
    monkeypatch.setattr(requests, "RATES", dict.fromkeys(requests.RATES, (1e6, 10**6)))
    client = serve(max_tables=20)
    for number in range(4):  # classes of ten names each, who all play an agent
        stranger = of_address(client, f"203.0.113.{number}")
        name = stranger.post("/api/classes", json={"pairs": False}).json()["class"]
        for i in range(10):
            stranger.post(f"/api/classes/{name}/pupils", json={"name": f"name {i}"})
    assert len(client.tables.items) <= 20
    open_table(client)
    open_table(serve(max_tables=20))


def test_an_address_has_at_most_half_of_the_games(serve):
    client = serve(max_tables=4)
    for _ in range(2):
        table, _ = client.tables.open_table(NewTable(**TABLE), opener="203.0.113.1")
        Connection(client, table.id).wait_for("welcome")
    with pytest.raises(ProtocolError, match="2 games that were opened from your address"):
        client.tables.open_table(NewTable(**TABLE), opener="203.0.113.1")
    client.tables.open_table(NewTable(**TABLE), opener="203.0.113.2")


# A server that is kept busy


def test_a_scenario_of_thousands_of_keys_is_refused_before_it_is_parsed(client, monkeypatch):
    parsed = []
    monkeypatch.setattr(requests.tomllib, "loads", parsed.append)
    text = "\n".join(f"k{number:x}=1" for number in range(7_000))
    assert "more than 3,000 values" in client.post("/api/tables", json={"scenario": text}).json()["text"]
    assert parsed == []


@pytest.mark.parametrize("path", ["tables", "scenario"])
def test_a_scenario_whose_variants_repeat_many_choices_is_refused_before_they_are_checked(client, monkeypatch, path):
    monkeypatch.setattr(GameConfig, "with_variants", None)
    variants = "\n".join(f'[[variants]]\nname = "{number}"' for number in range(100))
    text = f'extends = "geo_patrol"\nboth.hva.fuel = {{ choices = {[1] * 900} }}\n{variants}'
    answer = client.post(f"/api/{path}", json={"scenario": text})
    assert "must be few enough for 10,000 choices in all" in answer.json()["text"]
    assert "100 variants with 180,000 choices" in answer.json()["text"]


def test_scenarios_are_read_in_a_thread(client, monkeypatch):
    threads, load = [], TableStore.load_setup
    monkeypatch.setattr(
        TableStore, "load_setup", lambda *each: threads.append(threading.current_thread().name) or load(*each)
    )
    open_table(client)
    client.post("/api/classes", json={})
    assert all(name.startswith("files") for name in threads)
    assert len(threads) == 2


def within(seconds, test):
    """Run a coroutine in an event loop."""
    return run_coroutine(asyncio.wait_for(test(), seconds))


def test_clients_take_turns_at_a_thread():
    async def test():
        threads, done, start = requests.FairThreads("test"), [], threading.Event()
        jobs = [("many", i) for i in range(5)] + [("few", i) for i in range(2)]
        tasks = [asyncio.create_task(threads.run("many", start.wait))]
        await asyncio.sleep(0)
        for client, i in jobs:
            tasks.append(asyncio.create_task(threads.run(client, lambda job=(client, i): done.append(job))))
        await asyncio.sleep(0)
        start.set()
        await asyncio.gather(*tasks)
        with pytest.raises(ZeroDivisionError):
            await threads.run("one", lambda: 1 / 0)
        assert await threads.run("one", lambda: 1) == 1, "a job that fails ends no thread"
        threads.close()
        return [client for client, _ in done]

    assert within(20, test) == ["many", "few", "many", "few", "many", "many", "many"]


def test_a_client_has_no_more_than_half_of_the_threads_and_a_few_jobs_that_wait():
    async def test():
        threads, release, running = requests.FairThreads("test", 4, max_waiting=4), threading.Event(), []
        block = lambda: running.append(0) or release.wait(10)  # noqa: E731
        tasks = [asyncio.create_task(threads.run("many", block)) for _ in range(8)]
        await asyncio.sleep(0.1)
        assert len(running) == 2
        assert await threads.run("other", lambda: "done") == "done"
        release.set()
        answers = await asyncio.gather(*tasks, return_exceptions=True)
        threads.close()
        return [one if isinstance(one, bool) else one.code for one in answers]

    assert within(20, test) == [True] * 6 + ["too_many"] * 2


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux knows priorities of threads")
def test_threads_for_what_takes_long_come_last():
    own_priority = lambda: os.getpriority(os.PRIO_PROCESS, threading.get_native_id())  # noqa: E731
    threads, usual = requests.FairThreads("test", low_priority=True), own_priority()
    assert within(20, lambda: threads.run("one", own_priority)) == min(usual + 10, 19)
    threads.close()
    assert own_priority() == usual


@pytest.mark.parametrize(
    ("agent", "is_slow"),
    [
        ("scripted", False),
        ("policy:base", False),
        ("search", False),
        ("search:2s", True),
        ("search:rollouts=500", True),
    ],
)
def test_cheap_agents_have_threads_of_their_own(tmp_path, agent, is_slow):
    tables = TableStore(tmp_path)
    assert tables.open_table(NewTable(alpha="link", bravo=agent))[0].is_slow == is_slow
    tables.close()


def test_a_client_that_floods_the_lesson_starves_nobody_else(serve, monkeypatch):
    monkeypatch.setitem(requests.RATES, "views", (0.1, 5))
    client = serve()
    stranger = of_address(client, "203.0.113.1")
    assert [stranger.get("/api/lesson/1").status_code for _ in range(6)] == [200] * 5 + [429]
    assert client.get("/api/lesson/1").status_code == 200


@pytest.mark.parametrize("question", ["place", "danger"])
def test_wrong_secrets_do_not_use_up_what_a_pupil_may_ask_for(serve, monkeypatch, question):
    monkeypatch.setitem(requests.RATES, "requests", (0.01, 10))
    client = serve()
    if question == "place":
        path = f"/api/classes/{client.post('/api/classes', json={}).json()['class']}"
        secret = client.post(f"{path}/pupils", json={"name": "Ada"}).json()["secret"]
    else:
        table, secrets = open_table(client)
        path, secret = f"/api/tables/{table}", secrets["alpha"]
    ask = lambda secret: client.post(f"{path}/{question}", json={"secret": secret}).status_code  # noqa: E731
    assert 429 in [ask("wrong") for _ in range(11)]
    assert ask(secret) == 200, "from the same address"


def test_connections_have_no_delay():
    with local.bind(uvicorn.Config(None, port=0)) as listening:
        listening.listen()
        with socket.create_connection(listening.getsockname()), contextlib.closing(listening.accept()[0]) as accepted:
            assert accepted.proto == socket.IPPROTO_TCP, "asyncio looks at this before it sets TCP_NODELAY"


# Files


def test_a_second_server_on_the_same_folder_is_refused(client, tmp_path):
    with pytest.raises(GeoPatrolError, match="is in use by another server"):
        TableStore(tmp_path)


def played(tables, num_phases=6, **options):
    """Return a table at which some phases have been played."""
    table, _ = tables.open_table(NewTable(**TABLE), **options)
    rng = random.Random(2)
    for _ in range(num_phases):
        legal = {side: table.game.legal_orders(side) for side in ("alpha", "bravo")}
        table.submitted = {
            side: tuple(rng.choice(list(one)) for one in orders.values()) for side, orders in legal.items()
        }
        play_phase_of(table)
    return table


def replace(path, other):
    path.write_bytes(other.replay_path.read_bytes())


def make_clock_wrong(path, _):
    saved = path.with_name(path.name.replace(".jsonl.gz", ".json"))
    saved.write_text(json.dumps(json.loads(saved.read_text()) | {"clock": "soon"}))


@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        (replace, "this is the replay of another game"),
        (lambda path, _: path.unlink(), "the replay is missing; 6 phases had been played"),
        (lambda path, _: path.write_bytes(b"nothing"), "line 1"),
        (make_clock_wrong, "clock must be a number, got 'soon'"),
    ],
)
def test_a_damaged_replay_is_reported_and_the_table_kept_as_it_is(serve, tmp_path, caplog, damage, fault):
    client = serve()
    table = played(client.tables)
    other, _ = client.tables.open_table(NewTable(**TABLE | {"seed": 5}))
    play_phase_of(other)
    client.tables.close()
    damage(table.replay_path, other)
    before = {path.name: path.read_bytes() for path in tmp_path.glob(f"{table.id}*")}
    client = serve()
    (found,) = client.server.damaged
    assert fault in found
    assert str(table.path.with_suffix("")) in found
    assert found in caplog.text
    answer = client.get(f"/api/tables/{table.id}")
    assert (answer.status_code, "its files are damaged" in answer.json()["text"]) == (404, True)
    assert {path.name: path.read_bytes() for path in tmp_path.glob(f"{table.id}*")} == before


def snapshot(folder):
    """Return what is in a folder: content and time of the last change of each file."""
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir() if path.is_file()}


READERS = {
    "own games": lambda client, table, secret: client.post(
        "/api/games", json={"games": [{"table": table, "secret": secret}]}
    ),
    "analysis": lambda client, table, _: client.get(f"/api/tables/{table}/analysis/alpha"),
    "table": lambda client, table, _: client.get(f"/api/tables/{table}"),
    "address": lambda client, table, _: client.get(f"/table/{table}", follow_redirects=False),
    "replay": lambda client, table, _: client.get(f"/replays/{table}.jsonl.gz"),
    "page": lambda client, table, _: client.get(f"/replays/{table}.html"),
    "danger": lambda client, table, secret: client.post(f"/api/tables/{table}/danger", json={"secret": secret}),
}


@pytest.mark.slow
@pytest.mark.parametrize("state", ["the first phase is being written", "the end is not noted", "it is over"])
def test_reading_a_table_changes_no_file(client, tmp_path, state):
    name, secrets = open_table(client)
    table = client.tables.items[name]
    if state == "the first phase is being written":
        table.replay_path.write_bytes(b"\x1f\x8b\x08")
    else:
        play_to_the_end(table)
    if state == "the end is not noted":
        table.saved.is_over = False
        table.save()
    for kind, read in READERS.items():
        if name in client.tables.items:
            client.portal.call(client.tables.unload, client.tables.items[name])
        before = snapshot(tmp_path)
        assert read(client, name, secrets["alpha"]).status_code < 500
        assert snapshot(tmp_path) == before, kind


@pytest.mark.parametrize("read", [READERS["own games"], READERS["analysis"]], ids=["own games", "analysis"])
def test_a_queued_request_finds_the_game_that_was_opened_meanwhile(client, monkeypatch, read):
    name, secrets = open_table(client)
    client.portal.call(client.tables.unload, client.tables.items[name])
    stranger, release, restored = of_address(client, "203.0.113.1"), threading.Event(), []
    restore = client.tables._restore

    async def block():
        sites = "203.0.113.1", "203.0.113.2"
        jobs.extend(asyncio.create_task(client.server._files.run(site, release.wait)) for site in sites)
        await asyncio.sleep(0)

    monkeypatch.setattr(client.tables, "_restore", lambda *each: restored.append(each) or restore(*each))
    jobs, answers = [], []
    client.portal.call(block)
    asking = threading.Thread(target=lambda: answers.append(read(stranger, name, secrets["alpha"])))
    asking.start()
    while not client.server._files._waiting:
        time.sleep(0.001)
    table = client.portal.call(client.tables.find, name)
    play_phase_of(table)
    release.set()
    asking.join()
    assert len(restored) == 1, "by whoever opened it"
    assert client.tables.items[name] is table
    assert len(read_replay(table.replay_path).phases) == 1
    assert answers[0].status_code in (200, 400)


def test_a_table_that_changes_while_it_is_read_is_read_again(client, monkeypatch):
    name, _ = open_table(client)
    client.portal.call(client.tables.unload, client.tables.items[name])
    restore, restored = client.tables._restore, []

    def restore_slowly(*each):
        restored.append(each)
        table = restore(*each)
        if len(restored) == 1:
            other = restore(*each)
            other.saved.is_stopped = True
            other.save()
        return table

    monkeypatch.setattr(client.tables, "_restore", restore_slowly)
    client.get(f"/api/tables/{name}")
    assert client.tables.items[name].saved.is_stopped
    assert len(restored) == 2
    client.portal.call(client.tables.unload, client.tables.items[name])

    async def read_twice():
        return await asyncio.gather(*(client.server._look_up(name, "203.0.113.1") for _ in range(2)))

    one, other = client.portal.call(read_twice)
    assert one is other, "two who ask at once wait for the same"


@pytest.mark.parametrize("is_played", [False, True])
def test_what_a_kill_leaves_of_a_phase_is_no_damage(serve, is_played):
    client = serve()
    table = played(client.tables, 6 if is_played else 0)
    content = table.replay_path.read_bytes() if is_played else b"\x1f\x8b"  # without the end of the packed file
    client.tables.close()
    table.replay_path.write_bytes(content + b"\x01\x02")
    client = serve()
    assert client.server.damaged == []
    again = client.tables.items[table.id]
    assert again.num_events == (6 if is_played else 0)
    play_phase_of(again)
    assert check(read_replay(again.replay_path)) is None


def test_orders_are_refused_while_the_disk_is_full_and_the_game_goes_on_when_there_is_room(client, monkeypatch):
    monkeypatch.setattr("geo_patrol.web.table_server.RETRY_SECONDS", 0.2)
    name, secrets = open_table(client)
    table = client.tables.items[name]
    for _ in range(2):
        play_phase_of(table)
    seats = [Connection(client, name, secret) for secret in secrets.values()]
    asked = [(seat, seat.wait_for("your_turn")) for seat in seats]

    def sync(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(files.LineStream, "sync", sync)
        for seat, turn in asked:
            seat.order(turn, [next(iter(turn["options"].values()))[0]["order"]])
        refused = [seat.wait_for("error") for seat in seats]
        assert [(one["code"], one["retry_after"]) for one in refused] == [("not_saved", 0.2)] * 2
        for seat, turn in asked:
            seat.order(turn)
            assert seat.wait_for("error")["code"] == "not_saved"
    time.sleep(0.25)
    for seat, turn in asked:
        seat.order(turn)
    for seat in seats:  # orders that reached the file after all are played, and others too late then
        while (message := seat.wait_for("event", "error"))["type"] == "error":
            assert message["code"] == "too_late"
        assert message["event"]["turn"] == 2
    table.close()
    assert check(read_replay(table.replay_path)) is None


def test_what_cannot_be_saved_has_not_happened(client, disk):
    """Otherwise a table would send its end, with the seed of a game that goes on."""
    name, secrets = open_table(client, alpha="open")
    table, player = client.tables.items[name], Connection(client, name, secrets["bravo"])
    player.wait_for("your_turn")
    disk.calls = 0
    answer = client.post(f"/api/tables/{name}/seats/alpha")
    assert (answer.status_code, answer.json()["code"], answer.headers["retry-after"]) == (507, "not_saved", "5")
    assert client.post("/api/tables", json=TABLE).status_code == 507
    player.send("resign")
    assert player.wait_for("error")["code"] == "not_saved"
    assert (table.is_over, table.num_events, table.saved.settled) == (False, 0, None)
    disk.calls = None
    assert client.post(f"/api/tables/{name}/seats/alpha").status_code == 201
    player.send("resign")
    assert player.wait_for("event")["event"]["winner"] == "alpha"
    assert len(client.tables.items) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="files there have no such modes")
def test_only_the_servers_account_reads_its_files(serve, tmp_path):
    client = serve()
    played(client.tables)
    client.post("/api/classes", json={})
    modes = lambda: {path: path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}  # noqa: E731
    for _ in range(2):
        assert {mode for path, mode in modes().items() if path.suffix} == {0o600}
        assert modes()[tmp_path / "classes"] == 0o700
        for path in filter(Path.is_file, modes()):
            path.chmod(0o644)  # as an older version left them
        client = serve()


# Names


@pytest.mark.parametrize("name", ["turtle", " Turtle ", "SEARCH:2s", "policy:base", "\uff54urtle", "Sputnik"])
def test_a_person_who_is_called_like_an_agent_is_marked(client, name):
    table, secrets = open_table(client)
    Connection(client, table, secrets["alpha"], name=name).wait_for("welcome")
    assert client.tables.items[table].names.alpha == f"{name.strip()} (guest)"
    lesson = client.post("/api/classes", json={}).json()
    client.post(f"/api/classes/{lesson['class']}/pupils", json={"name": name})
    seen = client.post(f"/api/classes/{lesson['class']}/overview", json={"secret": lesson["secret"]}).json()
    assert seen["pupils"] == [f"{name.strip()} (guest)"]
