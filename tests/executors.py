"""Executors for tests."""

from concurrent.futures import Executor, Future


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
