"""Games at a table, played by two people in two browsers against a real server."""

import itertools
import re

import pytest
from driving import check_page, click_area, open_table, ordering, point_of, press_until, serving, until

from geo_patrol import read_replay
from geo_patrol.replays import check

SCENARIO = 'extends = "case1"\nturn_limit = 3\n'
DANGEROUS = 'extends = "case1"\nturn_limit = 3\n[bravo.patrols]\nformation = [[7, 2]]\n'


@pytest.fixture
def table(address):
    """A table of a short game with a link for each seat: see ``open_table``."""
    return open_table(address, scenario=SCENARIO, seed=5, alpha="link", bravo="link")


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


def order_by_keyboard(page, *, on_board):
    """Give a satellite an order, on the board or from the list, and commit, without a mouse."""
    if on_board:
        press_until(page, ".hit")
        page.keyboard.press("Escape")  # for on its way through the list, the focus has selected satellites
        page.keyboard.press("Enter")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        if page.locator(".menu").is_visible():
            page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.matches('.hit')")
    else:
        press_until(page, "select[data-satellite]")
        page.keyboard.press("ArrowDown")
    assert len(page.evaluate("page.entry.orders")) == 1
    press_until(page, "#commit", "Tab" if on_board else "Shift+Tab")
    page.keyboard.press("Enter")
    until(page, "document.activeElement.matches('.prompt')")  # it is not lost


@pytest.mark.parametrize("bravo_has_a_mouse", [True, False])
def test_two_people_play_a_whole_game_by_mouse_and_by_keyboard(address, folder, open_page, bravo_has_a_mouse):
    name, *urls = open_table(address, scenario=DANGEROUS, seed=5, alpha="link", bravo="link")
    pages = mouse, other, watcher = [open_page(url, reduced_motion="reduce") for url in urls]
    phases = []
    while ordering(mouse):
        phases.append(mouse.evaluate("page.entry.choices.phase"))
        order_by_mouse(mouse)
        if len(phases) == 2:
            mouse.reload()
            mouse.locator(".prompt", has_text="Your orders are in").wait_for()
            other.reload()
        assert ordering(other)
        if bravo_has_a_mouse:
            order_by_mouse(other)
        else:
            order_by_keyboard(other, on_board=len(phases) % 2 == 1)
        until(mouse, f"page.playback.record.moments.length > {len(phases)}")
    assert phases.count("engagement") > 1
    for page in pages:
        page.locator("#downloads").wait_for()
        page.locator(".headline", has_text="in turn ").wait_for()
    assert watcher.locator("#entry").is_hidden()
    assert mouse.text_content(".headline") == watcher.text_content(".headline")
    replay = read_replay(folder / f"{name}.jsonl.gz")
    assert check(replay) is None
    assert replay.is_finished
    assert any(phase.outcomes for phase in replay.phases)
    assert all(one.evaluate("page.playback.record.moments.length") == len(replay.phases) + 1 for one in pages)


def test_the_past_is_looked_at_while_the_game_goes_on(address, open_page):
    _, alpha, _, _ = open_table(address, scenario=SCENARIO, seed=5, alpha="link", bravo="scripted")
    page = open_page(alpha, reduced_motion="reduce")
    assert ordering(page)
    page.click("#commit")
    until(page, "page.entry.choices?.turn === 2 && page.entry.isShown")
    assert page.title().startswith("Your orders: ")
    page.click("text=Past turns")
    page.click("#restart")
    assert page.text_content(".headline").startswith("Turn 1, movement phase")
    assert page.locator(".hit").count() == 0
    played = page.evaluate("page.playback.record.moments.length")
    page.click("#commit")
    until(page, f"page.playback.record.moments.length > {played}")
    assert page.text_content(".headline").startswith("Turn 1, movement phase")
    page.click("#present")
    assert ordering(page)
    assert page.text_content(".headline").startswith("Turn 3, movement phase")
    assert page.locator("#present").is_hidden()


@pytest.mark.parametrize("is_network", [False, True])
def test_a_lost_connection_comes_back_and_keeps_the_orders(table, open_page, is_network):
    _, alpha, bravo, _ = table
    page, other = (open_page(url, reduced_motion="reduce", ignored="net::ERR_") for url in (alpha, bravo))
    assert ordering(page)
    page.locator("select[data-satellite]").first.select_option(index=1)
    orders = page.evaluate("page.entry.orders")
    if is_network:
        page.context.set_offline(True)
    else:
        page.evaluate("page.connection.socket.close()")
    page.locator("#notice", has_text="connection is lost").wait_for()
    assert page.text_content("#notice").endswith("Your orders are kept.")
    page.click("#commit")
    expected = "Sending your orders." if is_network else "Your orders are sent as soon as the connection is back."
    assert page.text_content(".prompt") == expected
    page.context.set_offline(False)
    page.locator(".prompt", has_text="Your orders are in").wait_for()
    assert ordering(other)
    other.click("#commit")
    until(page, "page.playback.record.moments.length === 2")
    assert page.evaluate("page.playback.record.moments[1].orders[0]") == orders


def test_a_warning_that_is_asked_for_after_the_orders_are_in_is_no_error(table, open_page):
    page = open_page(table[1], reduced_motion="reduce")
    assert ordering(page)
    held = []
    page.route("**/danger", lambda route: held.append(route))  # noqa: PLW0108 - Playwright counts its parameters
    page.locator("select[data-satellite]").first.select_option(index=1)
    while not held:
        page.wait_for_timeout(50)
    page.click("#commit")
    page.locator(".prompt", has_text="Your orders are in").wait_for()
    with page.expect_response("**/danger") as response:
        held[0].continue_()
    assert response.value.json() == {"text": "", "lines": []}


@pytest.mark.parametrize("size", [(390, 844), (1280, 800)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_table_fits_its_window_and_is_accessible(table, open_page, size, scheme):
    page = open_page(table[1], size, color_scheme=scheme, reduced_motion="reduce")
    assert ordering(page)
    page.evaluate("page.entry.select(page.entry.choices.satellites[0].name)")
    for summary in page.locator("main > .panel > details > summary").all():
        summary.click()
    check_page(page, size)


def test_names_phases_and_prompts_reach_screen_readers(address, open_page):
    _, alpha, _, _ = open_table(address, scenario=SCENARIO, seed=5, alpha="link", bravo="scripted")
    page = open_page(alpha, reduced_motion="reduce")
    assert ordering(page)
    patrol = page.get_by_role("button", name=re.compile(r"^P1, sector \d+, 100 fuel, 0 ammo$"))
    patrol.press("Enter")
    assert page.get_by_role("status").filter(has_text="P1: choose where it should go").count() == 1
    sector = page.get_by_role("button", name=re.compile(r"^sector (\d+), prograde to \1 \(-5 fuel\)"))
    sector.press("Enter")
    assert page.get_by_role("button", name=re.compile("^P1, .*, ordered: prograde to")).count() == 1
    page.click("#commit")
    page.locator("#status[role=status]", has_text="Turn 2, movement phase, score ").wait_for()
    levels = page.evaluate("[...document.querySelectorAll('h1, h2, h3')].map((heading) => Number(heading.tagName[1]))")
    assert all(following - level <= 1 for level, following in itertools.pairwise(levels))
    for role in ("banner", "main", "navigation"):
        assert page.get_by_role(role).count() == 1


def test_a_seat_that_is_left_can_be_taken(table, open_page):
    page = open_page(table[1], reduced_motion="reduce")
    assert ordering(page)
    page.on("dialog", lambda dialog: dialog.accept())
    page.click("#leave")
    page.locator("#tables li", has=page.locator(f"[href$='/table/{table[0]}']")).locator("text=Play alpha").click()
    assert page.locator("#title", has_text="you are alpha").text_content()


def test_orders_that_are_refused_are_asked_for_again(table, open_page):
    page = open_page(table[1], reduced_motion="reduce")
    assert ordering(page)
    page.evaluate("page.entry.commit(['P1 shoot HVA'])")
    page.locator("#notice", has_text="P1 shoot HVA").wait_for()
    assert page.text_content(".prompt").startswith("Your movement orders: ")
    page.click("#commit")
    page.locator(".prompt", has_text="Your orders are in").wait_for()


def test_orders_that_were_not_committed_survive_a_reload(table, open_page):
    page = open_page(table[1], reduced_motion="reduce")
    assert ordering(page)
    for row in (0, 2):
        page.locator("select[data-satellite]").nth(row).select_option(index=1)
    orders = page.evaluate("page.entry.orders")
    assert len(orders) == 2
    page.reload()
    assert ordering(page)
    assert page.evaluate("page.entry.orders") == orders
    assert page.text_content("#notice").startswith("The orders that you had entered are still here")
    page.click("#hold-all")
    page.reload()
    assert ordering(page)
    assert page.evaluate("page.entry.orders") == []


def test_a_game_goes_on_when_its_server_is_started_again(tmp_path, open_page):
    with serving(tmp_path) as address:
        _, alpha, _, _ = open_table(address, scenario=SCENARIO, seed=5, alpha="link", bravo="scripted")
        page = open_page(alpha, reduced_motion="reduce", ignored="net::ERR_")
        assert ordering(page)
        page.click("#commit")
        until(page, "page.entry.choices?.turn === 2")
        page.locator("select[data-satellite]").first.select_option(index=1)
        orders = page.evaluate("page.entry.orders")
        played = page.evaluate("page.playback.record.moments.length")
    page.locator("#notice", has_text="connection is lost").wait_for()
    page.click("#commit")
    with serving(tmp_path, int(address.rpartition(":")[2])):
        until(page, f"page.playback.record.moments.length > {played}")
        assert page.evaluate(f"page.playback.record.moments[{played}].orders[0]") == orders


def test_a_game_is_played_on_a_phone(address, open_page):
    _, alpha, _, _ = open_table(address, scenario=SCENARIO, seed=5, alpha="link", bravo="raider")
    page = open_page(alpha, (390, 844), has_touch=True, is_mobile=True, reduced_motion="reduce")
    while ordering(page):
        satellite = page.evaluate("page.entry.choices.satellites[0]")
        page.touchscreen.tap(*point_of(page, satellite["area"]))
        page.touchscreen.tap(*point_of(page, satellite["options"][0]["area"]))
        if page.locator(".menu").is_visible():
            page.locator(".menu button").first.tap()
        assert satellite["options"][0]["order"] in page.evaluate("page.entry.orders")
        page.locator("#commit").tap()
        until(page, "page.entry.choices === null || page.entry.orders.length === 0")
    page.locator(".outcomes h2", has_text="Result").wait_for()
    assert "in turn 3" in page.text_content(".headline")


def test_a_hint_can_be_taken_and_danger_is_shown(address, open_page):
    _, alpha, _, _ = open_table(address, scenario=DANGEROUS, seed=5, alpha="link", bravo="raider")
    page = open_page(alpha, reduced_motion="reduce")
    assert ordering(page)
    warning = page.locator(".danger summary", has_text="can attack your HVA next")
    warning.wait_for()
    warning.click()
    assert page.locator(".danger table", has_text="What the HVA can do now").is_visible()
    page.click("#ask-hint")
    page.locator("#take-hint").click(timeout=60_000)
    orders = page.evaluate("page.advice.orders")
    assert sorted(page.evaluate("page.entry.orders")) == sorted(orders)
    assert page.text_content(".hint").startswith("Hint: won ")
