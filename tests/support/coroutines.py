"""Coroutines in tests, run in a thread of their own: Playwright leaves an event loop running in that of the tests."""

import asyncio
from concurrent.futures import ThreadPoolExecutor


class Loop:
    """An event loop in a thread, which runs one coroutine after another."""

    def __init__(self):
        self._thread, self._loop = ThreadPoolExecutor(1), asyncio.new_event_loop()

    def run(self, coroutine):
        """Run a coroutine, and return its result."""
        return self._thread.submit(self._loop.run_until_complete, coroutine).result()

    def close(self):
        """Close the loop and end the thread."""
        self._thread.submit(self._loop.close).result()
        self._thread.shutdown()


def run_coroutine(coroutine):
    """Run a coroutine in a loop of its own."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
