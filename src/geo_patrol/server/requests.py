"""Requests: what is safe for browsers, how much a client may ask for, and how bodies are read."""

import asyncio
import csv
import io
import ipaddress
import tomllib
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError
from starlette.requests import HTTPConnection, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from geo_patrol.agents.levels import read_levels
from geo_patrol.config.presets import load_config
from geo_patrol.config.toml_files import copy_plain, preset_names
from geo_patrol.errors import printable, show
from geo_patrol.server.protocol import ProtocolError

_CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", _CONTENT_SECURITY_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),  # links to seats contain secrets
]


class SafeHeaders:
    """Adds the headers that keep browsers safe to every response."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""

        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *_HEADERS]
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


MAX_CONNECTIONS = 2000
_MAX_ADDRESSES = 10_000
"""Whose requests are counted; of more, those are forgotten that asked for nothing for the longest time."""
_REQUESTS = (20.0, 100)
"""A second, and at once, that change something, of an address."""
_RETRY_SECONDS = 30.0
_IPV6_SITE = 64
"""Bits of an IPv6 address that a site shares; its computers choose the others as they like."""


class MessageLimit:
    """A token bucket.

    Args:
        per_second: how many requests a second, on average.
        burst: how many at once.
    """

    def __init__(self, per_second: float, burst: int) -> None:
        self._per_second, self._burst = per_second, burst
        self._tokens, self._last = float(burst), 0.0

    def take(self, now: float) -> None:
        """Count a request.

        Raises:
            ProtocolError: it is one too many, with the code "too_many" and the time to wait.
        """
        self._tokens = min(self._tokens + (now - self._last) * self._per_second, float(self._burst))
        self._last = now
        if self._tokens < 1:
            wait = round((1 - self._tokens) / self._per_second, 2)
            raise ProtocolError("too_many", f"too many at once: try again in {wait:g} s", wait)
        self._tokens -= 1


@dataclass(frozen=True)
class Buckets:
    """What an address may still ask for.

    Attributes:
        requests: that change something.
        openings: new tables, classes and challenges.
        arrivals: new connections.
        messages: limit of the messages of all of its connections.
    """

    requests: MessageLimit
    openings: MessageLimit
    arrivals: MessageLimit
    messages: MessageLimit


class AddressLimits:
    """What comes from each address.

    Args:
        max_connections: maximum number of connections of an address at the same time; so many come at once, and a tenth of it a second later on. They
            send one message a second each, on average.
        max_tables: maximum number of tables of the server; an address opens a quarter of it at once, and as many an hour.
    """

    def __init__(self, max_connections: int, max_tables: int) -> None:
        self._max_connections, self._max_openings = max_connections, max(max_tables // 4, 1)
        self._connections: Counter[str] = Counter()
        self._buckets: OrderedDict[str, Buckets] = OrderedDict()

    def of(self, address: str | None) -> Buckets:
        """Return what an address may still ask for."""
        site = _site(address)
        if site not in self._buckets:
            self._buckets[site] = Buckets(
                requests=MessageLimit(*_REQUESTS),
                openings=MessageLimit(self._max_openings / 3600, self._max_openings),
                arrivals=MessageLimit(self._max_connections / 10, self._max_connections),
                messages=MessageLimit(self._max_connections, 4 * self._max_connections),
            )
        self._buckets.move_to_end(site)
        if len(self._buckets) > _MAX_ADDRESSES:
            self._buckets.popitem(last=False)
        return self._buckets[site]

    @contextmanager
    def connection(self, address: str | None, now: float) -> Iterator[MessageLimit]:
        """Count a connection while it lasts; yield the limit of messages of its address.

        Raises:
            ProtocolError: there are too many, with the code "too_many" and the time to wait.
        """
        site, buckets = _site(address), self.of(address)
        if self._connections.total() >= MAX_CONNECTIONS:
            raise ProtocolError("too_many", f"{MAX_CONNECTIONS} connections: try again later", _RETRY_SECONDS)
        if self._connections[site] >= self._max_connections:
            text = f"{self._max_connections} connections from your address: try again later"
            raise ProtocolError("too_many", text, _RETRY_SECONDS)
        buckets.arrivals.take(now)
        self._connections[site] += 1
        try:
            yield buckets.messages
        finally:
            self._connections[site] -= 1
            if not self._connections[site]:
                del self._connections[site]


def _site(address: str | None) -> str:
    """Return what is counted as one: an IPv4 address, the network of an IPv6 address."""
    try:
        parsed = ipaddress.ip_address(address or "")
    except ValueError:
        return ""
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    return str(parsed.ipv4_mapped or ipaddress.ip_network((parsed, _IPV6_SITE), strict=False))


MAX_BODY_BYTES = 1 << 17
_BODY_SECONDS = 20.0
BodyT = TypeVar("BodyT", bound=BaseModel)


class Body(BaseModel):
    """The body of a request."""

    model_config = ConfigDict(extra="forbid", strict=True)


class SecretBody(Body):
    """The secret of whoever asks: of a seat, a pupil, a teacher or a pilot."""

    secret: Annotated[str, StringConstraints(max_length=80)]


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
        fault = error.errors(include_url=False, include_context=False)[0]
        field = ".".join(map(str, fault["loc"])) or "body"
        raise ProtocolError("bad_message", f"{field}: {fault['msg']}") from None


async def _read_stream(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise ProtocolError("bad_message", f"the body is longer than {MAX_BODY_BYTES:,} bytes")
    return bytes(body)


def check_origin(origin: str | None, host: str | None) -> None:
    """Check that a request comes from a page of this server, or from no page at all.

    Raises:
        ProtocolError: it comes from another site's page.
    """
    if origin is not None and (host is None or origin not in (f"http://{host}", f"https://{host}")):
        raise ProtocolError("wrong_secret", "requests from pages of other sites are refused")


def client_address(connection: HTTPConnection) -> str | None:
    """Return where a client is: what a reverse proxy on this computer says of it, or the address of its connection."""
    return None if connection.client is None else connection.client.host


_MAX_NAME = 40


def read_name(text: str, taken: Iterable[str]) -> str:
    """Return a name on one line, with everything escaped that is no character.

    Args:
        text: what somebody has typed.
        taken: the names of the others.

    Raises:
        ProtocolError: it is empty, or somebody else's.
    """
    name = printable(text.strip(), _MAX_NAME)
    if not name:
        raise ProtocolError("bad_message", "name must not be empty")
    if name.casefold() in map(str.casefold, taken):
        raise ProtocolError("no_seat", f"name: there is a {show(name)} already; add a letter")
    return name


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
    own = [(name, name, "an agent of whoever runs this server") for name in sorted(own_agents)]
    return [*levels, *others, *own]


_MAX_DOTS = 200


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
T = TypeVar("T")


class LimitedThread:
    """A thread for which a limited number may wait.

    Args:
        name: name of the thread.
        max_waiting: how many may wait, the one that is served included.
    """

    def __init__(self, name: str, max_waiting: int) -> None:
        self._max_waiting = max_waiting
        self._thread = ThreadPoolExecutor(1, name)
        self._num_waiting = 0

    def close(self) -> None:
        """End the thread when it is idle."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def run(self, function: Callable[[], T]) -> T:
        """Run a function in the thread.

        Raises:
            ProtocolError: too many wait for it, with the code "too_many".
        """
        if self._num_waiting >= self._max_waiting:
            raise ProtocolError("too_many", "too many ask at once: try again in a moment", _BUSY_RETRY_SECONDS)
        self._num_waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, function)
        finally:
            self._num_waiting -= 1
