"""Hints, warnings and the guided first game over HTTP: for the owner of a seat, and nobody else."""

import pytest

from geo_patrol.base.sides import SIDES
from geo_patrol.game.notation import Order, read_orders
from geo_patrol.play.advice import Hint, hva_threat
from geo_patrol.play.lesson import GameLesson, LessonSession
from geo_patrol.web import hints
from tests.web.clients import open_table

DANGEROUS = 'extends = "case1"\n[bravo.patrols]\nformation = [[7, 2]]\n'


def open_path(client, **setup):
    """Open a table; return the path of requests about it, and the secrets of its seats."""
    table, secrets = open_table(client, **{"preset": None, "scenario": DANGEROUS, "seed": 5} | setup)
    return f"/api/tables/{table}", secrets


def test_danger_says_who_can_come_and_who_can_guard(client):
    path, secrets = open_path(client)
    game = next(iter(client.tables.items.values())).game
    for texts in ([], ["HVA prograde"], ["HVA radial_in"]):
        answer = client.post(f"{path}/danger", json={"secret": secrets["alpha"], "orders": texts}).json()
        threat = hva_threat(game, "alpha", read_orders(texts))
        assert answer["phase"] == "movement"
        assert answer["attackers"] == [f"P{attack.order.satellite}" for attack in threat.attacks]
        assert answer["able"] == [f"P{guard.order.satellite}" for guard in threat.guards]
        assert (answer["lost"], answer["points"]) == (round(100 * threat.probability), threat.points)
    assert client.post(f"{path}/danger", json={"secret": secrets["bravo"]}).json() == {"attackers": []}


def test_a_hint_is_for_the_own_side_and_found_once_a_phase(client, monkeypatch):
    searched = []

    def find_hint(game, side):
        searched.append(side)
        return Hint(tuple(order for order in game.legal_orders(side)[1] if order.action == "prograde"), 0.5, 10)

    monkeypatch.setattr(hints, "find_hint", find_hint)
    path, secrets = open_path(client)
    answers = [
        client.post(f"{path}/hint", json={"secret": secrets[side]}).json() for side in ("bravo", "alpha", "bravo")
    ]
    assert searched == ["bravo", "alpha"]
    assert answers[0] == answers[2]
    assert [answers[0][key] for key in ("orders", "percent", "games")] == [["P1 prograde"], 50, 10]
    assert answers[0]["shapes"]


def test_a_game_in_which_a_side_had_hints_is_told_apart_also_after_a_restart(client, monkeypatch):
    monkeypatch.setattr(hints, "find_hint", lambda _game, _side: Hint((Order.parse("P1 prograde"),), 0.5, 10))
    path, secrets = open_path(client)
    name = path.rpartition("/")[2]
    for _ in range(2):
        client.post(f"{path}/hint", json={"secret": secrets["alpha"]})
    asked = {"games": [{"table": name, "secret": secrets[side]} for side in SIDES]}
    assert [game["hinted"] for game in client.post("/api/games", json=asked).json()["games"]] == [True, False]
    saved = client.tables.read(name)
    assert [one.model_dump() for one in saved.hinted] == [{"side": "alpha", "phases": 0, "orders": ["P1 prograde"]}]
    assert client.tables.load(name, saved).proposed("alpha") == {0: (Order.parse("P1 prograde"),)}
    assert client.tables.load(name, saved).proposed("bravo") == {}


@pytest.mark.parametrize("question", ["hint", "danger"])
def test_only_who_has_a_seat_and_orders_is_answered(client, question):
    path, secrets = open_path(client)
    assert client.post(f"{path}/{question}", json={"secret": "wrong"}).status_code == 403
    assert client.post(f"{path}/{question}", json={}).json()["text"].startswith("secret ")
    assert (
        client.post(f"{path}/{question}", json={"secret": secrets["alpha"]}, headers={"origin": "http://x"}).status_code
        == 403
    )
    illegal = client.post(f"{path}/danger", json={"secret": secrets["alpha"], "orders": ["P1 shoot HVA"]})
    assert (illegal.status_code, illegal.json()["code"]) == (400, "bad_order")


def test_danger_that_is_asked_about_too_late_is_no_error(client):
    path, secrets = open_path(client)
    table = client.tables.find(path.rpartition("/")[2])
    asked = {"secret": secrets["alpha"], "orders": ["P1 shoot HVA"], "turn": table.game.turn}
    for stale in ({"phase": "engagement"}, {"phase": "movement", "turn": table.game.turn - 1}):
        assert client.post(f"{path}/danger", json=asked | stale).json() == {"attackers": []}
    table.submitted["alpha"] = ()
    assert client.post(f"{path}/danger", json=asked).json() == {"attackers": []}
    assert client.post(f"{path}/hint", json={"secret": secrets["alpha"]}).json()["code"] == "too_late"


def test_a_table_without_hints_gives_none(client):
    path, secrets = open_path(client, hints=False)
    answer = client.post(f"{path}/hint", json={"secret": secrets["alpha"]})
    assert answer.json()["text"] == "there are no hints at this table"


def test_a_step_says_what_the_window_says(client):
    lesson = GameLesson()
    for number in range(1, len(lesson.steps) + 1):
        lesson.go(number - 1)
        card = LessonSession(lesson).card
        shown = client.get(f"/api/lesson/{number}").json()["card"]
        assert (shown["title"], shown["text"], shown["task"]) == (card.title, card.text, card.task)
    for bad in (0, 11):
        assert client.get(f"/api/lesson/{bad}").json()["text"] == f"step must be 1 to 6, got {bad}"
    assert client.post("/api/lesson/2", json={"orders": ["P3 nonsense"]}).status_code == 400
    assert client.post("/api/lesson/2", json={"orders": [], "more": 1}).status_code == 400


def test_an_analysis_that_fails_is_told_and_not_begun_again(client, monkeypatch):
    begun = []

    def fail(*arguments):
        begun.append(arguments)
        raise ZeroDivisionError

    monkeypatch.setattr(hints, "analyse", fail)
    path, _ = open_path(client)
    next(iter(client.tables.items.values())).resign("alpha")
    while not (answer := client.get(f"{path}/analysis/alpha").json())["failed"]:
        assert answer["done"] < answer["total"]
    assert client.get(f"{path}/analysis/alpha").json() == answer
    assert (answer["done"], answer["moments"], len(begun)) == (1, [], 1)
