"""Nothing that a client gets tells what the other side ordered before both sides are in.

While one side's orders are in and the other's are not, everybody else may get one message, the status, and all of its
content is known beforehand; what HTTP tells must not change at all. So it cannot depend on the orders.
"""

import random

import pytest

from geo_patrol import Game
from geo_patrol.base.sides import SIDES, enemy_of
from geo_patrol.web import app, table_server
from geo_patrol.web.tables import Table
from tests.web.clients import Connection, open_table

SEED = 918_273_645_546_372_819


class Listener(Connection):
    """A connection that counts events."""

    num_events = 0

    def receive(self):
        message = super().receive()
        assert message["type"] != "error", message
        self.num_events += message["type"] == "event"
        return message

    def wait_for_event(self, number):
        while self.num_events < number:
            self.receive()


class Audience:
    """A table with everybody who may listen: both seats, one of them by text and one as a browser, and spectators."""

    def __init__(self, client, preset):
        self.client, (self.table, self.secrets) = client, open_table(client, preset=preset, seed=SEED)
        self.seats = {
            "alpha": Listener(client, self.table, secret=self.secrets["alpha"], text=True),
            "bravo": Listener(client, self.table, secret=self.secrets["bravo"], scene=True),
        }
        self.watchers = [Listener(client, self.table, scene=True), Listener(client, self.table, text=True)]
        self.game, self.phases = Game(preset, seed=SEED), 0
        everybody = (*self.seats.values(), *self.watchers)
        for listener in everybody * 2:  # when all have come, all have been told
            listener.drain()

    def read_routes(self, side):
        """Return what HTTP says of the table to a side and to anybody."""
        name, secret = self.table, {"secret": self.secrets[side]}
        answers = [
            self.client.get(path) for path in ("/api/tables", f"/api/tables/{name}", f"/replays/{name}.jsonl.gz")
        ]
        answers.append(self.client.post(f"/api/tables/{name}/danger", json=secret | {"orders": []}))
        return [(answer.status_code, answer.content) for answer in answers]

    def order(self, side, orders):
        """Send orders, which are taken."""
        phase = {"game": self.table, "turn": self.game.turn, "phase": self.game.phase}
        self.seats[side].send("orders", **phase, orders=orders)
        self.seats[side].wait_for("accepted")

    def expected_status(self, submitted):
        names = dict.fromkeys(SIDES, "person")
        return {
            "type": "status",
            "turn": self.game.turn,
            "phase": self.game.phase,
            "names": names,
            "submitted": submitted,
            "connected": list(SIDES),
            "seconds_left": None,
            "watching": len(self.watchers),
            "paused": False,
            "people": list(SIDES),
            "draw_offered": [],
            "fault": None,
            "went_back": None,
        }

    def play_phase(self, first, orders):
        """Let one side order, check what the others get, then let the other side order."""
        second = enemy_of(first)
        others = [self.seats[second], *self.watchers]
        free = [side for side in SIDES if any(len(some) > 1 for some in self.game.legal_orders(side).values())]
        if len(free) == len(SIDES):
            before = self.read_routes(second)
            self.order(first, orders[first])
            for listener in others:
                for message in listener.drain():
                    assert message == self.expected_status([first])
            assert self.read_routes(second) == before
        for side in free:
            if len(free) == 1 or side == second:
                self.order(side, orders[side])
        self.game.step(**orders)
        self.phases += 1
        for listener in (*self.seats.values(), *self.watchers):
            listener.wait_for_event(self.phases)
            listener.drain()


def some_orders(game, rng):
    """Return orders of both sides, a few of those that are legal; the HVAs stay, so that games last."""
    return {
        side: [
            str(rng.choice(some[1:]))
            for number, some in game.legal_orders(side).items()
            if number and some[1:] and rng.random() < 0.3
        ]
        for side in SIDES
    }


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["geo_patrol", "od2d", "king_of_the_hill"])
def test_nothing_is_known_of_orders_before_both_sides_are_in(client, preset):
    audience, rng = Audience(client, preset), random.Random(5)
    while not audience.game.is_over:
        audience.play_phase(SIDES[audience.phases % 2], some_orders(audience.game, rng))
    assert audience.phases > 15
    for listener in (*audience.seats.values(), *audience.watchers):
        listener.wait_for_event(audience.phases + 1)
    assert client.get(f"/replays/{audience.table}.jsonl.gz").status_code == 200
    everything = [text for one in (*audience.seats.values(), *audience.watchers) for text in one.texts]
    assert not any(secret in text for text in everything for secret in audience.secrets.values())
    assert [f'"seed":{SEED}' in text for text in everything].count(
        True
    ) == 4  # with the end of the game, to each of them
    assert all('"kind":"end"' in text for text in everything if str(SEED) in text)


def leak_by_status(monkeypatch):
    honest = table_server.TableServer.status

    def status(self):
        count = sum(len(orders) for orders in self.table.submitted.values())
        return honest(self).model_copy(update={"watching": honest(self).watching + count})

    monkeypatch.setattr(table_server.TableServer, "status", status)


def leak_by_event(monkeypatch):
    honest = Table.submit

    def submit(self, side, message):
        honest(self, side, message)
        for connection in self.leak_to.connections:
            connection.send(message)

    monkeypatch.setattr(Table, "submit", submit)
    made = table_server.TableServer.__init__

    def init(self, table, *threads, **options):
        made(self, table, *threads, **options)
        table.leak_to = self

    monkeypatch.setattr(table_server.TableServer, "__init__", init)


def leak_by_route(monkeypatch):
    honest = app._state
    leaking = lambda table: honest(table).model_copy(update={"title": str(table.submitted)})  # noqa: E731
    monkeypatch.setattr(app, "_state", leaking)


def leak_too_early(monkeypatch):
    monkeypatch.setattr(Table, "wait_seconds", lambda self, _now: 0.0 if self.submitted and not self.is_over else None)


@pytest.mark.parametrize("leak", [leak_by_status, leak_by_event, leak_by_route, leak_too_early])
def test_a_server_that_leaks_is_found(client, monkeypatch, leak):
    leak(monkeypatch)
    audience, rng = Audience(client, "king_of_the_hill"), random.Random(5)
    with pytest.raises(AssertionError):  # noqa: PT012 - in any phase
        for phase in range(20):
            audience.play_phase(SIDES[phase % 2], some_orders(audience.game, rng))
