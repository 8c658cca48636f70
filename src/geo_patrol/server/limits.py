"""Limits of what clients may ask for: of each connection, of each address, and of all together."""

import ipaddress
from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from geo_patrol.server.protocol import ProtocolError

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
        messages: of all of its connections.
    """

    requests: MessageLimit
    openings: MessageLimit
    arrivals: MessageLimit
    messages: MessageLimit


class AddressLimits:
    """What comes from each address.

    Args:
        max_connections: of an address at the same time; so many come at once, and a tenth of it a second later on. They
            send one message a second each, on average.
        max_tables: of the server; an address opens a quarter of it at once, and as many an hour.
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
