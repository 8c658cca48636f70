"""A server for the tests, and what people do at its pages in a browser."""

import json
import time
import urllib.request
from urllib.parse import urlencode

import pytest

from geo_patrol.base.sides import SIDES
from geo_patrol.web.tables import TableStore
from tests.support.serving import serving as serve


def serving(folder, port=0, host="127.0.0.1", own_agents=()):
    """Run a server of the games in a folder, as a context; all tests come from one address, which may open many."""
    return serve(TableStore(folder, 2_000, frozenset(own_agents)), port, host)


def open_table(address, **asked):
    """Open a table; return its name and the addresses for alpha, bravo and those who watch, None where an agent plays."""
    body = json.dumps({"seed": 5, "alpha": "link", "bravo": "link"} | asked).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{address}/api/tables", body)) as answer:
        opened = json.load(answer)
    name, secrets = opened["table"], opened["secrets"]
    page = f"{address}/static/table.html#"
    seats = [page + urlencode({"table": name, "secret": secrets[side]}) if side in secrets else None for side in SIDES]
    return name, *seats, page + urlencode({"table": name})


def until(page, condition):
    """Wait for a condition in JavaScript; Playwright's own function needs a page that allows ``eval``."""
    end = time.monotonic() + 45  # a busy machine is slow
    while not _is_true(page, condition):
        assert time.monotonic() < end, condition
        page.wait_for_timeout(30)


def _is_true(page, condition):
    """Return whether a condition holds; it does not while the page is about to be another one."""
    try:
        return page.evaluate(condition)
    except Exception as error:
        if "context was destroyed" not in str(error):
            raise
        return False


def ordering(page):
    """Wait until orders are asked for, or the game is over; go on where the page tells what happened. Return which."""
    until(
        page,
        "page.entry.choices !== null && page.entry.isShown || page.ending !== null && page.playback.hasArrived || !page.next.closest('[hidden]')",
    )
    while page.evaluate("document.body.dataset.state") == "played":
        page.click("#next")
        until(page, "document.body.dataset.state !== 'played'")
    if page.evaluate("page.ending !== null"):
        until(page, "document.body.dataset.state === 'over'")
        return False
    until(page, "page.entry.choices !== null && page.entry.isShown || page.ending !== null")
    return page.evaluate("page.ending === null")


def settle(page):
    """Let a press on Commit count at once, or on Take it: half a second earlier it would be meant for what was there before."""
    page.evaluate("page.entry.loaded = page.hintedAt = 0")


def commit(page):
    """Commit the orders, and wait until they are in."""
    settle(page)
    page.click(".commit")
    until(page, "page.entry.choices === null || page.entry.orders.length === 0")


def give_first(page, count=1):
    """Give the first satellites their first order by keys of the page, and return these orders."""
    return page.evaluate(
        """count => page.entry.choices.satellites.slice(0, count).map(({ name, options }) => {
          page.entry.select(name);
          page.entry.give(name, options[0]);
          return options[0].order;
        })""",
        count,
    )


def click_area(page, area):
    """Click an area of the board."""
    page.mouse.click(*point_of(page, area))


def point_of(page, area):
    """Return a point where nothing else lies on top of an area of the board."""
    page.locator("#board").scroll_into_view_if_needed()
    return page.evaluate(
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


def index_of(page, order):
    """Return the number of an order among those of a flight."""
    return page.evaluate("order => page.board.flight.choices.findIndex((choice) => choice.order === order)", order)


def endpoint_of(page, order):
    """Return where the endpoint of an order of a flight is on the screen."""
    page.locator("#map").scroll_into_view_if_needed()
    return page.evaluate(
        """index => {
          const [x, y] = page.board.flight.choices[index].at;
          const at = new DOMPoint(x, y).matrixTransform(document.getElementById("map").getScreenCTM());
          return [at.x, at.y];
        }""",
        index_of(page, order),
    )


def press_until(page, selector, key="Tab"):
    """Move the focus until it is on an element."""
    for _ in range(80):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press(key)
    raise AssertionError(f"{key} does not lead to {selector}")


_SERIOUS = """options => axe.run(options).then(({ violations }) => violations
  .filter(({ impact }) => ["serious", "critical"].includes(impact)).map(({ id, nodes }) => [id, nodes[0].html]))"""


def check_page(page, size):
    """Check that a page does not scroll sideways, and that axe-core finds no serious fault, with light and dark colors."""
    axe = pytest.importorskip("axe_playwright_python.base")
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(axe.AXE_SCRIPT)
    assert page.evaluate(_SERIOUS, {"resultTypes": ["violations"]}) == []
    for look in ("dark", "light"):
        page.emulate_media(color_scheme=look)
        page.evaluate(
            "look => { if (document.documentElement.dataset.look) document.documentElement.dataset.look = look }", look
        )
        assert page.evaluate(_SERIOUS, {"runOnly": ["color-contrast"]}) == []
