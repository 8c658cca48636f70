"""Flights in a real browser: a whole mission by keyboard, and by mouse on a phone."""

import pytest

from geo_patrol.flight import Flight, load_mission
from tests.browser.driving import check_page, endpoint_of, index_of, until
from tests.flight.ships import BEST


def open_mission(address, open_page, mission, **options):
    """Open a mission as people do; return its page."""
    page = open_page(address, **options)
    page.click("text=Flights")
    title = load_mission(mission).title
    page.locator("#missions li", has=page.locator(f"b:text-is('{title}')")).locator("a").click()
    page.wait_for_url("**/flight.html#*")
    page.locator("#pad button").first.wait_for()
    return page


def flown(page, number):
    """Wait until a number of orders has been flown, and the page is ready for the next one."""
    until(page, f"page.flight !== null && page.flight.number === {number} && !page.isBusy")


def press_order(page, order):
    """Fly an order with keys alone."""
    index = index_of(page, order)
    key = page.evaluate("index => page.flight.choices[index].key", index)
    if key is not None:
        page.keyboard.press(key)
        return
    for _ in range(index + 1):  # a launch is not chosen before
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")


def test_a_mission_by_keyboard_and_one_by_mouse_on_a_phone(address, open_page):
    mission = "docking_race"
    flight = Flight.from_orders(mission, BEST[mission]["orders"])
    orders = [turn.order for turn in flight.turns]
    page = open_mission(address, open_page, mission)
    start = page.url
    for number, order in enumerate(orders):
        press_order(page, order)
        flown(page, number + 1)
        if number == 2:
            page.keyboard.press("u")
            flown(page, number)
            page.reload()  # the flight goes on where it was
            flown(page, number)
            press_order(page, order)
            flown(page, number + 1)
    assert page.evaluate("page.flight.over")
    assert "Mission accomplished" in page.inner_text("#result")
    assert f"6 turns (best known: 6), {flight.score} points" in page.inner_text("#said")
    assert page.inner_text("#known") == "Best known: 6 turns, proved."
    other = open_page(page.url)  # whoever has the address has the flight
    flown(other, len(orders))
    page.keyboard.press("Enter")
    flown(page, 0)

    phone = open_page(start, size=(390, 844))
    flown(phone, 0)
    phone.mouse.click(*endpoint_of(phone, orders[0]))
    flown(phone, 1)
    phone.click("#undo")
    flown(phone, 0)
    for number, order in enumerate(orders):
        phone.mouse.click(*endpoint_of(phone, order))
        flown(phone, number + 1)
    assert phone.evaluate("document.documentElement.scrollWidth") == 390
    assert phone.evaluate("page.flight.success")


def test_a_finger_chooses_and_then_flies(address, open_page):
    phone = open_mission(address, open_page, "sample_probe", size=(390, 844), has_touch=True, is_mobile=True)
    assert phone.evaluate("document.querySelector('.map').scrollLeft") > 0, "the ship is in sight"
    index = index_of(phone, "launch D13")
    for _ in range(2):
        assert phone.evaluate("page.flight.number") == 0
        phone.touchscreen.tap(*endpoint_of(phone, "launch D13"))
        until(phone, f"page.board.chosen === {index} || page.flight.number === 1")
    flown(phone, 1)
    assert "8 of 8 points" in phone.inner_text("#result")
    assert phone.locator("#engine-keys").is_hidden()


def test_wrong_missions_are_explained(address, open_page):
    page = open_page(f"{address}/static/flights.html", ignored="400")
    page.select_option("[name=mission]", "own")
    page.fill("[name=scenario]", 'extends = "sample"\nturns = 99\n')
    page.click("text=Open the mission")
    page.locator("#notice", has_text="turns must be an integer from 1 to 40, got 99").wait_for()
    page.select_option("[name=mission]", "random")
    page.fill("[name=seed]", "7")
    page.click("text=Open the mission")
    page.wait_for_url("**/flight.html#*")
    page.locator("h1", has_text="Random mission 7").wait_for()


def test_a_ship_that_leaves_the_map_is_lost_and_the_rules_are_on_the_page(address, open_page):
    page = open_mission(address, open_page, "touchdown")
    assert "+3 for each planet" in page.inner_text("#scoring")
    assert "repeats its last move" in page.inner_text("#rules")
    press_order(page, "launch A5")
    flown(page, 1)
    while not page.evaluate("page.flight.over"):
        number = page.evaluate("page.flight.number")
        press_order(page, "coast")
        flown(page, number + 1)
    assert page.inner_text("#result").startswith("Lost in space: 0 of 19")


def test_a_launch_has_to_be_chosen_and_its_meaning_is_told(address, open_page):
    page = open_mission(address, open_page, "sample")
    assert page.locator("#fly").is_hidden()
    assert page.locator("#engine-keys").is_hidden()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowLeft")  # the last one
    assert page.inner_text("#fly") == "Fly: launch B15"
    assert page.inner_text("#means") == "The move is then 1 left, 3 up, each turn until gravity or engines change it."
    page.keyboard.press("Enter")
    flown(page, 1)
    assert page.locator("#fly").is_hidden()  # coasting would lead off the map
    page.keyboard.press("u")
    flown(page, 0)
    press_order(page, "launch D13")
    flown(page, 1)
    assert page.inner_text("#fly") == "Fly: coast"
    assert page.locator("#engine-keys").is_visible()
    assert page.text_content("#said").startswith("launch D13 to D13. 1 of ")


SMALLEST = """() => Math.min(...[...document.querySelectorAll("#map text")]
  .filter((text) => text.getBoundingClientRect().width > 0)
  .map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a))"""


@pytest.mark.parametrize("mission", ["sample", "grand_tour"])
@pytest.mark.parametrize("size", [(1280, 800), (800, 600), (390, 844)])
def test_words_on_a_map_can_be_read(address, open_page, size, mission):
    page = open_mission(address, open_page, mission, size=size)
    page.locator("#pad button").first.press("Enter")
    flown(page, 1)
    assert page.evaluate(SMALLEST) >= 11
    if page.locator("#zoom").is_visible():
        page.click("#zoom")
        assert page.evaluate(SMALLEST) >= 11


def test_maps_follow_the_theme_of_the_page(address, open_page):
    page = open_page(f"{address}/static/flights.html")
    page.locator("#missions li").first.wait_for()
    for shown in (
        "getComputedStyle(document.querySelector('#missions svg rect')).fill",
        "getComputedStyle(document.querySelector('.map')).backgroundColor",
    ):
        for scheme, paper in (("dark", "rgb(16, 21, 29)"), ("light", "rgb(255, 255, 255)")):
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate(shown) == paper
        if page.url.endswith("flights.html"):
            page.locator("#missions a").first.click()
            page.wait_for_url("**/flight.html#*")


def test_a_hint_is_the_best_order_and_the_search_can_be_cancelled(address, open_page):
    page = open_mission(address, open_page, "docking_race")
    page.click("#ask-hint")
    page.locator("#hint-text", has_text="leads to 6 turns").wait_for(timeout=60_000)
    assert page.evaluate("page.flight.choices[page.board.chosen].order") == "launch D7"
    page.route("**/hint", lambda _: None)  # it takes for ever
    page.click("#ask-hint")
    page.locator("#ask-hint", has_text="Cancel").click()
    page.locator("#ask-hint", has_text="Hint").wait_for()


def test_a_flight_is_kept_as_picture_and_orders(address, open_page):
    page = open_mission(address, open_page, "sample")
    for number, order in enumerate(["launch D13", "coast"]):
        press_order(page, order)
        flown(page, number + 1)
    page.click("text=Flight log")
    assert page.locator("#log-orders input").last.input_value() == "launch D13; coast"
    with page.expect_download() as download:
        page.click("#picture")
    assert (
        download.value.path().read_text(encoding="utf-8") == Flight.from_orders("sample", ["launch D13", "coast"]).svg()
    )


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
def test_axe_finds_no_serious_fault(address, open_page, size):
    page = open_page(f"{address}/static/flights.html", size=size)
    page.select_option("[name=mission]", "own")
    page.locator("#missions li").first.wait_for()
    check_page(page, size)
    page = open_mission(address, open_page, "sample", size=size)
    check_page(page, size)
    page.click("text=Flight log")
    if size[0] < 640:
        page.click("#zoom")
    page.locator("#pad button").nth(index_of(page, "launch D13")).press("Enter")
    flown(page, 1)
    page.click("#fly")
    flown(page, 2)
    check_page(page, size)


@pytest.mark.parametrize(
    ("mission", "text"),
    [("mission=none", "mission must be one of"), ("mission=sample&orders=coast", "the first turn is a launch")],
)
def test_an_address_that_names_no_flight_is_explained(address, open_page, mission, text):
    page = open_page(f"{address}/static/flight.html#{mission}", ignored="400")
    page.locator("#notice", has_text=text).wait_for()
