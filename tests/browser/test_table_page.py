"""What is around the game on the page of a table: keys, the chart of the score, names, another game."""

import pytest
from driving import check_page, open_table, ordering, until

SCENARIO = 'extends = "case1"\nturn_limit = 2\n'


@pytest.fixture
def page(address, open_page):
    """The page of alpha, who plays an agent."""
    _, alpha, _, _ = open_table(address, scenario=SCENARIO, seed=5, alpha="link", bravo="scripted")
    page = open_page(alpha, reduced_motion="reduce")
    assert ordering(page)
    return page


def commit(page):
    played = page.evaluate("page.playback.record.moments.length")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Enter")
    until(page, f"page.playback.record.moments.length > {played}")


def test_a_game_is_played_with_single_keys(page):
    phases = 0
    while ordering(page):
        page.keyboard.press("f")
        name, order = page.evaluate("[page.entry.selected.name, page.entry.selected.options[0].order]")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        if page.locator(".menu").is_visible():
            page.keyboard.press("Enter")
        assert page.evaluate("page.entry.orders") == [order]
        page.keyboard.press("f")
        assert page.evaluate("page.entry.selected?.name") != name
        page.keyboard.press("u")
        assert page.evaluate("page.entry.orders") == []
        page.keyboard.press("Escape")
        page.keyboard.press("g")
        phases += 1
        commit(page)
    assert page.locator("#downloads").is_visible()
    page.keyboard.press("r")
    assert page.text_content(".headline").startswith("Turn 1, movement phase")
    page.keyboard.press("l")
    until(page, "page.playback.index === page.playback.record.moments.length - 1")
    page.keyboard.press("o")
    assert page.evaluate("document.activeElement.className") == "outcomes"
    page.keyboard.press("m")
    page.wait_for_url("**/lobby.html")


def test_keys_are_listed_and_letters_can_be_switched_off(page):
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys")
    assert dialog.locator("th", has_text="Shift E").is_visible()
    page.keyboard.press("x")  # goes to nobody
    dialog.get_by_role("checkbox").uncheck()
    page.keyboard.press("Escape")
    assert dialog.is_hidden()
    page.keyboard.press("f")
    assert page.evaluate("page.entry.selected") is None
    page.reload()
    assert ordering(page)
    page.keyboard.press("f")
    assert page.evaluate("page.entry.selected") is None
    page.click("#keys")
    dialog.get_by_role("checkbox").check()
    dialog.get_by_role("button").click()
    page.keyboard.press("f")
    assert page.evaluate("page.entry.selected.name") == "HVA"


def test_the_chart_says_what_the_scores_were(page):
    assert page.locator(".chart").is_hidden()
    while ordering(page):
        commit(page)
    scores = page.evaluate("turnScores(page.playback.record.moments).map(({ turns, score }) => [turns, ...score])")
    assert [turns for turns, *_ in scores] == [0, 1, 2]
    assert scores[-1][1:] == page.evaluate("page.playback.record.moments.at(-1).score")
    assert page.locator(".chart svg").get_attribute("aria-label").startswith("The score over 2 turns: person (alpha) ")
    page.click(".chart summary")
    rows = [row.split() for row in page.locator(".chart tbody tr").all_inner_texts()]
    assert rows == [["start" if turns == 0 else str(turns), str(alpha), str(bravo)] for turns, alpha, bravo in scores]
    box = page.locator(".chart svg").bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.1, box["y"] + 20)
    assert page.text_content(".headline").startswith("Turn 1, movement phase")
    assert page.locator("#present").is_visible()


def test_who_comes_by_a_link_gives_a_name_before_the_first_phase(address, open_page):
    _, alpha, bravo, watch = open_table(address, scenario=SCENARIO, seed=5, alpha="link", bravo="link")
    pages = ada, _ = [open_page(url, reduced_motion="reduce") for url in (alpha, bravo)]
    for page, name in zip(pages, ("Ada", "Ben"), strict=True):
        assert ordering(page)
        page.fill("#naming input", name)
        page.keyboard.press("Enter")
        page.locator("#presence", has_text=f"{name} (you)").wait_for()
        assert page.locator("#naming").is_hidden()
    ada.click("#commit")
    ada.locator(".prompt", has_text="Your orders are in. Waiting for Ben (bravo).").wait_for()
    watcher = open_page(watch, reduced_motion="reduce")
    watcher.locator(".scores", has_text="alpha, Ada").wait_for()
    assert watcher.locator("#naming").is_hidden()


def test_a_game_against_an_agent_is_played_again(address, open_page):
    page = open_page(address, reduced_motion="reduce")
    page.click("text=A new table")
    page.locator("#new [name=preset] option[value=case1]").wait_for(state="attached")
    page.select_option("#new [name=preset]", "own")
    page.fill("#new [name=scenario]", SCENARIO)
    page.select_option("#new [name=bravo]", "turtle")
    page.click("text=Open the table")
    page.wait_for_url("**/table.html#*")
    while ordering(page):
        commit(page)
    page.click("#swap")
    page.locator("#title", has_text="you are bravo").wait_for()
    assert ordering(page)
    assert page.text_content("#presence").startswith("alpha: turtle")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_of_a_finished_game_is_accessible(address, open_page, scheme):
    size = (390, 844)
    _, alpha, _, _ = open_table(address, scenario=SCENARIO, seed=5, alpha="link", bravo="turtle")
    page = open_page(alpha, size, color_scheme=scheme, reduced_motion="reduce")
    while ordering(page):
        commit(page)
    for summary in page.locator("summary").all():
        if summary.is_visible():
            summary.click()
    check_page(page, size)
    page.keyboard.press("?")
    check_page(page, size)
