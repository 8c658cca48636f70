"""The web server: pages, tables by HTTP, games by WebSocket."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from pydantic import Field, StringConstraints
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

from geo_patrol.agents.levels import rate
from geo_patrol.browser.replay_page import replay_page
from geo_patrol.errors import GeoPatrolError
from geo_patrol.flight.mission import Mission
from geo_patrol.replays import read_replay
from geo_patrol.server import protocol, requests
from geo_patrol.server.classes import ClassRoutes
from geo_patrol.server.flights import FlightRoutes, NewChallenge
from geo_patrol.server.hints import HintRoutes
from geo_patrol.server.protocol import MAX_MESSAGE_BYTES, Hello, ProtocolError, read_client_message
from geo_patrol.server.table_server import Connection, TableServer
from geo_patrol.server.tables import MAX_FINISHED, NewTable, Table, TableStore
from geo_patrol.sides import SIDES, Side

_THREADS = (1, 2, 2)
"""That play the phases of games with no, one and two people: agents may take seconds for theirs."""
_MAX_WRITING = 8
"""Replays that are written as HTML or wait for it; each takes a second."""
_HELLO_SECONDS = 10.0
_MESSAGES = (50.0, 200)
"""A second, and at once, of a connection."""
_STATUS = {"no_table": 404, "wrong_secret": 403, "no_seat": 409, "too_many": 429}


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
        hosts: the names under which the server is reached; "*" for any.
        max_connections: maximum number of connections of an address at the same time.
    """

    def __init__(
        self,
        tables: TableStore,
        hosts: tuple[str, ...] = ("localhost", "127.0.0.1", "testserver"),
        max_connections: int = 500,
    ) -> None:
        self.tables, self._hosts = tables, hosts
        self._servers: dict[str, TableServer] = {}
        self._addresses = requests.AddressLimits(max_connections, tables.max_tables)
        # Games that agents play with nobody wait for each other only, and so do those of people with agents.
        self._threads = [ThreadPoolExecutor(count, "games") for count in _THREADS]
        self._writer = requests.LimitedThread("replays", _MAX_WRITING)
        self._hints = HintRoutes(tables)
        self._classes = ClassRoutes(tables, self._server_of, self._check_opening)
        self._flights = FlightRoutes(tables.folder, self._check_write, self._check_opening)

    @property
    def damaged(self) -> list[str]:
        """What is wrong with tables, classes and challenges that cannot be restored."""
        return [*self.tables.damaged, *self._classes.classes.damaged, *self._flights.challenges.damaged]

    def open_flight(self, mission: Mission) -> str:
        """Open a challenge with hints; return its identifier."""
        return self._flights.challenges.open_challenge(NewChallenge(hints=True), mission).id

    def app(self) -> Starlette:
        """Return the application."""
        return Starlette(
            routes=[
                Route("/", _start_page),
                Route("/api/ready", _ready),
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
                WebSocketRoute("/ws/{table}", self._socket),
                Mount("/static", StaticFiles(packages=[("geo_patrol.browser", "static")])),
            ],
            middleware=[
                Middleware(requests.SafeHeaders),
                Middleware(TrustedHostMiddleware, allowed_hosts=list(self._hosts), www_redirect=False),
            ],
            exception_handlers={GeoPatrolError: _refused},
            lifespan=self._lifespan,
        )

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        # One thread draws, whoever comes: drawing takes turns with the event loop.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1, "drawing"))
        for name in self.tables.items:
            self._server_of(name)
        unloading = asyncio.create_task(self._unload_regularly())
        yield
        unloading.cancel()
        for server in self._servers.values():
            await server.close()
        for threads in self._threads:
            threads.shutdown()
        self._writer.close()
        self._hints.close()
        self._flights.close()
        self.tables.close()

    def _server_of(self, name: str) -> TableServer:
        table = self.tables.find(name)
        if name not in self._servers:
            threads = self._threads[len(table.people)]
            self._servers[name] = TableServer(table, partial(asyncio.get_running_loop().run_in_executor, threads))
        return self._servers[name]

    async def _unload_regularly(self) -> None:
        while True:
            await asyncio.sleep(60)
            await self.unload()

    async def unload(self, idle_seconds: float = 3600.0) -> None:
        """Remove games from memory that are over but for the latest, and those to which nobody has come for a while.

        Whoever comes again finds them: they are restored from their files. Tables of classes stay.
        """
        now, classes = asyncio.get_running_loop().time(), self._classes.classes.table_names
        waiting = [(name, one) for name, one in self._servers.items() if one.is_waiting and name not in classes]
        over = sorted((one for one in waiting if one[1].table.is_over), key=lambda one: one[1].last_used)
        idle = [one for one in waiting if not one[1].table.is_over and now - one[1].last_used > idle_seconds]
        for name, server in [*over[:-MAX_FINISHED], *idle]:
            if server.is_waiting:  # still: closing the others took a moment
                del self._servers[name]
                self.tables.unload(name)
                await server.close()

    # Tables

    async def _list_tables(self, _request: Request) -> Response:
        private = self._classes.classes.table_names  # a class has a page of its own
        tables = [_summary(table) for table in self.tables.items.values() if table.id not in private]
        return JSONResponse({"tables": tables})

    async def _redirect_to_table(self, request: Request) -> Response:
        """Lead from a short address to the page on which a table is watched, or its game is looked at when it is over."""
        name = request.path_params["table"]
        table = self.tables.get(name)
        page = "after" if table is not None and table.is_over else "table"
        return RedirectResponse(f"/static/{page}.html#{urlencode({'table': name})}")

    async def _show_table(self, request: Request) -> Response:
        return JSONResponse(_summary(self.tables.find(request.path_params["table"])))

    async def _open_table(self, request: Request) -> Response:
        new = await requests.read_body(request, NewTable)
        self._check_opening(request)
        table, secrets = self.tables.open_table(new)
        self._server_of(table.id)
        return JSONResponse({"table": table.id, "secrets": secrets}, 201)

    async def _take_seat(self, request: Request) -> Response:
        self._check_write(request)
        table, side = self.tables.find(request.path_params["table"]), request.path_params["side"]
        if side not in SIDES:
            raise ProtocolError("bad_message", f"side must be alpha or bravo, got {side!r}")
        secret = table.take_seat(side)
        self._server_of(table.id).notify()
        return JSONResponse({"table": table.id, "side": side, "secret": secret}, 201)

    async def _own_games(self, request: Request) -> Response:
        """Say how games stand whose seats somebody has; None for those that are gone, or whose seat is somebody else's."""
        self._check_write(request)
        asked = await requests.read_body(request, OwnGames)
        return JSONResponse({"games": [self._own_game(one) for one in asked.games]})

    def _own_game(self, one: "OwnGame") -> dict[str, Any] | None:
        table = self.tables.get(one.table)
        sides = [] if table is None else [side for side in SIDES if table.saved.seat(side).accepts(one.secret)]
        if table is None or not sides:
            return None
        game = table.game
        return {
            "side": sides[0],
            "title": table.saved.title,
            "names": [table.names.alpha, table.names.bravo],
            "turn": game.turn,
            "phase": game.phase,
            "over": table.is_over,
            "your_turn": not table.is_over and sides[0] not in table.submitted,
            "winner": table.winner,
            "score": [game.scores[side] for side in SIDES],
            "reasons": protocol.ended(game, 0, table.saved.settled).reasons,
            "changed": self.tables.last_change(table.id),
        }

    async def _rate(self, request: Request) -> Response:
        """Return the rating of somebody with results against opponents with known ratings; null without games."""
        self._check_write(request)
        rating = rate((await requests.read_body(request, Results)).results)
        return JSONResponse({"rating": None if rating is None else rating._asdict()})

    async def _practise(self, request: Request) -> Response:
        """Open a table that goes on from a position of a game that is over, for one person against an agent."""
        asked = await requests.read_body(request, Practice)
        self._check_opening(request)
        old = self._finished(request)
        phases = read_replay(old.replay_path).phases[: asked.index] if asked.index else ()
        names = ["person" if side == asked.side else asked.agent for side in SIDES]
        table, secrets = self.tables.continue_game(old.config, old.saved.seed, names, (one.codes for one in phases))
        self._server_of(table.id)
        return JSONResponse({"table": table.id, "secrets": secrets}, 201)

    def _check_write(self, request: Request) -> None:
        self._addresses.of(requests.client_address(request)).requests.take(asyncio.get_running_loop().time())
        requests.check_origin(request.headers.get("origin"), request.headers.get("host"))

    def _check_opening(self, request: Request) -> None:
        self._check_write(request)
        self._addresses.of(requests.client_address(request)).openings.take(asyncio.get_running_loop().time())

    # Files

    def _finished(self, request: Request) -> Table:
        table = self.tables.find(request.path_params["table"])
        if not table.is_over:
            raise ProtocolError("no_table", "the game is not over: its file would foretell outcomes")
        return table

    async def _replay_file(self, request: Request) -> Response:
        path = self._finished(request).replay_path
        if not path.exists():
            raise ProtocolError("no_table", "the game was over before a phase was played")
        return FileResponse(path, media_type="application/gzip", filename=path.name)

    async def _replay_document(self, request: Request) -> Response:
        self._addresses.of(requests.client_address(request)).requests.take(asyncio.get_running_loop().time())
        table = self._finished(request)
        title = f"{table.saved.title}: {table.names.alpha} (alpha) against {table.names.bravo} (bravo)"
        content = await self._writer.run(lambda: replay_page([(title, table.live.timeline)], title))
        headers = {"content-disposition": f'attachment; filename="{table.id}.html"'}  # its script is inline
        return Response(content, media_type="text/html", headers=headers)

    # Games

    async def _socket(self, socket: WebSocket) -> None:
        try:
            requests.check_origin(socket.headers.get("origin"), socket.headers.get("host"))
        except ProtocolError:
            await socket.close(1008)
            return
        await socket.accept()
        try:
            with self._addresses.connection(
                requests.client_address(socket), asyncio.get_running_loop().time()
            ) as messages:
                await self._serve(socket, messages)
        except ProtocolError as error:
            await _refuse(socket, error, 1013)
        except WebSocketDisconnect:
            pass

    async def _serve(self, socket: WebSocket, messages: requests.MessageLimit) -> None:
        """Serve a connection from its first message on."""
        try:
            server, connection = await asyncio.wait_for(self._greet(socket), _HELLO_SECONDS)
        except (ProtocolError, TimeoutError) as error:
            refusal = error if isinstance(error, ProtocolError) else ProtocolError("closed", "no hello in ten seconds")
            await _refuse(socket, refusal, 1008)
            return
        sender = asyncio.create_task(_send_all(socket, connection))
        try:
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
        server = self._server_of(hello.table)
        return server, await server.join(hello)


async def _start_page(_request: Request) -> Response:
    return RedirectResponse("/static/start.html")


async def _ready(_request: Request) -> Response:
    """Say that games can be played; a server that still prepares them answers otherwise, see ``LocalPage``."""
    return JSONResponse({"ready": True, "page": None, "failure": None})


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
    socket: WebSocket, server: TableServer, connection: Connection, shared: requests.MessageLimit
) -> None:
    limits = requests.MessageLimit(*_MESSAGES), shared
    while True:
        try:
            text = await _receive(socket)
            for limit in limits:
                limit.take(asyncio.get_running_loop().time())
            server.receive(connection, read_client_message(text))
        except ProtocolError as error:
            connection.send(error.message)
            if error.retry_after is not None:  # meanwhile nothing more is read of the connection
                await asyncio.sleep(error.retry_after)


async def _send_all(socket: WebSocket, connection: Connection) -> None:
    while (text := await connection.queue.get()) is not None:
        await socket.send_text(text)
    await socket.close(1000)


async def _refused(_request: Request, error: Exception) -> Response:
    if isinstance(error, ProtocolError):
        wait = {} if error.retry_after is None else {"retry-after": str(max(round(error.retry_after), 1))}
        return JSONResponse(error.message.model_dump(), _STATUS.get(error.code, 400), headers=wait)
    return JSONResponse(ProtocolError("bad_message", str(error)).message.model_dump(), 400)


def _summary(table: Table) -> dict[str, Any]:
    """Return what everybody may know of a table."""
    seats: dict[Side, dict[str, Any]] = {
        side: {
            "kind": table.saved.seat(side).kind,
            "name": table.saved.seat(side).name,
            "connected": side in table.connected or side not in table.people,
        }
        for side in SIDES
    }
    return {
        "table": table.id,
        "title": table.saved.title,
        "turn": table.game.turn,
        "phase": table.game.phase,
        "over": table.is_over,
        "winner": table.winner,
        "score": table.game.scores,
        "clock": table.saved.clock,
        "seats": seats,
    }
