"""Coroutines in tests."""

import asyncio
from concurrent.futures import ThreadPoolExecutor


def run_coroutine(coroutine):
    """Run a coroutine in a thread of its own: Playwright leaves an event loop running in that of the tests."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
