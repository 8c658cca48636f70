"""The web server: pages, tables by HTTP, games by WebSocket."""

import asyncio
import logging
import math
import time
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import urlencode

from pydantic import BaseModel, Field, StringConstraints
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from geo_patrol.agents.levels import rate
from geo_patrol.base.errors import AgentError, GeoPatrolError, show
from geo_patrol.base.sides import SIDES, Side
from geo_patrol.config.schema import FaultsError
from geo_patrol.replays import read_replay
from geo_patrol.web import protocol, requests
from geo_patrol.web.classes import ClassRoutes
from geo_patrol.web.flights import FlightRoutes
from geo_patrol.web.hints import HintRoutes
from geo_patrol.web.pages import static_routes
from geo_patrol.web.protocol import (
    MAX_MESSAGE_BYTES,
    Both,
    BothSeats,
    Hello,
    ProtocolError,
    SeatState,
    TableList,
    TableState,
    read_client_message,
)
from geo_patrol.web.replay_page import replay_page
from geo_patrol.web.scenarios import ScenarioEdit, edit_scenario
from geo_patrol.web.store import not_saved
from geo_patrol.web.table_server import Connection, TableServer
from geo_patrol.web.tables import NewTable, Table, TableStore

_PHASE_THREADS = 4
"""For phases, which wait for the disk rather than for the interpreter."""
_SLOW_THREADS = 4
"""For searching agents, hints, replays as pages and whatever else takes longer than a phase."""
_FILE_THREADS = 2
"""For scenarios, and games and classes that come back from their files: they never wait for a search."""
_IDLE_SECONDS = 300.0
"""After which a game that nobody attends leaves memory and the list of games."""
_DAY_SECONDS = 86_400.0
_HELLO_SECONDS = 10.0
_MESSAGES = (50.0, 200)
"""A second, and at once, of a connection."""
_LOG = logging.getLogger("geo_patrol.web")
T = TypeVar("T")
_STATUS = {"no_table": 404, "wrong_secret": 403, "no_seat": 409, "too_many": 429, "not_saved": 507}


class OwnGame(requests.SecretBody):
    """A game and the secret of a seat of it."""

    table: Annotated[str, StringConstraints(max_length=40)]


class OwnGames(requests.Body):
    """Games whose seats somebody has."""

    games: Annotated[list[OwnGame], Field(max_length=50)]


class Practice(requests.Body):
    """From which position of a game somebody wants to play on, as which side, and against which agent."""

    index: Annotated[int, Field(ge=0)]
    side: Literal["alpha", "bravo"]
    agent: Annotated[str, StringConstraints(min_length=1, max_length=100)]


class Results(requests.Body):
    """Results of a player: the rating of each opponent, and 1 for a game won, 0.5 for a draw, 0 for one lost."""

    results: Annotated[
        list[tuple[Annotated[float, Field(ge=-5000, le=5000)], Annotated[float, Field(ge=0, le=1)]]],
        Field(max_length=1000),
    ]


class Server:
    """The state behind the routes.

    Args:
        tables: the tables.
        hosts: the names under which the server is reached, as ``read_host`` returns them; "*" for any.
        max_connections: maximum number of connections of an address at the same time.
        host: address that the server listens on.
        keep_days: after how many days without a change classes are removed.
        later: what is compiled while games are played already, in order. No game that hides enemies begins before: it would
            compile for half a minute in a thread, or the event loop, that others wait for.
        is_own: whether it is somebody's own page: see ``TableServer``.
    """

    def __init__(
        self,
        tables: TableStore,
        hosts: tuple[str, ...] = ("localhost", "127.0.0.1", "testserver"),
        max_connections: int = 500,
        host: str = "127.0.0.1",
        keep_days: float = 180.0,
        later: Sequence[Callable[[], object]] = (),
        *,
        is_own: bool = False,
    ) -> None:
        self._is_own = is_own
        self.tables, self._hosts, self._host, self._keep_days = tables, hosts, host, keep_days
        self._later = later
        tables.can_hide_enemies = not later
        self._servers: dict[str, TableServer] = {}
        self._loading: dict[tuple[str, str], asyncio.Task[Table | None]] = {}
        self._limits = requests.ClientLimits(max_connections, max(tables.max_tables // 4, 1))
        # What takes milliseconds never waits for what takes seconds. One quick thread: they would only wait for the
        # interpreter.
        self._quick = requests.FairThreads("quick")
        self._phases = requests.FairThreads("phases", _PHASE_THREADS)
        self._slow = requests.FairThreads("slow", _SLOW_THREADS, low_priority=True)
        self._files = requests.FairThreads("files", _FILE_THREADS, low_priority=True)
        self._hints = HintRoutes(tables, self._look_up, self._write, self._limits, self._quick, self._slow)
        self._classes = ClassRoutes(tables, self._refresh, self._limits, self._files, host)
        self._flights = FlightRoutes(self._limits, self._quick, self._slow)
        tables.observers.append(self._forget)

    @property
    def damaged(self) -> list[str]:
        """What is wrong with tables and classes that cannot be restored."""
        return [*self.tables.damaged.values(), *self._classes.classes.damaged.values()]

    def app(self) -> Starlette:
        """Return the application."""
        return Starlette(
            routes=[
                Route("/", _start_page),
                Route("/api/ready", self._ready),
                Route("/table/{table}", self._redirect_to_table),
                Route("/api/tables", self._list_tables, methods=["GET"]),
                Route("/api/tables", self._open_table, methods=["POST"]),
                Route("/api/games", self._own_games, methods=["POST"]),
                Route("/api/rating", self._rate, methods=["POST"]),
                Route("/api/tables/{table}", self._show_table, methods=["GET"]),
                Route("/api/tables/{table}/practice", self._practise, methods=["POST"]),
                Route("/api/tables/{table}/seats/{side}", self._take_seat, methods=["POST"]),
                Route("/replays/{table}.jsonl.gz", self._replay_file),
                Route("/replays/{table}.html", self._replay_document),
                *self._hints.routes,
                *self._classes.routes,
                *self._flights.routes,
                Route("/api/scenario", self._edit_scenario, methods=["POST"]),
                WebSocketRoute("/ws/{table}", self._socket),
                *static_routes(),
            ],
            middleware=[
                Middleware(requests.SafeHeaders),
                Middleware(requests.TrustedHosts, hosts=self._hosts),
            ],
            exception_handlers={GeoPatrolError: self._refused, OSError: self._refused},
            lifespan=self._lifespan,
        )

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        tasks = asyncio.create_task(self._clear_regularly()), asyncio.create_task(self._compile_later())
        yield
        for task in tasks:
            task.cancel()
        self._hints.close()
        for server in self._servers.values():
            await server.close()
        await self._classes.save_notes()
        self._phases.close()
        self._quick.close()
        self._slow.close()
        self._files.close()
        self.tables.close()

    async def _compile_later(self) -> None:
        thread = ThreadPoolExecutor(1, "compiling")
        try:
            for prepare in self._later:
                await asyncio.get_running_loop().run_in_executor(thread, prepare)
        except Exception:  # which whoever needs it will meet again
            _LOG.exception("not compiled ahead")
        finally:
            thread.shutdown(wait=False)
        self.tables.can_hide_enemies = True

    async def _clear_regularly(self) -> None:
        last = -math.inf
        while True:
            if time.monotonic() - last > _DAY_SECONDS:
                last = time.monotonic()
                self._classes.classes.expire(self._keep_days)
            await asyncio.sleep(_IDLE_SECONDS / 10)
            await self.unload()
            await self._classes.save_notes()

    async def unload(self, idle_seconds: float = _IDLE_SECONDS) -> None:
        """Remove games from memory that are over but for the latest, and games and classes to which nobody has come lately.

        Whoever comes again finds them: they are restored from their files.
        """
        for table in self.tables.idle(idle_seconds):
            with suppress(ProtocolError):  # too much waits for the threads
                await self._write(table, table.put_away)
        self.tables.unload_idle(idle_seconds)
        self._classes.classes.unload_idle(idle_seconds)

    def _forget(self, table: Table) -> None:
        """End the task of a table that leaves memory."""
        server = self._servers.pop(table.id, None)
        if server is not None:
            server.cancel()

    async def _find(self, name: str, connection: HTTPConnection) -> Table:
        """Return a table, which is kept in memory from now on.

        Raises:
            ProtocolError: there is none of that name, or it is damaged, or there are too many.
        """
        site = requests.client_site(connection)
        if name not in self.tables.items:
            self._limits.take("views", site)
        while name not in self.tables.items:
            table = await self._look_up(name, site)
            if table.is_current:  # otherwise it was changed while it was read
                self.tables.keep(table)
        return self.tables.items[name]

    async def _look_up(self, name: str, site: str) -> Table:
        """Return a table to read: the one in memory, or else what its files say. It is not kept.

        Restoring one from its files happens in a thread, because it may take a second, when it is the turn of whoever asks.

        Raises:
            ProtocolError: there is none of that name, or it is damaged.
        """
        table: Table | None = self.tables.items.get(name)
        if table is not None:
            return table
        if (name, site) not in self._loading:
            load = self._files.run(site, partial(self.tables.load, name))
            self._loading[name, site] = task = asyncio.create_task(load)
            task.add_done_callback(partial(self._note_loaded, (name, site)))
        table = await asyncio.shield(self._loading[name, site])
        table = self.tables.items.get(name) or table  # which somebody else has opened meanwhile
        if table is None:
            raise self.tables.missing(name)
        for arrival in self.tables.arrivals:  # its file may be behind what its class says
            arrival(table)
        return table

    def _note_loaded(self, key: tuple[str, str], task: "asyncio.Task[Table | None]") -> None:
        del self._loading[key]
        if not task.cancelled():
            task.exception()  # seen, although whoever asked may have gone

    def _server_of(self, table: Table) -> TableServer:
        if table.id not in self._servers:
            threads = self._slow if table.is_slow else self._phases
            run = partial(threads.run, table.saved.opener or table.id)
            draw = partial(self._quick.run, f"drawing {table.id}")
            write = partial(self._files.run, table.id)
            self._servers[table.id] = TableServer(table, run, draw, write, is_own=self._is_own)
        return self._servers[table.id]

    async def _write(self, table: Table, action: Callable[[], T]) -> T:
        """Do what is written to a table's file, after what is being done."""
        async with table.changing():
            return await self._files.run(table.id, action)

    def _refresh(self, name: str) -> None:
        """Let the clients of a table know of a change."""
        if name in self._servers:
            self._servers[name].refresh()

    async def _ready(self, request: Request) -> Response:
        """Say that games can be played, and by which address by ``others``; see ``LocalPage``, which prepares games."""
        others = requests.others_base(request, self._host)
        return JSONResponse({"ready": True, "page": None, "failure": None, "others": others, "offer": None})

    # Tables

    async def _list_tables(self, request: Request) -> Response:
        self._limits.take("views", requests.client_site(request))
        listed = [_state(table) for table in self.tables.items.values() if not table.saved.classroom]
        return _json(TableList(tables=listed))  # a class has a page of its own

    async def _redirect_to_table(self, request: Request) -> Response:
        """Lead from a short address to the page on which a table is watched, or its game is looked at when it is over."""
        name = request.path_params["table"]
        table = self.tables.items.get(name)
        saved = self.tables.read(name) if table is None else table.saved
        page = "after" if saved is not None and saved.is_over else "table"
        return RedirectResponse(f"/static/{page}.html#{urlencode({'table': name})}")

    async def _show_table(self, request: Request) -> Response:
        return _json(_state(await self._find(request.path_params["table"], request)))

    async def _open_table(self, request: Request) -> Response:
        new, site = await requests.read_body(request, NewTable), requests.client_site(request)
        self._limits.take("requests", site)
        self._limits.take("openings", site)
        self.tables.make_room(site)

        def make() -> tuple[Table, dict[Side, str]]:
            made = self.tables.make_table(new, opener=site)
            made[0].write()
            return made

        table, secrets = await self._files.run(site, make)
        self.tables.keep_new(table)
        return JSONResponse({"table": table.id, "secrets": secrets}, 201)

    async def _take_seat(self, request: Request) -> Response:
        self._check_write(request)
        side = request.path_params["side"]
        if side not in SIDES:
            raise ProtocolError("bad_message", f"side must be alpha or bravo, got {show(side)}")
        table = await self._find(request.path_params["table"], request)
        secret = await self._write(table, partial(table.take_seat, side))
        self._refresh(table.id)
        return JSONResponse({"table": table.id, "side": side, "secret": secret}, 201)

    async def _own_games(self, request: Request) -> Response:
        """Say how games stand whose seats somebody has; None for those that are gone, or whose seat is somebody else's."""
        self._check_write(request)
        asked = await requests.read_body(request, OwnGames)
        games: list[dict[str, Any] | None] = []
        for one in asked.games:
            try:  # not kept: a list must not push games out of memory
                table = await self._look_up(one.table, requests.client_site(request))
            except ProtocolError as error:
                if error.code != "no_table":
                    raise
                games.append(None)
            else:
                games.append(self._own_game(table, one.secret))
        return JSONResponse({"games": games})

    def _own_game(self, table: Table, secret: str) -> dict[str, Any] | None:
        sides = [side for side in SIDES if table.saved.seat(side).accepts(secret)]
        if not sides:
            return None
        game = table.game
        seen = game if table.is_over else game.seen_by(sides[0])
        return {
            "side": sides[0],
            "title": table.saved.title,
            "names": [table.names.alpha, table.names.bravo],
            "turn": game.turn,
            "phase": game.phase,
            "over": table.is_over,
            "your_turn": not table.is_over and sides[0] not in table.submitted,
            "winner": table.winner,
            "score": [seen.scores[side] for side in SIDES],
            "estimated": bool(seen.out_of_sight),  # the other side's score
            "reasons": [one.model_dump() for one in protocol.end_states(table.reasons)],
            "hinted": any(one.side == sides[0] for one in table.saved.hinted),
            "changed": self.tables.last_change(table.id),
        }

    async def _rate(self, request: Request) -> Response:
        """Return the rating of somebody with results against opponents with known ratings; null without games."""
        self._check_write(request)
        rating = rate((await requests.read_body(request, Results)).results)
        return JSONResponse({"rating": None if rating is None else rating._asdict()})

    async def _practise(self, request: Request) -> Response:
        """Open a table that goes on from a position of a game that is over, for one person against an agent."""
        self._check_write(request)
        asked, site = await requests.read_body(request, Practice), requests.client_site(request)
        self._limits.take("openings", site)
        old = await self._finished(request)
        self.tables.make_room(site)
        names = ["person" if side == asked.side else asked.agent for side in SIDES]

        def make() -> tuple[Table, dict[Side, str]]:
            phases = read_replay(old.replay_path).phases[: asked.index] if asked.index else ()
            past = (one.codes for one in phases)
            return self.tables.make_continued_table(old.config, old.saved.seed, names, past, opener=site)

        table, secrets = await self._slow.run(site, make)
        self.tables.keep_new(table)
        return JSONResponse({"table": table.id, "secrets": secrets}, 201)

    async def _edit_scenario(self, request: Request) -> Response:
        asked, site = await requests.read_body(request, ScenarioEdit), requests.client_site(request)
        self._limits.take("requests", site)
        return JSONResponse(await self._files.run(site, partial(edit_scenario, asked)))

    def _check_write(self, request: Request) -> None:
        self._limits.take("requests", requests.client_site(request))
        requests.check_origin(request.headers.get("origin"), request.headers.get("host"))

    async def _refused(self, request: Request, error: Exception) -> Response:
        if isinstance(error, OSError):
            error = not_saved(error)
        if isinstance(error, AgentError) and not self._is_own:  # it may quote the operator's files
            _LOG.error("%s", error)
            error = ProtocolError("bad_message", "this agent cannot be made now: the operator's messages say why")
        if not isinstance(error, ProtocolError):
            faults = error.faults if isinstance(error, FaultsError) else None
            error = ProtocolError("bad_message", str(error), faults=faults)
        if error.code == "closed":  # its body was cut off, or did not arrive: nothing has counted it yet
            with suppress(ProtocolError):
                self._limits.take("requests", requests.client_site(request))
        wait = {} if error.retry_after is None else {"retry-after": str(max(round(error.retry_after), 1))}
        return JSONResponse(error.message.model_dump(), _STATUS.get(error.code, 400), headers=wait)

    # Files

    async def _finished(self, request: Request) -> Table:
        table = await self._find(request.path_params["table"], request)
        if not table.is_over:
            raise ProtocolError("no_table", "the game is not over: its file would foretell outcomes")
        return table

    async def _replay_file(self, request: Request) -> Response:
        self._limits.take("views", requests.client_site(request))
        path = (await self._finished(request)).replay_path
        if not path.exists():
            raise ProtocolError("no_table", "the game was over before a phase was played")
        return FileResponse(path, media_type="application/gzip", filename=path.name)

    async def _replay_document(self, request: Request) -> Response:
        site = requests.client_site(request)
        self._limits.take("requests", site)
        table = await self._finished(request)
        timeline = table.live.timeline
        timeline.names = (table.names.alpha, table.names.bravo)  # of the people too
        content = await self._slow.run(site, lambda: replay_page([(table.saved.title, timeline)], table.saved.title))
        headers = {"content-disposition": f'attachment; filename="{table.id}.html"'}  # its script is inline
        return Response(content, media_type="text/html", headers=headers)

    # Games

    async def _socket(self, socket: WebSocket) -> None:
        try:
            requests.check_origin(socket.headers.get("origin"), socket.headers.get("host"))
        except ProtocolError:
            await socket.close(1008)
            return
        try:
            await socket.accept()
            with self._limits.connection(requests.client_site(socket)) as messages:
                await self._serve(socket, messages)
        except ProtocolError as error:
            await _refuse(socket, error, 1013)
        except WebSocketDisconnect:
            pass

    async def _serve(self, socket: WebSocket, messages: requests.TokenBucket) -> None:
        """Serve a connection from its first message on."""
        try:
            server, connection = await asyncio.wait_for(self._greet(socket), _HELLO_SECONDS)
        except (ProtocolError, TimeoutError) as error:
            refusal = error if isinstance(error, ProtocolError) else ProtocolError("closed", "no hello in ten seconds")
            await _refuse(socket, refusal, 1008)
            return
        sender = asyncio.create_task(_send_all(socket, connection))
        try:
            assert connection.task is not None
            await asyncio.wait({connection.task, sender}, return_when=asyncio.FIRST_COMPLETED)  # the past comes first
            await _receive_all(socket, server, connection, messages)
        finally:
            server.depart(connection)
            connection.send(None)
            sender.cancel()
            with suppress(asyncio.CancelledError, WebSocketDisconnect, RuntimeError):
                await sender

    async def _greet(self, socket: WebSocket) -> tuple[TableServer, Connection]:
        """Receive the first message, and connect the client to its table."""
        hello = read_client_message(await _receive(socket))
        if not isinstance(hello, Hello) or hello.table != socket.path_params["table"]:
            raise ProtocolError("bad_message", "the first message is hello, with the table of the address")
        table = await self._find(hello.table, socket)
        server = self._server_of(table)
        if hello.secret is None:
            return server, await server.join(hello)
        with self._limits.owner(socket, hello.secret):
            return server, await server.join(hello)


async def _start_page(_request: Request) -> Response:
    return RedirectResponse("/static/start.html")


async def _receive(socket: WebSocket) -> str:
    """Return the next message.

    Raises:
        ProtocolError: it is too long, or no text.
    """
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1005))
    text: str | None = message.get("text")
    if text is None or len(text) > MAX_MESSAGE_BYTES:
        raise ProtocolError("bad_message", f"a message must be text of at most {MAX_MESSAGE_BYTES:,} characters")
    return text


async def _refuse(socket: WebSocket, error: ProtocolError, code: int) -> None:
    """Answer with an error and close, unless the client has gone."""
    with suppress(WebSocketDisconnect, RuntimeError):
        await socket.send_text(error.message.model_dump_json())
        await socket.close(code)


async def _receive_all(
    socket: WebSocket, server: TableServer, connection: Connection, shared: requests.TokenBucket
) -> None:
    limits = requests.TokenBucket(*_MESSAGES), shared
    while True:
        try:
            text = await _receive(socket)
            for limit in limits:
                limit.take(asyncio.get_running_loop().time())
            await server.receive(connection, read_client_message(text))
        except ProtocolError as error:
            connection.send(error.message)
            if error.retry_after is not None:  # meanwhile nothing more is read of the connection
                await asyncio.sleep(error.retry_after)


async def _send_all(socket: WebSocket, connection: Connection) -> None:
    while (text := await connection.queue.get()) is not None:
        await socket.send_text(text)
        connection.queue.task_done()
    await socket.close(1000)


def _json(answer: BaseModel) -> Response:
    return Response(answer.model_dump_json(), media_type="application/json")


def _state(table: Table) -> TableState:
    """Return what everybody may know of a table."""
    seats = {
        side: SeatState(
            kind=seat.kind,
            name=getattr(table.names, side),
            agent=seat.name if seat.kind == "agent" else None,
            connected=side in table.connected or side not in table.people,
        )
        for side, seat in zip(SIDES, (table.saved.alpha, table.saved.bravo), strict=True)
    }
    return TableState(
        table=table.id,
        title=table.saved.title,
        turn=table.game.turn,
        phase=table.game.phase,
        over=table.is_over,
        winner=table.winner,
        score=None if table.hides_enemies and not table.is_over else Both(**table.game.scores),
        clock=table.saved.clock,
        seats=BothSeats(**seats),
    )
