"""The clock of a table, whoever comes, goes and leaves: a state machine with a clock that is handed in."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from geo_patrol.base.sides import SIDES
from geo_patrol.web.protocol import Leave
from geo_patrol.web.tables import TableStore
from tests.web.served_table import ServedTable

CLOCK = 100
SIDE = st.sampled_from(SIDES)


class ClockMachine(ServedTable, RuleBasedStateMachine):
    """A phase lasts for the seconds of its clock in which somebody was there and nobody had paused it, and no longer."""

    @initialize()
    def open_table(self):
        self.passed, self.is_paused, self.has_begun = 0.0, False, False
        self.open(preset="case1", clock=CLOCK)

    def run(self, work):
        assert super().run(work) is None

    @rule(side=SIDE)
    def greet(self, side):
        self.run(self.joining(side))
        self.note_start()

    def note_start(self):
        """Until both have come, the game has not begun."""
        self.has_begun = self.has_begun or (set(self.connections) == set(SIDES) and not self.is_paused)

    @precondition(lambda self: self.connections)
    @rule(data=st.data())
    def go(self, data):
        self.run(self.departing(data.draw(st.sampled_from(sorted(self.connections)))))

    @precondition(lambda self: not self.connections)
    @rule(is_restarted=st.booleans())
    def leave_memory(self, is_restarted):
        self.loop.run(self.server.close())
        self.store.unload(self.table)
        if is_restarted:
            self.store.close()
            self.store = TableStore(self.store.folder)
        self.serve()

    @precondition(lambda self: self.connections)
    @rule(data=st.data(), is_back=st.booleans())
    def leave(self, data, is_back):
        side = data.draw(st.sampled_from(sorted(self.connections)))

        async def leave():
            await self.server.receive(self.connections[side], Leave())
            self.server.depart(self.connections.pop(side))
            self.secrets[side] = self.table.take_seat(side)
            self.server.refresh()

        self.run(leave())
        if is_back:
            self.greet(side)

    @rule(is_paused=st.booleans())
    def pause(self, is_paused):
        self.run(self.pausing(is_paused=is_paused))
        self.passed = 0.0 if is_paused else self.passed
        self.is_paused = is_paused
        self.note_start()

    @rule(seconds=st.integers(1, 60))
    def wait(self, seconds):
        self.now += seconds
        if self.connections and self.has_begun and not self.is_paused:
            self.passed += seconds
        num_events = self.table.num_events

        self.run(self.looking())
        # A phase in which nobody can order anything follows at once.
        assert (self.table.num_events > num_events) == (self.passed >= CLOCK)
        if self.passed >= CLOCK:
            self.passed = 0.0

    @invariant()
    def the_clock_is_right(self):
        if not hasattr(self, "server"):
            return
        left = self.table.seconds_left(self.now)
        runs = bool(self.connections) and self.has_begun and not self.is_paused
        assert left == (CLOCK - self.passed if runs else None)
        assert self.table.is_attended == bool(self.connections)
        assert self.table.is_idle == (not self.connections)

    def teardown(self):
        if hasattr(self, "server"):
            self.close()


ClockMachine.TestCase.settings = settings(max_examples=30, stateful_step_count=25)
TestClock = pytest.mark.slow(ClockMachine.TestCase)
