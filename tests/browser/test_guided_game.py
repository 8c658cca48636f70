"""The guided first game in a browser: it says what the lesson says, and goes on when that is done."""

import pytest

from geo_patrol.play.lesson import GameLesson
from geo_patrol.web.records import attempt_record, step_record
from tests.browser.driving import check_page, click_area, press_until, settle, until

STEPS = GameLesson().steps


@pytest.mark.parametrize("index", range(len(STEPS)))
def test_a_step_is_done_by_what_its_lesson_requires(index):
    step = STEPS[index]
    record = step_record(index)
    assert (record["steps"], record["selects"]) == (len(STEPS), step.select is not None)
    offered = {option["order"] for one in record["choices"]["satellites"] for option in one["options"]}
    assert set(step.orders) <= offered
    wrong = attempt_record(index, "P2" if step.select else None, [] if step.orders else ["P1 prograde"])
    assert not wrong["done"]
    assert wrong["card"]["hint"]
    assert wrong["record"] is None
    right = attempt_record(index, step.select, step.orders)
    assert right["done"]
    assert right["card"]["task"] == ""
    if step.select is None:
        assert len(right["record"]["moments"]) == step.phases + 1


def test_a_player_learns_by_mouse_and_by_keyboard(address, open_page):
    page = open_page(address, reduced_motion="reduce")
    page.click(".more >> text=The game")
    for number, step in enumerate(STEPS, 1):
        page.locator("#step", has_text=step.title).wait_for()
        assert page.text_content("#progress") == f"Step {number} of {len(STEPS)}"
        if step.select:
            click_area(page, f"alpha:{step.select}")
        else:
            play_step(page, step, by_mouse=number % 2 == 0)
        page.locator("#next:focus" if number < len(STEPS) else "#play-on:focus").wait_for()
        assert page.text_content("#task") == attempt_record(number - 1, step.select, step.orders)["card"]["text"]
        if number < len(STEPS):
            page.keyboard.press("Enter")
    page.locator("#when", has_text="Over").wait_for()
    page.go_back()
    page.locator("#progress", has_text=f"Step {len(STEPS) - 1} of").wait_for()


@pytest.mark.parametrize("size", [(390, 844), (1280, 800)])
@pytest.mark.parametrize("number", [2, 3, 5])
def test_a_pointer_shows_what_the_step_speaks_of(address, open_page, number, size):
    step = STEPS[number - 1]
    name = step.orders[0].split()[0]
    page = open_page(f"{address}/static/learn.html#step={number}", size, reduced_motion="reduce")
    page.locator("#step", has_text=step.title).wait_for()
    until(page, "page.entry.choices !== null && page.entry.isShown")
    assert f"alpha:{name}" in pointed_at(page)
    page.evaluate("name => page.entry.select(name)", name)
    option = page.evaluate(
        "([name, order]) => page.entry.choices.satellites.find((one) => one.name === name).options.find((one) => one.order === order)",
        [name, step.orders[0]],
    )
    assert option["area"] in pointed_at(page)
    page.evaluate("([name, order]) => page.entry.giveAll([order])", [name, step.orders[0]])
    assert page.locator(".pointer").is_hidden()


def pointed_at(page):
    """Return the areas of the board before the tip of the pointer."""
    return page.evaluate(
        """() => {
          const pointer = document.querySelector(".pointer");
          const { x, y } = new DOMPoint(2, 0).matrixTransform(pointer.getScreenCTM());
          return document.elementsFromPoint(x, y).map((element) => element.dataset.area);
        }"""
    )


@pytest.mark.parametrize("size", [(390, 844), (360, 740), (640, 400), (1000, 600)])
def test_orders_are_in_sight_wherever_the_page_stands(address, open_page, size):
    page = open_page(f"{address}/static/learn.html#step=2", size, reduced_motion="reduce")
    for number, step in enumerate(STEPS[1:], 2):
        page.evaluate("number => (location.hash = `step=${number}`)", number)
        page.locator("#step", has_text=step.title).wait_for()
        until(page, "page.entry.choices !== null && page.entry.isShown")
        page.evaluate("scrollTo(0, 0)")
        name, action, *_ = step.orders[0].split()
        page.evaluate("name => page.entry.select(name)", name)
        way = page.locator(".choice .way", has=page.locator(f"input[aria-label^={action.capitalize()}]")).first
        box, foot = way.bounding_box(), page.locator(".foot").bounding_box()
        assert box["y"] + box["height"] <= foot["y"] + 1 <= size[1], step.id
        assert box["x"] + box["width"] <= size[0]
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]


def play_step(page, step, *, by_mouse):
    until(page, "page.entry.choices !== null && page.entry.isShown")
    settle(page)
    if step.orders:
        page.click(".commit")
        page.locator("#wrong:not(:empty)").wait_for()
    for order in step.orders:
        satellite = order.split()[0]
        option = next(
            option
            for one in page.evaluate("page.entry.choices.satellites")
            for option in one["options"]
            if option["order"] == order
        )
        if by_mouse:
            click_area(page, f"alpha:{satellite}")
            click_area(page, option["area"])
            if page.locator(".menu").is_visible():
                deed = {"shoot": "Shoot", "collide": "Collide"}[option["action"]]
                page.locator(".menu button", has_text=deed).click()
        else:
            press_until(page, ".yours input", "Shift+Tab")
            press_until(page, f".yours input[value={satellite}]", "ArrowRight")
            page.keyboard.press("Space")
            press_until(page, ".choice input")
            for _ in range(30):
                if page.evaluate("page.entry.orders").count(order):
                    break
                page.keyboard.press("ArrowDown")
        assert order in page.evaluate("page.entry.orders")
        assert page.text_content("#wrong") == "", "it was about other orders"
        chip, foot = (page.locator(one).last.bounding_box() for one in (".chips li", ".foot"))
        assert chip["y"] + chip["height"] <= foot["y"]
    press_until(page, ".commit")
    page.keyboard.press("Enter")


def test_what_is_done_stays_done_and_nothing_is_chosen_for_the_player(address, open_page):
    page = open_page(f"{address}/static/learn.html", (390, 844), reduced_motion="reduce")
    page.locator("#progress", has_text="Step 1 of").wait_for()
    assert page.locator("#board").bounding_box()["width"] == 390
    assert page.locator("#next").is_hidden()
    assert page.locator(".commit").is_hidden(), "there is nothing to commit"
    click_area(page, "alpha:HVA")
    page.click("#next")
    page.locator("#progress", has_text="Step 2 of").wait_for()
    assert page.locator(".yours :checked").count() == 0
    page.locator(".choice", has_text="Choose one of your satellites").wait_for()
    page.click("#back")
    page.locator("#progress", has_text="Step 1 of").wait_for()
    page.click("#next")
    page.locator("#progress", has_text="Step 2 of").wait_for()


def test_a_step_begins_with_its_own_position_whatever_was_shown_before(address, open_page):
    page = open_page(f"{address}/static/learn.html#step=2", reduced_motion="reduce")
    page.locator("#progress", has_text="Step 2 of").wait_for()
    shown = "[...document.querySelectorAll('#when, .yours, .theirs')].map((element) => element.textContent)"
    expected = page.evaluate(shown)
    page.evaluate("location.hash = 'step=3&class=abc'")
    page.locator("#progress", has_text="Step 3 of").wait_for()
    assert page.evaluate(shown) != expected
    page.click("#back")
    page.locator("#progress", has_text="Step 2 of").wait_for()
    assert page.evaluate(shown) == expected
    assert page.evaluate("location.hash") == "#step=2&class=abc"


def test_another_width_keeps_the_orders_and_the_result(address, open_page):
    page = open_page(f"{address}/static/learn.html#step=2", (390, 844), reduced_motion="reduce")
    page.locator("#progress", has_text="Step 2 of").wait_for()
    diameter = "page.entry.choices.areas['alpha:P3'].hit.at(-1)"
    on_phone = page.evaluate(diameter)
    page.evaluate("page.entry.select('P3')")
    page.locator(".choice .way", has_text="Prograde").click()
    page.set_viewport_size({"width": 1280, "height": 800})
    until(page, f"{diameter} < {on_phone} / 1.3")
    assert page.evaluate("page.entry.orders") == ["P3 prograde"]
    settle(page)
    page.click(".commit")
    page.locator("#next:focus").wait_for()
    result = page.text_content("#task")
    with page.expect_response("**/api/lesson/2"):
        page.set_viewport_size({"width": 390, "height": 844})
    until(page, "page.playback.record.moments.length === 2 && page.playback.isAtEnd")
    assert page.text_content("#task") == result


@pytest.mark.parametrize("size", [(390, 844), (1280, 800)])
def test_the_page_fits_its_window_and_is_accessible(address, open_page, size):
    page = open_page(f"{address}/static/learn.html", size, reduced_motion="reduce")
    page.locator("#progress", has_text="Step 1 of").wait_for()
    check_page(page, size)


def test_the_result_is_told_after_it_was_shown_and_a_whole_game_follows(address, open_page):
    page = open_page(f"{address}/static/learn.html#step={len(STEPS)}")
    page.locator("#progress", has_text=f"Step {len(STEPS)} of").wait_for()
    task = page.text_content("#task")
    play_step(page, STEPS[-1], by_mouse=True)
    until(page, "page.tried !== null")
    assert page.evaluate("page.result !== null || (page.playback.isAtEnd && page.playback.hasArrived)")
    assert page.evaluate("page.result === null") or page.text_content("#task") == task
    page.locator("#play-on:focus").wait_for()
    assert page.text_content("#task") != task
    page.click("#play-on")
    page.wait_for_url("**/table.html#*")
    page.locator("#right", has_text="Sputnik").wait_for()
