"""Make the picture of a game in a browser, ``docs/pictures/browser.png``; it needs Playwright and Chromium."""

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

from geo_patrol.server.app import Server
from geo_patrol.server.tables import TableStore

PATH = Path(__file__).parents[1] / "docs" / "pictures" / "browser.png"
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
    body = json.dumps({"alpha": "link", "bravo": "scripted", "seed": SEED}).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{address}/api/tables", body)) as answer:
        opened = json.load(answer)
    return f"{address}/static/table.html#{urlencode({'table': opened['table'], 'secret': opened['secrets']['alpha']})}"


def write_page(path: Path) -> None:
    """Write the picture, while orders are entered."""
    with serving() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]}, color_scheme="dark")
        page.goto(open_seat(address))
        for name in ("P1", "P9"):
            page.locator(f"select[data-satellite={name}]").select_option(index=1)
        page.locator("[data-area='alpha:P10'].hit").focus()
        page.keyboard.press("Enter")
        page.screenshot(path=path)
        browser.close()
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    small.save(path, optimize=True)


if __name__ == "__main__":
    write_page(PATH)
