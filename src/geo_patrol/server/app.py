"""The web server: pages, tables by HTTP, games by WebSocket."""

import asyncio
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from urllib.parse import urlencode

from pydantic import BaseModel

from geo_patrol.browser.replay_page import replay_page, theme_css
from geo_patrol.errors import GeoPatrolError, optional_import, show
from geo_patrol.server import requests
from geo_patrol.server.classes import ClassRoutes
from geo_patrol.server.flights import FlightRoutes
from geo_patrol.server.hints import HintRoutes
from geo_patrol.server.protocol import (
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
from geo_patrol.server.store import not_saved
from geo_patrol.server.table_server import Connection, TableServer
from geo_patrol.server.tables import NewTable, Table, TableStore
from geo_patrol.sides import SIDES

with optional_import("server"):
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from starlette.requests import HTTPConnection, Request
    from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
    from starlette.routing import Mount, Route, WebSocketRoute
    from starlette.staticfiles import StaticFiles
    from starlette.websockets import WebSocket, WebSocketDisconnect

_SLOW_THREADS = 4
"""For searching agents, hints, scenarios and whatever else takes longer than a phase."""
_IDLE_SECONDS = 300.0
"""After which a game that nobody attends leaves memory and the lobby."""
_DAY_SECONDS = 86_400.0
_HELLO_SECONDS = 10.0
_MESSAGES = (50.0, 200)
"""A second, and at once, of a connection."""
_STATUS = {"no_table": 404, "wrong_secret": 403, "no_seat": 409, "too_many": 429, "not_saved": 507}


class Server:
    """The state behind the routes.

    Args:
        tables: the tables.
        hosts: the names under which the server is reached; "*" for any.
        max_connections: maximum number of connections of an address at the same time.
        host: address that the server listens on.
        keep_days: after how many days without a change classes and challenges are removed.
    """

    def __init__(
        self,
        tables: TableStore,
        hosts: tuple[str, ...] = ("localhost", "127.0.0.1", "testserver"),
        max_connections: int = 500,
        host: str = "127.0.0.1",
        keep_days: float = 180.0,
    ) -> None:
        self.tables, self._hosts, self._keep_days = tables, hosts, keep_days
        self._servers: dict[str, TableServer] = {}
        self._loading: dict[str, asyncio.Task[Table | None]] = {}
        self._limits = requests.Limits(max_connections, max(tables.max_tables // 4, 1))
        # What takes milliseconds never waits for what takes seconds. One quick thread: they would only wait for the
        # interpreter, and challenges rely on it.
        self._quick = requests.FairThreads("quick")
        self._slow = requests.FairThreads("slow", _SLOW_THREADS)
        self._hints = HintRoutes(tables, self._limits, self._quick, self._slow)
        self._classes = ClassRoutes(tables, self._refresh, self._limits, self._slow, host)
        self._flights = FlightRoutes(tables.folder, self._limits, self._quick, self._slow)
        tables.observers.append(self._forget)

    @property
    def damaged(self) -> list[str]:
        """What is wrong with tables, classes and challenges that cannot be restored."""
        stores = self.tables, self._classes.classes, self._flights.challenges
        return [fault for store in stores for fault in store.damaged.values()]

    def app(self) -> Starlette:
        """Return the application."""
        return Starlette(
            routes=[
                Route("/", _lobby),
                Route("/table/{table}", _redirect_to_table),
                Route("/api/tables", self._list_tables, methods=["GET"]),
                Route("/api/tables", self._open_table, methods=["POST"]),
                Route("/api/tables/{table}", self._show_table, methods=["GET"]),
                Route("/api/tables/{table}/seats/{side}", self._take_seat, methods=["POST"]),
                Route("/replays/{table}.jsonl.gz", self._replay_file),
                Route("/replays/{table}.html", self._replay_document),
                Route("/static/theme.css", self._theme),
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
            exception_handlers={GeoPatrolError: _refused, OSError: _refused},
            lifespan=self._lifespan,
        )

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        clearing = asyncio.create_task(self._clear_regularly())
        yield
        clearing.cancel()
        for server in self._servers.values():
            await server.close()
        self._quick.close()
        self._slow.close()
        self.tables.close()

    async def _clear_regularly(self) -> None:
        last = -math.inf
        while True:
            if time.monotonic() - last > _DAY_SECONDS:
                last = time.monotonic()
                self._classes.classes.expire(self._keep_days)
                self._flights.challenges.remove_older(self._keep_days)
            await asyncio.sleep(_IDLE_SECONDS / 10)
            self.unload()

    def unload(self, idle_seconds: float = _IDLE_SECONDS) -> None:
        """Remove games from memory that are over but for the latest, and those to which nobody has come for a while.

        Whoever comes again finds them: they are restored from their files.
        """
        self.tables.unload_idle(idle_seconds)

    def _forget(self, table: Table) -> None:
        """End the task of a table that leaves memory."""
        server = self._servers.pop(table.id, None)
        if server is not None:
            server.cancel()

    async def _find(self, name: str, connection: HTTPConnection) -> Table:
        """Return a table. Restoring one from its file happens in a thread, because it may take a second.

        Raises:
            ProtocolError: there is none of that name, or it is damaged, or there are too many.
        """
        site = requests.client_site(connection)
        if name not in self.tables.items:
            self._limits.take("views", site)
            if name not in self._loading:
                load = self._slow.run(site, partial(self.tables.load, name))
                self._loading[name] = task = asyncio.create_task(load)
                task.add_done_callback(lambda _: self._loading.pop(name))
            table = await asyncio.shield(self._loading[name])
            if table is None:
                raise self.tables.missing(name)
            if name not in self.tables.items:  # others who waited for it have not kept it
                self.tables.keep(table)
        return self.tables.items[name]

    def _server_of(self, table: Table) -> TableServer:
        if table.id not in self._servers:
            threads = self._slow if table.is_slow else self._quick
            run = partial(threads.run, table.saved.opener or table.id)
            draw = partial(self._quick.run, f"drawing {table.id}")
            self._servers[table.id] = TableServer(table, run, draw)
        return self._servers[table.id]

    def _refresh(self, name: str) -> None:
        """Let the clients of a table know of a change."""
        if name in self._servers:
            self._servers[name].refresh()

    # Tables

    async def _list_tables(self, request: Request) -> Response:
        self._limits.take("views", requests.client_site(request))
        listed = [_state(table) for table in self.tables.items.values() if not table.saved.classroom]
        return _json(TableList(tables=listed))  # a class has a page of its own

    async def _show_table(self, request: Request) -> Response:
        return _json(_state(await self._find(request.path_params["table"], request)))

    async def _open_table(self, request: Request) -> Response:
        new, site = await requests.read_body(request, NewTable), requests.client_site(request)
        self._limits.take("requests", site)
        self._limits.take("openings", site)
        self.tables.make_room(site)
        table, secrets = await self._slow.run(site, partial(self.tables.make_table, new, opener=site))
        self.tables.add(table)
        return JSONResponse({"table": table.id, "secrets": secrets}, 201)

    async def _take_seat(self, request: Request) -> Response:
        self._limits.take("requests", requests.client_site(request))
        requests.check_origin(request.headers.get("origin"), request.headers.get("host"))
        side = request.path_params["side"]
        if side not in SIDES:
            raise ProtocolError("bad_message", f"side must be alpha or bravo, got {show(side)}")
        table = await self._find(request.path_params["table"], request)
        secret = table.take_seat(side)
        self._refresh(table.id)
        return JSONResponse({"table": table.id, "side": side, "secret": secret}, 201)

    # Files

    async def _finished(self, request: Request) -> Table:
        table = await self._find(request.path_params["table"], request)
        if not table.is_over:
            raise ProtocolError("no_table", "the game is not over: its file would foretell outcomes")
        return table

    async def _replay_file(self, request: Request) -> Response:
        self._limits.take("views", requests.client_site(request))
        path = (await self._finished(request)).replay_path
        return FileResponse(path, media_type="application/gzip", filename=path.name)

    async def _replay_document(self, request: Request) -> Response:
        site = requests.client_site(request)
        self._limits.take("requests", site)
        table = await self._finished(request)
        title = f"{table.saved.title}: {table.names.alpha} (alpha) against {table.names.bravo} (bravo)"
        content = await self._slow.run(site, lambda: replay_page([(title, table.live.timeline)], title))
        headers = {"content-disposition": f'attachment; filename="{table.id}.html"'}  # its script is inline
        return Response(content, media_type="text/html", headers=headers)

    async def _theme(self, _request: Request) -> Response:
        return Response(theme_css(), media_type="text/css")

    # Games

    async def _socket(self, socket: WebSocket) -> None:
        try:
            requests.check_origin(socket.headers.get("origin"), socket.headers.get("host"))
        except ProtocolError:
            await socket.close(1008)
            return
        await socket.accept()
        try:
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
            return server, server.join(hello)
        return server, self._limits.owner(socket, hello.secret, lambda _: server.join(hello))


async def _lobby(_request: Request) -> Response:
    return RedirectResponse("/static/lobby.html")


async def _redirect_to_table(request: Request) -> Response:
    """Lead from a short address to the page on which a table is watched."""
    return RedirectResponse(f"/static/table.html#{urlencode({'table': request.path_params['table']})}")


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
            server.receive(connection, read_client_message(text))
        except ProtocolError as error:
            connection.send(error.message)
            if error.retry_after is not None:  # meanwhile nothing more is read of the connection
                await asyncio.sleep(error.retry_after)


async def _send_all(socket: WebSocket, connection: Connection) -> None:
    while (text := await connection.queue.get()) is not None:
        await socket.send_text(text)
        connection.queue.task_done()
    await socket.close(1000)


async def _refused(_request: Request, error: Exception) -> Response:
    if isinstance(error, OSError):
        error = not_saved(error)
    if not isinstance(error, ProtocolError):
        error = ProtocolError("bad_message", str(error))
    wait = {} if error.retry_after is None else {"retry-after": str(max(round(error.retry_after), 1))}
    return JSONResponse(error.message.model_dump(), _STATUS.get(error.code, 400), headers=wait)


def _json(answer: BaseModel) -> Response:
    return Response(answer.model_dump_json(), media_type="application/json")


def _state(table: Table) -> TableState:
    """Return what everybody may know of a table."""
    seats = {
        side: SeatState(
            kind=table.saved.seat(side).kind,
            name=table.saved.seat(side).name,
            connected=side in table.connected or side not in table.people,
        )
        for side in SIDES
    }
    return TableState(
        table=table.id,
        title=table.saved.title,
        turn=table.game.turn,
        phase=table.game.phase,
        over=table.is_over,
        winner=table.game.winner,
        score=Both(**table.game.scores),
        clock=table.saved.clock,
        seats=BothSeats(**seats),
    )
