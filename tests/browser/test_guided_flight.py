"""The guided first flight in a browser: by mouse, by keyboard alone, by touch on a phone; it can be repeated."""

import pytest

from geo_patrol.flight.lesson import FlightLesson
from tests.browser.driving import check_page, endpoint_of, index_of, press_until, until

STEPS = FlightLesson().steps


def begun(page, number):
    """Wait until a step has begun."""
    page.locator("#step", has_text=STEPS[number - 1].title).wait_for()
    until(page, f"page.number === {number} && !page.isDone && page.board.flight.choices.length > 0")
    assert page.text_content("#progress") == f"Step {number} of {len(STEPS)}"


def told(page):
    """Wait until all is told that happened in a turn; return it."""
    page.locator("#result:not([hidden])").wait_for()
    return page.locator("#story li").all_inner_texts()


def test_a_pilot_learns_by_mouse(address, open_page):
    page = open_page(address, reduced_motion="reduce")
    page.click("text=Learn to fly")
    for number, step in enumerate(STEPS, 1):
        begun(page, number)
        if number == 1:
            assert page.locator("#fly").is_hidden()
        offered = [choice["order"] for choice in page.evaluate("page.board.flight.choices")]
        page.mouse.click(*endpoint_of(page, next(order for order in offered if order != step.orders[0])))
        page.locator("#wrong:not(:empty)").wait_for()
        page.mouse.click(*endpoint_of(page, step.orders[0]))
        assert told(page)[-1].startswith("Points: ")
        assert page.locator("#wrong").is_hidden()
        if number < len(STEPS):
            page.click("#next")
    assert "21 points" in page.inner_text("#result")
    page.go_back()
    begun(page, len(STEPS) - 1)
    page.click("#back")
    begun(page, len(STEPS) - 2)


def test_a_page_asks_again_when_it_gets_no_answer(address, open_page):
    page = open_page(address, ignored="ERR_FAILED", reduced_motion="reduce")
    page.route("**/api/flight-lesson/*", lambda route: route.abort(), times=1)
    page.click("text=Learn to fly")
    begun(page, 1)
    page.route("**/api/flight-lesson/*", lambda route: route.abort())
    page.reload()
    page.locator("#wrong", has_text="The server does not answer").wait_for()


def test_a_pilot_learns_by_keyboard_alone_and_flies_on(address, open_page):
    page = open_page(f"{address}/static/flights.html", reduced_motion="reduce")
    press_until(page, "main a[href='flight_lesson.html']")
    page.keyboard.press("Enter")
    for number, step in enumerate(STEPS, 1):
        begun(page, number)
        index = index_of(page, step.orders[0])
        key = page.evaluate("index => page.board.flight.choices[index].key", index)
        for _ in range(index + 1 if key is None else 0):
            page.keyboard.press("ArrowRight")
        page.keyboard.press(key or "Enter")
        told(page)
        if number == 2:
            page.keyboard.press("r")  # once more
            begun(page, number)
            page.keyboard.press(key)
            told(page)
        page.keyboard.press("Enter")
    page.wait_for_url("**/flight.html#*")
    page.locator("h1", has_text="Sample game").wait_for()


def test_a_pilot_learns_with_a_finger_on_a_phone(address, open_page):
    page = open_page(
        f"{address}/static/flight_lesson.html", (390, 844), has_touch=True, is_mobile=True, reduced_motion="reduce"
    )
    for number, step in enumerate(STEPS, 1):
        begun(page, number)
        order = step.orders[0]
        if number % 2:
            point = endpoint_of(page, order)
            page.touchscreen.tap(*point)  # chooses it
            until(page, f"page.board.chosen === {index_of(page, order)}")
            page.touchscreen.tap(*point)
        else:
            button = page.locator("#pad button").nth(index_of(page, order))
            box = button.bounding_box()
            assert min(box["width"], box["height"]) >= 40
            button.tap()
        told(page)
        until(page, "scrollY === 0")  # where it is told
        for control in ("#back", "#again", "#next" if number < len(STEPS) else "#play-on"):
            box = page.locator(control).bounding_box()
            assert box["y"] + box["height"] <= 844, "the buttons are always in reach"
            assert box["height"] >= 40
        if number < len(STEPS):
            page.tap("#next")


def test_the_steps_of_a_turn_are_told_one_after_the_other(address, open_page):
    page = open_page(f"{address}/static/flight_lesson.html#step=4")
    begun(page, 4)
    page.keyboard.press("c")
    page.locator("#story li").first.wait_for()
    assert page.locator("#story li").count() < 4
    assert page.locator("#result").is_hidden()
    assert [line.partition(":")[0] for line in told(page)] == ["Coast", "Gravity", "Engines", "Points"]


def test_other_steps_are_refused(address, open_page):
    page = open_page(f"{address}/static/flight_lesson.html#step=9", ignored="400")
    page.locator("#wrong", has_text="step must be 1 to 6, got 9").wait_for()


@pytest.mark.parametrize("size", [(390, 844), (1280, 800)])
def test_the_page_fits_its_window_and_is_accessible(address, open_page, size):
    page = open_page(f"{address}/static/flight_lesson.html#step=4", size, reduced_motion="reduce")
    begun(page, 4)
    page.keyboard.press("s")
    page.locator("#wrong:not(:empty)").wait_for()
    check_page(page, size)
    page.keyboard.press("c")
    told(page)
    check_page(page, size)
