"""The editor of scenarios: satellites are placed on the board or by keys, the TOML follows, and a game begins with it."""

import tomllib

import pytest
from driving import check_page, ordering, press_until, until

from geo_patrol import load_config


@pytest.fixture
def editor(address, open_page):
    page = open_page(f"{address}/static/scenario.html", ignored="400", reduced_motion="reduce")
    until(page, "page.answer !== undefined && page.waiting === 0")
    return page


def config_of(page):
    until(page, "page.waiting === 0")
    return load_config(tomllib.loads(page.input_value("[name=scenario]")))


def press_place(page, azimuth):
    """Press a sector of the goal ring on the board."""
    x, y = page.evaluate(
        """azimuth => {
          const { x, y, width, height } = document.querySelector(`[data-azimuth="${azimuth}"]`).getBBox();
          const point = new DOMPoint(x + width / 2, y + height / 2).matrixTransform(document.getElementById("board").getScreenCTM());
          return [point.x, point.y];
        }""",
        azimuth,
    )
    page.mouse.click(x, y)


def test_patrols_are_placed_on_the_board(editor):
    editor.select_option("[name=preset]", "case2")
    until(editor, "page.answer.extends === 'case2' && page.waiting === 0")
    editor.check("#tools [value=bravo]")
    press_place(editor, 11)  # bravo's HVA is at 8
    assert config_of(editor).bravo.patrols.formation == ((-2, 1), (-1, 2), (0, 2), (1, 2), (2, 1), (3, 1))
    editor.check("#tools [value=remove]")
    press_place(editor, 8)
    assert (0, 1) in config_of(editor).bravo.patrols.formation
    press_place(editor, 5)
    editor.locator("#notice", has_text="No Patrol starts there.").wait_for()
    assert editor.text_content("#fleets").startswith("Blue: 10 Patrols. Gold: 8 Patrols.")


def test_keys_alone_change_a_fleet(editor):
    press_until(editor, '[aria-label="One fewer, blue, 2 ahead"]')
    for _ in range(2):
        editor.keyboard.press("Enter")
    assert config_of(editor).alpha.patrols.formation == ((-2, 2), (-1, 2), (0, 2), (1, 2))
    press_until(editor, '[aria-label="One more, blue, 1 back"]')
    editor.keyboard.press("Enter")
    editor.keyboard.press("Enter")
    assert (-1, 4) in config_of(editor).alpha.patrols.formation
    assert (
        editor.evaluate("document.activeElement.ariaLabel") == "One fewer, blue, 1 back"
    )  # the other cannot be pressed
    assert editor.locator('[aria-label="One more, blue, 1 ahead"]').is_disabled()  # ten are the most


def test_values_and_text_follow_each_other(editor):
    editor.fill('[data-key="bravo.patrols.fuel"]', "77")
    editor.press('[data-key="bravo.patrols.fuel"]', "Tab")
    assert config_of(editor).bravo.patrols.fuel == 77
    editor.fill("[name=scenario]", 'extends = "case1"\nturn_limit = 3\n[bravo.odds]\nshoot = [1, 1]\n')
    until(editor, "document.querySelector('[data-key=turn_limit]').value === '3'")
    editor.fill('[data-key="alpha.hva.fuel"]', "50")
    editor.press('[data-key="alpha.hva.fuel"]', "Tab")
    config = config_of(editor)
    assert (config.alpha.hva.fuel, config.bravo.odds.shoot, config.turn_limit) == (50, (1, 1), 3)


def test_what_is_wrong_is_said_and_nothing_is_lost(editor):
    editor.fill('[data-key="bravo.patrols.ammo"]', "-1")
    editor.press('[data-key="bravo.patrols.ammo"]', "Tab")
    editor.locator("#faults", has_text="bravo.patrols.ammo must be an integer from 0 to 1000, got -1").wait_for()
    assert editor.get_attribute('[data-key="bravo.patrols.ammo"]', "aria-invalid") is not None
    assert editor.locator("#play").is_disabled()
    editor.fill('[data-key="bravo.patrols.ammo"]', "2")
    editor.press('[data-key="bravo.patrols.ammo"]', "Tab")
    assert config_of(editor).bravo.patrols.ammo == 2
    assert editor.locator("#play").is_enabled()
    editor.reload()
    until(editor, "page.answer !== undefined && page.waiting === 0")
    assert config_of(editor).bravo.patrols.ammo == 2  # the draft is kept


def test_a_game_begins_with_the_scenario(editor):
    editor.fill("[name=scenario]", 'extends = "case1"\ntitle = "Mine"\nturn_limit = 2\n')
    until(editor, "page.answer.record.title === 'Mine' && page.waiting === 0")
    editor.check("#editor [name=side][value=bravo]")
    editor.click("#play")
    editor.wait_for_url("**/table.html#*")
    assert ordering(editor)
    assert editor.evaluate("page.you") == "bravo"


@pytest.mark.parametrize("size", [(390, 844), (1280, 800)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_editor_fits_its_window_and_is_accessible(address, open_page, size, scheme):
    page = open_page(
        f"{address}/static/scenario.html", size, color_scheme=scheme, has_touch=size[0] < 500, reduced_motion="reduce"
    )
    until(page, "page.answer !== undefined && page.waiting === 0")
    if size[0] < 500:
        page.locator("#tools [value=remove]").check()
        page.locator('[data-azimuth="0"]').tap(force=True)
        until(page, "page.waiting === 0 && page.places.alpha.get(0) === 1")
    check_page(page, size)
