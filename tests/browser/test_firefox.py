"""A whole game in Firefox, driven by Marionette. Skipped where Firefox or Mozilla's client is missing."""

import shutil
import time

import pytest

from tests.browser.driving import open_table

pytestmark = [  # Mozilla's client leaves sockets open
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
SHORT = 'extends = "geo_patrol"\nturn_limit = 3\n[bravo.patrols]\nformation = [[7, 4]]\n'


@pytest.fixture
def firefox(tmp_path, monkeypatch):
    """A running Firefox without a window."""
    driver = pytest.importorskip("marionette_driver.marionette", reason="make test-browser installs it")
    path = shutil.which("firefox-esr") or shutil.which("firefox")
    if path is None:
        pytest.skip("Firefox is not installed: apt install firefox-esr")
    monkeypatch.setenv("MOZ_HEADLESS", "1")
    client = driver.Marionette(bin=path, headless=True, gecko_log=str(tmp_path / "gecko.log"), startup_timeout=120)
    client.start_session()
    client.timeout.implicit = 10
    yield client
    client.quit()
    client.cleanup()


def until(client, condition, seconds=30):
    end = time.monotonic() + seconds
    while not client.execute_script(f"return Boolean({condition})", sandbox=None):
        assert time.monotonic() < end, condition
        time.sleep(0.05)


def test_a_whole_game_is_played_in_firefox(address, firefox):
    from marionette_driver.by import By

    def press(selector):
        firefox.find_element(By.CSS_SELECTOR, selector).click()

    state = "document.body.dataset.state"
    _, alpha, _, _ = open_table(address, scenario=SHORT, bravo="level:9")
    firefox.navigate(alpha)
    num_orders = 0
    while True:
        until(firefox, f"['movement', 'engagement', 'played', 'over'].includes({state})")
        now = firefox.execute_script(f"return {state}", sandbox=None)
        if now == "over":
            break
        if now == "played":
            press("#next")
            continue
        time.sleep(0.6)  # a press right after the last phase is meant for that one
        press(".yours .sat:has(input:enabled:not(:checked))")
        if firefox.find_elements(By.CSS_SELECTOR, ".choice .way:has(input:not(:checked))"):
            press(".choice .way:has(input:not(:checked))")
            num_orders += 1
            assert len(firefox.find_elements(By.CSS_SELECTOR, ".chip")) == 1
        press(".commit")
        until(firefox, f"!document.querySelector('.chip') || {state} === 'played'")
    assert num_orders >= 2
    press("#next")
    until(firefox, "document.getElementById('verdict')?.textContent.startsWith('You ')")
    until(firefox, "document.getElementById('analysing').hidden", 90)  # at low priority
    assert firefox.find_elements(By.CSS_SELECTOR, "#curve polyline")
