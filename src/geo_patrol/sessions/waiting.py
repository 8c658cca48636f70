"""Waiting for agents that take their time, while something else goes on."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")

Act: TypeAlias = Callable[[], NDArray[np.int64]]
"""Lets an agent choose its orders: (11,) order codes."""

Wait: TypeAlias = Callable[[str, Act], NDArray[np.int64]]
"""Waits for an agent's orders and returns them; arguments are the agent's name, and what lets it choose."""


def wait_blocking(_name: str, act: Act) -> NDArray[np.int64]:
    """Let an agent choose its orders in the calling thread."""
    return act()


class AgentThread:
    """A daemon thread in which agents choose their orders, always the same: some hold what belongs to a thread."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = SimpleQueue()
        threading.Thread(target=self._run, name="geo_patrol-agents", daemon=True).start()

    def submit(self, act: Callable[[], T]) -> "Future[T]":
        """Let an agent choose its orders, or give advice; return a future of them, or of the exception raised."""
        future: Future[T] = Future()
        self._queue.put((act, future))
        return future

    def shut_down(self) -> None:
        """End the thread when it is idle."""
        self._queue.put(None)

    def _run(self) -> None:
        while (job := self._queue.get()) is not None:
            act, future = job
            try:
                future.set_result(act())
            except BaseException as error:
                future.set_exception(error)
            del job, act, future  # and what they refer to
