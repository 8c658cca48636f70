"""Requests: what is safe for browsers, how much a client may ask for, and how bodies are read."""

import asyncio
import csv
import hashlib
import hmac
import io
import ipaddress
import os
import re
import socket
import sys
import threading
import time
import tomllib
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache, partial
from typing import Annotated, Any, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from geo_patrol.agents.levels import read_levels
from geo_patrol.base.errors import show
from geo_patrol.base.validation import describe_fault, field_of
from geo_patrol.config.presets import load_config
from geo_patrol.config.toml_files import copy_plain, preset_names
from geo_patrol.web.names import player_name
from geo_patrol.web.protocol import ProtocolError

_CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", _CONTENT_SECURITY_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),  # links to seats contain secrets
]
_FRESH = (b"cache-control", b"no-cache")
"""Of what says nothing else: how games stand, and what a newer version may send differently."""


class SafeHeaders:
    """Adds the headers that keep browsers safe to every response."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""

        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers = message.get("headers", [])
                fresh = [] if any(name == _FRESH[0] for name, _ in headers) else [_FRESH]
                message["headers"] = [*headers, *_HEADERS, *fresh]
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


T = TypeVar("T")

MAX_CONNECTIONS = 2000
_MAX_BUCKETS = 20_000
"""Of more clients, those are forgotten that asked for nothing for the longest time."""
_RETRY_SECONDS = 30.0
_IPV6_SITE = 64
"""Bits of an IPv6 address that a site shares; its computers choose the others as they like."""
RATES: dict[str, tuple[float, int]] = {
    "requests": (20.0, 100),  # of an address: what changes something, and what comes without a valid secret
    "views": (60.0, 240),  # of an address: pages' data, steps of the lesson; a class of sixty is behind one address
    "owners": (20.0, 120),  # of whoever has a valid secret: of a seat, a pupil or a teacher
}
"""What a client may ask for: so many a second, and so many at once."""


class TokenBucket:
    """A limit on requests.

    Args:
        per_second: how many requests a second, on average.
        burst: how many at once.
    """

    def __init__(self, per_second: float, burst: int) -> None:
        self._per_second, self._burst = per_second, burst
        self._tokens, self._last = float(burst), 0.0

    def take(self, now: float, count: int = 1) -> None:
        """Count a request, or several.

        Raises:
            ProtocolError: it is one too many, with the code "too_many" and the time to wait.
        """
        self._tokens = min(self._tokens + (now - self._last) * self._per_second, float(self._burst))
        self._last = now
        if self._tokens < count:
            wait = round((count - self._tokens) / self._per_second, 2)
            raise ProtocolError("too_many", f"too many at once: try again in {wait:g} s", wait)
        self._tokens -= count


class ClientLimits:
    """What each client may ask for. Nobody can use up what belongs to somebody else.

    A request with a valid secret counts for the secret's owner, every other one for the address that it comes from.

    Args:
        max_connections: maximum number of connections of an address at the same time; so many come at once, and a tenth of it a second later on. They
            send one message a second each, on average.
        max_openings: how many tables and classes an address opens at once, and as many an hour.
    """

    def __init__(self, max_connections: int, max_openings: int) -> None:
        self._max_connections = max_connections
        self._rates = RATES | {
            "openings": (max_openings / 3600, max_openings),
            "arrivals": (max_connections / 10, max_connections),
            "messages": (float(max_connections), 4 * max_connections),
        }
        self._connections: Counter[str] = Counter()
        self._buckets: OrderedDict[tuple[str, str], TokenBucket] = OrderedDict()

    def take(self, kind: str, client: str) -> None:
        """Count a request.

        Args:
            kind: a key of ``RATES``, or "openings", "arrivals" or "messages".
            client: an address as ``client_site`` returns it, or the hash of a secret.

        Raises:
            ProtocolError: it is one too many, with the code "too_many" and the time to wait.
        """
        self._bucket(kind, client).take(time.monotonic())

    def _bucket(self, kind: str, client: str) -> TokenBucket:
        bucket = self._buckets.setdefault((kind, client), TokenBucket(*self._rates[kind]))
        self._buckets.move_to_end((kind, client))
        if len(self._buckets) > _MAX_BUCKETS:
            self._buckets.popitem(last=False)
        return bucket

    @contextmanager
    def owner(self, connection: HTTPConnection, secret: str) -> Iterator[None]:
        """Count a request for the owner of its secret, whom the block finds; for the address if it raises ProtocolError.

        Args:
            connection: where the request comes from.
            secret: the secret.
        """
        try:
            yield
        except ProtocolError:
            self.take("requests", client_site(connection))
            raise
        self.take("owners", hash_secret(secret))

    @contextmanager
    def connection(self, site: str) -> Iterator[TokenBucket]:
        """Count a connection while it lasts; yield the limit of messages of its address.

        Raises:
            ProtocolError: there are too many, with the code "too_many" and the time to wait.
        """
        if self._connections.total() >= MAX_CONNECTIONS:
            raise ProtocolError("too_many", f"{MAX_CONNECTIONS} connections: try again later", _RETRY_SECONDS)
        if self._connections[site] >= self._max_connections:
            text = f"{self._max_connections} connections from your address: try again later"
            raise ProtocolError("too_many", text, _RETRY_SECONDS)
        self.take("arrivals", site)
        self._connections[site] += 1
        try:
            yield self._bucket("messages", site)
        finally:
            self._connections[site] -= 1
            if not self._connections[site]:
                del self._connections[site]


def hash_secret(secret: str) -> str:
    """Return what is stored of a secret: SHA-256, as hexadecimal digits."""
    return hashlib.sha256(secret.encode()).hexdigest()


def accepts(secret_hash: str, secret: str) -> bool:
    """Return whether a secret has a hash, in a time that does not depend on it."""
    return hmac.compare_digest(secret_hash, hash_secret(secret))


def client_site(connection: HTTPConnection) -> str:
    """Return where a client is, "" if that is not known: an IPv4 address, or the network of an IPv6 address.

    That is what a reverse proxy on this computer says of it, or the address of its connection.
    """
    try:
        parsed = ipaddress.ip_address(connection.client.host if connection.client else "")
    except ValueError:
        return ""
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    return str(parsed.ipv4_mapped or ipaddress.ip_network((parsed, _IPV6_SITE), strict=False))


class TrustedHosts:
    """Refuses requests under other host names than the server's: pages of other sites may lead their own names to it.

    Unlike Starlette's ``TrustedHostMiddleware`` it knows IPv6 addresses.

    Args:
        app: what it serves.
        hosts: what ``read_host`` returns for each name.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str]) -> None:
        self.app, self._hosts = app, tuple(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        asked = dict(scope.get("headers", ())).get(b"host", b"").decode("latin-1")
        if scope["type"] not in ("http", "websocket") or self._accepts(asked):
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            text = f"This server is not reached under the name {show(asked)}: see geo-patrol serve --name."
            await PlainTextResponse(text, 400)(scope, receive, send)

    def _accepts(self, asked: str) -> bool:
        if "*" in self._hosts:
            return True
        try:
            host = (urlsplit(f"//{asked}").hostname or "").removesuffix(".") if "@" not in asked else ""
        except ValueError:
            return False
        return any(host.endswith(one[1:]) if one.startswith("*.") else host == one for one in self._hosts)


_HOST = re.compile(r"(\*\.)?[a-z0-9_][a-z0-9_-]{0,62}(\.[a-z0-9_][a-z0-9_-]{0,62})*")
_MAX_HOST = 253


def read_host(text: str) -> str | None:
    """Return a host name, a pattern such as ``*.example.org``, "*" or an IP address as it is compared; None if it is none."""
    name = text.lower().removesuffix(".")
    address = name[1:-1] if name.startswith("[") and name.endswith("]") else name
    with suppress(ValueError):
        return str(ipaddress.ip_address(address))
    with suppress(OSError):
        if re.fullmatch(r"[0-9a-fx.]+", name):  # another notation, such as 127.1 or 0
            return socket.inet_ntoa(socket.inet_aton(name))
    return name if text == "*" or (_HOST.fullmatch(name) and len(name) <= _MAX_HOST) else None


def similar_host(text: str) -> str | None:
    """Return the host name in what is none itself: an address with scheme, port or path, or letters that are not ASCII."""
    name = re.sub(r":\d*$", "", text.strip().rpartition("://")[2].partition("/")[0].rpartition("@")[2])
    with suppress(UnicodeError):
        name = name.encode("idna").decode()
    return read_host(name) if name else None


LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")
ALL_INTERFACES = ("0.0.0.0", "::")  # noqa: S104 - to compare with
"""Addresses to listen on that stand for all of a computer's; not every browser opens them, and for others they mean nothing."""


def is_local(host: str) -> bool:
    """Return whether only this computer reaches an address."""
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host in LOCAL_HOSTS


OPENED = "geo_patrol.opened"
"""Key of a request's scope: the address at which a person's own page was opened to the network, None while it is not."""


def others_base(request: Request, host: str) -> str | None:
    """Return the address of this server that others can open, None if only this computer can open it.

    That is the one under which somebody has come, if it is not only this computer's: then the server is reached by it,
    perhaps through a proxy. Otherwise it is this computer's address in its network.

    Args:
        request: a request.
        host: address that the server listens on.
    """
    url = request.base_url
    if not is_local(url.hostname or "") and url.hostname not in ALL_INTERFACES:
        return str(url)
    if is_local(host):
        opened: str | None = request.scope.get(OPENED)
        return opened
    own = network_address() if host in ALL_INTERFACES else host
    return None if own is None else str(url.replace(hostname=f"[{own}]" if ":" in own else own))


def network_address() -> str | None:
    """Return this computer's address in its network; None without one. Nothing is sent."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # of a network for documentation
        address: str = probe.getsockname()[0]
        return address
    return None


MAX_BODY_BYTES = 1 << 17
_BODY_SECONDS = 20.0
BodyT = TypeVar("BodyT", bound=BaseModel)


class Body(BaseModel):
    """The body of a request."""

    model_config = ConfigDict(extra="forbid", strict=True)


class SecretBody(Body):
    """The secret of whoever asks: of a seat, a pupil or a teacher."""

    secret: Annotated[str, StringConstraints(max_length=80)]


class Arrival(Body):
    """What somebody says on coming."""

    name: Annotated[str, StringConstraints(max_length=200)]
    secret: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{32,80}$")] | None = None
    """A random secret of the client's own making; where the answer is lost, whoever comes with it again has come already."""


async def read_body(request: Request, model: type[BodyT]) -> BodyT:
    """Return the body of a request that does not come from another site's page.

    Raises:
        ProtocolError: it does, its body is too long or slow, or is not what the model describes; the field is named.
    """
    check_origin(request.headers.get("origin"), request.headers.get("host"))
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            body = await _read_stream(request)
    except TimeoutError:
        raise ProtocolError("closed", f"the body did not arrive in {_BODY_SECONDS:g} s") from None
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        raise ProtocolError("bad_message", f"{field_of(fault, 'body')} {describe_fault(fault)}") from None


async def _read_stream(request: Request) -> bytes:
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY_BYTES:
                raise ProtocolError("bad_message", f"the body is longer than {MAX_BODY_BYTES:,} bytes")
    except ClientDisconnect:
        raise ProtocolError("closed", "the body was cut off") from None
    return bytes(body)


def check_origin(origin: str | None, host: str | None) -> None:
    """Check that a request comes from a page of this server, or from no page at all.

    Raises:
        ProtocolError: it comes from another site's page.
    """
    if origin is not None and (host is None or origin not in (f"http://{host}", f"https://{host}")):
        raise ProtocolError("wrong_secret", "requests from pages of other sites are refused")


def step_index(request: Request, count: int) -> int:
    """Return the index of a lesson's step that is named in an address, from 0; ``count`` is the number of its steps.

    Raises:
        ProtocolError: there is no such step.
    """
    number: int = request.path_params["step"]
    if not 1 <= number <= count:
        raise ProtocolError("bad_message", f"step must be 1 to {count}, got {number}")
    return number - 1


def csv_text(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table as CSV; texts that a spreadsheet would compute begin with an apostrophe."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows([_safe(value) for value in row] for row in rows)
    return text.getvalue()


def _safe(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t")) else value


Choice = tuple[str, str, str]
"""A value, what it is called, and a sentence about it."""
_OTHER_AGENTS = {
    "scripted": "weighs every engagement by the points that it gains",
    "raider": "sends all Patrols but a few to the enemy HVA at once",
    "mixed": "a raider that plays differently in every game",
    "turtle": "guards its HVA and never attacks",
    "policy:base": "a neural network, trained by self-play",
    "search": "plays candidate orders out to the end of the game, for a hundredth of a second",
    "search:1s": "plays candidate orders out as well, for a whole second",
    "idle": "gives no orders",
    "random": "gives every satellite a random order",
}


@cache
def game_choices() -> list[Choice]:
    """Return the presets, the usual one first."""
    names = sorted(preset_names(), key=lambda name: name != "geo_patrol")
    configs = {name: load_config(name) for name in names}
    return [(name, config.title, config.description) for name, config in configs.items()]


def level_choices() -> list[dict[str, Any]]:
    """Return the opponents for people, the weakest first: ``agent``, ``name``, ``rating`` and ``style``."""
    return [{"agent": one.agent, "name": one.name, "rating": one.rating, "style": one.style} for one in read_levels()]


def agent_choices(own_agents: Iterable[str]) -> list[Choice]:
    """Return the agents that may be named for a seat, with those that the operator of the server allows."""
    levels = [(one.agent, f"{one.name}, {one.rating}", one.style) for one in read_levels()]
    others = [(name, f"{name}: {note}", note) for name, note in _OTHER_AGENTS.items()]
    whose = "an agent of whoever runs this server"
    shown = Counter(map(player_name, own_agents))
    own = [
        (name, f"{name if shown[player_name(name)] > 1 else player_name(name)}: {whose}", whose)
        for name in sorted(own_agents)
    ]
    return [*levels, *others, *own]


_MAX_DOTS = 200
_MAX_VALUES = 3_000
"""In a scenario, by its commas and equals signs: parsing takes 10 µs for each. A hundred variants have a thousand."""


def read_scenario(key: str, name: str, text: str | None, names: tuple[str, ...]) -> str | dict[str, Any]:
    """Return a name, or the content of a scenario as TOML, which extends no file.

    Args:
        key: what messages call the name.
        name: one of ``names``, unless there is a text.
        text: the scenario.
        names: names of the files of the package, which may be extended.

    Raises:
        ProtocolError: the name is unknown, or the text is no TOML.
    """
    if text is None:
        if name not in names:
            raise ProtocolError("bad_message", f"{key} must be one of {', '.join(names)}, got {show(name)}")
        return name
    if any(line.count(".") > _MAX_DOTS for line in text.splitlines()):
        raise ProtocolError("bad_message", f"scenario: a line has more than {_MAX_DOTS} dots")
    if text.count("=") + text.count(",") > _MAX_VALUES:
        raise ProtocolError("bad_message", f"scenario: it has more than {_MAX_VALUES:,} values")
    try:
        data: dict[str, Any] = copy_plain(tomllib.loads(text))
    except (ValueError, RecursionError) as error:
        raise ProtocolError("bad_message", f"scenario: {error}") from None
    if "extends" in data and data["extends"] not in names:
        raise ProtocolError(
            "bad_message", f"scenario: extends must be the name of a {key}, got {show(data['extends'])}"
        )
    return data


_BUSY_RETRY_SECONDS = 2.0
_MAX_JOBS = 2_000
"""That wait in one queue."""


def _lower_priority() -> None:
    """Let the other threads come first."""
    if sys.platform == "linux":
        thread = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, thread, min(os.getpriority(os.PRIO_PROCESS, thread) + 10, 19))


class FairThreads:
    """Threads that serve clients in turn, so that who asks for much waits for himself only (fair queueing).

    A client never has more than half of the threads.

    Args:
        name: name of the threads.
        num_threads: how many.
        max_waiting: how many jobs of a client may wait, those that are being done not counted.
        low_priority: whether all other threads come first where processors are short; only Linux knows priorities of threads.
    """

    def __init__(self, name: str, num_threads: int = 1, max_waiting: int = 120, low_priority: bool = False) -> None:
        self._threads = ThreadPoolExecutor(num_threads, name, _lower_priority if low_priority else None)
        self._num_idle, self._max_running, self._max_waiting = num_threads, max(num_threads // 2, 1), max_waiting
        self._running: Counter[str] = Counter()
        self._waiting: OrderedDict[str, deque[tuple[Callable[[], Any], asyncio.Future[Any]]]] = OrderedDict()

    def close(self) -> None:
        """End the threads, and wait for what is being done."""
        self._threads.shutdown(cancel_futures=True)

    async def run(self, client: str, function: Callable[[], T]) -> T:
        """Run a function in a thread, when it is the client's turn.

        Raises:
            ProtocolError: too many jobs wait, of this client or in all, with the code "too_many".
        """
        jobs = self._waiting.get(client, ())
        if len(jobs) >= self._max_waiting or sum(map(len, self._waiting.values())) >= _MAX_JOBS:
            raise ProtocolError("too_many", "too many ask at once: try again in a moment", _BUSY_RETRY_SECONDS)
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(client, deque()).append((function, done))
        self._start_jobs()
        return await done

    def _start_jobs(self) -> None:
        while self._num_idle:
            client = next((one for one in self._waiting if self._running[one] < self._max_running), None)
            if client is None:
                return
            function, done = self._waiting[client].popleft()
            if self._waiting[client]:
                self._waiting.move_to_end(client)
            else:
                del self._waiting[client]
            if not done.cancelled():
                self._num_idle -= 1
                self._running[client] += 1
                job = asyncio.get_running_loop().run_in_executor(self._threads, function)
                job.add_done_callback(partial(self._finish, client, done))

    def _finish(self, client: str, done: "asyncio.Future[Any]", job: "asyncio.Future[Any]") -> None:
        self._num_idle += 1
        self._running[client] -= 1
        if not self._running[client]:
            del self._running[client]
        self._start_jobs()
        if job.cancelled():
            done.cancel()
        elif done.cancelled():
            job.exception()  # nobody asks for it any more
        elif (error := job.exception()) is not None:
            done.set_exception(error)
        else:
            done.set_result(job.result())
