"""A class, whatever pupils, the teacher, the server and its disk do, in any order."""

import csv
import io
import shutil
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from geo_patrol.base.sides import SIDES
from geo_patrol.web.classes import ClassRoutes, NewClass
from geo_patrol.web.protocol import ProtocolError
from geo_patrol.web.requests import ClientLimits
from geo_patrol.web.tables import TableStore
from tests.support.coroutines import Loop
from tests.support.full_disk import FullDisk

NAMES = st.sampled_from(["Ada", "Ben", "Cem", "Dua", "Eva"])


@dataclass
class Pupil:
    """What is known of a pupil."""

    name: str
    secret: str
    waits: bool = True
    is_expected: bool = False
    is_gone: bool = False


@dataclass
class Played:
    """What is known of a game: its table, and the numbers of the pupils on both sides, None for the agent."""

    table: str
    pupils: tuple[int | None, int | None]
    is_paused: bool
    is_stopped: bool = False
    is_over: bool = False


class AtOnce:
    """Stands for ``FairThreads``: does in the event loop what it is asked for."""

    async def run(self, _client, function):
        return function()


class ClassMachine(RuleBasedStateMachine):
    """What was acknowledged stays, what was refused has not happened, and pupils are seated as the rules of a class say.

    Attributes:
        pupils: those who have come, by number.
        games: those that were opened, in order.
        void: secrets that were pupils'.
        disk: the server's, which may be full.
    """

    @initialize(pairs=st.booleans(), names=st.lists(NAMES, unique=True))
    def open_class(self, pairs, names):
        self.folder, self.loop, self.pairs = Path(tempfile.mkdtemp()), Loop(), pairs
        self.pupils, self.games, self.is_paused, self.void = [], [], False, []
        self.num_folders = self.num_secrets = 0
        self.disk = FullDisk()
        self.serve()

        async def open_one():
            new = NewClass(scenario='extends = "case1"\nturn_limit = 1\n', pairs=pairs, agent="idle")
            one, self.teacher = self.routes.classes.make_class(new)
            one.write()
            self.routes.classes.keep(one)
            self.name = one.id

        self.loop.run(open_one())
        for name in names:
            self.arrive(name)

    def serve(self):
        async def start():
            self.tables = TableStore(self.folder / str(self.num_folders), max_tables=400)
            limits = ClientLimits(max_connections=100, max_openings=100)
            self.routes = ClassRoutes(self.tables, lambda _: None, limits, AtOnce(), "127.0.0.1")

        self.loop.run(start())

    @property
    def one(self):
        return self.routes.classes.find(self.name)

    def change(self, action):
        """Change the class as a request does; return whether that has happened, and what the action returned."""

        async def run():
            return await self.routes._change(self.one, lambda: action(self.one))

        try:
            return True, self.loop.run(run())
        except ProtocolError:
            return False, None
        except OSError:
            assert self.disk.calls is not None, "the disk is not full"
            return False, None

    # What is expected

    def named(self, name):
        return next((i for i, pupil in enumerate(self.pupils) if pupil.name == name and not pupil.is_gone), None)

    def game_of(self, number):
        return next((game for game in reversed(self.games) if number in game.pupils), None)

    def draw(self, data):
        """Return the number of one of the pupils who are there."""
        return data.draw(st.sampled_from([i for i, pupil in enumerate(self.pupils) if not pupil.is_gone]))

    def goes_on(self, number):
        game = self.game_of(number)
        return game is not None and not game.is_over and not game.is_stopped

    def stop_game(self, number):
        self.pupils[number].waits = True
        if self.goes_on(number):
            self.game_of(number).is_stopped = True
            for other in self.game_of(number).pupils:
                if other is not None:
                    self.pupils[other].waits = True

    def expect_game(self, first, second):
        """Note a game of two pupils, or of one and the agent, which the class has opened."""
        game = self.one.saved.games[len(self.games)]
        assert set(game.pupils) == {first, second}
        assert self.alpha_games(game.alpha) <= self.alpha_games(game.bravo), (
            "whoever has played alpha more often is bravo"
        )
        self.games.append(Played(game.table, game.pupils, self.is_paused))
        for number in game.pupils:
            if number is not None:
                assert not self.pupils[number].is_gone
                self.pupils[number].waits = False

    def alpha_games(self, number):
        """Return how many more games a pupil has had as alpha than as bravo; the agent does not mind."""
        had = Counter(
            side for game in self.games for side, one in zip(SIDES, game.pupils, strict=True) if one == number
        )
        return 0 if number is None else had["alpha"] - had["bravo"]

    def expect_seats(self, *, with_agent=False):
        """Note the games that are opened for those who wait: with whom they have played least often, first come, first served."""
        waiting = [i for i, pupil in enumerate(self.pupils) if pupil.waits and not pupil.is_gone]
        played = Counter(frozenset(game.pupils) for game in self.games)
        while self.pairs and len(waiting) > 1:
            first = waiting.pop(0)
            second = min(waiting, key=lambda other: played[frozenset((first, other))])
            waiting.remove(second)
            self.expect_game(first, second)
        if with_agent or not self.pairs:
            for number in waiting:
                self.expect_game(number, None)

    # Pupils

    @rule(name=NAMES)
    def arrive(self, name):
        self.num_secrets += 1
        secret, number = f"{self.num_secrets:032}", self.named(name)
        has_happened, given = self.change(lambda one: one.add_pupil(name, secret))
        if not has_happened:
            assert self.disk.calls is not None or (number is not None and not self.pupils[number].is_expected)
            return
        assert given == secret
        if number is None:
            self.pupils.append(Pupil(name, secret))
            self.expect_seats()
            return
        pupil = self.pupils[number]
        assert pupil.is_expected
        self.void.append(pupil.secret)
        pupil.secret, pupil.is_expected = secret, False

    @precondition(lambda self: self.pupils)
    @rule(data=st.data())
    def arrive_again(self, data):
        pupil = data.draw(st.sampled_from(self.pupils))
        assert self.change(lambda one: one.add_pupil(pupil.name, pupil.secret)) in (
            [(False, None)] if pupil.is_gone else [(True, pupil.secret)]
        )

    @precondition(lambda self: not all(pupil.is_gone for pupil in self.pupils))
    @rule(data=st.data())
    def play_again(self, data):
        number = self.draw(data)
        if self.change(lambda one: one.play_again(number))[0]:
            assert not self.goes_on(number)
            self.pupils[number].waits = True
            self.expect_seats()
        else:
            assert self.goes_on(number) or self.disk.calls is not None

    @precondition(lambda self: any(not game.is_over and not game.is_stopped for game in self.games))
    @rule(data=st.data(), side=st.sampled_from(SIDES))
    def finish(self, data, side):
        game = data.draw(st.sampled_from([game for game in self.games if not game.is_over and not game.is_stopped]))
        table = self.tables.find(game.table)
        try:
            table.resign(side)
        except ProtocolError:
            assert self.disk.calls is not None
        else:
            game.is_over = True

    # The teacher

    @precondition(lambda self: not all(pupil.is_gone for pupil in self.pupils))
    @rule(data=st.data())
    def readmit(self, data):
        number = self.draw(data)
        if self.change(lambda one: one.readmit(number))[0]:
            self.pupils[number].is_expected = True

    @precondition(lambda self: not all(pupil.is_gone for pupil in self.pupils))
    @rule(data=st.data())
    def remove(self, data):
        number = self.draw(data)
        if not self.change(lambda one: one.remove(number))[0]:
            return
        self.stop_game(number)
        pupil = self.pupils[number]
        pupil.is_gone, pupil.waits, pupil.is_expected = True, False, False
        self.void.append(pupil.secret)
        self.expect_seats()

    @precondition(lambda self: not all(pupil.is_gone for pupil in self.pupils))
    @rule(data=st.data(), new=NAMES)
    def rename(self, data, new):
        number = self.draw(data)
        is_taken = self.named(new) not in (None, number)
        if self.change(lambda one: one.rename(number, new))[0]:
            assert not is_taken
            self.pupils[number].name = new
        else:
            assert is_taken or self.disk.calls is not None

    @precondition(lambda self: not all(pupil.is_gone for pupil in self.pupils))
    @rule(data=st.data(), with_agent=st.booleans())
    def reseat(self, data, with_agent):
        number, other = self.draw(data), None if with_agent else self.draw(data)
        if not self.change(lambda one: one.reseat(number, other))[0]:
            assert number == other or self.disk.calls is not None
            return
        assert number != other
        for one in (number, other):
            if one is not None:
                self.stop_game(one)
        self.expect_game(number, other)
        self.expect_seats()

    @rule(is_paused=st.booleans(), data=st.data())
    def pause(self, is_paused, data):
        table = data.draw(st.sampled_from([None, *(game.table for game in self.games)]))
        if self.change(lambda one: one.pause(table, is_paused=is_paused))[0]:
            self.is_paused = is_paused if table is None else self.is_paused
            for game in self.games:
                if table in (None, game.table) and not game.is_over and not game.is_stopped:
                    game.is_paused = is_paused

    @rule()
    def start_next(self):
        if self.change(lambda one: one.start_next())[0]:
            for number, pupil in enumerate(self.pupils):
                if not pupil.is_gone and not self.goes_on(number):
                    pupil.waits = True
            self.expect_seats()

    @rule()
    def seat_with_agent(self):
        if self.change(lambda one: one.seat_pupils(with_agent=True))[0]:
            self.expect_seats(with_agent=True)

    # The server

    @rule(calls=st.integers(0, 8))
    def fill_disk(self, calls):
        self.disk.calls = calls

    @rule()
    def free_disk(self):
        self.disk.calls = None

    @rule(data=st.data())
    def let_a_table_leave_memory(self, data):
        if self.tables.items:
            name = data.draw(st.sampled_from(sorted(self.tables.items)))
            self.tables.unload(self.tables.items[name])

    @rule()
    def let_the_class_leave_memory(self):
        self.loop.run(self.routes.save_notes())
        self.routes.classes.unload_idle(-1.0)

    @rule(is_killed=st.booleans())
    def restart(self, is_killed):
        before = self.tables.folder
        self.num_folders += 1
        if is_killed:
            shutil.copytree(before, self.folder / str(self.num_folders))
        self.loop.run(self.routes.save_notes())
        self.tables.close()
        if not is_killed:
            shutil.copytree(before, self.folder / str(self.num_folders))
        self.serve()

    @invariant()
    def all_is_as_expected(self):
        if not hasattr(self, "name"):
            return
        assert self.tables.damaged == self.routes.classes.damaged == {}
        one = self.one
        one.check_teacher(self.teacher)
        saved = one.saved
        assert saved.is_paused == self.is_paused
        assert [Pupil(p.name, "", p.is_waiting, p.is_expected, p.is_gone) for p in saved.pupils] == [
            Pupil(p.name, "", p.waits, p.is_expected, p.is_gone) for p in self.pupils
        ]
        assert [Played(g.table, g.pupils, g.is_paused, g.is_stopped, g.is_over) for g in one._games()] == self.games
        for number, pupil in enumerate(self.pupils):
            if not pupil.is_gone:
                assert one.pupil_of(pupil.secret) == number
                assert pupil.waits <= (not self.goes_on(number))
        for secret in self.void:
            with pytest.raises(ProtocolError, match="nobody's"):
                one.pupil_of(secret)
        assert sum(pupil.waits for pupil in self.pupils) <= (1 if self.pairs else 0)
        for game in self.games:
            if game.table in self.tables.items:
                self.check_table(game)

    def check_table(self, game):
        saved = self.tables.items[game.table].saved
        assert (saved.is_paused, saved.is_stopped) == (game.is_paused, game.is_stopped)
        for side, number in zip(SIDES, game.pupils, strict=True):
            seat = saved.seat(side)
            if number is None:
                assert (seat.kind, seat.name) == ("agent", "idle")
                continue
            pupil = self.pupils[number]
            assert seat.name == pupil.name
            assert seat.accepts(pupil.secret) == (not game.is_stopped)
            assert not any(map(seat.accepts, self.void)) or pupil.is_gone

    def teardown(self):
        if hasattr(self, "name"):
            self.disk.calls = None
            for game in self.games:
                self.tables.find(game.table)
                self.check_table(game)
            assert {path.stem for path in self.tables.folder.glob("[!.]*.json")} == {game.table for game in self.games}
            rows = list(csv.DictReader(io.StringIO(self.one.results("http://localhost/"))))
            assert [row["over"] for row in rows] == [str(game.is_over) for game in self.games]
            self.tables.close()
            self.loop.close()
            self.disk.close()
            shutil.rmtree(self.folder)


ClassMachine.TestCase.settings = settings(max_examples=30, stateful_step_count=30, deadline=None)
TestClass = pytest.mark.slow(ClassMachine.TestCase)
