"""What strangers, a full disk and damaged files did to others before: each of these attacks was successful once."""

import asyncio
import contextlib
import errno
import json
import os
import random
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("httpx2")

from starlette.testclient import TestClient

from geo_patrol.base.errors import GeoPatrolError
from geo_patrol.config.schema import GameConfig
from geo_patrol.replays import check, files, read_replay
from geo_patrol.web import classes, local, requests, store
from geo_patrol.web.app import Server
from geo_patrol.web.protocol import ProtocolError
from geo_patrol.web.tables import NewTable, TableStore
from tests.support.coroutines import run_coroutine

TABLE = {"preset": "king_of_the_hill", "seed": 4, "alpha": "link", "bravo": "link"}


@pytest.fixture
def serve_folder(tmp_path):
    """Return a function that starts a server on the folder, and ends the one before."""
    with contextlib.ExitStack() as stack:

        def start(**options):
            stack.close()
            server = Server(TableStore(tmp_path, **options))
            client = stack.enter_context(TestClient(server.app()))
            client.server, client.tables = server, server.tables
            client.sockets = stack.enter_context(contextlib.ExitStack())
            return client

        yield start


@pytest.fixture
def client(serve_folder):
    return serve_folder()


def of_address(client, address):
    """Return a client with another address, of the same server."""
    other = TestClient(client.app, client=(address, 50_000))
    other.portal = client.portal
    return other


def open_table(client, **setup):
    answer = client.post("/api/tables", json=TABLE | setup)
    assert answer.status_code == 201, answer.text
    return answer.json()["table"], answer.json()["secrets"]


def join(client, table, secret=None, **hello):
    connection = client.sockets.enter_context(client.websocket_connect(f"/ws/{table}"))
    connection.send_text(json.dumps({"type": "hello", "version": 1, "table": table, "secret": secret} | hello))
    return connection


def next_of(connection, *kinds):
    while (message := json.loads(connection.receive_text()))["type"] not in kinds:
        pass
    return message


def order(connection, turn, orders=()):
    phase = {key: turn[key] for key in ("game", "turn", "phase")}
    connection.send_text(json.dumps({"type": "orders", **phase, "orders": list(orders)}))


def play_phase_of(table):
    table.close_phase()
    table.play()
    table.finish_phase()


# A server that is filled


def fill(client):
    """Open four classes of sixty names each, who all play an agent."""
    for number in range(4):
        stranger = of_address(client, f"203.0.113.{number}")
        name = stranger.post("/api/classes", json={"pairs": False}).json()["class"]
        for i in range(60):
            stranger.post(f"/api/classes/{name}/pupils", json={"name": f"name {i}"})


@pytest.mark.slow
def test_names_that_nobody_plays_keep_nobody_out(serve_folder, monkeypatch):
    monkeypatch.setattr(requests, "RATES", dict.fromkeys(requests.RATES, (1e6, 10**6)))
    client = serve_folder(max_tables=20)
    fill(client)
    assert len(client.tables.items) <= 20
    open_table(client)
    open_table(serve_folder(max_tables=20))


def test_an_address_has_at_most_half_of_the_games(serve_folder):
    client = serve_folder(max_tables=4)
    for _ in range(2):
        table, _ = client.tables.open_table(NewTable(**TABLE), opener="203.0.113.1")
        next_of(join(client, table.id), "welcome")
    with pytest.raises(ProtocolError, match="2 games that were opened from your address"):
        client.tables.open_table(NewTable(**TABLE), opener="203.0.113.1")
    client.tables.open_table(NewTable(**TABLE), opener="203.0.113.2")


def test_a_game_that_somebody_watches_stays_when_others_are_opened(serve_folder):
    client = serve_folder(max_tables=4)
    watched, _ = client.tables.open_table(NewTable(**TABLE))
    next_of(join(client, watched.id), "welcome")
    for number in range(8):
        client.tables.open_table(NewTable(**TABLE), opener=f"203.0.113.{number}")
    assert watched.id in client.tables.items
    assert len(client.tables.items) == 4


def open_class(store_of_classes, **setup):
    opened, secret = store_of_classes.make_class(classes.NewClass(**setup))
    store_of_classes.add(opened)
    return opened, secret


def test_a_schools_hundredth_class_is_opened_and_the_first_one_still_works(client):
    opened = [open_class(client.server._classes.classes) for _ in range(100)]
    assert len(client.server._classes.classes.items) == classes.MAX_CLASSES
    first, secret = opened[0]
    seen = client.post(f"/api/classes/{first.id}/overview", json={"secret": secret}).json()
    assert (seen["code"], seen["pupils"]) == (first.id, [])


def test_old_classes_expire_with_the_names_of_their_pupils(client, tmp_path):
    store_of_classes = client.server._classes.classes
    old, _ = open_class(store_of_classes, pairs=False)
    new, _ = open_class(store_of_classes)
    old.add_pupil("Ada")
    old.write()
    table = old.saved.games[0].table
    del store_of_classes.items[old.id]
    os.utime(tmp_path / "classes" / f"{old.id}.json", (1_000, 1_000))
    store_of_classes.expire(180)
    assert [path.stem for path in (tmp_path / "classes").glob("*.json")] == [new.id]
    assert not list(tmp_path.glob(f"{table}*"))


def test_an_abandoned_game_is_in_progress_for_five_minutes_only(client):
    table, secrets = open_table(client, clock=600)
    seats = [join(client, table, secret) for secret in secrets.values()]
    for seat in seats:
        order(seat, next_of(seat, "your_turn"))
    for seat in seats:
        while next_of(seat, "your_turn")["turn"] == 1:
            pass  # in the engagement of the first turn nobody has a choice: it plays itself
        seat.close()
    game = client.tables.items[table]
    while game.is_attended:
        time.sleep(0.01)
    assert game.wait_seconds(time.monotonic()) is None, "its clock stands still"
    game.last_used -= 301
    client.portal.call(client.server.unload)
    assert client.get("/api/tables").json() == {"tables": []}
    assert client.get(f"/api/tables/{table}").json()["turn"] == 2, "who comes again finds it"


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


def in_event_loop(test):
    """Run a coroutine in an event loop."""
    return run_coroutine(asyncio.wait_for(test(), 20))


def test_clients_take_turns_at_a_thread():
    async def test():
        threads, done, start = requests.FairThreads("test"), [], threading.Event()
        first = asyncio.create_task(threads.run("many", start.wait))
        await asyncio.sleep(0)
        jobs = [("many", i) for i in range(5)] + [("few", i) for i in range(2)]
        tasks = [
            asyncio.create_task(threads.run(client, lambda job=(client, i): done.append(job))) for client, i in jobs
        ]
        await asyncio.sleep(0)
        start.set()
        await asyncio.gather(first, *tasks)
        threads.close()
        return [client for client, _ in done]

    assert in_event_loop(test) == ["many", "few", "many", "few", "many", "many", "many"]


def test_a_client_never_has_more_than_half_of_the_threads():
    async def test():
        threads, release, running = requests.FairThreads("test", 4), threading.Event(), []
        block = lambda: running.append(0) or release.wait(10)  # noqa: E731
        tasks = [asyncio.create_task(threads.run("many", block)) for _ in range(6)]
        await asyncio.sleep(0.1)
        num_running = len(running)
        await threads.run("other", lambda: None)
        release.set()
        await asyncio.gather(*tasks)
        threads.close()
        return num_running

    assert in_event_loop(test) == 2


def test_who_asks_for_too_much_is_refused_and_others_are_not():
    async def test():
        threads, release = requests.FairThreads("test", max_waiting=2), threading.Event()
        tasks = [asyncio.create_task(threads.run("many", release.wait)) for _ in range(4)]
        await asyncio.sleep(0)
        other = asyncio.create_task(threads.run("other", lambda: "done"))
        release.set()
        answers = await asyncio.gather(*tasks, other, return_exceptions=True)
        threads.close()
        return [one if isinstance(one, (str, bool)) else one.code for one in answers]

    assert in_event_loop(test) == [True, True, True, "too_many", "done"]


def test_a_job_that_fails_raises_and_the_next_one_is_done():
    async def test():
        threads = requests.FairThreads("test")
        with pytest.raises(ZeroDivisionError):
            await threads.run("one", lambda: 1 / 0)
        answer = await threads.run("one", lambda: 1)
        threads.close()
        return answer

    assert in_event_loop(test) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux knows priorities of threads")
def test_threads_for_what_takes_long_come_last():
    async def test():
        threads = requests.FairThreads("test", low_priority=True)
        nice = await threads.run("one", lambda: os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
        threads.close()
        return nice

    usual = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    assert in_event_loop(test) == min(usual + 10, 19)
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == usual


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


def test_a_client_that_floods_the_lesson_starves_nobody_else(serve_folder, monkeypatch):
    monkeypatch.setitem(requests.RATES, "views", (0.1, 5))
    client = serve_folder()
    stranger = of_address(client, "203.0.113.1")
    assert [stranger.get("/api/lesson/1").status_code for _ in range(6)] == [200] * 5 + [429]
    assert client.get("/api/lesson/1").status_code == 200


def test_wrong_secrets_do_not_use_up_what_a_pupil_may_ask_for(client):
    name = client.post("/api/classes", json={}).json()["class"]
    secret = client.post(f"/api/classes/{name}/pupils", json={"name": "Ada"}).json()["secret"]
    answers = [client.post(f"/api/classes/{name}/place", json={"secret": "x"}).status_code for _ in range(150)]
    assert 429 in answers
    assert client.post(f"/api/classes/{name}/place", json={"secret": secret}).status_code == 200, (
        "from the same address"
    )


def test_a_flood_of_hints_without_the_secret_keeps_no_player_from_them(client):
    table, secrets = open_table(client)
    ask = lambda secret: client.post(f"/api/tables/{table}/danger", json={"secret": secret}).status_code  # noqa: E731
    assert 429 in [ask("wrong") for _ in range(150)]
    assert ask(secrets["alpha"]) == 200


def test_connections_have_no_delay():
    uvicorn = pytest.importorskip("uvicorn")
    with local.bind(uvicorn.Config(None, port=0)) as listening:
        listening.listen()
        with socket.create_connection(listening.getsockname()), contextlib.closing(listening.accept()[0]) as accepted:
            assert accepted.proto == socket.IPPROTO_TCP, "asyncio looks at this before it sets TCP_NODELAY"


# Files


def test_a_second_server_on_the_same_folder_is_refused(client, tmp_path):
    with pytest.raises(GeoPatrolError, match="is in use by another server"):
        TableStore(tmp_path)


@pytest.mark.slow
def test_the_command_refuses_a_folder_in_use(client, tmp_path):
    command = [sys.executable, "-m", "geo_patrol", "serve", "--port", "0", "--data", str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert result.returncode in (1, 2)
    assert "in use by another server" in result.stderr
    assert "Traceback" not in result.stderr


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


@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        (replace, "this is the replay of another game"),
        (lambda path, _: path.unlink(), "the replay is missing; 6 phases had been played"),
        (lambda path, _: path.write_bytes(b"nothing"), "line 1"),
    ],
)
def test_a_damaged_replay_is_reported_and_the_table_kept_as_it_is(serve_folder, tmp_path, caplog, damage, fault):
    client = serve_folder()
    table = played(client.tables)
    other, _ = client.tables.open_table(NewTable(**TABLE | {"seed": 5}))
    play_phase_of(other)
    client.tables.close()
    damage(table.replay_path, other)
    before = {path.name: path.read_bytes() for path in tmp_path.glob(f"{table.id}*")}
    client = serve_folder()
    (found,) = client.server.damaged
    assert fault in found
    assert str(table.replay_path) in found
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
@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@pytest.mark.parametrize("state", ["the first phase is being written", "the end is not noted"])
def test_reading_a_table_changes_no_file(client, tmp_path, read, state):
    name, secrets = open_table(client)
    table = client.tables.items[name]
    if state == "the end is not noted":
        while not table.is_over:
            play_phase_of(table)
        table.saved.is_over = False
        table.save()
    else:
        table.replay_path.write_bytes(b"\x1f\x8b\x08")
    client.portal.call(client.tables.unload, table)
    before = snapshot(tmp_path)
    assert read(client, name, secrets["alpha"]).status_code < 500
    assert snapshot(tmp_path) == before


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


def test_a_server_that_is_killed_in_the_first_phase_begins_the_game_again(serve_folder, tmp_path):
    client = serve_folder()
    table, _ = client.tables.open_table(NewTable(**TABLE))
    client.tables.close()
    table.replay_path.write_bytes(b"\x1f\x8b\x08")  # the beginning of a file
    client = serve_folder()
    assert client.server.damaged == []
    assert client.get(f"/api/tables/{table.id}").json()["turn"] == 1


def test_what_a_kill_leaves_of_a_phase_is_no_damage(serve_folder):
    client = serve_folder()
    table = played(client.tables)
    content = table.replay_path.read_bytes()  # without the end of the packed file
    client.tables.close()
    table.replay_path.write_bytes(content + b"\x01\x02")
    client = serve_folder()
    assert client.server.damaged == []
    again = client.tables.items[table.id]
    assert again.num_events == 6
    play_phase_of(again)
    assert check(read_replay(again.replay_path)) is None


def test_orders_are_refused_while_the_disk_is_full_and_the_game_goes_on_when_there_is_room(client, monkeypatch):
    monkeypatch.setattr("geo_patrol.web.table_server.RETRY_SECONDS", 0.2)
    name, secrets = open_table(client)
    seats = [join(client, name, secret) for secret in secrets.values()]
    for seat in seats:
        order(seat, next_of(seat, "your_turn"))
    turns = [next_of(seat, "your_turn") for seat in seats]
    turns = [
        turn if turn["submitted"] is None else next_of(seat, "your_turn")
        for seat, turn in zip(seats, turns, strict=True)
    ]
    write, is_full = files.LineStream.sync, True

    def sync(stream):
        if is_full:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(stream)

    monkeypatch.setattr(files.LineStream, "sync", sync)
    for seat, turn in zip(seats, turns, strict=True):
        order(seat, turn, [next(iter(turn["options"].values()))[0]["order"]])
    refused = [next_of(seat, "error") for seat in seats]
    assert [(one["code"], one["retry_after"]) for one in refused] == [("not_saved", 0.2)] * 2
    for seat, turn in zip(seats, turns, strict=True):
        order(seat, turn)
        assert next_of(seat, "error")["code"] == "not_saved"
    is_full = False
    time.sleep(0.25)
    for seat, turn in zip(seats, turns, strict=True):
        order(seat, turn)
    events = [next_of(seat, "event") for seat in seats]
    assert {event["event"]["turn"] for event in events} == {turns[0]["turn"]}
    client.tables.items[name].close()
    assert check(read_replay(client.tables.items[name].replay_path)) is None


def test_what_cannot_be_saved_has_not_happened(client, monkeypatch):
    table, _ = open_table(client, alpha="open")
    atomic_write = store.atomic_write

    def write(path):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(store, "atomic_write", write)
    answer = client.post(f"/api/tables/{table}/seats/alpha")
    assert (answer.status_code, answer.json()["code"], answer.headers["retry-after"]) == (507, "not_saved", "5")
    assert client.post("/api/tables", json=TABLE).status_code == 507
    monkeypatch.setattr(store, "atomic_write", atomic_write)
    assert client.post(f"/api/tables/{table}/seats/alpha").status_code == 201
    assert len(client.tables.items) == 1


@pytest.mark.slow
def test_a_resignation_that_cannot_be_saved_has_not_happened(client, monkeypatch):
    """Otherwise the table would send its end, with the seed of a game that goes on."""
    name, secrets = open_table(client)
    table, player = client.tables.items[name], join(client, name, secrets["alpha"])
    next_of(player, "your_turn")
    events, resign = table.num_events, json.dumps({"type": "resign"})

    def write(path):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(store, "atomic_write", write)
        player.send_text(resign)
        assert next_of(player, "error")["code"] == "not_saved"
    assert (table.is_over, table.num_events, table.saved.settled) == (False, events, None)
    player.send_text(resign)
    assert next_of(player, "event")["event"]["winner"] == "bravo"


posix_modes = pytest.mark.skipif(sys.platform == "win32", reason="files there have no such modes")


@posix_modes
def test_only_the_servers_account_reads_its_files(client, tmp_path):
    table = played(client.tables)
    client.post("/api/classes", json={})
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}
    assert modes["classes"] == 0o700
    assert {mode for name, mode in modes.items() if Path(name).suffix} == {0o600}
    assert modes[f"{table.id}.jsonl.gz"] == 0o600


@posix_modes
def test_files_that_others_could_read_are_closed_to_them(serve_folder, tmp_path):
    table = played(serve_folder().tables)
    for path in tmp_path.glob(f"{table.id}*"):
        path.chmod(0o644)
    serve_folder()
    assert {path.stat().st_mode & 0o777 for path in tmp_path.glob(f"{table.id}*")} == {0o600}


def test_a_fault_in_a_file_of_a_table_is_named(serve_folder, tmp_path):
    client = serve_folder()
    table, _ = client.tables.open_table(NewTable(**TABLE))
    saved = json.loads(table.path.read_text())
    table.path.write_text(json.dumps(saved | {"clock": "soon"}))
    (fault,) = serve_folder().server.damaged
    assert fault == f"{table.path}: clock must be a number, got 'soon'"


# Names


@pytest.mark.parametrize("name", ["turtle", " Turtle ", "SEARCH:2s", "policy:base", "\uff54urtle", "Sputnik"])
def test_a_person_who_is_called_like_an_agent_is_marked(client, name):
    table, secrets = open_table(client)
    next_of(join(client, table, secrets["alpha"], name=name), "welcome")
    assert client.tables.items[table].names.alpha == f"{name.strip()} (guest)"
    lesson = client.post("/api/classes", json={}).json()
    client.post(f"/api/classes/{lesson['class']}/pupils", json={"name": name})
    seen = client.post(f"/api/classes/{lesson['class']}/overview", json={"secret": lesson["secret"]}).json()
    assert seen["pupils"] == [f"{name.strip()} (guest)"]
