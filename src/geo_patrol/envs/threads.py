"""A pool of threads that step the shards of a batch.

A step takes half a millisecond, of which a ``ThreadPoolExecutor`` with its futures takes a tenth to submit the work and
return the result. Here each thread has two queues instead: one of work, one that wakes the thread waiting for it.

``numba.prange`` over the shards was measured beside it: two threads play 1,024 games 1.6 to 1.9 times as fast as one
with either. ``prange`` compiles the step a second time (7 s on first use), and OpenMP, Numba's usual threading layer on
Linux, ends a forked child process that steps; opponents in Python need threads of their own in any case.
"""

import itertools
import os
import threading
import weakref
from collections.abc import Callable
from queue import SimpleQueue

Work = Callable[[int], None]
GAMES_PER_THREAD = 256
"""Minimum number of games of a thread. On an idle machine, two threads had 0.54 to 0.65 of the speed of one with 64 games, 1.1
with 256 and 1.4 to 1.5 with 1,024 (docs/results/benchmarks.md); where other work kept the cores busy, 0.9 with 256 to 1,024."""
HEAD_START = 64
"""Games that are played, approximately, while another thread wakes up."""


def split(games: int, threads: int) -> list[tuple[int, int]]:
    """Split games into one shard for each thread: the first index and the one after the last of each.

    The caller's thread, which plays the first shard, starts while the others are being woken, so it gets more games, as
    far as the others keep enough of them.
    """
    shards = max(min(threads, games // GAMES_PER_THREAD), 1)
    head_start = min(HEAD_START, games // 8, games - shards * GAMES_PER_THREAD) if shards > 1 else 0
    ends = [0, *(head_start + (games - head_start) * shard // shards for shard in range(1, shards + 1))]
    return list(itertools.pairwise(ends))


class _Worker:
    """A thread that runs its shard of every piece of work.

    Only ``is_idle`` says whether it has finished, not the content of a queue: a wait that is interrupted, by the user's
    Ctrl-C for example, can be repeated.
    """

    def __init__(self, shard: int) -> None:
        self._shard = shard
        self._work: SimpleQueue[Work | None] = SimpleQueue()
        self._wake: SimpleQueue[None] = SimpleQueue()
        self.is_idle = True
        self._error: BaseException | None = None
        threading.Thread(target=self._run, name=f"geo_patrol-{shard}", daemon=True).start()

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            try:
                work(self._shard)
            except BaseException as error:
                self._error = error
            del work  # and what it refers to, before others are notified
            self.is_idle = True
            self._wake.put(None)

    def start(self, work: Work) -> None:
        """Start a piece of work."""
        self.is_idle = False
        self._work.put(work)

    def wait(self) -> None:
        """Wait until the work is finished."""
        while not self.is_idle:
            self._wake.get()

    def pop_error(self) -> BaseException | None:
        """Return the exception that was raised, and forget it, with all that its frames refer to."""
        error, self._error = self._error, None
        return error

    def shut_down(self) -> None:
        """End the thread when it is idle."""
        self._work.put(None)


def _shut_down(workers: list[_Worker], process: int) -> None:
    if process == os.getpid():  # a fork has no threads but the one that forked
        for worker in workers:
            worker.shut_down()


class WorkerPool:
    """The caller's thread, which runs shard 0, and workers for the others, started when they are first needed.

    The workers end with the pool, or when it is shut down.

    Args:
        num_shards: how many shards there are.
    """

    def __init__(self, num_shards: int) -> None:
        self._num_shards = num_shards
        self._workers: list[_Worker] = []
        self._process = 0
        self._finalize: Callable[[], object] = list

    def run(self, work: Work) -> None:
        """Run all shards of a piece of work, ``work(0)``, ``work(1)``, ..., and wait for all of them.

        Raises:
            Whatever the work raises; of several exceptions, that of the lowest shard.
        """
        if self._num_shards == 1:
            work(0)
            return
        self._start_workers()
        self.wait()
        try:
            for worker in self._workers:
                worker.start(work)
            work(0)
        finally:
            self.wait()
            errors = [worker.pop_error() for worker in self._workers]
        for error in errors:
            if error is not None:
                raise error

    def _start_workers(self) -> None:
        if self._process == os.getpid():
            return
        workers: list[_Worker] = []
        self._finalize = weakref.finalize(self, _shut_down, workers, os.getpid())
        try:
            workers.extend(_Worker(shard) for shard in range(1, self._num_shards))
        except RuntimeError:  # the system provides no more threads
            self._finalize()
            raise
        self._workers, self._process = workers, os.getpid()

    def wait(self) -> None:
        """Wait for the workers, which are still busy when a run was interrupted."""
        if self._process == os.getpid():
            for worker in self._workers:
                worker.wait()

    def shut_down(self) -> None:
        """End the workers; they are started again if there is more work."""
        self.wait()
        self._finalize()
        self._workers, self._process = [], 0
