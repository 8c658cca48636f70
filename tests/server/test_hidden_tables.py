"""Tables of games that hide enemies: a seat gets what its side knows, and others get the game when it is over."""

import contextlib
import json

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("httpx2")

from starlette.testclient import TestClient

from geo_patrol.agents import make_agent
from geo_patrol.server import protocol
from geo_patrol.server.app import Server
from geo_patrol.server.client import AgentPlayer
from geo_patrol.server.tables import NewTable, TableStore

CONFIG = "geo_patrol_hidden"
SEED = 91_827


@pytest.fixture
def client(tmp_path):
    with TestClient(Server(TableStore(tmp_path)).app()) as client, contextlib.ExitStack() as client.connections:
        yield client


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
            seen = player._game()
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
    assert restored.event(6).event.position != restored.event(6, side="alpha").event.position
    restored.close()


def test_positions_say_for_how_long_enemies_are_unseen(tmp_path):
    table, _ = TableStore(tmp_path).make_table(NewTable(preset=CONFIG, seed=SEED, alpha="link", bravo="idle"))
    table.submitted["alpha"] = ()
    table.play()
    table.finish_phase()
    fleets = table.event(1, side="alpha").event.position.satellites
    assert [one.unseen for one in fleets.bravo] == [1] * 11
    assert [one.unseen for one in fleets.alpha] == [0] * 11
    assert isinstance(fleets, protocol.BothFleets)
    assert np.array_equal(table.game.unseen("bravo"), [1] * 11)
    table.close()
