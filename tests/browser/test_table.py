"""Games at a table against a real server: by mouse, by touch, by keyboard alone, over lost connections."""

import errno
import re

import pytest

from geo_patrol import Game, read_replay
from geo_patrol.play import advice
from geo_patrol.replays import check
from geo_patrol.web import store
from tests.browser.driving import (
    check_page,
    click_area,
    commit,
    give_first,
    open_table,
    ordering,
    point_of,
    press_until,
    serving,
    settle,
    until,
)

SCENARIO = 'extends = "case1"\nturn_limit = 3\n'
DANGEROUS = 'extends = "case1"\nturn_limit = 3\n[bravo.patrols]\nformation = [[7, 2]]\n'
TOUCH = {"has_touch": True, "is_mobile": True}


@pytest.fixture
def table(address):
    """A table of a short game with a link for each seat: see ``open_table``."""
    return open_table(address, scenario=SCENARIO)


@pytest.fixture
def page(open_seat):
    """The page of alpha, who plays an agent."""
    return open_seat(scenario=SCENARIO, bravo="scripted")


def order_by_mouse(page):
    """Give two satellites their first order by clicks on the board, take one back, and commit."""
    for satellite in page.evaluate("page.entry.choices.satellites.slice(0, 2)"):
        click_area(page, satellite["area"])
        option = satellite["options"][0]
        click_area(page, option["area"])
        if page.locator(".menu button").first.is_visible():
            page.locator(".menu button").first.click()
        assert option["order"] in page.evaluate("page.entry.orders")
    given = len(page.evaluate("page.entry.orders"))
    page.click(".undo")
    assert len(page.evaluate("page.entry.orders")) == given - 1
    commit(page)


def order_by_keyboard(page):
    """Give a satellite an order with Tab and arrow keys, and commit, without a mouse."""
    press_until(page, ".yours input")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    press_until(page, ".choice input")
    page.keyboard.press("ArrowDown")
    assert len(page.evaluate("page.entry.orders")) <= 1
    settle(page)
    press_until(page, ".commit")
    key = page.evaluate("page.entry.key")
    page.keyboard.press("Enter")
    until(page, f"page.entry.choices === null || page.entry.key !== '{key}'")


def test_two_people_play_a_whole_game_by_mouse_and_by_keyboard(address, folder, open_page):
    name, *urls = open_table(address, scenario=DANGEROUS)
    pages = mouse, other, watching = [open_page(url, reduced_motion="reduce") for url in urls]
    phases = []
    while ordering(mouse):
        phases.append(mouse.evaluate("page.entry.choices.phase"))
        order_by_mouse(mouse)
        if len(phases) == 2:
            mouse.reload()
            mouse.locator(".commit", has_text="Waiting for").wait_for()
            other.reload()
        assert ordering(other)
        order_by_keyboard(other)
        until(mouse, f"page.playback.record.moments.length > {len(phases)}")
    assert phases.count("engagement") > 1
    for page in pages:
        until(page, "document.body.dataset.state === 'over'")
    assert mouse.text_content(".losses").startswith("You ")
    replay = read_replay(folder / f"{name}.jsonl.gz")
    assert check(replay) is None
    assert replay.is_finished
    assert any(phase.outcomes for phase in replay.phases)
    assert all(one.evaluate("page.playback.record.moments.length") == len(replay.phases) + 1 for one in pages)
    assert "against" in watching.text_content("#aim")
    assert watching.locator(".commit").is_hidden()
    mouse.click("#next")
    mouse.wait_for_url("**/after.html#*")


def test_a_game_is_played_with_single_keys(page):
    while ordering(page):
        page.keyboard.press("1")
        assert page.evaluate("page.entry.selected") == "P1"
        page.keyboard.press("h")
        assert page.evaluate("page.entry.selected") == "HVA"
        page.keyboard.press("2")
        page.keyboard.press("ArrowRight")
        if page.evaluate("page.entry.choices.satellites.some(({ name }) => name === 'P2')"):
            assert [order.split()[0] for order in page.evaluate("page.entry.orders")] == ["P2"]
        page.keyboard.press("g")
        page.keyboard.press("u")
        played = page.evaluate("page.playback.record.moments.length")
        settle(page)
        page.keyboard.press("c")
        until(page, f"page.playback.record.moments.length > {played}")
    page.keyboard.press("l")
    until(page, "page.playback.isAtEnd && page.playback.hasArrived")
    page.keyboard.press("p")
    page.keyboard.press("Home")
    assert page.evaluate("page.playback.index") == 0
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    page.wait_for_url("**/after.html#*")


def test_keys_are_listed_and_single_ones_can_be_switched_off(page):
    page.keyboard.press("?")
    assert page.evaluate("document.activeElement.textContent") == "Rules", "Enter does no harm"
    dialog = page.get_by_role("dialog", name="This game")
    assert dialog.locator("kbd", has_text="C").first.is_visible()
    dialog.get_by_role("checkbox", name="Single letters").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("h")
    assert page.evaluate("page.entry.selected") != "HVA"
    page.reload()
    assert ordering(page)
    page.keyboard.press("h")
    assert page.evaluate("page.entry.selected") != "HVA"


def test_nothing_moves_when_satellites_are_chosen_ordered_and_committed(open_seat):
    places = """() => ['#board', '.yours', '.foes', '.choice', '.sofar', '#tell', '.foot:not([hidden]) .commit']
      .map((one) => document.querySelector(one).getBoundingClientRect())
      .map(({ left, top, width, height }) => [left, top, width, height].map(Math.round))"""
    for size in ((1280, 800), (390, 844)):
        page = open_seat(size, scenario=DANGEROUS)
        until(page, "page.danger !== null && page.danger !== undefined")
        before = page.evaluate(places)
        for name in page.evaluate("page.entry.choices.satellites.map(({ name }) => name)"):
            page.evaluate("name => page.entry.select(name)", name)
            assert page.evaluate(places) == before
        give_first(page, 8)
        assert page.evaluate(places) == before
        commit(page)
        assert page.evaluate(places) == before
        assert page.evaluate("document.documentElement.scrollHeight") <= size[1]
        heights = page.evaluate(
            "[...document.querySelectorAll('button, label.sat, label.way')].filter((one) => one.offsetParent).map((one) => one.offsetHeight)"
        )
        assert min(heights) >= 40


def test_a_destination_with_own_satellites_is_chosen_by_dragging(page):
    satellite, option = page.evaluate(
        """() => {
          const { satellites, areas } = page.entry.choices;
          const occupied = (one) => satellites.find(({ area }) => areas[area].sector === one.sector);
          for (const satellite of satellites)
            for (const option of satellite.options)
              if (option.sector !== null && occupied(option)) return [satellite, { ...option, onto: occupied(option).area }];
        }"""
    )
    start, end = point_of(page, satellite["area"]), point_of(page, option["onto"])
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(end[0], end[1], steps=5)
    page.mouse.up()
    assert page.evaluate("page.entry.orders") == [option["order"]]


def test_a_chip_takes_its_order_back_and_the_focus_goes_on(page):
    first, second = give_first(page, 2)
    chips = page.locator(".chip")
    assert chips.count() == 2
    chips.first.focus()
    page.keyboard.press("Enter")
    assert page.evaluate("page.entry.orders") == [second]
    assert page.evaluate("document.activeElement.className") == "chip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.matches('.yours input')")
    page.click(".undo")
    page.click(".undo")
    assert page.evaluate("page.entry.orders") == [first, second]


def test_a_player_sees_what_is_hidden(address, open_page):
    _, *urls = open_table(address, preset="geo_patrol_hidden")
    pages = page, *_ = [open_page(url, reduced_motion="reduce") for url in urls[:2]]
    dark = "[page.playback.moment.unseen[1].length, document.querySelectorAll('.ground [opacity=\"0.5\"]').length]"
    for phase in ("movement", "engagement", "movement"):
        assert all(map(ordering, pages))
        assert page.evaluate("page.entry.choices.phase") == phase
        unseen, drawn = page.evaluate(dark)
        assert unseen == drawn > 10
        labels = page.locator(".theirs small").all_text_contents()
        assert labels == (["100"] if page.evaluate("page.playback.record.moments.length") == 1 else ["T1"]) * 11
        if phase == "engagement":
            assert "Nothing to order" in page.text_content(".choice")
            assert page.text_content("#tell") == "No enemy that you know of can attack your HVA next."
            assert page.text_content("#right") == "~200 Gold"
        for one in pages:
            commit(one)
    watching = open_page(urls[2])
    watching.locator(".over", has_text="Enemies are hidden in this game: watch it when it is over").wait_for()


def test_the_past_is_looked_at_while_the_game_goes_on(page):
    commit(page)
    assert ordering(page)
    assert page.title().startswith("Your turn: ")
    page.keyboard.press("p")
    page.click(".step-start")
    assert page.locator(".hit").count() == 0
    assert page.text_content("#when").endswith("Past")
    assert page.text_content(".losses") == "The start of the game."
    page.click(".step-forward")
    assert page.text_content(".losses") == "Turn 1: both sides move."
    board, steps = (page.locator(name).bounding_box() for name in ("#board", "#steps"))
    assert steps["x"] > board["x"] + board["width"] or steps["y"] > board["y"] + board["height"], "it hides nothing"
    page.click("#next")
    assert ordering(page)
    assert page.locator(".hit").count() > 0


@pytest.mark.parametrize("is_network", [False, True])
def test_a_lost_connection_comes_back_and_keeps_the_orders(table, open_page, is_network):
    _, alpha, bravo, _ = table
    page, other = (open_page(url, reduced_motion="reduce", ignored="net::ERR_") for url in (alpha, bravo))
    assert ordering(page)
    orders = give_first(page)
    settle(page)
    if is_network:
        page.context.set_offline(True)
    else:
        page.evaluate("page.connection.socket.close()")
    page.locator(".over", has_text="No connection").wait_for()
    assert "Your orders are kept." in page.text_content(".over")
    page.click(".commit", force=True)
    page.context.set_offline(False)
    page.locator(".commit", has_text="Waiting for").wait_for()
    assert ordering(other)
    commit(other)
    until(page, "page.playback.record.moments.length > 1")
    assert page.evaluate("page.playback.record.moments[1].orders[0]") == orders


@pytest.mark.parametrize("size", [(390, 844), (1280, 800), (360, 740), (640, 400)])
def test_a_table_fits_its_window_and_is_accessible(open_seat, size):
    page = open_seat(size, scenario=DANGEROUS, bravo="raider")
    states = set()
    while ordering(page):
        give_first(page, 3)
        states.add(page.evaluate("page.entry.choices.phase"))
        check_page(page, size)
        commit(page)
        until(page, "page.entry.choices !== null || document.body.dataset.state === 'played' || page.ending !== null")
        if page.evaluate("document.body.dataset.state") == "played":
            check_page(page, size)
        if len(states) == 2:
            break
    page.keyboard.press("?")
    check_page(page, size)


def test_phases_and_losses_reach_screen_readers(page):
    patrol = page.get_by_role("radio", name="1, sector ").first
    assert patrol.get_attribute("aria-label").endswith("no round")
    commit(page)
    page.locator("#said[role=status]", has_text="Turn ").wait_for()
    for role in ("banner", "main"):
        assert page.get_by_role(role).count() == 1


def test_a_seat_that_is_given_up_can_be_taken(table, open_page):
    # A question about danger that is on its way when the seat is given up comes with a secret that is void then.
    page = open_page(table[1], reduced_motion="reduce", ignored="403")
    assert ordering(page)
    page.keyboard.press("?")
    page.click("#leave")
    page.click("#yes")
    page.locator(".over", has_text="You left this seat").wait_for()
    page.click("text=To the start")
    page.wait_for_url("**/start.html*")
    page.click("text=Watch")
    page.locator("#tables li", has=page.locator(f"[href$='table={table[0]}']")).locator("text=Play blue").click()
    page.wait_for_url("**/table.html#*")
    assert ordering(page)


def test_who_resigns_loses(table, open_page):
    page, other = (open_page(url, reduced_motion="reduce") for url in table[1:3])
    assert ordering(page)
    page.keyboard.press("?")
    page.click("#resign")
    page.click("#yes")
    for one, result in ((page, "You lost"), (other, "You won")):
        until(one, "document.body.dataset.state === 'over'")
        assert one.text_content(".losses").startswith(f"{result}, ")
        assert "resigned" in one.text_content(".losses")
    page.click("#next")
    page.locator("#verdict", has_text="You lost").wait_for()


FAILING = """
from geo_patrol.agents import IdleAgent

class Failing(IdleAgent):
    def act(self, observations, action_masks, generator):
        raise RuntimeError("no plan")
"""


def test_a_game_whose_agent_fails_ends_with_the_reason_and_is_played_on_against_another_agent(tmp_path, open_page):
    (tmp_path / "failing.py").write_text(FAILING)
    agent = f"{tmp_path / 'failing.py'}:Failing"
    with serving(tmp_path / "tables", own_agents=[agent]) as address:
        _, alpha, _, _ = open_table(address, scenario=SCENARIO, bravo=agent)
        page = open_page(alpha, reduced_motion="reduce")
        assert ordering(page)
        commit(page)
        until(page, "document.body.dataset.state === 'over'")
        assert page.locator("dialog[open]").count() == 0
        assert page.text_content(".losses").startswith("You won, ")
        assert "act raised RuntimeError." in page.text_content("#told .cards")  # what it said is for the operator
        page.click("#next")
        page.locator("#notice", has_text="act raised RuntimeError.").wait_for()
        page.click("#practise")
        page.wait_for_url("**/table.html#*")
        assert ordering(page)
        assert "Webb" in page.text_content("#right")
        page.close()  # before its server ends


def test_orders_stay_in_when_a_resignation_cannot_be_saved(open_seat, monkeypatch):
    page = open_seat(scenario=SCENARIO)
    commit(page)
    page.locator(".commit", has_text="Waiting for").wait_for()

    def write(path):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(store, "atomic_write", write)
    page.keyboard.press("?")
    page.click("#resign")
    page.click("#yes")
    page.locator("#tell", has_text="could not save").wait_for()
    assert page.text_content(".commit").startswith("Waiting for")
    assert page.evaluate("page.line.areIn")


def test_a_draw_is_offered_and_accepted(table, open_page):
    page, other = (open_page(url, reduced_motion="reduce") for url in table[1:3])
    for one in (page, other):
        assert ordering(one)
    page.keyboard.press("?")
    page.click("#offer-draw")
    other.locator("#tell", has_text="offers a draw").wait_for()
    other.keyboard.press("?")
    other.locator("#offer-draw", has_text="Accept the draw").click()
    until(page, "document.body.dataset.state === 'over'")
    assert "both agreed to a draw" in page.text_content(".losses")


def test_two_people_play_at_one_screen(table, open_page):
    secrets = [url.partition("secret=")[2] for url in table[1:3]]
    page = open_page(f"{table[1]}&second={secrets[1]}", reduced_motion="reduce")
    for turn in (1, 2, 3):
        for name in ("Blue", "Gold"):
            page.locator(".over", has_text=f"{name} gives orders").wait_for()
            assert page.locator(".hit").count() == 0
            page.click("text=Show the board")
            assert ordering(page)
            assert page.evaluate("page.entry.choices.turn") == turn
            commit(page)


def test_orders_that_are_refused_are_asked_for_again(open_seat):
    page = open_seat(scenario=SCENARIO)
    page.evaluate("page.line.send(['P1 shoot HVA'])")
    page.locator("#tell", has_text="P1 shoot HVA").wait_for()
    assert ordering(page)
    commit(page)
    page.locator(".commit", has_text="Waiting for").wait_for()


def test_a_press_on_commit_right_after_the_last_phase_is_meant_for_that_one(page):
    page.evaluate("page.entry.loaded = Date.now(); page.entry.commit.click()")
    assert page.evaluate("page.line.sent") is None
    assert page.evaluate("page.entry.choices.turn") == 1
    commit(page)
    assert ordering(page)
    assert page.evaluate("page.entry.choices.turn") == 2


def test_orders_that_were_not_committed_survive_a_reload(open_seat):
    page = open_seat(scenario=SCENARIO)
    orders = give_first(page, 2)
    page.reload()
    assert ordering(page)
    assert page.evaluate("page.entry.orders") == orders
    page.locator("#tell", has_text="still here").wait_for()
    for _ in orders:
        page.locator(".chip").first.click()
    page.reload()
    assert ordering(page)
    assert page.evaluate("page.entry.orders") == []


def test_a_game_goes_on_when_its_server_is_started_again(tmp_path, open_page):
    with serving(tmp_path) as address:
        _, alpha, _, _ = open_table(address, scenario=SCENARIO, bravo="scripted")
        page = open_page(alpha, reduced_motion="reduce", ignored="net::ERR_")
        assert ordering(page)
        commit(page)
        until(page, "page.entry.choices?.turn === 2")
        orders = give_first(page)
        settle(page)
        played = page.evaluate("page.playback.record.moments.length")
    page.locator(".over", has_text="No connection").wait_for()
    page.click(".commit", force=True)
    with serving(tmp_path, int(address.rpartition(":")[2])):
        until(page, f"page.playback.record.moments.length > {played}")
        assert page.evaluate(f"page.playback.record.moments[{played}].orders[0]") == orders


@pytest.mark.parametrize("size", [(390, 844), (360, 740)])
def test_a_phone_shows_the_whole_width_of_the_board_and_orders_beside_it(open_seat, size):
    page = open_seat(size, preset="geo_patrol", bravo="raider")
    assert page.locator("#board").bounding_box()["width"] == size[0]
    widths = page.evaluate(
        "[...document.querySelectorAll('.hit[data-area^=alpha]')].map((token) => token.getBoundingClientRect().width)"
    )
    assert len(widths) == 11
    assert min(widths) >= 24
    ways, foot = page.locator(".choice .way"), page.locator(".foot").first.bounding_box()
    for way in (ways.nth(number).bounding_box() for number in range(ways.count())):
        assert way["y"] + way["height"] <= foot["y"]
    assert page.locator(".theirs").is_hidden()
    page.click("#their-title", position={"x": 5, "y": 5})
    assert page.text_content("#their-title") == "Raider\u2019s fleet: 11 of 11 in play"
    assert page.locator(".theirs .sat").count() == 11
    assert page.locator(".theirs").is_visible()


def test_a_game_is_played_on_a_phone(open_seat):
    page = open_seat((390, 844), scenario=SCENARIO, bravo="raider", options=TOUCH)
    while ordering(page):
        name, order = page.evaluate(
            "[page.entry.choices.satellites[0].name, page.entry.choices.satellites[0].options[0].order]"
        )
        page.locator(f".yours .sat:has([value={name}])").tap()
        costs = page.locator(".choice small:visible", has_text="\u2212").all_inner_texts()
        assert costs == [text for text in costs if text.endswith(" fuel")]
        page.locator(".choice .way:has(input:not(:checked))").first.tap()
        assert [one.split()[0] for one in page.evaluate("page.entry.orders")] == [order.split()[0]]
        settle(page)
        page.locator(".commit").tap()
        until(page, "page.entry.choices === null || page.entry.orders.length === 0")
    assert "in turn 3" in page.text_content(".losses")


def test_a_stack_on_a_phone_opens_and_each_satellite_can_be_chosen(open_seat):
    crowded = 'extends = "geo_patrol"\n[both.patrols]\nformation = [[0, 6], [1, 4]]\n'
    page = open_seat((390, 844), scenario=crowded, options=TOUCH)
    page.touchscreen.tap(*point_of(page, "alpha:P6"))
    tokens = page.locator(".menu .sat")
    assert tokens.count() == 7
    assert min(tokens.evaluate_all("all => all.flatMap((one) => [one.offsetWidth, one.offsetHeight])")) >= 40
    check_page(page, (390, 844))
    page.get_by_role("button", name="your 3, ").tap()
    assert page.evaluate("page.entry.selected") == "P3"
    assert page.locator(".menu").is_hidden()
    page.touchscreen.tap(*point_of(page, "alpha:P10"))  # in the sector ahead
    page.locator(".menu button", has_text="Prograde to ").tap()
    assert page.evaluate("page.entry.orders") == ["P3 prograde"]


def test_an_engagement_is_skipped_or_read_before_the_next_orders(address, open_page):
    near = 'extends = "geo_patrol"\nturn_limit = 3\n[bravo.patrols]\nformation = [[7, 4]]\n'
    _, alpha, _, _ = open_table(address, scenario=near, bravo="idle")
    page = open_page(alpha, reduced_motion="no-preference")
    until(page, "page.entry.choices?.phase === 'movement'")
    page.evaluate("page.playback.speed = 0.01")
    commit(page)
    until(page, "page.entry.choices?.phase === 'engagement'")
    page.evaluate("page.playback.pauseAt(Infinity)")
    give_first(page)
    commit(page)
    page.locator(".commit:enabled", has_text="Skip").wait_for()
    until(page, "document.title.startsWith('Your turn: ')")  # the server asks for orders after it has told of the phase
    assert page.evaluate("page.entry.choices") is None
    assert page.text_content(".choice").startswith("Turn 1: guards act first, then all shots at once")
    page.click(".commit")
    assert page.evaluate("document.body.dataset.state") == "played"
    page.click("#next")
    page.locator(".choice", has_text="Prograde").wait_for()
    page.keyboard.press("l")
    page.locator(".choice", has_text="Turn 1: both sides move.").wait_for()
    assert page.locator(".choice input").count() == 0, "these would be for the next turn"
    page.evaluate("page.playback.pauseAt(Infinity)")
    page.locator(".choice", has_text="Prograde").wait_for()


def test_another_width_draws_anew_and_keeps_all_that_was_chosen(open_seat):
    diameter = "page.entry.choices.areas[page.entry.choices.satellites[1].area].hit.at(-1)"
    page = open_seat((390, 844), scenario=SCENARIO, bravo="scripted")
    commit(page)
    until(page, "page.entry.choices?.turn === 2")
    orders = give_first(page, 2)
    page.evaluate("page.entry.select('P5')")
    page.evaluate("page.isTheSame = true")
    on_phone = page.evaluate(diameter)
    page.set_viewport_size({"width": 1280, "height": 800})
    until(page, f"{diameter} < {on_phone} / 1.3")
    assert page.evaluate("page.entry.orders") == orders
    assert page.evaluate("page.entry.selected") == "P5"
    page.keyboard.press("1")
    assert page.locator(".choice :checked").count() == 1, "the order of a satellite is still its order"
    page.click(".undo")
    assert page.evaluate("page.entry.orders") == orders[:1]

    page.keyboard.press("p")
    page.click(".step-start")
    page.set_viewport_size({"width": 390, "height": 844})
    until(page, f"{diameter} === {on_phone} && page.lookedAt === null")
    assert page.evaluate("page.playback.index") == 0
    assert page.evaluate("page.isTheSame"), "the page was not loaded again"
    page.click("#next")
    commit(page)
    until(page, "page.playback.record.moments.length > 3")


@pytest.fixture
def quick_hints(monkeypatch):
    """Hints are searched for as briefly as possible, and compiled before."""
    monkeypatch.setattr(advice, "HINT_AGENT", advice.HINT_AGENT.with_minimal_budget())
    advice.find_hint(Game("case1"), "alpha")


def test_a_hint_can_be_taken_or_cancelled(quick_hints, open_seat):
    page = open_seat(scenario=DANGEROUS, bravo="raider")
    page.click("#ask-hint")
    page.locator("#hint", has_text="% of ").wait_for()
    hint, heading, foot = (page.locator(name).bounding_box() for name in ("#hint", ".sofar h2", ".foot >> nth=0"))
    assert heading["y"] + heading["height"] <= hint["y"] < hint["y"] + hint["height"] <= foot["y"], "it hides nothing"
    text = page.text_content("#hint p")
    assert not any(word in text for word in ("radial_", "noop", "undefined"))
    orders = page.evaluate("page.hinted.orders")
    settle(page)
    page.click("#take-hint")
    assert sorted(page.evaluate("page.entry.orders")) == sorted(orders)
    assert page.locator(".commit").is_enabled()
    assert "replaces" not in text, "nothing was ordered before"
    page.evaluate("(([one]) => page.entry.give(one.name, one.options[0]))(page.entry.choices.satellites)")
    page.click("#ask-hint")
    assert page.locator(".commit").is_disabled(), "an open hint is taken or closed first"
    page.locator("#hint", has_text="Taking it replaces your orders.").wait_for()
    page.keyboard.press("Escape")
    assert page.locator("#hint").is_hidden()
    assert page.locator(".commit").is_enabled()
    assert page.evaluate("document.activeElement.id") == "ask-hint"


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
def test_all_that_can_guard_do_so_at_once_against_attackers_that_are_lit(open_seat, size):
    page = open_seat(size, scenario=DANGEROUS, bravo="raider")
    assert page.locator(".guard-all").count() == 0, "nobody can guard while satellites move"
    commit(page)
    assert ordering(page)
    button = page.locator(".guard-all")
    button.wait_for()
    guards, cost = page.evaluate(
        "[page.entry.guards.length, page.entry.guards.reduce((sum, [, one]) => sum + one.cost, 0)]"
    )
    assert button.text_content() == f"Guard with all six, \u2212{cost} fuel"
    assert page.locator(".attacker").count() == 2
    inside, around = button.bounding_box(), page.locator("#tell").bounding_box()
    assert inside["y"] + inside["height"] <= around["y"] + around["height"] + 1
    assert (
        page.evaluate(
            "(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)(document.querySelector('#tell'))"
        )
        <= 0
    )
    button.click()
    assert [order.split()[1] for order in page.evaluate("page.entry.orders")] == ["guard"] * guards
    button.wait_for(state="detached")


def test_a_hint_in_a_rated_game_is_announced_and_a_double_click_does_not_take_it(address, open_page):
    page = open_page(address, reduced_motion="reduce")
    page.click("#play .main:enabled")
    page.wait_for_url("**/table.html#*")
    assert ordering(page)
    page.click("#ask-hint")
    page.locator("#hint", has_text="does not count for your rating").wait_for()
    page.click("#close-hint")
    own_game = "import('/static/client.js').then(({ OwnGames, request }) => [OwnGames.find(page.table), request])"
    assert not page.evaluate(f"{own_game}.then(([game]) => game.hinted)")
    page.click("#ask-hint")
    show = page.locator("#show-hint").bounding_box()
    page.click("#show-hint")
    cancel = page.locator("#close-hint", has_text="Cancel").bounding_box()
    pressed = page.wait_for_function(
        """() => {
          const take = document.querySelector("#take-hint");
          if (!take.checkVisibility()) return null;
          take.click();
          return { orders: page.entry.orders };
        }""",
        timeout=60_000,
    )
    assert pressed.json_value() == {"orders": []}, "it came while somebody was clicking"
    take = page.locator("#take-hint").bounding_box()
    assert cancel["x"] + cancel["width"] < min(take["x"], show["x"])
    settle(page)
    page.click("#take-hint")
    page.click("#ask-hint")
    page.locator("#hint", has_text="% of ").wait_for(timeout=60_000)
    (state,) = page.evaluate(
        f"{own_game}.then(([{{ table, secret }}, request]) => request('/api/games', {{ games: [{{ table, secret }}] }})).then(({{ games }}) => games)"
    )
    assert state["hinted"]


def test_the_result_comes_after_the_last_engagement_was_shown(address, open_page):
    last = 'extends = "geo_patrol"\nturn_limit = 1\n[bravo.patrols]\nformation = [[7, 4]]\n'
    _, alpha, _, _ = open_table(address, scenario=last, bravo="idle")
    page = open_page(alpha, reduced_motion="no-preference")
    until(page, "page.entry.choices?.phase === 'movement'")
    commit(page)
    until(page, "page.entry.choices?.phase === 'engagement' && page.entry.isShown")
    page.evaluate("page.playback.speed = 0.01")
    give_first(page)
    commit(page)
    page.locator(".commit:enabled", has_text="Skip").wait_for()
    until(page, "page.ending !== null && page.state.phase === 'drift'")
    assert page.text_content("#when").endswith("Engagement")
    assert not page.title().startswith("Over")
    assert page.text_content("#aim").startswith("Keep your HVA")
    assert page.locator("#next").is_hidden()
    page.click(".commit")
    until(page, "document.body.dataset.state === 'over'")
    assert page.text_content("#when").endswith("Over")
    assert page.title().startswith("Over")
    page.locator("#next", has_text="What decided it").wait_for()


def test_nothing_of_the_aim_is_cut_on_a_phone(open_seat):
    page = open_seat((390, 844), scenario=SCENARIO, bravo="level:vanguard")
    assert re.search(r"HVA \(High Value Asset\).* \d+ points win\.$", page.text_content("#aim"))
    cut = """() => [...document.querySelectorAll('#aim, .who span, .when, .foot > *, .way, .head *, .sofar h2, #tell')]
      .filter((one) => one.offsetParent && (one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1) && getComputedStyle(one).display !== 'inline')
      .map((one) => one.outerHTML)"""
    for name in page.evaluate("page.entry.choices.satellites.map(({ name }) => name)"):
        page.evaluate("name => page.entry.select(name)", name)
        assert page.evaluate(cut) == []


def test_the_warning_counts_the_guards_that_are_ordered(address, open_page):
    near = 'extends = "geo_patrol"\n[bravo.patrols]\nformation = [[7, 4]]\n'
    _, *urls, _ = open_table(address, scenario=near)
    page, other = (open_page(url, reduced_motion="reduce") for url in urls)
    for one in (page, other):
        assert ordering(one)
    page.locator("#tell.danger", has_text="can reach your HVA: lost in ").wait_for()
    for one in (page, other):
        commit(one)
    assert ordering(page)
    page.locator("#tell.danger", has_text="Nobody guards").wait_for()
    unguarded = page.evaluate("page.danger.lost")
    page.keyboard.press("g")
    page.locator("#tell.danger", has_text="guard: lost in").wait_for()
    assert page.evaluate("page.danger.guarding.length") > 1
    assert page.evaluate("page.danger.lost") < unguarded
