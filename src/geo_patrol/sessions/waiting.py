"""Waiting for agents that take their time, while something else goes on. No drawing here."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Ask: TypeAlias = Callable[[], NDArray[np.int64]]
"""Asks an agent for its orders: (11,) order codes."""

Wait: TypeAlias = Callable[[str, Ask], NDArray[np.int64]]
"""Waits for an agent's orders, and returns them: is given the agent's name, and what asks it."""


def wait_idly(_name: str, ask: Ask) -> NDArray[np.int64]:
    """Wait for an agent's orders, and do nothing else meanwhile."""
    return ask()


class Asker:
    """A thread that asks agents, always the same one: some keep what belongs to a thread.

    It does not keep the program from ending.
    """

    def __init__(self) -> None:
        self._given: SimpleQueue[tuple[Ask, Future[NDArray[np.int64]]] | None] = SimpleQueue()
        threading.Thread(target=self._serve, name="geo_patrol-asker", daemon=True).start()

    def begin(self, ask: Ask) -> "Future[NDArray[np.int64]]":
        """Begin to ask; return where the orders, or what was raised, will be."""
        orders: Future[NDArray[np.int64]] = Future()
        self._given.put((ask, orders))
        return orders

    def dismiss(self) -> None:
        """End the thread when it is idle."""
        self._given.put(None)

    def _serve(self) -> None:
        while (given := self._given.get()) is not None:
            ask, orders = given
            try:
                orders.set_result(ask())
            except BaseException as error:  # which is raised where it is waited for
                orders.set_exception(error)
            del given, ask, orders  # and what they refer to
