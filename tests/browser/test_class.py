"""A class of ten in real browsers: one link, pairs, a teacher who pauses, lets go on, and takes the results."""

import csv

import pytest
from driving import ordering, serving, until

NAMES = ["Ada", "Ben", "Cem", "Dua", "Eva", "Fei", "Gus", "Hana", "Ida", "Jan"]


@pytest.fixture
def server(tmp_path):
    """The address of a server without other tables; requested before pages, it outlives them."""
    with serving(tmp_path) as address:
        yield address


@pytest.fixture
def teacher(server, open_page):
    """The teacher's page of a new class, opened in the lobby."""
    page = open_page(server)
    page.click("text=A class: one link")
    page.fill("#new-class [name=title]", "Physics")
    page.select_option("#new-class [name=preset]", "case1")
    page.click("text=Open the class")
    page.locator("h1", has_text="Physics").wait_for()
    return page


def test_a_class_of_ten(teacher, open_page):
    link = teacher.input_value("#links input")
    pupils = []
    for name in NAMES:
        page = open_page(link, size=(390, 844))
        page.fill("[name=name]", name)
        page.keyboard.press("Enter")
        pupils.append(page)
    for page in pupils:
        page.wait_for_url("**/table.html#*")
        assert ordering(page)
    teacher.locator("#pupils", has_text="10 pupils").wait_for()
    assert teacher.locator("#tables li").count() == 5
    assert teacher.locator("#agent").is_disabled()

    teacher.click("#pause")
    teacher.locator("#pause", has_text="Let all games go on").wait_for()
    pupils[0].locator("#presence", has_text="paused").wait_for()
    for page in pupils:
        page.click("#commit")
    until(teacher, "page.overview.tables.every((table) => table.waiting_for.length === 0)")
    assert teacher.evaluate("page.overview.tables.every((table) => table.phase === 'movement')"), "nothing is played"
    teacher.click("#pause")
    until(teacher, "page.overview.tables.every((table) => table.turn > 1 || table.phase === 'engagement')")

    pupils[3].goto(link)  # who comes again is back at the seat
    pupils[3].wait_for_url("**/table.html#*")
    assert pupils[3].text_content("#back") == "Back to the class"
    with teacher.expect_download() as download:
        teacher.click("#results")
    assert download.value.suggested_filename == "Physics.csv"
    with download.value.path().open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert sorted(row[side] for row in rows for side in ("alpha", "bravo")) == NAMES


def test_one_without_a_partner_plays_the_agent_and_comes_again(teacher, open_page):
    page = open_page(teacher.input_value("#links input"))
    page.fill("[name=name]", "Ada")
    page.keyboard.press("Enter")
    page.locator("#status", has_text="waiting for a partner").wait_for()
    page.reload()
    page.locator("#status", has_text="Ada, you are waiting").wait_for()
    assert page.locator("#arrive").is_hidden()
    teacher.locator("#agent:enabled").click()
    page.wait_for_url("**/table.html#*")
    assert ordering(page)
    until(teacher, "page.overview.tables[0].names[1] === 'turtle'")


def test_a_name_that_is_taken_is_refused_until_it_is_changed(teacher, open_page):
    first, second = (open_page(teacher.input_value("#links input"), ignored="409") for _ in range(2))
    for page in (first, second):
        page.fill("[name=name]", "Ada")
        page.keyboard.press("Enter")
    first.locator("#status", has_text="waiting for a partner").wait_for()
    second.locator("#notice", has_text="add a letter").wait_for()
    second.wait_for_timeout(2_500)  # the page has asked the server again by then
    assert "add a letter" in second.text_content("#notice")
    second.fill("[name=name]", "Ada B")
    second.keyboard.press("Enter")
    second.wait_for_url("**/table.html#*")
