"""Tables of games that hide enemies: a seat gets what its side knows, and others get the game when it is over."""

import json
import threading
import time

import numpy as np
import pytest

from geo_patrol.game.notation import Order
from geo_patrol.play.text_game import prompt_text
from tests.support.positions import elsewhere

pytest.importorskip("starlette")
pytest.importorskip("httpx2")

from starlette.testclient import TestClient

from geo_patrol.agents import make_agent
from geo_patrol.play.advice import hva_threat
from geo_patrol.web import protocol
from geo_patrol.web.app import Server
from geo_patrol.web.client import AgentPlayer
from geo_patrol.web.table_server import TableServer
from geo_patrol.web.tables import NewTable, TableStore

CONFIG = "geo_patrol_hidden"
SEED = 91_827


def test_games_that_hide_enemies_begin_when_they_are_compiled_and_others_do_not_wait(tmp_path):
    compiled = threading.Event()
    tables = TableStore(tmp_path)
    hidden, usual = {"preset": CONFIG, "bravo": "idle"}, {"bravo": "idle"}
    with TestClient(Server(tables, later=[compiled.wait]).app()) as client:
        for path, asked in (("tables", hidden), ("classes", {"preset": CONFIG})):
            refused = client.post(f"/api/{path}", json=asked)
            assert refused.status_code == 429
            assert "still being prepared" in refused.json()["text"]
            assert refused.headers["retry-after"] == "5"
        assert client.post("/api/tables", json=usual).status_code == 201
        compiled.set()
        while not tables.can_hide_enemies:
            time.sleep(0.01)
        assert client.post("/api/tables", json=hidden).status_code == 201


def test_games_that_hide_enemies_begin_even_if_they_could_not_be_compiled_ahead(tmp_path, caplog):
    tables = TableStore(tmp_path)
    with TestClient(Server(tables, later=[lambda: 1 / 0]).app()) as client:
        while not tables.can_hide_enemies:
            time.sleep(0.01)
        assert client.post("/api/tables", json={"preset": CONFIG, "bravo": "idle"}).status_code == 201
    assert "not compiled ahead" in caplog.text


class Seat:
    """The connection of a seat, which keeps what it gets without what tells tables apart."""

    def __init__(self, client, opened, side, **hello):
        self.table, self.secret = opened["table"], opened["secrets"][side]
        self.socket = client.connections.enter_context(client.websocket_connect(f"/ws/{self.table}"))
        self.texts = []
        self.send(type="hello", version=1, table=self.table, secret=self.secret, **hello)

    def send(self, **message):
        self.socket.send_text(json.dumps(message))

    def read(self, kind):
        while True:
            text = self.socket.receive_text().replace(self.table, "TABLE")
            message = json.loads(text)
            assert message["type"] != "error", message
            if message["type"] != "status":  # of which it depends on the time how many come
                self.texts.append(text)
            if message["type"] == kind:
                return message

    def order(self, game, orders):
        self.send(type="orders", game=self.table, turn=game["turn"], phase=game["phase"], orders=orders)
        self.read("accepted")


@pytest.mark.parametrize("hello", [{}, {"scene": True}, {"scene": True, "screen": "narrow"}, {"text": True}], ids=str)
def test_a_seat_gets_nothing_that_depends_on_enemies_out_of_sight(client, hello):
    """Two tables at which bravo moves in different ways, far from alpha, which gets the same messages and answers."""
    texts, answers, others = [], [], []
    for move in ("prograde", "radial_in"):
        opened = client.post(
            "/api/tables", json={"preset": CONFIG, "seed": SEED, "alpha": "link", "bravo": "link"}
        ).json()
        alpha, bravo = Seat(client, opened, "alpha", **hello), Seat(client, opened, "bravo")
        got = []
        for phase in range(4):
            turn, other = alpha.read("your_turn"), bravo.read("your_turn")
            path = f"/api/tables/{opened['table']}"
            got.append(client.post(f"{path}/danger", json={"secret": alpha.secret, "orders": []}).json())
            got.append(client.get(path).json() | {"table": ""})
            own = {"games": [{"table": opened["table"], "secret": alpha.secret}]}
            got.append({**client.post("/api/games", json=own).json()["games"][0], "changed": 0})
            alpha.order(turn, ["P1 prograde"] if phase == 0 else [])
            bravo.order(other, [f"P3 {move}", f"HVA {move}"] if phase == 0 else [])
            alpha.read("event")
            bravo.read("event")
        texts.append(alpha.texts)
        answers.append(got)
        others.append(bravo.texts)
    assert texts[0] == texts[1]
    assert answers[0] == answers[1]
    assert others[0] != others[1]
    assert all(answer["score"] is None for answer in answers[0][1::3])


@pytest.mark.slow
def test_nothing_that_a_seat_may_get_depends_on_where_enemies_out_of_sight_are(tmp_path):
    """All that is made for alpha, phase by phase, and once more with bravo's hidden satellites elsewhere."""
    table, _ = TableStore(tmp_path).make_table(NewTable(preset=CONFIG, seed=SEED, alpha="link", bravo="link"))
    agents, unseen = (make_agent("scripted"), make_agent("raider")), 0
    for _ in range(24):
        game, timeline = table.game, table.live.timeline
        moved = elsewhere(game, "alpha", seed=len(timeline))
        unseen += len(game.seen_by("alpha").out_of_sight)
        given = made_for(table, "alpha")
        for other in (moved, game):
            table.live._game, timeline._games[-1], table.submitted = other, other, {}
            table._begin_phase()
            assert made_for(table, "alpha") == given
        if game.is_over:
            break
        masks = game.as_games().action_masks()[0]
        for side, agent, mask in zip(("alpha", "bravo"), agents, masks, strict=True):
            codes = agent.act(game.observation(side, "tokens")[None], mask[None], np.random.default_rng(1))[0]
            table.submitted[side] = tuple(Order.from_code(i, code) for i, code in enumerate(codes.tolist()) if code)
        table.play()
        table.finish_phase()
    assert unseen > 50
    table.close()


def made_for(table, side):
    """Return what the server makes of a position for a seat: messages of all kinds, and answers to questions."""
    game, screens = table.game, (None, "wide", "narrow")
    if game.is_over:
        return []
    server = TableServer.__new__(TableServer)
    server.table, server.connections, server._now = table, [], lambda: 0.0
    seen = game.seen_by(side)
    messages = [
        server.status(),
        *(table.your_turn(side, 0.0, screen) for screen in screens),
        *(table.welcome(side, 0, screen) for screen in screens),
        *(table.event(number, screen, side) for number in range(1, table.num_events + 1) for screen in screens),
    ]
    return [
        *(message.model_dump_json() for message in messages),
        prompt_text(game, side, table.live.timeline.phases[-1:]),
        hva_threat(seen, side),
        [
            error_of(table, side, f"P{number} {action} {target}")
            for number in (1, 9)
            for action in ("shoot", "collide")
            for target in ("HVA", "P2", "P7")
        ],
        error_of(table, side, "P1 guard"),
    ]


def error_of(table, side, order):
    """Return what a seat is told of an order."""
    try:
        return table.read_orders(side, [order])
    except protocol.ProtocolError as error:
        return str(error)


def test_a_game_is_watched_when_it_is_over(client):
    opened = client.post("/api/tables", json={"preset": CONFIG, "seed": SEED, "alpha": "link", "bravo": "link"}).json()
    seat = Seat(client, opened, "alpha")
    with client.websocket_connect(f"/ws/{opened['table']}") as socket:
        socket.send_text(json.dumps({"type": "hello", "version": 1, "table": opened["table"]}))
        refusal = json.loads(socket.receive_text())
    assert (refusal["code"], refusal["text"]) == (
        "wrong_secret",
        "enemies are hidden in this game: watch it when it is over",
    )
    seat.send(type="resign")
    seat.read("event")
    with client.websocket_connect(f"/ws/{opened['table']}") as socket:
        socket.send_text(json.dumps({"type": "hello", "version": 1, "table": opened["table"]}))
        assert json.loads(socket.receive_text())["type"] == "welcome"
    assert client.get(f"/api/tables/{opened['table']}").json()["score"] == {"alpha": 200, "bravo": 200}


def test_a_bot_sees_what_its_side_knows(tmp_path):
    table, _ = TableStore(tmp_path).make_table(NewTable(preset=CONFIG, seed=SEED, alpha="link", bravo="link"))
    players = {side: AgentPlayer(make_agent(name), SEED) for side, name in (("alpha", "raider"), ("bravo", "turtle"))}
    for side, player in players.items():
        player.handle(table.welcome(side, 0))
    unseen = 0
    while not table.is_over:
        game = table.game
        for side, player in players.items():
            if not any(len(orders) > 1 for orders in game.legal_orders(side).values()):
                table.submitted[side] = ()
                continue
            (orders,) = player.handle(table.your_turn(side, 0.0))
            seen = player._game(player._welcome, player._position)
            assert (seen.observation(side, "tokens") == game.observation(side, "tokens")).all()
            unseen += len(game.seen_by(side).out_of_sight)
            table.submit(side, orders)
        table.play()
        table.finish_phase()
        for side, player in players.items():
            player.handle(table.event(len(table.live.timeline.phases), side=side))
    assert unseen > 20
    assert [player.num_illegal for player in players.values()] == [0, 0]


def test_a_table_that_is_restored_knows_what_its_sides_know(tmp_path):
    store = TableStore(tmp_path)
    table, _ = store.open_table(NewTable(preset=CONFIG, seed=SEED, alpha="link", bravo="raider"))
    for _ in range(6):
        table.submitted["alpha"] = ()
        table.play()
        table.finish_phase()
    before = [table.event(number, screen, "alpha") for screen in (None, "wide") for number in range(1, 7)]
    store.unload(table)
    restored = store.load(table.id)
    assert [restored.event(number, screen, "alpha") for screen in (None, "wide") for number in range(1, 7)] == before
    assert restored.event(6).event.unseen != restored.event(6, side="alpha").event.unseen
    restored.close()


def test_positions_say_for_how_long_enemies_are_unseen(tmp_path):
    table, _ = TableStore(tmp_path).make_table(NewTable(preset=CONFIG, seed=SEED, alpha="link", bravo="idle"))
    table.submitted["alpha"] = ()
    table.play()
    table.finish_phase()
    assert table.event(1, side="alpha").event.unseen == [[0] * 11, [1] * 11]
    assert np.array_equal(table.game.unseen("bravo"), [1] * 11)
    table.close()
