"""A real browser without a network, and a recorded file for it. Skipped where Playwright or Chromium is missing."""

import shutil

import pytest

from geo_patrol import play_match

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
    """Return a function that opens an address in a window of a size, and fails the test for errors of scripts."""
    contexts, errors = [], []

    def open_one(address, size=(1280, 800), **options):
        context = chromium.new_context(viewport={"width": size[0], "height": size[1]}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.goto(address)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert errors == []


@pytest.fixture(scope="session")
def recorded(tmp_path_factory):
    """A file with four games."""
    path = tmp_path_factory.mktemp("recorded") / "games.jsonl"
    play_match("scripted", "raider", config="case1", games=4, seed=4, save=path)
    return path
