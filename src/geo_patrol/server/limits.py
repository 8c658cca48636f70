"""Limits of what one client may ask for."""

from geo_patrol.server.protocol import ProtocolError


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
