"""The page of one person: a server on the loopback that answers at once, compiles behind it, and ends by itself.

Its owner may open it to the network, for a class for instance.
"""

import asyncio
import gc
import hmac
import http.client
import os
import re
import secrets
import socket
import sys
import time
import webbrowser
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager, closing, suppress
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import uvicorn
from starlette.applications import Starlette
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from geo_patrol.base.files import atomic_write, read_limited
from geo_patrol.web.connections import MAX_FRAME_BYTES, WatchedHttp, WatchedWebSocket
from geo_patrol.web.pages import static_routes
from geo_patrol.web.protocol import ProtocolError
from geo_patrol.web.requests import OPENED, SafeHeaders, check_origin, network_address

IDLE_SECONDS = 600.0
"""Without a page, after which the server ends; pages ask for something every minute."""
Piece = tuple[str, Callable[[], object]]
"""What is prepared, in words, and what prepares it."""
_ADDRESS_FILE = ".page"
"""In the folder of the games: the address of the page that was opened last, with its key; nobody else may read it."""
_ADDRESS = re.compile(rb"http://127\.0\.0\.1:([0-9]{1,5})(/\?key=[A-Za-z0-9_-]{1,80})")
_PAGE = re.compile(r"/static/[a-z]+\.html(#[A-Za-z0-9_.~&=%-]*)?")
_PROBE_SECONDS = 5.0
_FORBIDDEN = "This page is somebody's on this computer. Open the address that geo-patrol printed when it started."


class LocalPage:
    """Serves the pages to whoever has the key, at first without games: what they need is compiled meanwhile.

    Once its owner has opened it to the network, others reach the games, without the key, at this computer's address there.
    They are served like those of any server; the key stays what opens the page on this computer, and nobody is told it.

    Args:
        pieces: what is prepared before the first game, in order.
        make_app: makes the application when these are prepared, and returns it with the page to open, None for the first
            one. It is called in the event loop.

    Attributes:
        key: what the address has to have; afterwards a cookie has it.
        failure: the exception of what could not be prepared.
    """

    def __init__(
        self,
        pieces: Sequence[Piece],
        make_app: Callable[[], tuple[Starlette, str | None]],
    ) -> None:
        self._pieces, self._make_app = pieces, make_app
        self.key = secrets.token_urlsafe(18)
        self._cookie = f"geo_patrol_{secrets.token_hex(4)}"  # others of this computer have the same host
        self._num_prepared = 0
        self._page: str | None = None
        self._app: ASGIApp | None = None
        self.failure: Exception | None = None
        self._num_sockets = 0
        self._last_request = time.monotonic()
        self._port: int | None = None
        self._opened: str | None = None  # the address for others
        self._network: tuple[uvicorn.Server, asyncio.Task[None]] | None = None
        self._before = SafeHeaders(Starlette(routes=static_routes()))
        routes = [
            Route("/", self._enter),
            Route("/api/ready", self._ready),
            Route("/api/network", self._open_network, methods=["POST"]),
            Mount("/", self._serve),
        ]
        self._pages = Starlette(routes=routes, lifespan=self._lifespan)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let in who has the key, and note when somebody was there last."""
        if scope["type"] == "lifespan":
            await self._pages(scope, receive, send)
            return
        is_socket = scope["type"] == "websocket"
        is_entry = scope["path"] == "/" and not is_socket
        if not is_entry and not self.accepts(scope):
            refusal = {"type": "websocket.close", "code": 1008}
            await (send(refusal) if is_socket else PlainTextResponse(_FORBIDDEN, 403)(scope, receive, send))
            return
        await self._attend(self._pages, scope, receive, send)

    async def _serve_others(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the games to those who come over the network."""
        await self._attend(self._serve, scope, receive, send)

    async def _attend(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, and note when somebody was there last."""
        is_socket = scope["type"] == "websocket"
        self._num_sockets += is_socket
        try:
            await app(scope, receive, send)
        finally:
            self._num_sockets -= is_socket
            self._last_request = time.monotonic()

    def accepts(self, scope: Scope) -> bool:
        """Return whether a request has the cookie with the key."""
        key = HTTPConnection(scope).cookies.get(self._cookie, "")
        return hmac.compare_digest(key.encode(), self.key.encode())

    @property
    def idle_seconds(self) -> float:
        """For how long nobody has been there."""
        return 0.0 if self._num_sockets else time.monotonic() - self._last_request

    async def _enter(self, request: Request) -> Response:
        """Let in who comes with the key, and take it out of the address."""
        key = request.query_params.get("key")
        if key is None and self.accepts(request.scope):
            return RedirectResponse("/static/start.html")
        if key is None or not hmac.compare_digest(key.encode(), self.key.encode()):
            return PlainTextResponse(_FORBIDDEN, 403)
        page = request.query_params.get("page")
        if page is None or not _PAGE.fullmatch(page):
            page = "/static/start.html#open"
        response = RedirectResponse(page, 303)
        response.set_cookie(self._cookie, self.key, httponly=True, samesite="lax")
        return response

    async def _ready(self, _request: Request) -> Response:
        """Say how far the preparation is, and how others reach the games.

        Returns:
            ``done`` of ``total`` pieces, the ``piece`` in work, and the ``page`` to open then; ``others``, the address for
            others, None while only this computer can open it; ``offer``, the one at which it can be opened to them.
        """
        pieces = [name for name, _ in self._pieces]
        failure = None if self.failure is None else str(self.failure)
        return JSONResponse(
            {
                "done": self._num_prepared,
                "total": len(pieces),
                "piece": pieces[self._num_prepared] if self._num_prepared < len(pieces) else None,
                "ready": self._app is not None,
                "page": self._page,
                "failure": failure,
                "others": self._opened,
                "offer": None if self._opened or self._port is None else network_address(),
            }
        )

    async def _open_network(self, request: Request) -> Response:
        """Open the games to the network; return ``others``, as ``_ready`` does."""
        try:
            check_origin(request.headers.get("origin"), request.headers.get("host"))
        except ProtocolError as error:
            return JSONResponse(error.message.model_dump(), 403)
        own = network_address()
        if self._opened is None:
            if own is None or self._port is None or self._app is None:
                text = "this computer has no address in a network" if own is None else "games are still being prepared"
                return JSONResponse({"text": text}, 409)
            try:
                bound = _listen(own, self._port)
            except OSError as error:
                return JSONResponse({"text": f"{own} cannot be opened: {error.strerror}"}, 409)
            server = uvicorn.Server(web_server(self._serve_others, lifespan="off"))
            self._network = server, asyncio.create_task(server.serve([bound]))
            self._opened = f"http://{own}:{bound.getsockname()[1]}/"
        return JSONResponse({"others": self._opened})

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._app is not None:
            scope = {**scope, "root_path": "", OPENED: self._opened}
            await self._app(scope, receive, send)
        elif scope["type"] == "http" and scope["path"].startswith("/api/"):
            error = ProtocolError("too_many", "the game is still being prepared: try again in a moment", 2.0)
            await JSONResponse(error.message.model_dump(), 503)(scope, receive, send)
        else:
            await self._before(scope, receive, send)

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            preparing = asyncio.create_task(self._prepare(stack))
            yield
            preparing.cancel()
            with suppress(asyncio.CancelledError):
                await preparing

    async def _prepare(self, stack: AsyncExitStack) -> None:
        thread = ThreadPoolExecutor(1, "preparing")
        try:
            for _, prepare in self._pieces:
                await asyncio.get_running_loop().run_in_executor(thread, prepare)
                self._num_prepared += 1
            app, self._page = self._make_app()
            await stack.enter_async_context(app.router.lifespan_context(app))
            self._app = app
        except Exception as error:  # said on the page, and by whoever started it
            self.failure = error
        finally:
            thread.shutdown(wait=False)

    def run(self, port: int, folder: Path, tell: Callable[[str], None]) -> None:
        """Serve until the process is interrupted, or nobody has been there for ten minutes.

        Args:
            port: port to listen on; 0 takes the last one, or a free one.
            folder: in which the address is noted, for commands that open another page here; see ``running_address``.
            tell: is told the address.
        """
        # Browsers keep a person's own games, and their seats, for an address and its port.
        config = web_server(self, "127.0.0.1", port or _last_port(folder))
        bound = bind(config)
        bound.listen()  # whoever comes before the server runs waits for it
        self._port = bound.getsockname()[1]
        address = f"http://{config.host}:{self._port}/?key={self.key}"
        with suppress(OSError), atomic_write(folder / _ADDRESS_FILE) as stream:
            Path(stream.name).chmod(0o600)
            stream.write(address)
        tell(address)
        asyncio.run(self._run(uvicorn.Server(config), [bound]))

    async def _run(self, server: uvicorn.Server, sockets: list[Any]) -> None:
        async def watch() -> None:
            while self.idle_seconds < IDLE_SECONDS and self.failure is None:  # noqa: ASYNC110 - time is what it waits for
                await asyncio.sleep(1)
            await asyncio.sleep(2)  # the page may still ask what failed
            server.should_exit = True

        watching = asyncio.create_task(watch())
        try:
            await server.serve(sockets)
        finally:
            watching.cancel()
            if self._network is not None:
                others, serving = self._network
                others.should_exit = True
                await serving


def _noted_address(folder: Path) -> re.Match[bytes] | None:
    """Return the address, with its port as a group, of the page that was opened last for a folder of games."""
    with suppress(OSError):
        return _ADDRESS.fullmatch(read_limited(folder / _ADDRESS_FILE, 200))
    return None


def _last_port(folder: Path) -> int:
    """Return the port of the page that was opened last for a folder of games, if it is free; 0 otherwise."""
    with suppress(OSError, OverflowError), socket.socket() as probe:
        noted = _noted_address(folder)
        port = 0 if noted is None else int(noted[1])
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", port))
        return port
    return 0


def running_address(folder: Path) -> str | None:
    """Return the address of the page that is open for a folder of games; None if there is none, or it has crashed."""
    noted = _noted_address(folder)
    if noted is None:
        return None
    connection = http.client.HTTPConnection("127.0.0.1", int(noted[1]), timeout=_PROBE_SECONDS)  # follows no redirect
    try:
        with closing(connection):
            connection.request("GET", noted[2].decode())
            cookie = connection.getresponse().headers.get("set-cookie", "")
    except (OSError, http.client.HTTPException):
        return None
    return noted[0].decode() if "geo_patrol_" in cookie else None


def page_address(address: str, page: str | None) -> str:
    """Return the address at which somebody with the key enters at a page, the first one by default."""
    return f"{address}&page={quote(page or '/static/start.html', safe='/')}"


def open_browser(address: str) -> None:
    """Open a browser, if there is one."""
    with suppress(webbrowser.Error):
        webbrowser.open(address)


def web_server(
    app: ASGIApp, host: str = "127.0.0.1", port: int = 0, *, lifespan: Literal["auto", "off"] = "auto"
) -> uvicorn.Config:
    """Return how uvicorn serves an application."""
    gc.freeze()
    sys.setswitchinterval(0.0005)  # a thread that computes delays each answer of the event loop by as much
    gc.set_threshold(10_000)  # a full collection stops all games: with a thousand connections for a third of a second
    return uvicorn.Config(
        app,
        host=host,
        port=port,
        lifespan=lifespan,
        interface="asgi3",  # which uvicorn does not see in a method
        log_level="warning",
        access_log=False,
        backlog=64,  # so many are accepted in one turn of the event loop; others wait in the kernel, and nobody for thousands
        http=WatchedHttp,
        ws=WatchedWebSocket,
        ws_max_size=MAX_FRAME_BYTES,
        ws_per_message_deflate=False,
        ws_ping_interval=20.0,
        ws_ping_timeout=20.0,
        timeout_graceful_shutdown=2,
        forwarded_allow_ips=os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1,::1"),
    )


def bind(config: uvicorn.Config) -> socket.socket:
    """Return the socket that a server listens on; end the process with the reason if there is none."""
    return _of_tcp(config.bind_socket())


def _listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on an address, on another port if that one is taken.

    Raises:
        OSError: there is none.
    """
    try:
        return _of_tcp(socket.create_server((host, port)))
    except OSError:
        return _of_tcp(socket.create_server((host, 0)))


def _of_tcp(bound: socket.socket) -> socket.socket:
    # asyncio sets TCP_NODELAY on connections only where the listening socket says that it is one of TCP. Without it, the
    # second of two messages to a client waits for 40 ms.
    return socket.socket(bound.family, bound.type, socket.IPPROTO_TCP, bound.detach())
