"""Limits of what clients may ask for: of each connection, of each address, and of all together."""

import ipaddress
from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

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
            raise ProtocolError("too_many", f"more than {self._per_second:g} messages a second", wait)
        self._tokens -= 1


class AddressLimits:
    """What comes from each address: connections now, and requests that change something.

    Args:
        max_connections: of an address at the same time.
    """

    def __init__(self, max_connections: int) -> None:
        self._max_connections = max_connections
        self._connections: Counter[str] = Counter()
        self._requests: OrderedDict[str, MessageLimit] = OrderedDict()

    def take_request(self, address: str | None, now: float) -> None:
        """Count a request.

        Raises:
            ProtocolError: it is one too many, with the code "too_many" and the time to wait.
        """
        site = _site(address)
        limit = self._requests.setdefault(site, MessageLimit(*_REQUESTS))
        self._requests.move_to_end(site)
        if len(self._requests) > _MAX_ADDRESSES:
            self._requests.popitem(last=False)
        limit.take(now)

    @contextmanager
    def connection(self, address: str | None) -> Iterator[None]:
        """Count a connection while it lasts.

        Raises:
            ProtocolError: there are too many, with the code "too_many" and the time to wait.
        """
        site = _site(address)
        if self._connections.total() >= MAX_CONNECTIONS:
            raise ProtocolError("too_many", f"{MAX_CONNECTIONS} connections: try again later", _RETRY_SECONDS)
        if self._connections[site] >= self._max_connections:
            text = f"{self._max_connections} connections from your address: try again later"
            raise ProtocolError("too_many", text, _RETRY_SECONDS)
        self._connections[site] += 1
        try:
            yield
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
    return str(ipaddress.ip_network((parsed, _IPV6_SITE), strict=False)) if parsed.version == 6 else str(parsed)
