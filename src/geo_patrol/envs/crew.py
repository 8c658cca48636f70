"""Threads that step the shares of a batch.

A step takes half a millisecond, of which a ``ThreadPoolExecutor`` with its queue and futures takes a tenth to hand over
the work and the result. Here each thread has two locks instead: one to begin, one for done.
"""

import os
import threading
from collections.abc import Callable

Work = Callable[[int], None]


class _Helper:
    """A thread that does its share whenever it is told to."""

    def __init__(self, share: int) -> None:
        self._share = share
        self._begin, self._done = threading.Lock(), threading.Lock()
        self._begin.acquire()
        self._done.acquire()
        self._work: Work | None = None
        self._error: BaseException | None = None
        threading.Thread(target=self._serve, name=f"geo_patrol-{share}", daemon=True).start()

    def _serve(self) -> None:
        while True:
            self._begin.acquire()
            if self._work is None:
                return
            try:
                self._work(self._share)
            except BaseException as error:
                self._error = error
            self._done.release()

    def begin(self, work: Work) -> None:
        """Begin with a piece of work."""
        self._work, self._error = work, None
        self._begin.release()

    def wait(self) -> BaseException | None:
        """Wait for the end of it; return what was raised."""
        self._done.acquire()
        self._work = None  # and what it refers to
        return self._error

    def dismiss(self) -> None:
        """End the thread."""
        self._work = None
        self._begin.release()


class Crew:
    """The caller's thread, which does share 0, and helpers for the others; they are made when they are first needed.

    Args:
        shares: how many shares there are.
    """

    def __init__(self, shares: int) -> None:
        self._shares = shares
        self._helpers: list[_Helper] = []
        self._process = 0

    def run(self, work: Work) -> None:
        """Do all shares of a piece of work, ``work(0)``, ``work(1)``, ..., and wait for all of them.

        Raises:
            Whatever the work raises; of several, what that of the lowest share does.
        """
        if self._shares == 1:
            work(0)
            return
        if self._process != os.getpid():  # a fork has no threads but the one that forked
            self._helpers = [_Helper(share) for share in range(1, self._shares)]
            self._process = os.getpid()
        for helper in self._helpers:
            helper.begin(work)
        try:
            work(0)
        finally:
            errors = [helper.wait() for helper in self._helpers]
        for error in errors:
            if error is not None:
                raise error

    def dismiss(self) -> None:
        """End the helpers; they are made anew if there is work again."""
        if self._process == os.getpid():
            for helper in self._helpers:
                helper.dismiss()
        self._helpers, self._process = [], 0
