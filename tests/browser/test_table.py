"""Games at a table, played by two people in two browsers against a real server."""

import json
import threading
import time
import urllib.request
from urllib.parse import urlencode

import pytest

from geo_patrol import read_replay

uvicorn = pytest.importorskip("uvicorn", reason="make test-browser installs the extra server")

SCENARIO = 'extends = "case1"\nturn_limit = 3\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(scope="module")
def address(folder):
    """The address of a running server."""
    from geo_patrol.server.app import Server
    from geo_patrol.server.hall import Hall

    config = uvicorn.Config(Server(Hall(folder)).app(), port=0, log_level="warning")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(10)


@pytest.fixture
def table(address):
    """A table of a short game; returns its name and the addresses of its seats and of its spectators."""
    body = json.dumps({"scenario": SCENARIO, "seed": 5, "alpha": "link", "bravo": "link"}).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{address}/api/tables", body)) as answer:
        opened = json.load(answer)
    name = opened["table"]
    seats = [
        f"{address}/static/table.html#{urlencode({'table': name, 'secret': one})}" for one in opened["secrets"].values()
    ]
    return name, *seats, f"{address}/static/table.html#{urlencode({'table': name})}"


def until(page, condition):
    """Wait for a condition in JavaScript; Playwright's own function needs a page that allows ``eval``."""
    end = time.monotonic() + 15
    while not page.evaluate(condition):
        assert time.monotonic() < end, condition
        page.wait_for_timeout(30)


def ordering(page):
    """Wait until orders are asked for, or the game is over; return whether they are."""
    until(page, "page.entry.choices !== null && page.entry.isShown || !page.downloads.hidden")
    return page.evaluate("page.entry.choices !== null")


def order_by_mouse(page):
    """Give two satellites their first order by clicks on the board, take one back, and commit."""
    for satellite in page.evaluate("page.entry.choices.satellites.slice(0, 2)"):
        click_area(page, satellite["area"])
        option = satellite["options"][0]
        click_area(page, option["area"])
        menu = page.locator(".menu button", has_text=option["text"])
        if menu.first.is_visible():
            menu.first.click()
        assert option["order"] in page.evaluate("page.entry.orders")
    given = len(page.evaluate("page.entry.orders"))
    page.click("#undo")
    assert len(page.evaluate("page.entry.orders")) == given - 1
    page.click("#commit")


def click_area(page, area):
    """Click where nothing else lies on top of an area of the board."""
    page.locator("#board").scroll_into_view_if_needed()
    point = page.evaluate(
        """area => {
          const { left, top, width, height } = document.querySelector(`.hit[data-area="${area}"]`).getBoundingClientRect();
          for (let i = 1; i < 20; i++)
            for (let j = 1; j < 20; j++) {
              const point = [left + (width * i) / 20, top + (height * j) / 20];
              if (document.elementFromPoint(...point)?.dataset.area === area) return point;
            }
        }""",
        area,
    )
    page.mouse.click(*point)


def order_by_keyboard(page):
    """Give the first satellite an order from the list, and commit, without a mouse."""
    press_until(page, "select[data-satellite]")
    page.keyboard.press("ArrowDown")
    assert len(page.evaluate("page.entry.orders")) == 1
    press_until(page, "#commit", "Shift+Tab")
    page.keyboard.press("Enter")


def press_until(page, selector, key="Tab"):
    """Move the focus until it is on an element."""
    for _ in range(80):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press(key)
    raise AssertionError(f"{key} does not lead to {selector}")


def test_two_people_play_a_whole_game_by_mouse_and_by_keyboard(table, folder, open_page):
    name, alpha, bravo, watch = table
    pages = mouse, keyboard, watcher = [open_page(url, reduced_motion="reduce") for url in (alpha, bravo, watch)]
    phases = 0
    while ordering(mouse):
        order_by_mouse(mouse)
        if phases == 1:
            mouse.reload()
            mouse.locator(".prompt", has_text="Your orders are in").wait_for()
            keyboard.reload()
        assert ordering(keyboard)
        order_by_keyboard(keyboard)
        phases += 1
        until(mouse, f"page.playback.record.moments.length > {phases}")
    for page in pages:
        page.locator("#downloads").wait_for()
    assert watcher.locator("#entry").is_hidden()
    assert mouse.text_content(".headline") == watcher.text_content(".headline")
    replay = read_replay(folder / f"{name}.jsonl.gz")
    assert all(one.evaluate("page.playback.record.moments.length") == len(replay.phases) + 1 for one in pages)
    page.click("summary")
    page.click("#restart")
    assert page.text_content(".headline").startswith("Turn 1, movement phase")


def test_a_lost_connection_comes_back_and_keeps_the_orders(table, open_page):
    _, alpha, bravo, _ = table
    page, other = (open_page(url, reduced_motion="reduce") for url in (alpha, bravo))
    assert ordering(page)
    page.locator("select[data-satellite]").first.select_option(index=1)
    orders = page.evaluate("page.entry.orders")
    page.evaluate("page.connection.socket.close()")
    page.locator("#notice", has_text="connection is lost").wait_for()
    page.click("#commit")
    page.locator(".prompt", has_text="Your orders are in").wait_for()
    assert ordering(other)
    other.click("#commit")
    until(page, "page.playback.record.moments.length === 2")
    assert page.evaluate("page.playback.record.moments[1].orders[0]") == orders


@pytest.mark.parametrize("size", [(390, 844), (1280, 800)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["table", "lobby"])
def test_pages_fit_their_window_and_are_accessible(address, table, open_page, size, scheme, path):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    url = table[1] if path == "table" else f"{address}/static/lobby.html"
    page = open_page(url, size, color_scheme=scheme, reduced_motion="reduce")
    if path == "table":
        assert ordering(page)
        page.locator("select[data-satellite]").first.focus()
    else:
        page.locator("#tables a").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    violations = axe.Axe().run(page).response["violations"]
    assert [one["id"] for one in violations if one["impact"] in ("serious", "critical")] == []


def test_people_meet_in_the_lobby(address, open_page):
    page = open_page(f"{address}/static/lobby.html")
    page.fill("[name=preset]", "case1")
    page.fill("[name=alpha]", "link")
    page.click("text=Open the table")
    link = page.locator("#links input").input_value()
    assert ordering(open_page(link, reduced_motion="reduce"))
