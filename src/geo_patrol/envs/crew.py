"""Threads that step the shares of a batch.

A step takes half a millisecond, of which a ``ThreadPoolExecutor`` with its futures takes a tenth to hand over the work
and the result. Here each thread has two queues instead: one of work, one that wakes who waits for it.
"""

import os
import threading
import weakref
from collections.abc import Callable
from queue import SimpleQueue

Work = Callable[[int], None]


class _Helper:
    """A thread that does its share whenever it is told to.

    Whether it is done is told by ``is_idle`` alone, not by what lies in a queue: a wait that is interrupted, by the
    user's Ctrl-C say, may be begun again.
    """

    def __init__(self, share: int) -> None:
        self._share = share
        self._work: SimpleQueue[Work | None] = SimpleQueue()
        self._wake: SimpleQueue[None] = SimpleQueue()
        self.is_idle = True
        self._error: BaseException | None = None
        threading.Thread(target=self._serve, name=f"geo_patrol-{share}", daemon=True).start()

    def _serve(self) -> None:
        while (work := self._work.get()) is not None:
            try:
                work(self._share)
            except BaseException as error:
                self._error = error
            del work  # and what it refers to, before anybody is told
            self.is_idle = True
            self._wake.put(None)

    def begin(self, work: Work) -> None:
        """Begin with a piece of work."""
        self.is_idle = False
        self._work.put(work)

    def wait(self) -> None:
        """Wait until there is nothing to do."""
        while not self.is_idle:
            self._wake.get()

    def take_error(self) -> BaseException | None:
        """Return what was raised, and forget it, with all that its frames refer to."""
        error, self._error = self._error, None
        return error

    def dismiss(self) -> None:
        """End the thread when it is idle."""
        self._work.put(None)


def _dismiss(helpers: list[_Helper], process: int) -> None:
    if process == os.getpid():  # a fork has no threads but the one that forked
        for helper in helpers:
            helper.dismiss()


class Crew:
    """The caller's thread, which does share 0, and helpers for the others; they are made when they are first needed.

    The helpers end with the crew, or when they are dismissed.

    Args:
        shares: how many shares there are.
    """

    def __init__(self, shares: int) -> None:
        self._shares = shares
        self._helpers: list[_Helper] = []
        self._process = 0
        self._end: Callable[[], object] = list

    def run(self, work: Work) -> None:
        """Do all shares of a piece of work, ``work(0)``, ``work(1)``, ..., and wait for all of them.

        Raises:
            Whatever the work raises; of several, what that of the lowest share does.
        """
        if self._shares == 1:
            work(0)
            return
        self._hire()
        self.wait()
        try:
            for helper in self._helpers:
                helper.begin(work)
            work(0)
        finally:
            self.wait()
            errors = [helper.take_error() for helper in self._helpers]
        for error in errors:
            if error is not None:
                raise error

    def _hire(self) -> None:
        if self._process == os.getpid():
            return
        helpers: list[_Helper] = []
        self._end = weakref.finalize(self, _dismiss, helpers, os.getpid())
        try:
            helpers.extend(_Helper(share) for share in range(1, self._shares))
        except RuntimeError:  # the system gives no more threads
            self._end()
            raise
        self._helpers, self._process = helpers, os.getpid()

    def wait(self) -> None:
        """Wait for the helpers, which are still at work when a run was interrupted."""
        if self._process == os.getpid():
            for helper in self._helpers:
                helper.wait()

    def dismiss(self) -> None:
        """End the helpers; they are made anew if there is work again."""
        self.wait()
        self._end()
        self._helpers, self._process = [], 0
