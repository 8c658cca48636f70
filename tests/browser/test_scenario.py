"""The editor of scenarios: satellites are placed on the board or by keys, the TOML follows, and a game begins with it."""

import tomllib

import pytest

from geo_patrol import load_config
from geo_patrol.studies.study import load_plan
from tests.browser.driving import check_page, ordering, press_until, until


@pytest.fixture
def editor(address, open_page):
    page = open_page(f"{address}/static/scenario.html", ignored="400", reduced_motion="reduce")
    until(page, "page.answer !== undefined && page.waiting === 0")
    return page


def config_of(page):
    until(page, "page.waiting === 0")
    return load_config(tomllib.loads(page.input_value("[name=scenario]")))


def point_of(page, azimuth):
    """Return the middle of a sector of the goal ring on the screen."""
    return page.evaluate(
        """azimuth => {
          const { x, y, width, height } = document.querySelector(`[data-azimuth="${azimuth}"]`).getBBox();
          const point = new DOMPoint(x + width / 2, y + height / 2).matrixTransform(document.getElementById("board").getScreenCTM());
          return [point.x, point.y];
        }""",
        azimuth,
    )


def press_place(page, azimuth):
    """Press a sector of the goal ring."""
    page.mouse.click(*point_of(page, azimuth))


def set_value(page, key, value):
    """Write a value into its field, and leave it."""
    page.fill(f'[data-key="{key}"]', value)
    page.press(f'[data-key="{key}"]', "Tab")


def write_scenario(page, text):
    page.fill("[name=scenario]", text)
    page.wait_for_timeout(450)  # after which it is read
    until(page, "page.waiting === 0")


def test_patrols_are_placed_on_the_board(editor):
    editor.select_option("[name=preset]", "case2")
    until(editor, "page.answer.extends === 'case2' && page.waiting === 0")
    editor.check("[name=tool][value=bravo]")
    press_place(editor, 11)  # bravo's HVA is at 8
    assert config_of(editor).bravo.patrols.formation == ((-2, 1), (-1, 2), (0, 2), (1, 2), (2, 1), (3, 1))
    editor.check("[name=tool][value=remove]")
    press_place(editor, 8)
    assert (0, 1) in config_of(editor).bravo.patrols.formation
    press_place(editor, 5)
    editor.locator("#notice", has_text="No Patrol starts there.").wait_for()
    assert editor.text_content("#fleets").startswith("Blue: 10 Patrols. Gold: 8 Patrols.")


def test_who_presses_the_ring_with_all_patrols_placed_is_told_above_the_board(editor):
    assert editor.locator("[name=tool][value=alpha]").is_disabled()
    editor.locator(".levels", has_text="Blue has all 10").wait_for()
    press_place(editor, 1)
    editor.locator("#notice", has_text="Blue has 10 Patrols already").wait_for()
    assert editor.locator("#notice").bounding_box()["y"] < editor.locator("#board").bounding_box()["y"]
    editor.check("[name=tool][value=remove]")
    press_place(editor, 1)
    until(editor, "page.waiting === 0")
    editor.check("[name=tool][value=alpha]")
    assert "Add blue" in editor.text_content(".levels")


def test_a_patrol_is_dragged_to_another_sector(editor):
    editor.mouse.move(*point_of(editor, 1))
    editor.mouse.down()
    editor.mouse.move(*point_of(editor, 3), steps=4)
    assert editor.locator("line.drag").count() == 1
    editor.mouse.up()
    assert config_of(editor).alpha.patrols.formation == ((-2, 2), (-1, 2), (0, 2), (1, 1), (2, 2), (3, 1))
    assert editor.locator("line.drag").count() == 0


def test_keys_place_patrols_on_the_board(editor):
    press_until(editor, '[data-azimuth="0"]')
    editor.keyboard.press("Delete")
    for _ in range(3):
        editor.keyboard.press("ArrowRight")
    assert editor.evaluate("document.activeElement.ariaLabel") == "Sector 28: empty"
    editor.keyboard.press("Enter")
    assert config_of(editor).alpha.patrols.formation == ((-3, 1), (-2, 2), (-1, 2), (0, 1), (1, 2), (2, 2))
    assert editor.evaluate("document.activeElement.ariaLabel") == "Sector 28: 1 blue Patrol"
    assert editor.get_attribute('[data-azimuth="0"]', "aria-label") == "Sector 15: the blue HVA and 1 blue Patrol"


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
    set_value(editor, "bravo.patrols.fuel", "77")
    assert config_of(editor).bravo.patrols.fuel == 77
    write_scenario(editor, 'extends = "case1"\nturn_limit = 3\n[bravo.odds]\nshoot = [1, 1]\n')
    assert editor.input_value("[data-key=turn_limit]") == "3"
    set_value(editor, "alpha.hva.fuel", "50")
    config = config_of(editor)
    assert (config.alpha.hva.fuel, config.bravo.odds.shoot, config.turn_limit) == (50, (1, 1), 3)


def test_what_is_wrong_is_said_and_nothing_is_lost(editor):
    set_value(editor, "bravo.patrols.ammo", "-1")
    beside = editor.locator('label:has([data-key="bravo.patrols.ammo"]) .fault')
    assert beside.text_content() == "Must be an integer from 0 to 1000, got -1"
    assert editor.get_attribute('[data-key="bravo.patrols.ammo"]', "aria-invalid") is not None
    assert editor.locator("#play").is_disabled()
    set_value(editor, "bravo.patrols.ammo", "2")
    assert config_of(editor).bravo.patrols.ammo == 2
    assert editor.locator("#play").is_enabled()
    editor.reload()
    until(editor, "page.answer !== undefined && page.waiting === 0")
    assert config_of(editor).bravo.patrols.ammo == 2  # the draft is kept


def test_what_is_wrong_in_the_text_is_said_below_it(editor):
    write_scenario(editor, 'extends = "case1"\nturn_limit = 0\n[bravo.patrols]\nfule = 3\n')
    assert "did you mean fuel?" in editor.text_content("#faults")
    assert editor.locator("label:has([data-key=turn_limit]) .fault").count() == 1
    assert editor.get_attribute("[name=scenario]", "aria-invalid") is not None
    write_scenario(editor, 'extends = "case1"\n')
    assert editor.locator(".fault:not(:empty)").count() == 0


def test_a_scenario_is_opened_from_a_file_and_drawn(editor):
    text = 'extends = "case1"\n[alpha.patrols]\nformation = [[5, 3]]\n'
    editor.set_input_files(
        "[name=file]", {"name": "mine.toml", "mimeType": "application/toml", "buffer": text.encode()}
    )
    until(editor, "page.waiting === 0 && page.places.alpha.size === 1")
    assert editor.get_attribute('[data-azimuth="5"]', "aria-label") == "Sector 20: 3 blue Patrols"


def test_a_study_of_the_scenario_is_saved(editor, tmp_path):
    write_scenario(editor, 'extends = "case1"\ntitle = "Mine"\n[bravo.patrols]\nammo = 2\n')
    for index in range(editor.locator("[name=question] option").count()):
        editor.select_option("[name=question]", index=index)
        with editor.expect_download() as saved:
            editor.click("#save-study")
        path = tmp_path / f"{index}-{saved.value.suggested_filename}"
        saved.value.save_as(path)
        plan = load_plan(path)
        assert plan.scenarios[0].name == "Mine"
        assert plan.scenarios[0].config.bravo.patrols.ammo == 2
        assert path.read_text() == editor.evaluate("document.getElementById('study-file').textContent")
    assert path.suffix == ".toml"
    assert editor.input_value("#command input") == "geo-patrol study run study.toml --out study"


def test_the_start_page_offers_the_scenario_as_well(editor):
    write_scenario(editor, 'extends = "case1"\ntitle = "Mine"\n')
    editor.click("#to-play a")
    editor.wait_for_url("**/start.html")
    until(editor, "page.choices !== undefined")
    assert 'title = "Mine"' in editor.input_value("#setup-form [name=scenario]")
    editor.click("#play a[href='scenario.html']")
    editor.wait_for_url("**/scenario.html")
    until(editor, "page.answer?.record.title === 'Mine'")


def test_a_game_begins_with_the_scenario(editor):
    write_scenario(editor, 'extends = "case1"\ntitle = "Mine"\nturn_limit = 2\n')
    editor.check("#editor [name=side][value=bravo]")
    editor.click("#play")
    editor.wait_for_url("**/table.html#*")
    assert ordering(editor)
    assert editor.evaluate("page.you") == "bravo"


@pytest.mark.parametrize("size", [(390, 844), (1280, 800)])
def test_the_editor_fits_its_window_and_is_accessible(address, open_page, size):
    page = open_page(f"{address}/static/scenario.html", size, has_touch=size[0] < 500, reduced_motion="reduce")
    until(page, "page.answer !== undefined && page.waiting === 0")
    if size[0] < 500:
        page.locator("[name=tool][value=remove]").check()
        page.locator('[data-azimuth="0"]').tap(force=True)
        until(page, "page.waiting === 0 && page.places.alpha.get(0) === 1")
    check_page(page, size)


def test_single_patrols_have_fields_of_their_own(editor):
    fuel = editor.locator("[data-key='alpha.patrols.single.2.fuel']")
    assert not fuel.is_visible()
    editor.locator(".alpha summary").click()
    assert fuel.get_attribute("placeholder") == editor.input_value("[data-key='alpha.patrols.fuel']") == "100"
    fuel.fill("130")
    fuel.press("Tab")
    config = config_of(editor)
    assert config.alpha.patrols.single["2"].fuel == 130
    assert editor.input_value("[data-key='alpha.patrols.fuel']") == "100"
    write_scenario(editor, 'extends = "case2"\n[bravo.patrols]\nsingle = { 1 = { ammo = 7 } }\n')
    editor.locator(".bravo summary").click()
    assert editor.input_value("[data-key='bravo.patrols.single.1.ammo']") == "7"
    assert fuel.input_value() == ""
    assert not editor.locator("[data-key='bravo.patrols.single.9.ammo']").is_visible()
