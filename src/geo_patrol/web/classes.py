"""Classes: a teacher opens one, pupils come by its link and are seated, in pairs or against an agent."""

import asyncio
import io
import secrets
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import urlencode

import segno
from pydantic import Field, StringConstraints
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from geo_patrol.base.files import without_mark
from geo_patrol.base.sides import COLORS, SIDES, Side, in_colors
from geo_patrol.config.schema import GameConfig
from geo_patrol.game.notation import PhaseName
from geo_patrol.game.position import SavedData
from geo_patrol.web.names import name_key, player_name, read_name
from geo_patrol.web.protocol import ProtocolError
from geo_patrol.web.requests import (
    Arrival,
    ClientLimits,
    FairThreads,
    SecretBody,
    accepts,
    client_site,
    csv_text,
    hash_secret,
    others_base,
    read_body,
)
from geo_patrol.web.store import Store, Stored, read_content
from geo_patrol.web.tables import NewTable, Seat, Table, TableStore, make_seat_agent

MAX_PUPILS = 60
_MAX_ARRIVALS = 300
"""Pupils of a class, those who were removed included."""
MAX_GAMES = 2_000
"""Maximum number of games of a class."""
_Name = Annotated[str, StringConstraints(min_length=1, max_length=100)]


class NewClass(NewTable):
    """What is asked for a new class: the game of its tables, and who plays whom."""

    alpha: Literal["open"] = "open"
    bravo: Literal["open"] = "open"
    agent: _Name = "turtle"
    """Plays those who have no partner."""
    pairs: bool = True
    """Whether pupils play each other; otherwise everybody plays the agent."""


class Pupil(SavedData):
    """Somebody who has come to a class; the secret only as a hash."""

    name: _Name
    secret_hash: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    is_waiting: bool = True
    is_expected: bool = False
    """Whether whoever comes next under this name is this pupil, on another device for instance."""
    is_gone: bool = False
    """Whether the teacher has removed this pupil, whose games remain among the results."""


class ClassGame(SavedData):
    """A game of a class: its table, the number of the pupil on each side, None for the agent, and how it stands.

    How it stands is taken down when its table leaves memory, and whenever the class is looked at. Who plays it, and whether
    it is paused or stopped, the class decides: see ``Classroom.rule``.
    """

    table: str
    alpha: int | None
    bravo: int | None
    turn: int = 1
    phase: PhaseName = "movement"
    scores: tuple[int, int] | None = None
    """None where enemies are hidden, until the game is over."""
    is_over: bool = False
    winner: Side | None = None
    reasons: list[str] = Field(default=[])
    is_paused: bool = False
    is_stopped: bool = False
    """Whether the teacher has ended it without a result."""

    @property
    def pupils(self) -> tuple[int | None, int | None]:
        """The numbers of the pupils of alpha and bravo."""
        return self.alpha, self.bravo

    @property
    def has_ended(self) -> bool:
        """Whether nobody plays it any more."""
        return self.is_over or self.is_stopped

    def note(self, table: Table) -> None:
        """Take down how it stands."""
        game = table.game
        self.turn, self.phase = game.turn, game.phase
        if table.is_over or not table.hides_enemies:  # pupils see the table of the class as well
            self.scores = game.scores["alpha"], game.scores["bravo"]
        self.is_over, self.winner, self.reasons = table.is_over, table.winner, [str(one) for one in table.reasons]

    def stand_as(self, other: "ClassGame") -> None:
        """Take down that it stands as is known of it already."""
        self.turn, self.phase, self.scores = other.turn, other.phase, other.scores
        self.is_over, self.winner, self.reasons = other.is_over, other.winner, other.reasons


class SavedClass(SavedData):
    """A class as it is saved."""

    version: Literal[1] = 1
    new: NewClass
    teacher_hash: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    opener: Annotated[str, StringConstraints(max_length=60)] = ""
    """The address that opened it: see ``SavedTable``."""
    pupils: list[Pupil] = Field(default=[], max_length=_MAX_ARRIVALS)
    games: list[ClassGame] = Field(default=[], max_length=MAX_GAMES)
    is_paused: bool = False


MAX_CLASSES = 50
"""In memory."""
_LETTERS, _CODE_LENGTH = "BCDFGHJKLMNPQRSTVWXYZ23456789", 6
"""Of the codes of classes: none that are easily confused, and no vowels, so that no words arise. There are 600 million."""
_MAX_ADDRESS = 300
"""Characters of an address that a QR code holds; more would be too fine for a projector."""
_COLUMNS = (
    *("game", "blue", "blue_is", "gold", "gold_is", "blue_score", "gold_score"),
    *("winner", "reasons", "turns", "over", "replay"),
)


class Classroom(Stored[SavedClass]):
    """A class with its pupils and their games.

    Its methods change what is in memory. ``write`` saves that, and ``undo`` takes it back where it cannot be saved.

    Args:
        name: its code, which pupils type or which is in their link.
        saved: its setup, pupils and games.
        folder: folder of its file.
        store: opens its tables.

    Attributes:
        last_used: when somebody last asked for it, by ``time.monotonic``.
        changing: held while it is changed, or looked at.
        is_changed: whether there is anything to write.
        has_notes: whether there is also how games stand of tables that have left memory.
    """

    def __init__(self, name: str, saved: SavedClass, folder: Path, store: TableStore) -> None:
        super().__init__(name, saved, folder)
        self._store = store
        self.last_used = time.monotonic()
        self.changing = asyncio.Lock()
        self.is_changed = self.has_notes = False
        self._opened: list[Table] = []  # by the change in progress

    @property
    def title(self) -> str:
        """What the teacher calls it."""
        return self.saved.new.title or "A class"

    @cached_property
    def config(self) -> GameConfig:
        """The configuration of its games. Reading it may take a moment."""
        return self._store.load_setup(self.saved.new)

    def note_table(self, table: Table) -> None:
        """Take down how the game of a table stands, which leaves memory."""
        for game in self.saved.games:
            if game.table == table.id:
                game.note(table)
                self.has_notes = True

    def write(self, saved: SavedClass | None = None) -> None:
        """Write the tables that were opened, and then the class, with which everything has happened. This may run in a thread.

        Raises:
            OSError: the class cannot be written, or one of the tables.
        """
        for table in self._opened:
            table.write()
        super().write(saved)
        self._opened, self.is_changed, self.has_notes = [], False, False

    def undo(self) -> None:
        """Let everything be as its file says, but for how games stand; tables that were opened are removed."""
        games = {game.table: game for game in self.saved.games}
        with suppress(OSError):
            self.saved = SavedClass.model_validate_json(without_mark(read_content(self.path)))
        self.is_changed = False
        for game in self.saved.games:
            game.stand_as(games[game.table])
        opened, self._opened = self._opened, []
        for table in opened:
            self._store.remove(table.id)

    def _games(self) -> list[ClassGame]:
        """Return its games as they stand."""
        for game in self.saved.games:
            if (table := self._store.items.get(game.table)) is not None:
                game.note(table)
        return self.saved.games

    def check_teacher(self, secret: str) -> None:
        """Raise ProtocolError if a secret is not the teacher's."""
        if not accepts(self.saved.teacher_hash, secret):
            raise ProtocolError("wrong_secret", "this secret is not the teacher's")

    # Pupils

    def add_pupil(self, name: str, secret: str | None = None) -> str:
        """Let somebody in; return the secret, which is that of all seats that the pupil gets.

        Args:
            name: what the pupil is called.
            secret: one of the pupil's own making; whoever comes with it again has come already.

        Raises:
            ProtocolError: the class is full, or has somebody of that name, or with that secret.
        """
        if secret is not None and any(accepts(pupil.secret_hash, secret) for pupil in self.saved.pupils):
            if name_key(self.saved.pupils[self.pupil_of(secret)].name) != name_key(read_name(name)):
                raise ProtocolError("no_seat", "secret: it is somebody else's")
            return secret
        secret = secret or secrets.token_urlsafe(24)
        back = self._expected(name)
        if back is not None:
            return self._change_secret(back, secret)
        name = read_name(name, (pupil.name for pupil in self.saved.pupils if not pupil.is_gone))
        num_present = sum(not pupil.is_gone for pupil in self.saved.pupils)
        if num_present >= MAX_PUPILS or len(self.saved.pupils) >= _MAX_ARRIVALS:
            raise ProtocolError("too_many", f"a class has at most {MAX_PUPILS} pupils")
        self.saved.pupils.append(Pupil(name=name, secret_hash=hash_secret(secret)))
        self.is_changed = True
        self.seat_if_possible()
        return secret

    def _expected(self, name: str) -> int | None:
        """Return the number of the pupil who is expected under a name."""
        key = name_key(read_name(name))
        expected = (i for i, pupil in enumerate(self.saved.pupils) if pupil.is_expected and name_key(pupil.name) == key)
        return next(expected, None)

    def _change_secret(self, number: int, secret: str) -> str:
        """Give a pupil a new secret, for the game in progress as well; the old one is void."""
        pupil = self.saved.pupils[number]
        pupil.secret_hash, pupil.is_expected = hash_secret(secret), False
        self.is_changed = True
        return secret

    def pupil_of(self, secret: str) -> int:
        """Return the number of the pupil with a secret.

        Raises:
            ProtocolError: nobody has it.
        """
        found = [i for i, pupil in enumerate(self.saved.pupils) if accepts(pupil.secret_hash, secret)]
        if not found or self.saved.pupils[found[0]].is_gone:
            raise ProtocolError("wrong_secret", "this secret is nobody's in the class")
        return found[0]

    def named(self, name: str) -> int:
        """Return the number of the pupil of a name.

        Raises:
            ProtocolError: there is nobody of that name.
        """
        name = read_name(name)
        present = (i for i, pupil in enumerate(self.saved.pupils) if not pupil.is_gone)
        found = [i for i in present if name_key(self.saved.pupils[i].name) == name_key(name)]
        if not found:
            raise ProtocolError("bad_message", f"pupil: there is nobody called '{name}'")
        return found[0]

    def _game_of(self, number: int) -> ClassGame | None:
        """Return the latest game of a pupil."""
        return next((game for game in reversed(self._games()) if number in game.pupils), None)

    def seat_record(self, number: int) -> dict[str, Any]:
        """Return where a pupil is: the class, the name, whether a seat is waited for, pauses, the table, whether it is over."""
        game = self._game_of(number)
        if game is not None and game.is_stopped:
            game = None
        return {
            "title": self.title,
            "name": self.saved.pupils[number].name,
            "waiting": self.saved.pupils[number].is_waiting,
            "paused": self.saved.is_paused,
            "table": None if game is None else game.table,
            "over": game is None or game.is_over,
        }

    def play_again(self, number: int) -> None:
        """Let a pupil whose game is over wait for the next one.

        Raises:
            ProtocolError: the game is not over.
        """
        if not self.seat_record(number)["over"]:
            raise ProtocolError("no_seat", "your game is not over")
        self.saved.pupils[number].is_waiting = True
        self.is_changed = True
        self.seat_if_possible()

    def seat_if_possible(self) -> None:
        """Seat those who wait; while there are too many tables, they go on waiting."""
        with suppress(ProtocolError):
            self.seat_pupils()

    def seat_pupils(self, *, with_agent: bool = False) -> None:
        """Open tables for those who wait, in the order in which they came, each with whom they have played least often.

        Args:
            with_agent: whether the one without a partner plays the agent.

        Raises:
            ProtocolError: there are too many tables.
        """
        waiting = [i for i, pupil in enumerate(self.saved.pupils) if pupil.is_waiting and not pupil.is_gone]
        if self.saved.new.pairs:
            played = Counter(frozenset(game.pupils) for game in self.saved.games)
            while len(waiting) > 1:
                first = waiting.pop(0)
                second = min(waiting, key=lambda other: played[frozenset((first, other))])
                waiting.remove(second)
                self._open_table(first, second)
        if with_agent or not self.saved.new.pairs:
            for number in waiting:
                self._open_table(number, None)

    def _open_table(self, first: int, second: int | None) -> None:
        """Open a table; whoever has played alpha less often than the other does now."""
        if len(self.saved.games) >= MAX_GAMES:
            raise ProtocolError("too_many", f"a class has at most {MAX_GAMES} games")
        self._store.make_room(self.saved.opener)
        is_swapped = self._alpha_games(first) > (self._alpha_games(second) if second is not None else 0)
        alpha, bravo = (second, first) if is_swapped else (first, second)
        seats = {side: self._make_seat(number) for side, number in zip(SIDES, (alpha, bravo), strict=True)}
        new = NewTable.model_validate(self.saved.new.model_dump(exclude={"agent", "pairs"}))
        origin = {"opener": self.saved.opener, "classroom": self.id, "is_paused": self.saved.is_paused}
        table, _ = self._store.make_table(new, taken=seats, config=self.config, **origin)
        self._store.keep(table)
        self._opened.append(table)
        game = ClassGame(table=table.id, alpha=alpha, bravo=bravo, is_paused=self.saved.is_paused)
        self.saved.games.append(game)
        for number in (first, second):
            if number is not None:
                self.saved.pupils[number].is_waiting = False
        self.is_changed = True

    def _alpha_games(self, number: int) -> int:
        """Return how many more games a pupil has played as alpha than as bravo."""
        return sum((game.alpha == number) - (game.bravo == number) for game in self.saved.games)

    def _make_seat(self, number: int | None) -> Seat:
        if number is None:
            return Seat(kind="agent", name=self.saved.new.agent)
        pupil = self.saved.pupils[number]
        return Seat(kind="taken", name=pupil.name, secret_hash=pupil.secret_hash)

    def rule(self, table: Table) -> bool:
        """Make a table as the class says: who plays it, whether it is paused or stopped; return whether that has changed it.

        The file of the table may be behind: what comes back from it is made so again.
        """
        game = next((game for game in self.saved.games if game.table == table.id), None)
        return game is not None and self._rule(game, table)

    def _rule(self, game: ClassGame, table: Table) -> bool:
        saved = table.saved

        def ruled() -> tuple[object, ...]:
            seats = ((seat.kind, seat.name, seat.secret_hash) for seat in (saved.alpha, saved.bravo))
            return saved.is_paused, saved.is_stopped, *seats

        before = ruled()
        saved.is_paused, saved.is_stopped = game.is_paused, game.is_stopped
        for side, number in zip(SIDES, game.pupils, strict=True):
            if number is not None:
                pupil, seat = self.saved.pupils[number], saved.seat(side)
                seat.name, seat.kind = pupil.name, "taken"
                seat.secret_hash = "" if game.is_stopped else pupil.secret_hash
        return ruled() != before

    def rule_all(self) -> list[str]:
        """Make all tables in memory as the class says; return those that have changed."""
        tables = ((game, self._store.items.get(game.table)) for game in self.saved.games)
        return [game.table for game, table in tables if table is not None and self._rule(game, table)]

    # The teacher

    def overview(self) -> dict[str, Any]:
        """Return what the teacher sees: who waits, and all tables, the latest first."""
        present = [pupil for pupil in self.saved.pupils if not pupil.is_gone]
        return {
            "title": self.title,
            "code": self.id,
            "paused": self.saved.is_paused,
            "pairs": self.saved.new.pairs,
            "agent": player_name(self.saved.new.agent),
            "pupils": [pupil.name for pupil in present],
            "waiting": [pupil.name for pupil in present if pupil.is_waiting],
            "expected": [pupil.name for pupil in present if pupil.is_expected],
            "tables": [self._table_record(game) for game in reversed(self._games()) if not game.is_stopped],
        }

    def _table_record(self, game: ClassGame) -> dict[str, Any]:
        """Return what the teacher sees of a table; who has not come for long has lost the connection."""
        table = self._store.items.get(game.table)
        people = (
            [] if game.is_over else [side for side, pupil in zip(SIDES, game.pupils, strict=True) if pupil is not None]
        )
        return {
            "table": game.table,
            "turn": game.turn,
            "phase": game.phase,
            "score": game.scores,
            "over": game.is_over,
            "winner": game.winner,
            "paused": game.is_paused,
            "waiting_for": [side for side in people if table is None or side not in table.submitted],
            "away": [side for side in people if table is None or side not in table.connected],
            "names": self._names(game),
        }

    def _names(self, game: ClassGame) -> list[str]:
        """Return who plays alpha and bravo, as pages call them."""
        agent = player_name(self.saved.new.agent)
        return [agent if number is None else self.saved.pupils[number].name for number in game.pupils]

    def pause(self, table: str | None, *, is_paused: bool) -> None:
        """Pause games, or let them go on.

        Args:
            table: table of the game; None for all of them, and those to come.
            is_paused: whether they are paused.
        """
        if table is None:
            self.saved.is_paused = is_paused
        for game in self._games():
            if table in (None, game.table) and not game.has_ended:
                game.is_paused = is_paused
        self.is_changed = True

    def start_next(self) -> None:
        """Let all pupils whose game is over play the next one."""
        for number, pupil in enumerate(self.saved.pupils):
            if not pupil.is_gone and self.seat_record(number)["over"]:
                pupil.is_waiting = True
        self.is_changed = True
        self.seat_if_possible()

    def rename(self, number: int, name: str) -> None:
        """Change what a pupil is called.

        Raises:
            ProtocolError: the name is empty, or somebody else's.
        """
        others = [pupil.name for i, pupil in enumerate(self.saved.pupils) if i != number and not pupil.is_gone]
        self.saved.pupils[number].name = read_name(name, others)
        self.is_changed = True

    def remove(self, number: int) -> None:
        """Remove a pupil, whose secret is void; the partner of the game in progress waits for another one."""
        self._stop_game(number)
        pupil = self.saved.pupils[number]
        pupil.is_gone, pupil.is_waiting, pupil.is_expected = True, False, False
        self.is_changed = True
        self.seat_if_possible()

    def readmit(self, number: int) -> None:
        """Let whoever comes next under the name of a pupil have the pupil's seat: on another device, for instance."""
        self.saved.pupils[number].is_expected = True
        self.is_changed = True

    def reseat(self, number: int, partner: int | None) -> None:
        """Let a pupil play with another one, or with the agent; their games in progress end, and their partners wait.

        Raises:
            ProtocolError: that is the same pupil, or there are too many tables.
        """
        if number == partner:
            raise ProtocolError(
                "bad_message", "partner: nobody plays alone; choose somebody else, or null for the agent"
            )
        for one in (number, partner):
            if one is not None:
                self._stop_game(one)
        self._open_table(number, partner)
        self.seat_if_possible()

    def _stop_game(self, number: int) -> None:
        """End the game in progress of a pupil without a result; both players wait."""
        game = self._game_of(number)
        self.saved.pupils[number].is_waiting = True
        if game is None or game.has_ended:
            return
        game.is_stopped = True
        for other in game.pupils:
            if other is not None:
                self.saved.pupils[other].is_waiting = True

    def results(self, address: str) -> str:
        """Return a row for each game as CSV, with the words of the page: blue is alpha, gold is bravo.

        Args:
            address: address of the server, for links to replays.
        """
        rows = []
        for number, game in enumerate(self._games(), start=1):
            kinds = ("agent" if pupil is None else "pupil" for pupil in game.pupils)
            blue, gold = self._names(game)
            players = (blue, next(kinds), gold, next(kinds))
            winner = "" if not game.is_over else "draw" if game.winner is None else COLORS[game.winner]
            replay = f"{address}replays/{game.table}.jsonl.gz" if game.is_over else ""
            reasons = "ended by the teacher" if game.is_stopped else in_colors(", ".join(game.reasons))
            rows.append(
                (number, *players, *(game.scores or ("", "")), winner, reasons, game.turn, game.is_over, replay)
            )
        return csv_text(_COLUMNS, rows)


class ClassStore(Store[SavedClass, Classroom]):
    """The classes of a server.

    Args:
        tables: opens their tables.
    """

    def __init__(self, tables: TableStore) -> None:
        self._tables = tables
        super().__init__(
            tables.folder / "classes",
            SavedClass,
            lambda name, saved: Classroom(name, saved, self.folder, tables),
            "class",
            MAX_CLASSES,
        )
        listed = {code: {game.table for game in saved.games} for code, saved in self.read_all().items()}
        for table_name, code in tables.of_classes.items():
            if table_name not in listed.get(code, {table_name}):  # the server was killed before its class was saved
                tables.remove(table_name)
        tables.observers.append(self._note_table)
        tables.arrivals.append(self._rule_table)
        for table in tables.items.values():
            self._rule_table(table)

    def _rule_table(self, table: Table) -> None:
        classroom = self.get(table.saved.classroom) if table.saved.classroom else None
        if classroom is not None:
            classroom.rule(table)

    def _note_table(self, table: Table) -> None:
        classroom = self.get(table.saved.classroom)
        if classroom is not None:
            classroom.note_table(table)

    def get(self, name: str) -> Classroom | None:
        """Return a class by its code, however its letters are written."""
        return super().get(name) or super().get(name.strip().upper())

    def keep(self, item: Classroom) -> None:
        """Keep a class in memory, which somebody uses now."""
        super().keep(item)
        item.last_used = time.monotonic()

    def unload_idle(self, seconds: float) -> None:
        """Remove classes from memory that nobody has used for a time; who asks for one again finds it."""
        for item in list(self.items.values()):
            if time.monotonic() - item.last_used > seconds and not item.has_notes:
                del self.items[item.id]

    def make_class(self, new: NewClass, opener: str = "") -> tuple[Classroom, str]:
        """Return a new class, whose game has been checked, with the teacher's secret.

        Raises:
            ProtocolError: the agent is wrong.
        """
        make_seat_agent(new.agent, self._tables.own_agents)
        secret = secrets.token_urlsafe(24)
        saved = SavedClass(new=new, teacher_hash=hash_secret(secret), opener=opener)
        code = "".join(secrets.choice(_LETTERS) for _ in range(_CODE_LENGTH))
        while self.get(code) is not None:
            code = "".join(secrets.choice(_LETTERS) for _ in range(_CODE_LENGTH))
        return Classroom(code, saved, self.folder, self._tables), secret

    def expire(self, days: float) -> None:
        """Remove classes with their games, and so the names of their pupils, after so many days without a new game."""

        def forget(saved: SavedClass) -> None:
            for game in saved.games:
                for ending in (".json", ".jsonl.gz", ".damaged.gz"):
                    (self._tables.folder / f"{game.table}{ending}").unlink(missing_ok=True)

        self.remove_older(days, forget)


class Pause(SecretBody):
    """Whether the clocks stand still, of a table or of all."""

    paused: bool
    table: Annotated[str, StringConstraints(max_length=40)] | None = None


class PupilBody(SecretBody):
    """A pupil, by the name in the class."""

    pupil: _Name


class NewName(PupilBody):
    """What a pupil is called from now on."""

    name: Annotated[str, StringConstraints(max_length=200)]


class NewPartner(PupilBody):
    """With whom a pupil plays from now on; null: with the agent."""

    partner: _Name | None


_Asked = TypeVar("_Asked", bound=SecretBody)
T = TypeVar("T")


class ClassRoutes:
    """The routes of classes.

    Args:
        tables: opens their tables.
        refresh: lets the clients of a table know of a change.
        limits: what clients may ask for.
        threads: reads scenarios and draws QR codes.
        host: address that the server listens on.
    """

    def __init__(
        self, tables: TableStore, refresh: Callable[[str], None], limits: ClientLimits, threads: FairThreads, host: str
    ) -> None:
        self.classes, self._tables, self._refresh = ClassStore(tables), tables, refresh
        self._limits, self._threads, self._host = limits, threads, host

    @property
    def routes(self) -> list[Route]:
        """The routes."""
        base = "/api/classes/{name}"
        return [
            Route("/class/{name}", self._redirect, methods=["GET"]),
            Route("/api/classes", self._open, methods=["POST"]),
            Route(base, self._show, methods=["GET"]),
            Route(f"{base}/qr.svg", self._qr_code, methods=["GET"]),
            Route(f"{base}/pupils", self._arrive, methods=["POST"]),
            Route(f"{base}/place", self._seat_of, methods=["POST"]),
            Route(f"{base}/again", self._again, methods=["POST"]),
            Route(f"{base}/overview", self._overview, methods=["POST"]),
            Route(f"{base}/agent", self._seat_with_agent, methods=["POST"]),
            Route(f"{base}/next", self._start_next, methods=["POST"]),
            Route(f"{base}/pause", self._pause, methods=["POST"]),
            Route(f"{base}/rename", self._rename, methods=["POST"]),
            Route(f"{base}/remove", self._remove, methods=["POST"]),
            Route(f"{base}/readmit", self._readmit, methods=["POST"]),
            Route(f"{base}/reseat", self._reseat, methods=["POST"]),
            Route(f"{base}/results", self._results, methods=["POST"]),
        ]

    async def _redirect(self, request: Request) -> Response:
        """Lead from the short address of a class to its page, which says so if there is none."""
        name = request.path_params["name"]
        return RedirectResponse(f"/static/class.html#{urlencode({'class': name})}")

    async def _show(self, request: Request) -> Response:
        """Say what a class is called whose code somebody has."""
        self._limits.take("requests", client_site(request))
        one = self.classes.find(request.path_params["name"])
        return JSONResponse({"class": one.id, "title": one.title})

    def _address(self, request: Request, one: Classroom) -> str | None:
        """Return the address of a class that others can open; None if only this computer can open it."""
        base = others_base(request, self._host)
        return None if base is None else f"{base}class/{one.id}"

    async def _qr_code(self, request: Request) -> Response:
        """Draw the address of a class as a QR code."""
        site = client_site(request)
        self._limits.take("views", site)
        address = self._address(request, self.classes.find(request.path_params["name"]))
        if address is None:
            raise ProtocolError("no_table", "only this computer can open the class: there is no address for others")
        if len(address) > _MAX_ADDRESS:
            raise ProtocolError("bad_message", f"an address of more than {_MAX_ADDRESS} characters makes no QR code")

        def draw() -> bytes:
            picture = io.BytesIO()
            segno.make_qr(address).save(picture, kind="svg", omitsize=True, light="#fff")
            return picture.getvalue()

        return Response(await self._threads.run(site, draw), media_type="image/svg+xml")

    async def _open(self, request: Request) -> Response:
        new, site = await read_body(request, NewClass), client_site(request)
        self._limits.take("requests", site)
        self._limits.take("openings", site)
        config = await self._threads.run(site, lambda: self._tables.load_setup(new))
        opened, secret = self.classes.make_class(new, site)
        opened.config = config
        await self._threads.run(site, opened.write)
        self.classes.keep(opened)
        return JSONResponse({"class": opened.id, "secret": secret}, 201)

    # Pupils

    async def _arrive(self, request: Request) -> Response:
        new, site = await read_body(request, Arrival), client_site(request)
        self._limits.take("requests", site)
        one = self.classes.find(request.path_params["name"])
        return JSONResponse({"secret": await self._change(one, lambda: one.add_pupil(new.name, new.secret))}, 201)

    async def _change(self, one: Classroom, action: Callable[[], T]) -> T:
        """Change a class, or look at it. Nobody sees what is not saved yet, and what cannot be saved has not happened.

        Raises:
            OSError: it cannot be saved.
        """
        if "config" not in vars(one):  # reading it may take a moment
            await self._threads.run(one.saved.opener, lambda: one.config)
        async with one.changing:
            try:
                found = action()
                if one.is_changed:
                    await self._threads.run(one.saved.opener, one.write)
            except BaseException:
                one.undo()
                raise
            finally:
                for table in one.rule_all():
                    self._refresh(table)
            return found

    async def save_notes(self) -> None:
        """Save how the games of tables stand that have left memory."""
        for one in [one for one in self.classes.items.values() if one.has_notes]:
            with suppress(ProtocolError, OSError):  # a full disk
                await self._change(one, partial(setattr, one, "is_changed", True))

    async def _pupil(self, request: Request) -> tuple[Classroom, str]:
        """Return the class of a request, and the secret of the pupil who asks."""
        body = await read_body(request, SecretBody)
        with self._limits.owner(request, body.secret):
            one = self.classes.find(request.path_params["name"])
            one.pupil_of(body.secret)
        return one, body.secret

    async def _seat_of(self, request: Request) -> Response:
        one, secret = await self._pupil(request)

        def look() -> dict[str, Any]:
            number = one.pupil_of(secret)
            if one.saved.pupils[number].is_waiting:  # a table may have become free
                one.seat_if_possible()
            return one.seat_record(number)

        return JSONResponse(await self._change(one, look))

    async def _again(self, request: Request) -> Response:
        one, secret = await self._pupil(request)

        def play_again() -> dict[str, Any]:
            number = one.pupil_of(secret)
            one.play_again(number)
            return one.seat_record(number)

        return JSONResponse(await self._change(one, play_again))

    # The teacher

    async def _taught(self, request: Request, model: type[_Asked]) -> tuple[Classroom, _Asked]:
        """Return the class of a request by its teacher, and what is asked."""
        asked = await read_body(request, model)
        with self._limits.owner(request, asked.secret):
            one = self.classes.find(request.path_params["name"])
            one.check_teacher(asked.secret)
        return one, asked

    async def _teach(self, request: Request, one: Classroom, action: Callable[[], None]) -> Response:
        """Do what a teacher asks for; return what the teacher sees then."""

        def act() -> dict[str, Any]:
            action()
            return one.overview()

        return JSONResponse({**await self._change(one, act), "address": self._address(request, one)})

    async def _overview(self, request: Request) -> Response:
        one, _ = await self._taught(request, SecretBody)
        return await self._teach(request, one, lambda: None)

    async def _seat_with_agent(self, request: Request) -> Response:
        one, _ = await self._taught(request, SecretBody)
        return await self._teach(request, one, lambda: one.seat_pupils(with_agent=True))

    async def _start_next(self, request: Request) -> Response:
        one, _ = await self._taught(request, SecretBody)
        return await self._teach(request, one, one.start_next)

    async def _pause(self, request: Request) -> Response:
        one, asked = await self._taught(request, Pause)
        return await self._teach(request, one, lambda: one.pause(asked.table, is_paused=asked.paused))

    async def _rename(self, request: Request) -> Response:
        one, asked = await self._taught(request, NewName)
        return await self._teach(request, one, lambda: one.rename(one.named(asked.pupil), asked.name))

    async def _remove(self, request: Request) -> Response:
        one, asked = await self._taught(request, PupilBody)
        return await self._teach(request, one, lambda: one.remove(one.named(asked.pupil)))

    async def _readmit(self, request: Request) -> Response:
        one, asked = await self._taught(request, PupilBody)
        return await self._teach(request, one, lambda: one.readmit(one.named(asked.pupil)))

    async def _reseat(self, request: Request) -> Response:
        one, asked = await self._taught(request, NewPartner)

        def reseat() -> None:
            one.reseat(one.named(asked.pupil), None if asked.partner is None else one.named(asked.partner))

        return await self._teach(request, one, reseat)

    async def _results(self, request: Request) -> Response:
        one, _ = await self._taught(request, SecretBody)
        text = await self._change(one, lambda: one.results(str(request.base_url)))
        return Response(text, media_type="text/csv; charset=utf-8")
