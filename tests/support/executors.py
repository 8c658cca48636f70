"""Executors for tests."""

import json
import threading
from concurrent.futures import Executor, Future


def tables(result):
    """Return all tables of a tournament, a test or a study as text, to compare those of several executors."""
    return json.dumps(result.to_dict(), allow_nan=False)


class InlineExecutor(Executor):
    """Calls functions at once, in this process."""

    def __init__(self, processes=1):
        self.max_pending = 2 * processes

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class LastFirstExecutor(Executor):
    """Collects a number of tasks, then finishes the last one first, in another thread."""

    max_pending = 5

    def __init__(self):
        self._stack, self._lock = [], threading.Lock()

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        with self._lock:
            self._stack.append((future, fn, args, kwargs))
        threading.Timer(0.02, self._run_last).start()
        return future

    def _run_last(self):
        with self._lock:
            future, fn, args, kwargs = self._stack.pop()
        if future.set_running_or_notify_cancel():
            future.set_result(fn(*args, **kwargs))
