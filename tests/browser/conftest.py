"""A real browser without a network, and a recorded file for it. Skipped where Playwright or Chromium is missing."""

import queue
import re
import shutil
import threading

import pytest

from geo_patrol import play_match
from geo_patrol.web import local
from geo_patrol.web.app import Server
from geo_patrol.web.tables import TableStore
from tests.browser.driving import open_table, ordering, serving

_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@pytest.fixture(scope="session")
def chromium():
    """A running Chromium."""
    playwright = pytest.importorskip("playwright.sync_api", reason="make test-browser installs Playwright")
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        pytest.skip("Chromium is not installed: apt install chromium")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=_ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium):
    """Return a function that opens an address in a window of a size, and fails the test for errors of scripts.

    Its argument ``ignored`` is a pattern of errors that the test causes itself.
    """
    contexts, errors = [], []

    def open_one(address, size=(1280, 800), ignored="^$", **options):
        context = chromium.new_context(viewport={"width": size[0], "height": size[1]}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)  # a busy machine is slow
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: note(message, ignored))
        page.goto(address)
        return page

    def note(message, ignored):
        if message.type == "error" and not re.search(ignored, message.text):
            errors.append(message.text)

    yield open_one
    for context in contexts:
        context.close()
    assert errors == []


@pytest.fixture
def open_seat(address, open_page):
    """Return a function that opens a table, and the page of alpha; it waits until orders are asked for."""

    def open_one(size=(1280, 800), *, options=(), **asked):
        _, alpha, _, _ = open_table(address, **asked)
        page = open_page(alpha, size, reduced_motion="reduce", **dict(options))
        assert ordering(page)
        return page

    return open_one


@pytest.fixture
def own_page(tmp_path, monkeypatch):
    """Return a function that runs the page of one person, and returns its address with the key.

    Requested before ``open_page``, it outlives the pages, which would note that they lost it.
    """
    threads = []

    def run(pieces=()):
        page = local.LocalPage(pieces, lambda: (Server(TableStore(tmp_path), ("*",)).app(), None))
        told = queue.Queue()
        thread = threading.Thread(target=page.run, args=(0, tmp_path, told.put), daemon=True)
        thread.start()
        threads.append(thread)
        return told.get(timeout=60)

    yield run
    monkeypatch.setattr(local, "IDLE_SECONDS", -1.0)
    for thread in threads:
        thread.join(20)


@pytest.fixture(scope="session")
def recorded(tmp_path_factory):
    """A file with four games."""
    path = tmp_path_factory.mktemp("recorded") / "games.jsonl"
    play_match("scripted", "raider", config="case1", games=4, seed=4, save=path)
    return path


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """The folder of the server's games."""
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(scope="session")
def address(folder):
    """The address of a running server."""
    with serving(folder) as address:
        yield address
