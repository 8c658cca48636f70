"""A class in real browsers: link and code, pairs, a teacher who pauses, moves pupils, and takes the results."""

import csv
import json
import re
import urllib.request
from urllib.parse import urlencode

import pytest

from geo_patrol.web import local, requests
from tests.browser.driving import check_page, commit, ordering, press_until, serving, until

NAMES = ["Ada", "Ben", "Cem", "Dua", "Eva", "Fei"]
SHORT = 'extends = "case1"\nturn_limit = 1\n'


@pytest.fixture
def server(tmp_path, monkeypatch):
    """The address of a server without other tables; requested before pages, it outlives them.

    The address for pupils is another one, as in a network.
    """
    monkeypatch.setattr(requests, "network_address", lambda: "127.0.0.2")
    with serving(tmp_path, host="0.0.0.0") as address:
        yield address


@pytest.fixture
def teacher(server, open_page):
    """The teacher's page of a new class, opened on the start page."""
    page = open_page(server, ignored="409", reduced_motion="reduce")
    page.locator("#play .main:enabled").wait_for()
    page.click("#setting")
    page.select_option("#setup [name=preset]", "case1")
    page.click("text=Done")
    page.click("text=Host a class")
    page.fill("#host [name=title]", "Physics")
    page.click("text=Open the class")
    page.wait_for_url("**/class.html#*")
    page.locator("#teacher .code").wait_for()
    return page


def join(open_page, link, name, **options):
    """Open a pupil's page, and type a name."""
    page = open_page(link, **({"reduced_motion": "reduce"} | options))
    page.fill("#arrive [name=name]", name)
    page.keyboard.press("Enter")
    return page


def arrive_at_table(page, but=""):
    """Wait until a pupil is at a table, but for one, and gives orders there."""
    until(
        page,
        f"location.pathname.endsWith('table.html') && typeof page !== 'undefined' && page.table !== '{but}' && page.entry.isShown",
    )


def play_short_game(pupils):
    """Play the only turn of a game."""
    for _ in range(2):
        for page in pupils:
            if ordering(page):
                commit(page)


def choose(teacher, name):
    """Open what the teacher can do with a pupil."""
    teacher.locator("#pupils button", has=teacher.locator("b", has_text=name)).click()
    teacher.locator("#one[open]").wait_for()


def test_a_class_of_six(teacher, open_page):
    link = teacher.input_value("#invite input")
    assert link.startswith("http://127.0.0.2:")
    pupils = [join(open_page, link, name, size=(390, 844)) for name in NAMES]
    for page in pupils:
        page.wait_for_url("**/table.html#*")
        assert ordering(page)
    teacher.locator("#about", has_text="6 pupils").wait_for()
    assert teacher.locator("#games tr").count() == 3
    assert "no partner" not in teacher.text_content("#needs")

    teacher.click("#pause")
    teacher.locator("#pause", has_text="All games go on").wait_for()
    for page in pupils:
        page.locator("dialog.pause", has_text="Paused").wait_for()
        page.keyboard.press("Escape")
        assert page.locator(".commit").is_disabled()
    teacher.click("#pause")
    teacher.locator("#pause", has_text="Pause all games").wait_for()
    for page in pupils:
        page.locator("dialog.pause").wait_for(state="detached")
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
    assert sorted(row[side] for row in rows for side in ("blue", "gold")) == NAMES


def test_one_without_a_partner_plays_the_agent_and_comes_again(teacher, open_page):
    page = join(open_page, teacher.input_value("#invite input"), "Ada")
    page.locator("#status", has_text="waiting for a partner").wait_for()
    page.reload()
    page.locator("#status", has_text="Ada, you are waiting").wait_for()
    assert page.locator("#arrive").is_hidden()
    teacher.locator("text=Let Ada play Vanguard").click()
    page.wait_for_url("**/table.html#*")
    assert ordering(page)
    until(teacher, "page.overview.tables[0].names[1] === 'Vanguard'")


def test_a_name_that_is_taken_is_refused_until_it_is_changed(teacher, open_page):
    first, second = (open_page(teacher.input_value("#invite input"), ignored="409") for _ in range(2))
    for page in (first, second):
        page.fill("#arrive [name=name]", "Ada")
        page.keyboard.press("Enter")
    first.locator("#status", has_text="waiting for a partner").wait_for()
    second.locator("#pupil .notice", has_text="add a letter").wait_for()
    second.evaluate("page.place.refresh()")
    assert "add a letter" in second.text_content("#pupil .notice")
    second.fill("#arrive [name=name]", "Ada B")
    second.keyboard.press("Enter")
    second.wait_for_url("**/table.html#*")


def test_a_pupil_types_the_code_at_the_start_page_by_keyboard_alone(server, teacher, open_page):
    code = teacher.text_content("#teacher .code")
    page = open_page(server, ignored="404", size=(390, 844), reduced_motion="reduce")
    page.locator("#play .main:enabled").wait_for()
    press_until(page, "[data-open=join]")
    page.keyboard.press("Enter")
    page.keyboard.type("XXXXXX\n")
    page.locator("#join .notice", has_text="No class has the code").wait_for()
    page.fill("#join input", "")
    page.keyboard.type(f"{code.lower()}\n")
    page.wait_for_url("**/class.html#*")
    page.locator("#pupil h1", has_text="Physics").wait_for()
    page.keyboard.type("Ada\n")
    page.locator("#status", has_text="Ada, you are waiting").wait_for()


def test_who_opens_a_wrong_code_is_told(server, open_page):
    page = open_page(f"{server}/class/XXXXXX", ignored="404")
    page.locator("#pupil .notice", has_text="Check the code").wait_for()


def test_a_class_that_only_this_computer_can_open_warns_the_teacher_and_shows_its_code(tmp_path, open_page):
    with serving(tmp_path) as address:
        request = urllib.request.Request(f"{address}/api/classes", json.dumps({"preset": "case1"}).encode())
        with urllib.request.urlopen(request) as answer:
            opened = json.load(answer)
        link = urlencode({"class": opened["class"], "teacher": opened["secret"]})
        page = open_page(f"{address}/static/class.html#{link}")
        page.locator("#alone", has_text="geo-patrol serve --host 0.0.0.0").wait_for()
        assert page.text_content("#teacher .code").replace(" ", "") == opened["class"]
        assert page.locator("#invite").is_hidden()
        page.goto(f"{address}/class/{opened['class']}")
        page.locator("#pupil .code", has_text=re.compile(r"^\w{3} \w{3}$")).wait_for()
        page.close()


@pytest.mark.parametrize("is_early", [True, False])
def test_a_class_on_ones_own_page_is_opened_to_the_network_by_a_click(monkeypatch, own_page, open_page, is_early):
    monkeypatch.setattr(local, "network_address", lambda: "127.0.0.2")
    page = open_page(own_page(), reduced_motion="reduce")
    page.locator("#play .main:enabled").wait_for()
    page.click("text=Host a class")
    page.locator("#host", has_text="Only this computer can open it").wait_for()
    check_page(page, (1280, 800))
    if is_early:
        page.click("#host >> text=Open it to my network")
        page.locator("#host", has_text="Others come to http://127.0.0.2:").wait_for()
    page.select_option("#host [name=clock]", "20 hold")
    page.select_option("#host [name=preset]", "case1")
    page.click("text=Open the class")
    page.wait_for_url("**/class.html#*")
    if not is_early:
        page.locator("#alone", has_text="Only this computer can open it").wait_for()
        assert page.locator("#invite").is_hidden()
        check_page(page, (1280, 800))
        page.click("#alone >> text=Open it to my network")
    link = page.input_value("#invite input")
    assert link.startswith("http://127.0.0.2:")
    assert page.locator("#alone").is_hidden()
    pupils = [join(open_page, link, name) for name in ("Ada", "Ben")]
    for pupil in pupils:
        pupil.wait_for_url("**/table.html#*")
        assert ordering(pupil)
        assert re.search(r", \d+ s$", pupil.text_content("#when"))


def test_a_pupil_is_renamed_moved_removed_and_comes_back(teacher, open_page):
    link = teacher.input_value("#invite input")
    ada, ben, cem = (join(open_page, link, name, ignored="403|409") for name in ("Ada", "Ben", "Cem"))
    for page in (ada, ben):
        page.wait_for_url("**/table.html#*")
        assert ordering(page)

    choose(teacher, "Ada")
    teacher.fill("#rename [name=name]", "ben")
    teacher.click("#rename button")
    teacher.locator("#one .notice", has_text="add a letter").wait_for()
    teacher.fill("#rename [name=name]", "Ada L.")
    teacher.click("#rename button")
    teacher.locator("#one").wait_for(state="hidden")
    ada.locator("#tell", has_text="calls you Ada L. now").wait_for()
    ben.locator("#right, #left", has_text="Ada L.").first.wait_for()

    first = ada.evaluate("page.table")
    choose(teacher, "Ada L.")
    teacher.select_option("#reseat [name=partner]", "Cem")
    teacher.click("#reseat button")
    cem.wait_for_url("**/table.html#*")
    arrive_at_table(ada, but=first)
    ben.locator("#status", has_text="Ben, you are waiting for a partner").wait_for()
    assert "Your teacher has ended your game" in ben.text_content("#status")

    choose(teacher, "Ada L.")
    teacher.click("#remove")
    teacher.click("#remove")
    teacher.locator("#one").wait_for(state="hidden")
    ada.locator("#pupil .notice", has_text="not in this class any more").wait_for()
    arrive_at_table(ben)
    arrive_at_table(cem)
    ada.fill("#arrive [name=name]", "Ada")
    ada.keyboard.press("Enter")
    ada.locator("#status", has_text="Ada, you are waiting").wait_for()


def test_a_pupil_goes_on_at_another_device_and_neither_takes_the_seat_back_and_forth(teacher, open_page):
    link = teacher.input_value("#invite input")
    ada, _ = (join(open_page, link, name, ignored="403") for name in ("Ada", "Ben"))
    ada.wait_for_url("**/table.html#*")
    choose(teacher, "Ada")
    teacher.click("#readmit")
    phone = join(open_page, link, "Ada", size=(390, 844))
    phone.wait_for_url("**/table.html#*")
    assert ordering(phone)
    ada.locator("#pupil .notice", has_text="another device").wait_for()
    again = phone.context.new_page()
    again.goto(link)
    again.wait_for_url("**/table.html#*")
    assert ordering(again)
    phone.locator("#here").wait_for()
    phone.evaluate("page.place.refresh()")
    assert phone.locator("#here").is_visible(), "it stays until somebody wants the seat here"
    phone.click("#here")
    phone.wait_for_url("**/table.html#*")


def test_the_next_games_begin_at_the_teachers_page_by_keyboard_alone(server, teacher, open_page):
    teacher.goto(server)  # a class whose games are over after a turn
    teacher.locator("#play .main:enabled").wait_for()
    teacher.click("#setting")
    teacher.select_option("#setup [name=preset]", "own")
    teacher.fill("#setup [name=scenario]", SHORT)
    teacher.click("text=Done")
    teacher.click("text=Host a class")
    teacher.click("text=Open the class")
    teacher.locator("#teacher .code").wait_for()
    link = teacher.input_value("#invite input")
    pupils = [join(open_page, link, name) for name in ("Ada", "Ben")]
    for page in pupils:
        page.wait_for_url("**/table.html#*")
    first = pupils[0].evaluate("page.table")
    play_short_game(pupils)
    pupils[0].locator("#next", has_text="What decided it").click()
    pupils[0].wait_for_url("**/after.html#*")
    pupils[0].locator("#verdict", has_text="in turn 1").wait_for()
    pupils[1].click("#back")
    pupils[1].locator("#status", has_text="Ben, your game is over").wait_for()
    press_until(teacher, "#pause")
    teacher.keyboard.press("Enter")
    for page in pupils:
        page.locator("dialog.pause").wait_for()
    teacher.keyboard.press("Enter")
    for page in pupils:
        page.locator("dialog.pause").wait_for(state="detached")
    teacher.locator("#next:enabled").wait_for()
    press_until(teacher, "#next")
    teacher.keyboard.press("Enter")
    for page in pupils:
        arrive_at_table(page, but=first)

    second = pupils[0].evaluate("page.table")
    play_short_game(pupils)
    for page in pupils:
        page.click("#back")
        page.click("#again")
    for page in pupils:
        arrive_at_table(page, but=second)


def test_who_learns_while_waiting_is_taken_to_the_game(teacher, open_page):
    link = teacher.input_value("#invite input")
    ada = join(open_page, link, "Ada")
    ada.locator("#status", has_text="waiting").wait_for()
    ada.click("#learn")
    ada.wait_for_url("**/learn.html#*")
    join(open_page, link, "Ben")
    ada.wait_for_url("**/table.html#*")


LONG_NAME = "Alexandra Konstantinopolitanskaja-Meier"


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
def test_pages_of_a_class_are_accessible(teacher, open_page, size):
    address = teacher.url
    link = teacher.input_value("#invite input")
    arriving = open_page(link, size=size)
    arriving.locator("#pupil h1", has_text="Physics").wait_for()
    check_page(arriving, size)
    for name in (LONG_NAME, "Ben", "Cem"):
        pupil = join(open_page, link, name, size=size)
    pupil.locator("#status", has_text="waiting").wait_for()
    check_page(pupil, size)
    page = open_page(address, reduced_motion="reduce", size=size)
    page.locator("#pupils button").nth(2).wait_for()
    until(page, "document.querySelector('.qr').complete")
    check_page(page, size)
    choose(page, LONG_NAME)
    check_page(page, size)
    page.keyboard.press("Escape")
    page.click("#enlarge")
    until(page, "document.querySelector('#large .qr').naturalWidth > 0")
    box = page.locator("#large .qr").bounding_box()
    assert min(box["width"], box["height"]) > 0.5 * min(size), "it can be read from a projector"
    assert box["y"] + box["height"] <= size[1]
    check_page(page, size)
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") == "enlarge"
    page.click("#pause")
    pupil.locator("dialog.pause").wait_for()
    check_page(pupil, size)
