"""The start page: a game at once, other games, two players, watching, and the way back to a game that was left."""

import re
import threading

import pytest

from geo_patrol.agents.levels import read_levels
from geo_patrol.web.requests import agent_choices, game_choices
from geo_patrol.web.tables import make_seat_agent
from tests.browser.driving import check_page, commit, open_table, ordering, until

SHORT = 'extends = "case1"\nturn_limit = 1\n'


@pytest.fixture
def start(address, open_page):
    """The start page, when a game can be played; errors of the server are wanted."""
    page = open_page(address, ignored="400", reduced_motion="reduce")
    page.locator("#play .main:enabled").wait_for()
    return page


def set_scenario(page, scenario):
    page.click("#setting")
    page.select_option("#setup [name=preset]", "own")
    page.fill("#setup [name=scenario]", scenario)
    page.click("text=Done")


def test_every_agent_that_is_offered_can_be_seated():
    for name, text, about in agent_choices([]):
        assert make_seat_agent(name, frozenset())
        assert text
        assert about
    assert game_choices()[0][0] == "geo_patrol"


def test_a_newcomer_gives_the_first_order_with_three_clicks(start):
    start.click("#play .main")
    start.wait_for_url("**/table.html#*")
    assert ordering(start)
    start.locator(".choice .way:has(input:not(:checked))").first.click()
    assert len(start.evaluate("page.entry.orders")) == 1
    commit(start)
    assert start.text_content("#right").endswith(read_levels()[0].name)
    start.goto(start.url.partition("/static")[0])
    start.locator("#continue", has_text=f"{read_levels()[0].name}, turn ").click()
    start.wait_for_url("**/table.html#*")
    until(start, "page.playback.record.moments.length > 1")


def test_a_board_is_shown_while_games_are_prepared(own_page, open_page):
    event = threading.Event()
    page = open_page(own_page([("the rules", event.wait)]))
    page.locator("#preparing", has_text="Preparing the rules: 1 of 2").wait_for()
    page.locator("#board use").nth(20).wait_for(state="attached")
    color = "getComputedStyle(document.querySelector('#board')).backgroundColor"
    assert page.evaluate(color) == "rgb(8, 11, 22)", "dark, whatever the system prefers"
    page.click(".switch-look")
    assert page.evaluate(color) == "rgb(223, 230, 243)"
    page.reload()
    assert page.evaluate(color) == "rgb(223, 230, 243)", "the choice is kept"
    page.click(".switch-look")
    check_page(page, (1280, 800))
    event.set()
    page.locator("#play .main:enabled").wait_for()
    page.locator("#caption:not(:empty)").wait_for(timeout=60_000)  # a game is played and drawn for it


def test_levels_games_sides_and_clocks_are_chosen(start):
    start.locator(".levels .pick").nth(3).click()
    level = read_levels()[3]
    start.locator("#foe", has_text=f"{level.name}, rated {level.rating}.").wait_for()
    start.click("#setting")
    start.select_option("#setup [name=preset]", "case1")
    start.locator("#setup label:has([value=bravo])").click()
    start.select_option("#setup [name=clock]", "60 hold")
    start.fill("#setup [name=seed]", "7")
    start.click("text=Done")
    assert start.text_content("#setting") == "Game: Case 1: three rounds, you are gold, 60 seconds a phase, seed 7"
    start.click("#play .main")
    start.wait_for_url("**/table.html#*")
    assert ordering(start)
    assert start.evaluate("page.you") == "bravo"
    assert re.search(r", \d+ s$", start.text_content("#when"))
    assert start.text_content("#right").endswith("Telstar")


def test_a_wrong_scenario_is_explained_and_a_file_is_read(start):
    set_scenario(start, 'extends = "case1"\nturn_limit = -1')
    start.click("#play .main")
    start.locator("#notice", has_text="turn_limit must be an integer from 1 to 10000, got -1").wait_for()
    start.click("#setting")
    large = {"name": "large.toml", "mimeType": "text/plain", "buffer": b"#" * 70_000}
    start.set_input_files("#setup [name=file]", large)
    start.locator("#notice", has_text="longer than 65536 bytes").wait_for()
    start.set_input_files("#setup [name=file]", large | {"buffer": SHORT.encode()})
    until(start, f"document.querySelector('#setup-form').scenario.value === {SHORT!r}")
    start.click("text=Done")
    start.click("#play .main")
    start.wait_for_url("**/table.html#*")
    assert ordering(start)


def test_a_button_says_that_a_game_is_starting_until_it_has_started_or_failed(start):
    asked = []
    start.route("**/api/tables", lambda route: asked.append(route))  # noqa: PLW0108 - Playwright marks the function
    start.click("#play .main")
    start.locator("#play .main:disabled", has_text="Starting …").wait_for()
    asked.pop().fulfill(status=400, json={"text": "there are too many games"})
    start.locator("#play .main:enabled", has_text="Play now").wait_for()
    assert start.text_content("#notice") == "there are too many games"
    start.click("#play .main")
    start.locator("#play .main:disabled").wait_for()
    assert start.text_content("#notice") == ""
    asked.pop().continue_()
    start.wait_for_url("**/table.html#*")
    start.unroute("**/api/tables")
    start.go_back()
    start.locator("#play .main:enabled", has_text="Play now").wait_for()


def test_two_people_play_by_a_link(start, open_page):
    set_scenario(start, SHORT)
    start.click("text=Two players")
    start.click("text=By a link")
    link = start.locator("#links input").input_value()
    other = open_page(link, reduced_motion="reduce")
    assert ordering(other)
    assert other.evaluate("page.you") == "bravo"
    start.click("text=Go to your seat")
    start.wait_for_url("**/table.html#*")
    assert ordering(start)
    assert start.evaluate("page.you") == "alpha"


def test_two_people_play_at_this_screen(start):
    set_scenario(start, SHORT)
    start.click("text=Two players")
    start.click("text=At this screen")
    start.wait_for_url("**/table.html#*")
    start.locator(".over", has_text="Blue gives orders").wait_for()


def test_a_new_game_of_two_agents_is_watched(start):
    start.click("text=Watch")
    start.select_option("#watch [name=alpha]", "turtle")
    start.click("text=Watch a new game")
    start.wait_for_url("**/table.html#*")
    until(start, "page.playback.record.moments.length > 1")
    assert start.text_content("#aim").startswith("turtle (blue) against Landsat (gold)")


def test_games_with_hidden_enemies_are_listed_without_a_score(address, start):
    seen = open_table(address, scenario=SHORT)[0]
    unseen = open_table(address, preset="geo_patrol_hidden")[0]
    start.click("text=Watch")
    listed = start.locator("#tables li")
    assert "turn 1, 200 to 200" in listed.nth(1).inner_text()
    assert listed.nth(1).locator(f"a[href$='table={seen}']").count() == 1
    assert "turn 1, enemies are hidden" in listed.nth(0).inner_text()
    assert start.locator(f"a[href$='table={unseen}']").count() == 0, "nobody watches it before it is over"


def test_a_short_address_leads_to_a_game_that_is_over(address, open_page):
    name, _, _, _ = open_table(address, scenario=SHORT, alpha="turtle", bravo="raider")
    page = open_page(f"{address}/table/{name}", reduced_motion="reduce")
    until(page, "page.ending !== null || location.pathname.endsWith('after.html')")
    page.goto(f"{address}/table/{name}")
    page.wait_for_url("**/after.html#*")
    page.locator("#verdict", has_text=re.compile("in turn 1")).wait_for()
    assert page.locator("#rematch").is_hidden()


@pytest.mark.parametrize("size", [(390, 844), (1280, 800)])
def test_the_start_page_fits_its_window_and_is_accessible(address, open_page, size):
    page = open_page(address, size, reduced_motion="reduce")
    page.locator("#play .main:enabled").wait_for()
    page.locator("#caption:not(:empty)").wait_for(state="attached")
    assert (
        page.get_by_role("group", name="Opponent, from the weakest to the strongest").get_by_role("radio").count() == 9
    )
    assert page.locator("#play legend").bounding_box()["height"] > 16, "everybody sees it"
    assert page.evaluate("document.documentElement.scrollHeight") <= size[1]
    check_page(page, size)
    name, alpha, _, _ = open_table(address, scenario=SHORT, bravo="level:1")
    keep = "([table, secret]) => import('/static/client.js').then(({ OwnGames }) => OwnGames.keep({ table, secret, side: 'alpha' }))"
    page.evaluate(keep, [name, alpha.partition("secret=")[2]])
    page.reload()
    page.locator("#continue", has_text="turn 1").wait_for()
    assert page.evaluate("document.documentElement.scrollHeight") <= size[1], "with a game to continue as well"
    for dialog in ("setup", "pair", "watch", "host"):
        page.evaluate("id => document.getElementById(id).showModal()", dialog)
        check_page(page, size)
        page.keyboard.press("Escape")
