"""A class of ten in real browsers: one link, pairs, a teacher who pauses, lets go on, and takes the results."""

import csv

import pytest
from driving import commit, ordering, serving, until

NAMES = ["Ada", "Ben", "Cem", "Dua", "Eva", "Fei", "Gus", "Hana", "Ida", "Jan"]


@pytest.fixture
def server(tmp_path):
    """The address of a server without other tables; requested before pages, it outlives them."""
    with serving(tmp_path) as address:
        yield address


@pytest.fixture
def teacher(server, open_page):
    """The teacher's page of a new class, opened on the start page."""
    page = open_page(server, reduced_motion="reduce")
    page.locator("#play .main:enabled").wait_for()
    page.click("#setting")
    page.select_option("#setup [name=preset]", "case1")
    page.click("text=Done")
    page.click("text=Host a class")
    page.fill("#host [name=title]", "Physics")
    page.click("text=Open the class")
    page.wait_for_url("**/class.html#*")
    page.locator("h1", has_text="Physics").wait_for()
    return page


def test_a_class_of_ten(teacher, open_page):
    link = teacher.input_value("#invite input")
    pupils = []
    for name in NAMES:
        page = open_page(link, size=(390, 844), reduced_motion="reduce")
        page.fill("#arrive [name=name]", name)
        page.keyboard.press("Enter")
        pupils.append(page)
    for page in pupils:
        page.wait_for_url("**/table.html#*")
        assert ordering(page)
    teacher.locator("#about", has_text="10 pupils").wait_for()
    assert teacher.locator("#games tr").count() == 5
    assert "no partner" not in teacher.text_content("#needs")

    teacher.click("#pause")
    teacher.locator("#pause", has_text="All games go on").wait_for()
    for page in pupils:
        page.locator(".over", has_text="Paused").wait_for()
        assert page.locator(".commit").is_disabled()
    teacher.click("#pause")
    teacher.locator("#pause", has_text="Pause all games").wait_for()
    for page in pupils:
        page.locator(".over").wait_for(state="hidden")
        commit(page)
    until(teacher, "page.overview.tables.every((table) => table.turn > 1 || table.phase === 'engagement')")

    pupils[3].goto(link)  # who comes again is back at the seat
    pupils[3].wait_for_url("**/table.html#*")
    assert pupils[3].get_attribute("#back", "aria-label").endswith("The class")
    with teacher.expect_download() as download:
        teacher.click("#results")
    assert download.value.suggested_filename == "Physics.csv"
    with download.value.path().open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert sorted(row[side] for row in rows for side in ("alpha", "bravo")) == NAMES


def test_one_without_a_partner_plays_the_agent_and_comes_again(teacher, open_page):
    page = open_page(teacher.input_value("#invite input"))
    page.fill("#arrive [name=name]", "Ada")
    page.keyboard.press("Enter")
    page.locator("#status", has_text="waiting for a partner").wait_for()
    page.reload()
    page.locator("#status", has_text="Ada, you are waiting").wait_for()
    assert page.locator("#arrive").is_hidden()
    teacher.locator("text=Let Ada play Vanguard").click()
    page.wait_for_url("**/table.html#*")
    assert ordering(page)
    until(teacher, "page.overview.tables[0].names[1] === 'level:vanguard'")


def test_a_name_that_is_taken_is_refused_until_it_is_changed(teacher, open_page):
    first, second = (open_page(teacher.input_value("#invite input"), ignored="409") for _ in range(2))
    for page in (first, second):
        page.fill("#arrive [name=name]", "Ada")
        page.keyboard.press("Enter")
    first.locator("#status", has_text="waiting for a partner").wait_for()
    second.locator("#pupil .notice", has_text="add a letter").wait_for()
    second.wait_for_timeout(2_500)  # the page has asked the server again by then
    assert "add a letter" in second.text_content("#pupil .notice")
    second.fill("#arrive [name=name]", "Ada B")
    second.keyboard.press("Enter")
    second.wait_for_url("**/table.html#*")
