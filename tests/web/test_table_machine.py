"""A table, whatever happens to it: players, clocks, memory, restarts and a full disk. Clocks are handed in."""

import json
import random
import shutil

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from geo_patrol.base.sides import SIDES
from geo_patrol.web import protocol
from geo_patrol.web.tables import TableStore
from tests.support.full_disk import FullDisk
from tests.web.served_table import ServedTable

SHORT = 'extends = "case1"\nturn_limit = 2\n'
SIDE = st.sampled_from(SIDES)


class TableMachine(ServedTable, RuleBasedStateMachine):
    """Nothing that was acknowledged is lost, orders are secret until both are in, and the table is always known.

    Attributes:
        seen: the events that somebody has received.
        accepted: orders that were accepted in the current phase, by side; of a server that was killed they are unknown.
        ever: all orders that were accepted, by side and phase.
        disk: the server's, which may be full.
    """

    @initialize(clock=st.sampled_from([None, 100.0]))
    def open_table(self, clock):
        self.seen, self.accepted, self.ever, self.settled = {}, {}, {}, False
        self.disk = FullDisk()
        self.open(scenario=SHORT, seed=3, clock=clock)

    def run(self, work):
        """Run what a client or the server does; return whether it was refused. Then everybody reads the messages."""
        refused = super().run(work)
        for key, connection in list(self.connections.items()):
            self.read(key, connection)
        if self.disk.calls is not None:  # orders of a phase that could not be saved are asked for again
            self.accepted = {side: one for side, one in self.accepted.items() if side in self.table.submitted}
        return refused

    def read(self, key, connection):
        side = connection.side
        while not connection.queue.empty():
            text = connection.queue.get_nowait()
            connection.queue.task_done()
            if text is None:
                self.connections.pop(key, None)
                return
            message = json.loads(text)
            events = message.get("events", [message] if message["type"] == "event" else [])
            for event in events:
                self.note_event(event)
            if message["type"] == "accepted":
                self.accepted[side] = (message["turn"], message["phase"], message["orders"])
                self.ever.setdefault((side, *self.accepted[side][:2]), []).append(message["orders"])
            if message["type"] == "your_turn":
                phase = message["turn"], message["phase"]
                # Of a server that was killed, they may be those that stood when the table left memory.
                assert message["submitted"] in [None, [], *self.ever.get((side, *phase), [])], (
                    "a side's own orders alone"
                )
            if message["type"] in ("accepted", "your_turn"):
                assert side is not None

    def note_event(self, event):
        known = self.seen.setdefault(event["number"], event["event"])
        assert known == event["event"], "no event changes that somebody has seen"

    # Players

    @rule(side=st.sampled_from([*SIDES, None]), last=st.integers(0, 6))
    def join(self, side, last):
        if side is None or side in self.secrets:
            assert self.run(self.joining(side, last)) is None

    @precondition(lambda self: self.connections)
    @rule(data=st.data())
    def go(self, data):
        self.run(self.departing(data.draw(st.sampled_from(sorted(self.connections, key=str)))))

    async def send(self, side, message):
        await self.server.receive(self.connections[side], message)

    @rule(side=SIDE)
    def leave(self, side):
        if side in self.connections and self.run(self.send(side, protocol.Leave())) is None:
            del self.secrets[side]

    @rule(side=SIDE)
    def take_seat(self, side):
        if side in self.secrets:
            return

        async def take():
            self.secrets[side] = self.table.take_seat(side)

        self.run(take())

    @rule(side=SIDE, seed=st.integers(0, 5))
    def order(self, side, seed):
        game = self.table.game
        if side not in self.connections or game.is_over:
            return
        rng = random.Random(seed)
        chosen = (rng.choice(list(some)) for some in game.legal_orders(side).values())
        orders = [str(order) for order in chosen if order.action != "noop"][:3]
        message = protocol.Orders(game=self.table.id, turn=game.turn, phase=game.phase, orders=orders)
        self.run(self.send(side, message))

    @rule(seed=st.integers(0, 5))
    def play_phase(self, seed):
        for side in SIDES:
            if side in self.secrets and side not in self.connections:
                self.join(side, 0)
            self.order(side, seed)

    @rule(side=SIDE, is_draw=st.booleans(), chance=st.integers(0, 3))
    def settle(self, side, is_draw, chance):
        if side not in self.connections or (not is_draw and chance):  # or else most games end at once
            return
        both = set(self.table.draw_offered) | {side} == set(SIDES)
        message = protocol.Draw() if is_draw else protocol.Resign()
        if self.run(self.send(side, message)) is None:
            self.settled = self.settled or not is_draw or both

    @rule(is_paused=st.booleans())
    def pause(self, is_paused):
        self.run(self.pausing(is_paused=is_paused))

    @rule(seconds=st.integers(1, 60))
    def wait(self, seconds):
        self.now += seconds
        self.run(self.looking())

    # The server

    @rule(calls=st.integers(0, 12))
    def fill_disk(self, calls):
        self.disk.calls = calls

    @rule()
    def free_disk(self):
        self.disk.calls = None

    @precondition(lambda self: not self.connections)
    @rule()
    def leave_memory(self):
        is_full, before = self.disk.calls is not None, self.table
        self.loop.run(self.server.close())
        self.store.unload(self.table)
        self.serve()
        assert self.table is not before
        if is_full:  # what was accepted may not have been written
            self.accepted.clear()

    @rule(is_killed=st.booleans())
    def restart(self, is_killed):
        is_lost = is_killed or self.disk.calls is not None
        number = int(self.store.folder.name) + 1
        if is_killed:
            shutil.copytree(self.store.folder, self.folder / str(number))
        self.loop.run(self.server.close())
        self.store.close()
        if not is_killed:
            shutil.copytree(self.store.folder, self.folder / str(number))
        self.connections.clear()
        if is_lost:
            self.accepted.clear()
        self.store = TableStore(self.folder / str(number))
        self.serve()

    @invariant()
    def nothing_is_lost(self):
        if not hasattr(self, "server"):
            return
        table = self.table
        assert self.store.damaged == {}
        assert self.store.items.get(self.table.id) is table
        assert table.went_back is None
        assert not self.settled or table.is_over
        for number, event in self.seen.items():
            assert number <= table.num_events
            assert json.loads(table.event(number).model_dump_json())["event"] == event
        now = table.game.turn, table.game.phase
        for side, (*phase, orders) in self.accepted.items():
            if tuple(phase) == now and not table.is_over:
                assert [str(one) for one in table.submitted[side]] == orders
        for side, secret in self.secrets.items():
            assert table.saved.seat(side).accepts(secret)

    def teardown(self):
        if hasattr(self, "server"):
            self.disk.calls = None
            self.disk.close()
            self.close()


TableMachine.TestCase.settings = settings(max_examples=15, stateful_step_count=30, deadline=None)
TestTable = pytest.mark.slow(TableMachine.TestCase)
