"""Tables of games that hide enemies: a seat gets what its side knows, and others get the game when it is over."""

import json
import threading
import time

import numpy as np
import pytest
from starlette.testclient import TestClient

from geo_patrol.agents import make_agent
from geo_patrol.game.notation import Order
from geo_patrol.play.advice import hva_threat
from geo_patrol.play.text_game import prompt_text
from geo_patrol.web import protocol
from geo_patrol.web.app import Server
from geo_patrol.web.client import AgentPlayer
from geo_patrol.web.table_server import TableServer
from geo_patrol.web.tables import NewTable, TableStore
from tests.support.positions import elsewhere
from tests.web.clients import Connection, open_table

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


@pytest.mark.parametrize("hello", [{}, {"scene": True}, {"scene": True, "screen": "narrow"}, {"text": True}], ids=str)
def test_a_seat_gets_nothing_that_depends_on_enemies_out_of_sight(client, hello):
    """Two tables at which bravo moves in different ways, far from alpha, which gets the same messages and answers."""
    texts, answers = {"alpha": [], "bravo": []}, []
    for move in ("prograde", "radial_in"):
        table, secrets = open_table(client, preset=CONFIG, seed=SEED)
        seats = [Connection(client, table, secrets["alpha"], **hello), Connection(client, table, secrets["bravo"])]
        got, path = [], f"/api/tables/{table}"
        own = {"games": [{"table": table, "secret": secrets["alpha"]}]}
        for phase in range(4):
            turns = [seat.wait_for("your_turn") for seat in seats]
            got.append(client.post(f"{path}/danger", json={"secret": secrets["alpha"], "orders": []}).json())
            got.append(client.get(path).json() | {"table": ""})
            got.append({**client.post("/api/games", json=own).json()["games"][0], "changed": 0})
            orders = (["P1 prograde"], [f"P3 {move}", f"HVA {move}"]) if phase == 0 else ([], [])
            for seat, turn, chosen in zip(seats, turns, orders, strict=True):
                seat.order(turn, chosen)
                seat.wait_for("accepted")
            for seat in seats:
                seat.wait_for("event")
        for seat, told in zip(seats, texts.values(), strict=True):  # it depends on the time how many statuses come
            told.append([text.replace(table, "") for text in seat.texts if json.loads(text)["type"] != "status"])
        answers.append(got)
    assert texts["alpha"][0] == texts["alpha"][1]
    assert answers[0] == answers[1]
    assert texts["bravo"][0] != texts["bravo"][1]
    assert all(answer["score"] is None for answer in answers[0][1::3])


@pytest.mark.slow
def test_nothing_that_a_seat_may_get_depends_on_where_enemies_out_of_sight_are(tmp_path):
    """All that is made for alpha, phase by phase, and once more with bravo's hidden satellites elsewhere."""
    table, _ = TableStore(tmp_path).make_table(NewTable(preset=CONFIG, seed=SEED, alpha="link", bravo="link"))
    agents, unseen = (make_agent("scripted"), make_agent("raider")), 0
    for _ in range(16):
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
    assert unseen > 30
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
    table, secrets = open_table(client, preset=CONFIG, seed=SEED)
    seat = Connection(client, table, secrets["alpha"])
    refusal = Connection(client, table).wait_for("error")
    assert (refusal["code"], refusal["text"]) == (
        "wrong_secret",
        "enemies are hidden in this game: watch it when it is over",
    )
    seat.send("resign")
    seat.wait_for("event")
    Connection(client, table).wait_for("welcome")
    assert client.get(f"/api/tables/{table}").json()["score"] == {"alpha": 200, "bravo": 200}


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
