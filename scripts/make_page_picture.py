"""Make the pictures of the page in a browser, ``docs/pictures/``; it needs Playwright and Chromium."""

import json
import shutil
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import uvicorn
from PIL import Image
from playwright.sync_api import sync_playwright

from geo_patrol.web.app import Server
from geo_patrol.web.tables import TableStore

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
SIZE = (1280, 800)
SEED = 13


@contextmanager
def serving() -> Iterator[str]:
    """Run a server; yield its address."""
    with tempfile.TemporaryDirectory() as folder:
        server = uvicorn.Server(uvicorn.Config(Server(TableStore(Path(folder))).app(), port=0, log_level="warning"))
        thread = threading.Thread(target=server.run)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        server.should_exit = True
        thread.join()


def open_seat(address: str) -> str:
    """Open a table; return the address of alpha's seat."""
    body = json.dumps({"alpha": "link", "bravo": "level:telstar", "seed": SEED}).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{address}/api/tables", body)) as answer:
        opened = json.load(answer)
    return f"{address}/static/table.html#{urlencode({'table': opened['table'], 'secret': opened['secrets']['alpha']})}"


def write_pages(folder: Path) -> None:
    """Write the pictures of the start page, and of a table while orders are entered."""
    with serving() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        size = {"width": SIZE[0], "height": SIZE[1]}
        page = browser.new_page(viewport=size, color_scheme="light", reduced_motion="reduce")
        page.goto(address)
        page.locator("#play .main:enabled").wait_for()
        page.locator("#caption:not(:empty)").wait_for()
        page.locator(".levels .pick").nth(3).click()
        page.mouse.move(0, 0)
        page.screenshot(path=folder / "page_start.png")
        page = browser.new_page(viewport=size, color_scheme="dark", reduced_motion="reduce")
        page.goto(open_seat(address))
        page.locator(".commit:enabled").wait_for()
        for name in ("P1", "P9", "P10"):
            page.locator(f".yours .sat:has([value={name}])").click()
            page.locator(".choice .way:has(input:not(:checked))").first.click()
        page.wait_for_timeout(600)  # until the warning has come
        page.screenshot(path=folder / "browser.png")
        browser.close()
    for name in ("page_start.png", "browser.png"):
        with Image.open(folder / name) as picture:
            small = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
        small.save(folder / name, optimize=True)


if __name__ == "__main__":
    write_pages(FOLDER)
