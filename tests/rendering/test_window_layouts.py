"""Windows of many sizes: every button can be clicked, nothing overlaps, no text is cut off."""

import itertools

import pytest
from positions import arranged, everywhere

from geo_patrol import Game, load_config, make_agent
from geo_patrol.rendering.play import PlayWindow
from geo_patrol.rendering.watch import WatchWindow
from geo_patrol.scenes.orders import list_area, option_buttons, option_shapes
from geo_patrol.scenes.shapes import Rect, Text
from geo_patrol.sessions.live import LiveGame
from geo_patrol.sessions.order_entry import OrderEntry

SIZES = [
    *itertools.product((480, 560, 640, 800, 1000, 1280), (360, 420, 480, 600, 720)),
    *((400, 724), (420, 640), (480, 900), (600, 800), (720, 1280), (1000, 1000)),
    *((1600, 500), (1920, 1080), (2560, 1440), (3440, 1440), (3840, 2160)),
]
PRESETS = ("geo_patrol", "od2d", "case5")


def playing(preset):
    return PlayWindow(lambda: LiveGame(load_config(preset), (None, make_agent("idle")), 4))


def watching(preset):
    live = LiveGame(load_config(preset), (make_agent("idle"), make_agent("idle")), 4)
    return WatchWindow(live.timeline, live.advance)


def in_size(window, size):
    """Lay a window out for a size; return its layout."""
    window._picture = window._make_picture(*size)
    return window._picture.layout


def overlaps(rects):
    return [(one, other) for one, other in itertools.combinations(rects, 2) if one.overlaps(other)]


def is_inside(rect, area):
    return rect.clamped(area) == rect and rect.width <= area.width and rect.height <= area.height


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("make", [playing, watching])
def test_all_buttons_lie_inside_the_window_beside_each_other_and_the_panels(make, preset):
    window = make(preset)
    for size in SIZES:
        layout = in_size(window, size)
        buttons = [rect for _, rect in window.bar._buttons]
        assert all(is_inside(button, Rect(0, 0, *size)) for button in buttons), size
        panels = [layout.board, layout.header, *layout.tables, layout.outcomes, layout.chart]
        assert not overlaps([*buttons, *(panel for panel in panels if panel.width and panel.height)]), size
        assert min(layout.outcomes.height, layout.chart.height) >= 0, size
        assert layout.board.width >= 0.5 * min(size), size


@pytest.mark.parametrize("make", [playing, watching])
def test_buttons_are_large_enough_for_their_labels(make):
    window = make("geo_patrol")
    for size in SIZES:
        layout = in_size(window, size)
        shapes = window.bar.shapes(layout, None)
        assert not [shape.text for shape in shapes if isinstance(shape, Text) and shape.text.endswith("..")], size


def many_options():
    """Return a game in which every satellite of alpha has as many options as there can be."""
    return arranged(phase="engagement", alpha=everywhere(20), bravo=everywhere(20))


@pytest.mark.parametrize("make_game", [many_options, lambda: Game("geo_patrol", seed=1)])
def test_the_list_of_orders_fits_every_window(make_game):
    window, entry = playing("geo_patrol"), OrderEntry(make_game(), "alpha")
    entry.select(1)
    options = entry.options(1)
    for size in SIZES:
        layout = in_size(window, size)
        buttons = option_buttons(layout, options)
        rects = [rect for _, rect in buttons]
        area = list_area(layout, options)
        assert all(is_inside(rect, area) for rect in rects), size
        assert min(rect.height for rect in rects) >= layout.text_size("small"), size
        assert not overlaps([*rects, *(rect for _, rect in window.bar._buttons), layout.board]), size
        texts = [shape.text for shape in option_shapes(layout, entry, buttons, None) if isinstance(shape, Text)]
        assert len(texts) == len(options) + 2
        assert not [text for text in texts if text.endswith("..")], size


@pytest.mark.parametrize("size", [(480, 360), (400, 724), (640, 480), (1920, 1080)])
def test_the_line_above_the_buttons_is_not_cut_off(size):
    window = playing("geo_patrol")
    in_size(window, size)
    for selected in (None, 1):
        window.session.entry.select(selected)
        layout = window._picture.layout
        assert layout.text_width(window.prompt.partition(";")[0], layout.text_size("normal")) <= layout.toolbar.width
