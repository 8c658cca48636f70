"""Threads that compute for requests, so that games do not wait."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from geo_patrol.server.protocol import ProtocolError

_RETRY_SECONDS = 2.0
T = TypeVar("T")


class Worker:
    """A thread for which a limited number may wait.

    Args:
        name: of the thread.
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
            raise ProtocolError("too_many", "too many ask at once: try again in a moment", _RETRY_SECONDS)
        self._num_waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, function)
        finally:
            self._num_waiting -= 1
