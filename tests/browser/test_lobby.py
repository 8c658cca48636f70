"""The lobby: tables and classes from lists of choices, links to send, own scenarios, finished games."""

import re

import pytest
from driving import check_page, open_table, ordering, until

from geo_patrol.server.requests import agent_choices, game_choices
from geo_patrol.server.tables import make_seat_agent

SHORT = 'extends = "case1"\nturn_limit = 1\n'


@pytest.fixture
def lobby(address, open_page):
    """The lobby, with the form for a new table open; errors of the server are wanted."""
    page = open_page(address, ignored="400", reduced_motion="reduce")
    page.click("text=A new table")
    page.locator("#new [name=preset] option[value=case1]").wait_for(state="attached")
    return page


def test_every_agent_that_is_offered_can_be_seated():
    for name, text, about in agent_choices([]):
        assert make_seat_agent(name, frozenset())
        assert text
        assert about
    assert game_choices()[0][0] == "geo_patrol"


def test_a_newcomer_plays_at_once_and_again_with_the_sides_swapped(address, open_page):
    page = open_page(address, reduced_motion="reduce")
    page.select_option("#play-now [name=preset]", "case1")
    page.select_option("#play-now [name=side]", "bravo")
    page.fill("#name", "Ada")
    page.locator("#play-now button").click()
    page.locator("select[data-satellite]").first.wait_for()
    assert ordering(page)
    assert page.text_content("#title").endswith("you are bravo")
    assert page.text_content("#presence").startswith("alpha: turtle")
    assert "bravo, Ada" in page.text_content(".scores")


def test_who_plays_an_agent_is_led_to_the_seat_and_others_get_a_link(lobby, open_page):
    lobby.select_option("#new [name=preset]", "case1")
    lobby.select_option("#new [name=hints]", "no")
    lobby.click("text=Open the table")
    for text in ("Send this to the player of bravo", "Send this to those who want to watch"):
        assert lobby.get_by_label(re.compile(text)).first.input_value().startswith("http://127.0.0.1:")
    lobby.context.grant_permissions(["clipboard-read", "clipboard-write"])
    link, watching = (one.input_value() for one in lobby.locator("#links input").all())
    lobby.locator("#links button").first.click()
    lobby.locator("#links [role=status]", has_text="Copied.").wait_for()
    assert lobby.evaluate("navigator.clipboard.readText()") == link
    bravo = open_page(link, reduced_motion="reduce")
    assert ordering(bravo)
    assert bravo.text_content("#title").endswith("you are bravo")
    assert bravo.locator("#ask-hint").is_hidden()
    watcher = open_page(watching, reduced_motion="reduce")
    watcher.locator(".headline", has_text="Turn 1").wait_for()
    assert watcher.locator("#entry").is_hidden()
    lobby.click("text=Go to your seat, alpha")
    lobby.wait_for_url("**/table.html#*")
    assert ordering(lobby)

    lobby.click("#back")
    lobby.click("text=A new table")
    lobby.select_option("#new [name=bravo]", "raider")
    lobby.click("text=Open the table")
    lobby.wait_for_url("**/table.html#*")
    assert ordering(lobby)


def test_faults_are_shown_at_their_fields(lobby):
    lobby.select_option("#new [name=preset]", "own")
    lobby.select_option("#new [name=bravo]", "turtle")
    lobby.fill("#new [name=scenario]", 'extends = "case1"\nturn_limit = -1')
    lobby.click("text=Open the table")
    fault = lobby.locator("#new label:has([name=scenario]) [role=alert]")
    fault.filter(has_text="turn_limit must be an integer from 1 to 10000, got -1").wait_for()
    assert lobby.evaluate("document.activeElement.name") == "scenario"
    large = {"name": "large.toml", "mimeType": "text/plain", "buffer": b"#" * 70_000}
    lobby.set_input_files("#new [name=file]", large)
    lobby.locator("#new label:has([name=file]) [role=alert]", has_text="longer than 65536 bytes").wait_for()
    lobby.set_input_files("#new [name=file]", large | {"buffer": SHORT.encode()})
    until(lobby, f"document.querySelector('#new').scenario.value === {SHORT!r}")
    lobby.select_option("#new [name=alpha]", "me")
    lobby.select_option("#new [name=bravo]", "me")
    lobby.click("text=Open the table")
    lobby.locator("#new label:has([name=bravo]) [role=alert]", has_text="you play alpha already").wait_for()
    assert fault.count() == 0
    lobby.select_option("#new [name=bravo]", "turtle")
    lobby.fill("#new [name=seed]", "7")
    lobby.fill("#new [name=clock]", "600")
    lobby.select_option("#new [name=on_timeout]", "forfeit")
    lobby.click("text=Open the table")
    lobby.wait_for_url("**/table.html#*")
    assert ordering(lobby)
    lobby.locator("#presence", has_text="then who has not ordered forfeits").wait_for()


def test_finished_games_can_be_watched_and_taken_away(address, open_page):
    name, _, _, _ = open_table(address, scenario=SHORT, seed=5, alpha="turtle", bravo="turtle")
    page = open_page(address)
    item = page.locator("#finished li", has=page.locator(f"[href$='/table/{name}']"))
    with page.expect_download() as download:
        item.locator("text=Replay file").click()
    assert download.value.suggested_filename == f"{name}.jsonl.gz"
    assert item.locator("text=Page").get_attribute("href") == f"/replays/{name}.html"
    item.locator("text=Look at it").click()
    page.locator("#downloads").wait_for()
    page.locator(".headline", has_text="in turn 1").wait_for()


@pytest.mark.parametrize("size", [(390, 844), (1280, 800)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_lobby_fits_its_window_and_is_accessible(address, open_page, size, scheme):
    page = open_page(address, size, color_scheme=scheme)
    page.locator("#new [name=preset] option[value=case1]").wait_for(state="attached")
    for summary in page.locator("summary").all():
        summary.click()
    page.select_option("#new [name=preset]", "own")
    page.click("text=Open the table")
    page.locator("#links input").first.wait_for()
    page.locator("#tables a").first.wait_for()
    check_page(page, size)
