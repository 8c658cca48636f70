"""Pages in windows: help and the last turn; they turn, scroll and close."""

import pygame
import pytest

from geo_patrol import Game
from geo_patrol.drawing.shapes import Text
from geo_patrol.drawing.sheet import PageLine, Tab
from geo_patrol.play.telling import aim_tab, costs_tab
from geo_patrol.scenes.pages import Page, lay_out_page, page_shapes
from geo_patrol.window.watch import WatchWindow
from tests.support.positions import guards
from tests.window.test_windows import click, press, pump

SIZES = [(480, 360), (400, 724), (1280, 720), (1920, 1080)]


def wheel(window, rows, pixel=(5, 5)):
    here = {"window": window.screen.window}
    pygame.event.post(pygame.event.Event(pygame.MOUSEMOTION, pos=pixel, rel=(0, 0), buttons=(0, 0, 0), **here))
    pygame.event.post(pygame.event.Event(pygame.MOUSEWHEEL, x=0, y=rows, flipped=False, **here))
    pump(window)


def watching(size=(1000, 600)):
    window = WatchWindow(guards(), size=size)
    window.playback.to_end()
    window.draw()
    return window


def words(tab):
    return "\n".join(" ".join(line) for line in tab.lines)


def test_help_says_the_values_of_this_game():
    game = Game("case1", seed=1)
    aim, costs = words(aim_tab(game)), words(costs_tab(game))
    assert "after 50 turns, when a side has 350 points" in aim
    assert "HVA in its goal alpha +10 a turn; bravo +12 a turn" in aim
    assert "bravo HVA with 100 fuel and 0 ammo; 8 Patrols with 60 fuel and 3 ammo" in aim
    assert "radial in 10 fuel" in costs
    assert "same sector alpha 10 fuel, 100%; bravo 10 fuel, 80%" in costs
    changed = Game("geo_patrol", seed=1, overrides={"both.costs.prograde": 7, "both.odds.guard": [0.5, 0.25]})
    assert "prograde 7 fuel" in words(costs_tab(changed))
    assert "same sector 5 fuel, 50%" in words(costs_tab(changed))


def test_tabs_are_turned_by_keys_and_clicks_and_other_keys_close_the_page():
    window = watching()
    press(window, pygame.K_SLASH, "?")
    assert [tab.title for tab in window.page.tabs] == ["Keys", "Aim", "Costs"]
    press(window, pygame.K_RIGHT)
    assert window.page.tab.title == "Aim"
    press(window, pygame.K_LEFT)
    press(window, pygame.K_LEFT)
    assert window.page.tab.title == "Costs"
    tabs = lay_out_page(window.layout, window.screen.size, window.page).tabs
    click(window, tabs[0].center)
    assert window.page.tab.title == "Keys"
    index = window.playback.index
    press(window, pygame.K_SPACE, " ")
    assert window.page is None
    assert (window.playback.index, window.playback.is_playing) == (index, False)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_every_row_of_a_page_can_be_reached_and_lies_inside_it(size):
    window = watching(size)
    lines = tuple(
        PageLine(f"alpha P{i}", f"number {i} of a hundred, in words that have to be broken " * 3) for i in range(100)
    )
    window.page = Page((Tab("Long", lines),))
    seen, first = set(), -1
    while first != window.page.first:  # until the end is reached
        first = window.page.first
        texts = [shape for shape in page_shapes(window.layout, size, window.page, None) if isinstance(shape, Text)]
        seen |= {text.text for text in texts}
        card = lay_out_page(window.layout, size, window.page).card
        for text in texts:
            (x, y), width = text.position, window.layout.text_width(text.text, text.size)
            assert card.left <= x <= card.right - width * (text.anchor == "midleft")
            assert card.top <= y <= card.bottom
        wheel(window, -1)
    assert {line.left for line in lines} <= seen
    wheel(window, 1)
    assert window.page.first == first - 3
    press(window, pygame.K_PAGEUP)
    press(window, pygame.K_DOWN)
    assert window.page.first == first - 12


def test_the_whole_list_of_engagements_is_opened_by_key_click_and_wheel():
    window = watching((480, 360))
    openings = (
        lambda: press(window, pygame.K_o, "o"),
        lambda: click(window, window.layout.outcomes.center),
        lambda: wheel(window, -1, window.layout.outcomes.center),
    )
    for opens in openings:
        opens()
        text = words(window.page.tab)
        assert "alpha +8 goal: +10, fuel spent: -2" in text
        assert text.count("takes the attack") == 2
        assert text.count("no attack") == 2
        assert "alpha P3 shoots at bravo P2 at 100%: destroyed" in text
        window.draw()
        press(window, pygame.K_ESCAPE)
        assert window.page is None
    assert window.screen.is_open
