"""After a game: how it ended, what decided it, the next one, and the person's games."""

import re
from contextlib import closing

import pytest

from geo_patrol.agents.levels import read_levels
from geo_patrol.web import protocol
from tests.browser.driving import check_page, commit, ordering, until

ASKED = {"preset": "geo_patrol", "alpha": "level:telstar", "bravo": "level:telstar"}
SHORT = 'extends = "geo_patrol"\nturn_limit = 3\n'


@pytest.fixture(scope="module")
def finished(address, chromium):
    """The address of the page after a game that was begun on the start page, and what the browser keeps of it."""
    with closing(chromium.new_context(reduced_motion="reduce")) as context:
        page = context.new_page()
        page.goto(address)
        page.locator("#play .main:enabled").wait_for()
        page.click("#setting")
        page.select_option("#setup [name=preset]", "own")
        page.fill("#setup [name=scenario]", SHORT)
        page.click("text=Done")
        page.locator(".levels .pick").nth(2).click()
        page.click("#play .main")
        page.wait_for_url("**/table.html#*")
        while ordering(page):
            commit(page)
        banner = page.locator("#banner")
        banner.locator("#stronger").wait_for()
        assert re.match(r"You (won|lost|drew), \d+ to \d+: in turn 3 ", banner.locator("h2").text_content())
        page.click("#next")
        page.wait_for_url("**/after.html#*")
        return page.url, context.storage_state()


@pytest.fixture
def played(finished, open_page):
    """The page after a game that was begun on the start page and played without orders."""
    address, kept = finished
    page = open_page(address, reduced_motion="reduce", storage_state=kept)
    page.locator("#verdict", has_text="You ").wait_for()
    return page


def analysed(page):
    page.locator("#analysing").wait_for(state="hidden", timeout=90_000)


def test_the_result_its_curve_and_its_moments_are_told(played):
    analysed(played)
    verdict = played.text_content("#verdict")
    assert verdict.startswith(("You won, ", "You lost, ", "You drew, "))
    assert "in turn 3" in verdict
    analysis = played.evaluate("page.analysis")
    assert len(analysis["chances"]) == played.evaluate("page.playback.record.moments.length")
    assert played.locator(".moment").count() == len(analysis["moments"])
    for number, moment in enumerate(analysis["moments"]):
        assert moment["after"] > moment["before"]
        played.locator(".moment").nth(number).click()
        assert played.evaluate("page.playback.index") == moment["index"]
        assert played.evaluate("page.playback.board.overlay.childElementCount") == len(moment["shapes"])


@pytest.mark.parametrize(
    ("loser", "title"), [("bravo", "Where you could have done better"), ("alpha", "One moment that decided it")]
)
def test_moments_of_a_game_that_was_won_are_said_to_be_no_more_than_better_orders(open_seat, loser, title):
    scenario = f'extends = "geo_patrol"\nturn_limit = 1\n[{loser}.hva]\nfuel = 50\n'
    page = open_seat(scenario=scenario, bravo="idle")
    while ordering(page):
        commit(page)
    hold, prograde = {"action": "hold"}, {"action": "prograde", "sector": 17}
    drawn = {"shapes": [], "symbols": {}}
    moment = {"index": 0, "satellite": "P1", "given": hold, "better": prograde, "before": 40, "after": 70, **drawn}
    best, luck = {**moment, "better": hold | {"action": "guard"}}, {"index": 1, "change": -16}
    answer = {"done": 1, "total": 1, "chances": [40, 50], "moments": [moment], "best": best, "luck": luck}
    page.route("**/analysis/*", lambda route: route.fulfill(json=answer))
    page.click("#next")
    page.locator("#moments-title", has_text=title).wait_for()
    page.locator("#best label", has_text="1 guards your HVA.").click()
    assert page.text_content("#caption") == "Dashed: the best order."
    assert page.text_content("#best-title") == "Your best order"
    assert "Luck in turn 1 cost 16 points, whatever the orders." in page.text_content("#about-curve")


def test_the_past_of_a_longer_game_comes_in_pages(open_seat, monkeypatch):
    monkeypatch.setattr(protocol, "PAGE", 2)
    page = open_seat(scenario=SHORT, seed=3, bravo="scripted")
    while ordering(page):
        commit(page)
    page.click("#next")
    page.wait_for_url("**/after.html#*")
    page.locator("#verdict", has_text="in turn 3").wait_for()
    assert page.evaluate("page.playback.moment.phase") == "over"


def test_a_game_is_stepped_through_and_played_on_from_a_moment(played):
    played.click(".step-start")
    played.click(".step-forward")
    assert played.evaluate("page.playback.index") == 1
    played.click("#practise")
    played.wait_for_url("**/table.html#*")
    assert ordering(played)
    assert played.evaluate("[page.entry.choices.turn, page.entry.choices.phase].join()") in (
        "1,engagement",
        "2,movement",
    )


@pytest.mark.parametrize(
    ("button", "side", "opponent"),
    [("#rematch", "alpha", "Echo"), ("#swap", "bravo", "Echo"), ("#stronger", "alpha", "Telstar")],
)
def test_the_next_game_is_a_click_away(played, button, side, opponent):
    played.click(button)
    played.wait_for_url("**/table.html#*")
    assert ordering(played)
    assert played.evaluate("page.you") == side
    assert played.text_content("#right").endswith(opponent)


def test_the_game_is_taken_away_as_a_page_and_as_a_replay(played):
    for button, ending in (("#page-file", ".html"), ("#replay-file", ".jsonl.gz")):
        with played.expect_download() as download:
            played.click(button)
        assert download.value.suggested_filename.endswith(ending)


def test_own_games_are_listed_unfinished_ones_first(played):
    played.click("#rematch")
    played.wait_for_url("**/table.html#*")
    assert ordering(played)
    played.click("#back")
    played.wait_for_url("**/games.html")
    played.locator("#unfinished li", has_text="Echo, turn 1").wait_for()
    assert played.locator("#finished li").count() == 1
    played.locator("text=Analysis").click()
    played.wait_for_url("**/after.html#*")


def test_a_score_that_is_estimated_is_marked_in_the_list(open_seat):
    page = open_seat(preset="geo_patrol_hidden", bravo="level:1")
    commit(page)
    assert ordering(page)
    assert "~" in page.text_content("#right")
    page.click("#back")
    page.locator("#unfinished li", has_text="to ~").wait_for()


def test_a_rating_comes_with_the_first_whole_game(address, open_page):
    page = open_page(f"{address}/static/games.html")
    page.locator("#rating", has_text="Play a whole game").wait_for()
    result = {"names": ["person", "Telstar"], "winner": "alpha", "score": [223, 112], "turn": 10, "over": True}
    result |= {"title": "GEO Patrol", "reasons": [{"reason": "hva_destroyed", "side": "bravo"}], "changed": 1}
    game = {"table": "ab12", "side": "alpha", "secret": "x", "asked": ASKED, "result": result}
    keep = "games => localStorage.setItem('geo_patrol.games', JSON.stringify(games))"
    page.evaluate(keep, [game | {"result": result | {"hinted": True}}])
    page.reload()
    page.locator("#finished li", has_text="Won").wait_for()
    page.locator("#rating", has_text="Play a whole game").wait_for()
    page.evaluate(keep, [game])
    page.reload()
    page.locator("#rating", has_text="After 1 game").wait_for()
    about, rating = page.text_content("#rating .big").split()
    assert about == "about", "the interval of a single game says nothing"
    assert int(rating) > read_levels()[3].rating, "who beat Telstar is the stronger"
    page.evaluate(keep, [game | {"table": f"ab{number}"} for number in range(6)])
    page.reload()
    page.locator("#rating .big", has_text="±").wait_for()
    assert page.text_content("#finished li").startswith("Won223 to 112, Telstarturn 10: Telstar")


@pytest.mark.parametrize("size", [(390, 844), (1280, 800)])
def test_the_pages_fit_their_windows_and_are_accessible(open_seat, size):
    page = open_seat(size, scenario=SHORT, bravo="level:9")
    while ordering(page):
        commit(page)
    page.click("#next")
    page.wait_for_url("**/after.html#*")
    analysed(page)
    page.click("text=The points")
    assert re.findall(r"(You|Webb): \d+ points", page.text_content("#points")) == ["You", "Webb"]
    check_page(page, size)
    page.click("text=My games")
    page.locator("#finished .how").first.wait_for()
    until(page, "document.querySelector('#rating').childElementCount > 0")
    check_page(page, size)
