"""Classes: a teacher opens one, pupils come by its link and are seated, in pairs or against an agent."""

import asyncio
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from geo_patrol.server.protocol import ProtocolError
from geo_patrol.server.requests import Body, MessageLimit, SecretBody, csv_text, read_body, read_name
from geo_patrol.server.store import Store, Stored
from geo_patrol.server.table_server import TableServer
from geo_patrol.server.tables import NewTable, Seat, Table, TableStore, accepts, hash_secret, make_seat_agent
from geo_patrol.sides import SIDES

MAX_PUPILS = 60
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


class Pupil(BaseModel):
    """Somebody who has come to a class; the secret only as a hash."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: _Name
    secret_hash: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    is_waiting: bool = True


class ClassGame(BaseModel):
    """A game of a class: its table, the number of the pupil on each side, None for the agent, and whether it is paused."""

    model_config = ConfigDict(extra="forbid", strict=True)

    table: str
    alpha: int | None
    bravo: int | None
    is_paused: bool = False

    @property
    def pupils(self) -> tuple[int | None, int | None]:
        """The numbers of the pupils of alpha and bravo."""
        return self.alpha, self.bravo


class SavedClass(BaseModel):
    """A class as it is saved."""

    model_config = ConfigDict(extra="forbid", strict=True)

    version: Literal[1] = 1
    new: NewClass
    teacher_hash: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    pupils: Annotated[list[Pupil], Field(max_length=MAX_PUPILS)] = []
    games: Annotated[list[ClassGame], Field(max_length=MAX_GAMES)] = []
    is_paused: bool = False


MAX_CLASSES = 50
_REQUESTS = (100.0, 300)
"""A second, and at once, of a class: sixty pupils ask for their tables every two seconds."""
_COLUMNS = (
    *("game", "alpha", "alpha_is", "bravo", "bravo_is", "alpha_score", "bravo_score"),
    *("winner", "reasons", "turns", "over", "replay"),
)


class Classroom(Stored[SavedClass]):
    """A class with its pupils and their games.

    Args:
        name: its identifier, which is in the link for everybody.
        saved: its setup, pupils and games.
        folder: folder of its file.
        store: opens its tables.
    """

    def __init__(self, name: str, saved: SavedClass, folder: Path, store: TableStore) -> None:
        super().__init__(name, saved, folder)
        self._store = store
        self.limit = MessageLimit(*_REQUESTS)
        for game, table in self._tables():
            table.is_paused = game.is_paused and not table.is_over

    @property
    def title(self) -> str:
        """What the teacher calls it."""
        return self.saved.new.title or "A class"

    def _tables(self) -> list[tuple[ClassGame, Table]]:
        """Return its games with their tables, those that could not be restored left out."""
        found = [(game, self._store.get(game.table)) for game in self.saved.games]
        return [(game, table) for game, table in found if table is not None]

    @property
    def tables(self) -> list[Table]:
        """The tables of its games, those that could not be restored left out."""
        return [table for _, table in self._tables()]

    def check_teacher(self, secret: str) -> None:
        """Raise ProtocolError if a secret is not the teacher's."""
        if not accepts(self.saved.teacher_hash, secret):
            raise ProtocolError("wrong_secret", "this secret is not the teacher's")

    # Pupils

    def add_pupil(self, name: str) -> str:
        """Let somebody in; return the secret, which is that of all seats that the pupil gets.

        Raises:
            ProtocolError: the class is full, or has somebody of that name.
        """
        name = read_name(name, (pupil.name for pupil in self.saved.pupils))
        if len(self.saved.pupils) >= MAX_PUPILS:
            raise ProtocolError("too_many", f"a class has at most {MAX_PUPILS} pupils")
        secret = secrets.token_urlsafe(24)
        self.saved.pupils.append(Pupil(name=name, secret_hash=hash_secret(secret)))
        self.seat_if_possible()
        return secret

    def pupil_of(self, secret: str) -> int:
        """Return the number of the pupil with a secret.

        Raises:
            ProtocolError: nobody has it.
        """
        found = [i for i, pupil in enumerate(self.saved.pupils) if accepts(pupil.secret_hash, secret)]
        if not found:
            raise ProtocolError("wrong_secret", "this secret is nobody's in the class")
        return found[0]

    def seat_record(self, number: int) -> dict[str, Any]:
        """Return where a pupil is: name, title, table with the side, None while there is none, whether it is over."""
        game = next((game for game in reversed(self.saved.games) if number in (game.alpha, game.bravo)), None)
        table = None if game is None else self._store.get(game.table)
        return {
            "title": self.title,
            "name": self.saved.pupils[number].name,
            "waiting": self.saved.pupils[number].is_waiting,
            "paused": self.saved.is_paused,
            "table": None if table is None else table.id,
            "over": table is None or table.is_over,
        }

    def play_again(self, number: int) -> None:
        """Let a pupil whose game is over wait for the next one.

        Raises:
            ProtocolError: the game is not over.
        """
        if not self.seat_record(number)["over"]:
            raise ProtocolError("no_seat", "your game is not over")
        self.saved.pupils[number].is_waiting = True
        self.seat_if_possible()

    def seat_if_possible(self) -> None:
        """Seat those who wait; while there are too many tables, they go on waiting."""
        with suppress(ProtocolError):
            self.seat_pupils()
        self.save()

    def seat_pupils(self, *, with_agent: bool = False) -> None:
        """Open tables for those who wait, in pairs, in the order in which they came.

        Args:
            with_agent: whether the one without a partner plays the agent.

        Raises:
            ProtocolError: there are too many tables.
        """
        waiting = [i for i, pupil in enumerate(self.saved.pupils) if pupil.is_waiting]
        if self.saved.new.pairs:
            while len(waiting) > 1:
                self._open_table(waiting.pop(0), waiting.pop(0))
        if with_agent or not self.saved.new.pairs:
            for number in waiting:
                self._open_table(number, None)

    def _open_table(self, first: int, second: int | None) -> None:
        """Open a table; whoever has played alpha less often than the other does now."""
        if len(self.saved.games) >= MAX_GAMES:
            raise ProtocolError("too_many", f"a class has at most {MAX_GAMES} games")
        is_swapped = self._alpha_games(first) > (self._alpha_games(second) if second is not None else 0)
        alpha, bravo = (second, first) if is_swapped else (first, second)
        seats = {side: self._make_seat(number) for side, number in zip(SIDES, (alpha, bravo), strict=True)}
        new = NewTable.model_validate(self.saved.new.model_dump(exclude={"agent", "pairs"}))
        table, _ = self._store.open_table(new, seats)
        table.is_paused = self.saved.is_paused
        paused = self.saved.is_paused
        self.saved.games.append(ClassGame(table=table.id, alpha=alpha, bravo=bravo, is_paused=paused))
        for number in (first, second):
            if number is not None:
                self.saved.pupils[number].is_waiting = False

    def _alpha_games(self, number: int) -> int:
        """Return how many more games a pupil has played as alpha than as bravo."""
        return sum((game.alpha == number) - (game.bravo == number) for game in self.saved.games)

    def _make_seat(self, number: int | None) -> Seat:
        if number is None:
            return Seat(kind="agent", name=self.saved.new.agent)
        pupil = self.saved.pupils[number]
        return Seat(kind="taken", name=pupil.name, secret_hash=pupil.secret_hash)

    # The teacher

    def overview(self) -> dict[str, Any]:
        """Return what the teacher sees: who waits, and all tables, the latest first."""
        return {
            "title": self.title,
            "paused": self.saved.is_paused,
            "pairs": self.saved.new.pairs,
            "agent": self.saved.new.agent,
            "pupils": [pupil.name for pupil in self.saved.pupils],
            "waiting": [pupil.name for pupil in self.saved.pupils if pupil.is_waiting],
            "tables": [
                _table_record(table) | {"names": self._names(game, table)} for game, table in reversed(self._tables())
            ],
        }

    def _names(self, game: ClassGame, table: Table) -> list[str]:
        """Return who plays alpha and bravo: pupils by their names in the class, whatever they call themselves at the table."""
        seats = zip(game.pupils, (table.names.alpha, table.names.bravo), strict=True)
        return [agent if number is None else self.saved.pupils[number].name for number, agent in seats]

    def pause(self, table: str | None, *, is_paused: bool) -> list[Table]:
        """Take down that games are paused or go on; return the tables for which that is new.

        Args:
            table: table of the game; None for all of them, and those to come.
            is_paused: whether they are paused.
        """
        if table is None:
            self.saved.is_paused = is_paused
        changed = [(game, one) for game, one in self._tables() if table in (None, one.id) and not one.is_over]
        for game, _ in changed:
            game.is_paused = is_paused
        self.save()
        return [one for _, one in changed]

    def results(self, address: str) -> str:
        """Return a row for each game as CSV.

        Args:
            address: address of the server, for links to replays.
        """
        rows = []
        for number, game in enumerate(self.saved.games, start=1):
            if (table := self._store.get(game.table)) is not None:
                kinds = ("agent" if pupil is None else "pupil" for pupil in game.pupils)
                alpha, bravo = self._names(game, table)
                players = (alpha, next(kinds), bravo, next(kinds))
                winner = "" if not table.is_over else table.winner or "draw"
                replay = f"{address}replays/{table.id}.jsonl.gz" if table.is_over else ""
                reasons = ", ".join(map(str, table.game.reasons))
                scores = table.game.scores.values()
                rows.append((number, *players, *scores, winner, reasons, table.game.turn, table.is_over, replay))
        return csv_text(_COLUMNS, rows)


def _table_record(table: Table) -> dict[str, Any]:
    """Return what the teacher sees of a table."""
    missing = [side for side in table.people if side not in table.submitted]
    return {
        "table": table.id,
        "turn": table.game.turn,
        "phase": table.game.phase,
        "score": list(table.game.scores.values()),
        "over": table.is_over,
        "winner": table.winner,
        "paused": table.is_paused,
        "waiting_for": [] if table.is_over else missing,
        "away": [] if table.is_over else [side for side in table.people if side not in table.connected],
    }


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
        )
        for name, saved in self.read_all().items():
            self.restore(name, saved)

    @property
    def table_names(self) -> set[str]:
        """The identifiers of all tables of classes."""
        return {game.table for one in self.items.values() for game in one.saved.games}

    def open_class(self, new: NewClass) -> tuple[Classroom, str]:
        """Open a class; return it with the teacher's secret.

        Raises:
            ProtocolError: there are too many, or the agent or the game is wrong.
            ConfigError: the scenario is wrong.
        """
        if len(self.items) >= MAX_CLASSES:
            raise ProtocolError("too_many", f"there are {MAX_CLASSES} classes: remove the files of old ones")
        self._tables.load_setup(new)
        make_seat_agent(new.agent, self._tables.own_agents)
        secret = secrets.token_urlsafe(24)
        saved = SavedClass(new=new, teacher_hash=hash_secret(secret))
        opened = Classroom(secrets.token_urlsafe(8), saved, self.folder, self._tables)
        self.add(opened)
        return opened, secret


_OPENINGS = (1.0, 10)
"""A second, and at once, of new classes."""


class Arrival(Body):
    """What a pupil says on coming."""

    name: Annotated[str, StringConstraints(max_length=200)]


class Pause(SecretBody):
    """Whether the clocks stand still, of a table or of all."""

    paused: bool
    table: Annotated[str, StringConstraints(max_length=40)] | None = None


class ClassRoutes:
    """The routes of classes.

    Args:
        tables: opens their tables.
        server_of: returns the server of a table.
        check_opening: counts a class that an address opens, and refuses one too many.
    """

    def __init__(
        self, tables: TableStore, server_of: Callable[[str], TableServer], check_opening: Callable[[Request], None]
    ) -> None:
        self.classes, self._server_of, self._check_opening = ClassStore(tables), server_of, check_opening
        self._limit = MessageLimit(*_OPENINGS)

    @property
    def routes(self) -> list[Route]:
        """The routes."""
        base = "/api/classes/{name}"
        return [
            Route("/api/classes", self._open, methods=["POST"]),
            Route(f"{base}/pupils", self._arrive, methods=["POST"]),
            Route(f"{base}/place", self._seat_of, methods=["POST"]),
            Route(f"{base}/again", self._again, methods=["POST"]),
            Route(f"{base}/overview", self._overview, methods=["POST"]),
            Route(f"{base}/agent", self._seat_with_agent, methods=["POST"]),
            Route(f"{base}/pause", self._pause, methods=["POST"]),
            Route(f"{base}/results", self._results, methods=["POST"]),
        ]

    def _find(self, request: Request) -> Classroom:
        one = self.classes.find(request.path_params["name"])
        one.limit.take(asyncio.get_running_loop().time())
        return one

    def _start(self, one: Classroom) -> None:
        """Let the tables that were opened be played."""
        for table in one.tables:
            self._server_of(table.id)

    async def _open(self, request: Request) -> Response:
        new = await read_body(request, NewClass)
        self._check_opening(request)
        self._limit.take(asyncio.get_running_loop().time())
        opened, secret = self.classes.open_class(new)
        return JSONResponse({"class": opened.id, "secret": secret}, 201)

    # Pupils

    async def _arrive(self, request: Request) -> Response:
        one = self._find(request)
        secret = one.add_pupil((await read_body(request, Arrival)).name)
        self._start(one)
        return JSONResponse({"secret": secret}, 201)

    async def _seat_of(self, request: Request) -> Response:
        one = self._find(request)
        number = one.pupil_of((await read_body(request, SecretBody)).secret)
        if one.saved.pupils[number].is_waiting:  # a table may have become free
            one.seat_if_possible()
            self._start(one)
        return JSONResponse(one.seat_record(number))

    async def _again(self, request: Request) -> Response:
        one = self._find(request)
        number = one.pupil_of((await read_body(request, SecretBody)).secret)
        one.play_again(number)
        self._start(one)
        return JSONResponse(one.seat_record(number))

    # The teacher

    async def _taught(self, request: Request) -> Classroom:
        """Return the class of a request by its teacher."""
        one = self._find(request)
        one.check_teacher((await read_body(request, SecretBody)).secret)
        return one

    async def _overview(self, request: Request) -> Response:
        return JSONResponse((await self._taught(request)).overview())

    async def _seat_with_agent(self, request: Request) -> Response:
        one = await self._taught(request)
        try:
            one.seat_pupils(with_agent=True)
        finally:  # also those that were opened before there were too many
            one.save()
            self._start(one)
        return JSONResponse(one.overview())

    async def _pause(self, request: Request) -> Response:
        one, asked = self._find(request), await read_body(request, Pause)
        one.check_teacher(asked.secret)
        for table in one.pause(asked.table, is_paused=asked.paused):
            self._server_of(table.id).pause(is_paused=asked.paused)
        return JSONResponse(one.overview())

    async def _results(self, request: Request) -> Response:
        one = await self._taught(request)
        return Response(one.results(str(request.base_url)), media_type="text/csv; charset=utf-8")
