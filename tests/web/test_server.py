"""Games through the server, in one process: the same as without it, secret until both sides are in, resumed."""

import asyncio
import errno
import random
import re
from importlib.resources import files

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from geo_patrol import Game
from geo_patrol.base.sides import SIDES
from geo_patrol.game.notation import Order
from geo_patrol.play.advice import Hint
from geo_patrol.replays import check, read_replay
from geo_patrol.web import hints, pages, protocol, records, store
from geo_patrol.web.app import Server
from geo_patrol.web.protocol import PAGE, Orders, ProtocolError
from geo_patrol.web.tables import NewTable, Table, TableStore
from tests.web.clients import Connection, events_of, open_table, play_phase_of, play_to_the_end

SEED = 11


def play_phase(seats, rng):
    """Let both order; return the event as each gets it, and the orders of each side."""
    chosen = {}
    for side, seat in seats.items():
        turn = seat.wait_for("your_turn")
        options = [] if turn["submitted"] is not None else turn["options"].values()
        chosen[side] = [rng.choice(some)["order"] for some in options if rng.random() < 0.7]
        if turn["submitted"] is None:
            seat.order(turn, chosen[side])
            assert seat.wait_for("accepted")["orders"] == chosen[side]
    return {side: seat.wait_for("event") for side, seat in seats.items()}, chosen


def test_a_game_is_the_same_as_without_the_server_and_its_replay_passes_the_check(client):
    table, secrets = open_table(client, seed=SEED)
    seats = {side: Connection(client, table, secrets[side], name=f"bot {side}") for side in SIDES}
    game, rng = Game("king_of_the_hill", seed=SEED), random.Random(5)
    while not game.is_over:
        events, chosen = play_phase(seats, rng)
        assert events["alpha"] == events["bravo"]
        game.step(**chosen)
    ends = [seat.wait_for("event")["event"] for seat in seats.values()]
    assert ends[0] == ends[1]
    assert (ends[0]["seed"], ends[0]["winner"], ends[0]["score"]) == (SEED, game.winner, game.scores)
    assert client.get(f"/replays/{table}.jsonl.gz").status_code == 200
    replay = read_replay(client.tables.find(table).replay_path)
    assert check(replay) is None
    assert (replay.is_finished, replay.agents) == (True, ("bot alpha", "bot bravo"))
    assert "<script" in client.get(f"/replays/{table}.html").text


def test_without_the_secret_no_order_is_taken(client):
    table, secrets = open_table(client)
    _, others = open_table(client)
    for secret in (secrets["alpha"][::-1], secrets["alpha"][:-1], others["alpha"]):
        assert Connection(client, table, secret).wait_for("error")["code"] == "wrong_secret"
    watcher = Connection(client, table)
    watcher.wait_for("welcome")
    watcher.send("orders", game=table, turn=1, phase="movement", orders=[])
    assert watcher.wait_for("error")["code"] == "wrong_secret"
    assert client.tables.find(table).submitted == {}


@pytest.mark.parametrize(
    "name", ["policy", "policy:base,greedy", "search:5ms,propose=policy:base", "raider:defenders=2"]
)
def test_agents_of_the_package_are_played(client, name):
    open_table(client, bravo=name)


def test_orders_sent_twice_count_once_and_others_are_refused(client):
    table, secrets = open_table(client)
    seats = {side: Connection(client, table, secrets[side]) for side in SIDES}
    alpha = seats["alpha"]
    turn = alpha.wait_for("your_turn")
    option = next(iter(turn["options"].values()))[0]["order"]
    message = {"kind": "orders", "game": table, "turn": 1, "phase": "movement", "orders": [option]}
    for text, fault in (("P1 shoot HVA", "not in the movement phase"), ("P1 fly", "is not an action")):
        alpha.send(**message | {"orders": [text]})
        error = alpha.wait_for("error")
        assert error["code"] == "bad_order"
        assert fault in error["text"]
    for _ in range(2):
        alpha.send(**message)
        assert alpha.wait_for("accepted")["orders"] == [option]
    statuses = [one["submitted"] for one in seats["bravo"].drain() if one["type"] == "status"]
    assert statuses.count(["alpha"]) == 1, "those that come again are no news for others"
    alpha.send(**message | {"orders": []})
    assert alpha.wait_for("error")["code"] == "too_late"
    alpha.send(**message | {"turn": 3})
    assert alpha.wait_for("error")["code"] == "too_soon"
    seats["bravo"].send(**message | {"orders": []})
    assert alpha.wait_for("event")["event"]["orders"]["alpha"] == [option]
    alpha.send(**message)
    assert alpha.wait_for("accepted")["turn"] == 1
    phases = [(event.turn, event.phase) for event in events_of(client.tables.find(table))]
    assert phases.count((1, "movement")) == 1


def test_a_lost_connection_resumes_after_its_last_event(client):
    table, secrets = open_table(client)
    seats = {side: Connection(client, table, secrets[side]) for side in SIDES}
    rng = random.Random(1)
    for _ in range(5):
        play_phase(seats, rng)
    seats["alpha"].close()
    again = Connection(client, table, secrets["alpha"], last_event=3)
    welcome = again.wait_for("welcome")
    assert [event["number"] for event in welcome["events"]] == [4, 5]
    assert welcome["first_event"] == 4
    scene = Connection(client, table, scene=True, last_event=99).wait_for("welcome")
    assert [event["number"] for event in scene["events"]] == [1, 2, 3, 4, 5]
    num_shapes = len(scene["scene"]["shapes"]) + sum(len(event["scene"]["shapes"]) for event in scene["events"])
    shapes = [i for event in scene["events"] for listed in event["scene"]["moment"]["frames"] for i in listed]
    assert max(shapes) < num_shapes
    assert play_phase(seats | {"alpha": again}, rng)[0]["alpha"]["number"] == 6


def test_a_seat_that_is_left_gets_another_secret(client):
    table, secrets = open_table(client)
    alpha = Connection(client, table, secrets["alpha"])
    alpha.wait_for("welcome")
    assert client.post(f"/api/tables/{table}/seats/alpha").status_code == 409
    alpha.send("leave")
    assert alpha.wait_for("left")
    assert Connection(client, table, secrets["alpha"]).wait_for("error")["code"] == "wrong_secret"
    fresh = client.post(f"/api/tables/{table}/seats/alpha").json()["secret"]
    assert fresh != secrets["alpha"]
    assert Connection(client, table, fresh).wait_for("welcome")["you"] == "alpha"
    assert fresh not in (client.tables.find(table).replay_path.with_name(f"{table}.json")).read_text()


@pytest.mark.slow
def test_when_the_time_is_up_a_side_forfeits(client):
    table, secrets = open_table(client, clock=1.0, on_timeout="forfeit")
    alpha, bravo = (Connection(client, table, secrets[side]) for side in SIDES)
    turn = bravo.wait_for("your_turn")
    assert 0 < turn["seconds_left"] <= 1
    bravo.order(turn)
    assert alpha.wait_for("event")["event"]["orders"]["alpha"] == []
    end = alpha.wait_for("event")["event"]
    assert (end["winner"], end["reasons"]) == ("bravo", [{"reason": "forfeit", "side": "alpha"}])
    assert check(read_replay(client.tables.find(table).replay_path)) is None


@pytest.mark.parametrize("on_timeout", ["hold", "forfeit"])
def test_orders_that_come_while_a_phase_is_played_are_too_late(client, on_timeout):
    name, _ = open_table(client, bravo="random", clock=9.0, on_timeout=on_timeout)
    table = client.tables.find(name)
    table.close_phase()
    orders = Orders(game=name, turn=1, phase="movement", orders=["P1 prograde"])
    with pytest.raises(ProtocolError, match="other orders for this phase are in already"):
        table.submit("alpha", orders)
    table.play()
    assert table.live.game.is_over == (on_timeout == "forfeit")


def test_a_short_address_leads_to_a_table(client):
    response = client.get("/table/b4c0ffee1234", follow_redirects=False)
    assert response.headers["location"] == "/static/table.html#table=b4c0ffee1234"
    assert (
        client.get("/table/a%23secret=b", follow_redirects=False).headers["location"].endswith("#table=a%23secret%3Db")
    )


@pytest.mark.slow
def test_agents_play_each_other(client):
    table, _ = open_table(client, alpha="scripted", bravo="random")
    assert Connection(client, table).wait_for("event")["number"] == 1


@pytest.mark.parametrize(
    ("setup", "fault"),
    [
        (
            {"preset": "/etc/passwd"},
            "must be one of case1, case2, case3, ",
        ),
        ({"scenario": 'extends = "/etc/passwd"'}, "name of a preset"),
        ({"scenario": "= 3"}, "scenario"),
        ({"scenario": "turn_limit = -3"}, "turn_limit"),
        ({"alpha": "os:system"}, "does not run user-defined agents"),
        ({"alpha": "search:60s"}, "at most"),
        ({"alpha": "policy:/no/such/file,greedy"}, "this server plays"),
        ({"alpha": "search:propose=policy:/etc/passwd"}, "this server plays"),
        ({"alpha": "search:10ms,enemy=policy:mine.safetensors,greedy"}, "this server plays"),
        ({"clock": 0}, "clock"),
        ({"other": 1}, "other"),
    ],
)
def test_bad_setups_are_refused_in_a_line(client, setup, fault):
    response = client.post("/api/tables", json=setup)
    assert response.status_code == 400
    assert fault in response.json()["text"]
    assert client.tables.items == {}


def test_requests_of_other_sites_are_refused(client):
    for origin in ("http://evil.example", "http://testserver.evil.example", "null", "http://[x", "testserver", ""):
        assert client.post("/api/tables", json={}, headers={"origin": origin}).status_code == 403
        with pytest.raises(WebSocketDisconnect), client.websocket_connect("/ws/x", headers={"origin": origin}):
            pass
    for origin in ("http://testserver", "https://testserver"):
        assert client.post("/api/tables", json={"preset": "-"}, headers={"origin": origin}).status_code == 400
    assert client.get("/api/tables", headers={"host": "evil.example"}).status_code == 400
    policy = client.get("/api/tables").headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy


@pytest.mark.parametrize("page", sorted(path.name for path in (files("geo_patrol.web") / "static").glob("*.html")))
def test_no_page_uses_scripts_of_an_older_version(client, page):
    text = client.get(f"/static/{page}")
    assert text.headers["cache-control"] == "no-cache"
    again = client.get(f"/static/{page}", headers={"if-none-match": text.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    used = re.findall(r'(?:src|href)="([^"]+\.(?:js|css))"', text.text)
    assert used or page == "replay.html", "whose script is inline"
    for name in used:
        assert re.fullmatch(r"[0-9a-f]{16}/[a-z_]+\.(js|css)", name)
        file = client.get(f"/static/{name}")
        assert (file.status_code, "immutable" in file.headers["cache-control"]) == (200, True)
        assert file.content == client.get(f"/static/{name.partition('/')[2]}").content
        assert client.get(f"/static/{'0' * 16}/{name.partition('/')[2]}").status_code == 404


def test_another_version_of_a_script_has_another_address(client, monkeypatch):
    before = client.get("/static/table.html").text
    monkeypatch.setattr(pages, "map_css", lambda: "/* new */")
    pages._contents.cache_clear()
    after = client.get("/static/table.html").text
    pages._contents.cache_clear()
    assert len({*re.findall(r"[0-9a-f]{16}/table.js", before), *re.findall(r"[0-9a-f]{16}/table.js", after)}) == 2


@pytest.mark.parametrize(
    "path", ["/api/tables", "/api/ready", "/static/board.json", "/static/table.js", "/static/none.js"]
)
def test_what_may_change_is_asked_for_each_time(client, path):
    assert client.get(path).headers["cache-control"] == "no-cache"


@pytest.mark.parametrize(
    ("hosts", "asked", "is_served"),
    [
        (("::1", "localhost"), "[::1]:8000", True),
        (("::1",), "[::2]:8000", False),
        (("play.example.org",), "PLAY.example.org.:443", True),
        (("play.example.org",), "evil.example", False),
        (("play.example.org",), "play.example.org.evil.example", False),
        (("play.example.org",), "[play.example.org", False),
        (("play.example.org",), "evil@play.example.org", False),
        (("*.example.org",), "a.b.example.org:8000", True),
        (("*.example.org",), "example.org", False),
        (("*.example.org",), "evilexample.org", False),
        (("*",), "anything", True),
    ],
)
def test_the_names_of_the_server(tmp_path, hosts, asked, is_served):
    with TestClient(Server(TableStore(tmp_path), hosts).app()) as client:
        answer = client.get("/api/tables", headers={"host": asked})
        assert answer.status_code == (200 if is_served else 400)
        assert is_served or "--name" in answer.text
        if not is_served:
            with pytest.raises(WebSocketDisconnect), client.websocket_connect("/ws/x", headers={"host": asked}):
                pass


def test_files_of_games_in_progress_are_refused(client):
    seed = 7_483_920_174_839
    table, _ = open_table(client, seed=seed)
    assert client.get(f"/replays/{table}.jsonl.gz").status_code == 404
    assert str(seed) not in client.get("/api/tables").text


def test_a_disk_that_is_full_at_the_end_keeps_nobody_from_the_end(client, monkeypatch):
    table, _ = client.tables.open_table(NewTable(preset="king_of_the_hill", alpha="link", bravo="link"))

    def write(path):
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(store, "atomic_write", write)
    play_to_the_end(table)
    assert events_of(table)[-1].kind == "end"


def test_a_game_goes_on_that_was_about_to_leave_memory(client, tmp_path):
    table, _ = client.tables.open_table(NewTable(preset="king_of_the_hill", alpha="link", bravo="link"))
    for _ in range(3):
        play_phase_of(table)
        table.put_away()
    table.put_away()
    table.resign("alpha")
    replay = read_replay(tmp_path / f"{table.id}.jsonl.gz")
    assert (len(replay.phases), replay.fault, replay.end.reasons) == (3, None, ["resigned (alpha)"])
    assert check(replay) is None


def test_browsers_get_a_phase_when_it_is_complete(client, monkeypatch):
    table, _ = client.tables.open_table(NewTable(preset="king_of_the_hill", alpha="link", bravo="link"))
    table.close_phase()
    table.play()  # in a thread: another one that draws must not touch the phase
    numbers = []
    monkeypatch.setattr(table.scenes["wide"], "moment", numbers.append)
    table.draw_page(0, "wide")
    assert numbers == [0]
    table.finish_phase()
    table.draw_page(0, "wide")
    assert numbers == [0, *range(len(table.live.timeline))]


@pytest.mark.parametrize("scene", [False, True])
def test_the_past_comes_in_pages_in_order(client, monkeypatch, scene):
    monkeypatch.setattr(protocol, "PAGE", 8)
    name, secrets = open_table(client, preset="geo_patrol")
    for _ in range(20):
        play_phase_of(client.tables.find(name))
    seat = Connection(client, name, secrets["alpha"], scene=scene)
    seat.wait_for("your_turn")
    assert [one["type"] for one in seat.messages] == ["welcome", "history", "history", "status", "your_turn"]
    welcome = seat.messages[0]
    assert (len(welcome["events"]), welcome["first_event"], welcome["last_event"]) == (8, 1, 20)
    numbers = [event["number"] for page in seat.messages[:3] for event in page["events"]]
    assert numbers == list(range(1, 21))


def test_a_full_page_is_smaller_than_what_libraries_accept_by_default(client):
    table, _ = client.tables.open_table(NewTable(alpha="link", bravo="link"))
    for _ in range(PAGE):
        play_phase_of(table)
    assert len(table.welcome(None, 0, "wide").model_dump_json()) < 1 << 20


@pytest.fixture
def drawn(monkeypatch):
    """Whether each moment and each choice was drawn in the event loop."""
    drawn = []

    def note(draw):
        def run(*arguments):
            try:
                asyncio.get_running_loop()
            except RuntimeError:
                drawn.append(False)
            else:
                drawn.append(True)
            return draw(*arguments)

        return run

    for module, name in ((records, "moment_record"), (records, "choices_record"), (hints, "hint_record")):
        monkeypatch.setattr(module, name, note(getattr(module, name)))
    return drawn


def play_without_orders(seat, table, turn):
    seat.order(turn)
    seat.wait_for("event")
    return seat.wait_for("your_turn")


@pytest.mark.parametrize("preset", ["king_of_the_hill", "geo_patrol_hidden"])
def test_phases_and_choices_are_drawn_in_threads(client, monkeypatch, drawn, preset):
    monkeypatch.setattr(hints, "find_hint", lambda _game, _side: Hint((Order.parse("P1 prograde"),), 0.5, 10))
    table, secrets = open_table(client, preset=preset, bravo="idle")
    alpha = Connection(client, table, secrets["alpha"], scene=True, screen="wide")
    turn = alpha.wait_for("your_turn")
    watching = [] if preset == "geo_patrol_hidden" else [Connection(client, table, scene=True, screen="narrow")]
    for one in watching:
        one.wait_for("status")
    assert client.post(f"/api/tables/{table}/hint", json={"secret": secrets["alpha"]}).json()["games"] == 10
    for _ in range(2):
        turn = play_without_orders(alpha, table, turn)
    again = Connection(client, table, secrets["alpha"], scene=True, screen="narrow", last_event=1)
    assert again.wait_for("your_turn")["scene"]["satellites"]
    assert [event["number"] for event in again.messages[0]["events"]] == [2]
    assert len(drawn) >= 8
    assert not any(drawn)


def test_a_phase_that_the_threads_had_no_room_for_is_drawn_in_them_when_it_is_sent(client, drawn, monkeypatch):
    table, secrets = open_table(client, bravo="idle")
    alpha = Connection(client, table, secrets["alpha"], scene=True)
    watching = Connection(client, table, scene=True, screen="narrow")
    turn = alpha.wait_for("your_turn")
    watching.wait_for("status")

    def have_no_room(*_arguments):
        raise ProtocolError("too_many", "too many ask at once")

    monkeypatch.setattr(Table, "draw_last", have_no_room)
    before = len(drawn)
    for _ in range(2):
        turn = play_without_orders(alpha, table, turn)
    numbers = [one["number"] for one in alpha.messages if one["type"] == "event"]
    assert [watching.wait_for("event")["number"] for _ in numbers] == numbers == list(range(1, len(numbers) + 1))
    assert len(drawn) - before >= 2 * len(numbers) + 2
    assert not any(drawn)


@pytest.mark.parametrize(("orders", "is_restarted"), [(["P1 prograde"], False), (["P1 prograde"], True), ([], True)])
def test_accepted_orders_and_offers_stand_when_a_table_leaves_memory(tmp_path, orders, is_restarted):
    store = TableStore(tmp_path)
    table, _ = store.open_table(NewTable(preset="king_of_the_hill", alpha="link", bravo="link"))
    phase = {"game": table.id, "turn": 1, "phase": "movement"}
    table.submit("alpha", Orders(**phase, orders=orders))
    table.offer_draw("bravo", is_offered=True)
    submitted = dict(table.submitted)
    store.unload(table)
    if is_restarted:
        store.close()
        store = TableStore(tmp_path)
    back = store.find(table.id)
    assert back is not table
    assert (back.submitted, back.draw_offered) == (submitted, {"bravo"})
    back.submit("alpha", Orders(**phase, orders=orders))
    with pytest.raises(ProtocolError, match="they stand"):
        back.submit("alpha", Orders(**phase, orders=["P2 prograde"]))
    back.submit("bravo", Orders(**phase, orders=[]))
    back.play()
    back.finish_phase()
    assert (back.num_events, back.draw_offered) == (1, set())
    assert [str(order) for order in back.live.timeline.phases[0].orders[0]] == orders
    assert not any(back.submitted.values())
    store.close()
