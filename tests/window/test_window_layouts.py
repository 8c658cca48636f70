"""Windows of many sizes: every button can be clicked, nothing overlaps, no text is cut off."""

import itertools

import pytest

from geo_patrol import load_config, make_agent
from geo_patrol.drawing.shapes import Rect, Text
from geo_patrol.play.live import LiveGame
from geo_patrol.window.watch import WatchWindow

SIZES = [
    *itertools.product((480, 560, 640, 800, 1000, 1280), (360, 420, 480, 600, 720)),
    *((400, 724), (420, 640), (480, 900), (600, 800), (720, 1280), (1000, 1000)),
    *((1600, 500), (1920, 1080), (2560, 1440), (3440, 1440), (3840, 2160)),
]
PRESETS = ("geo_patrol", "od2d", "case5")


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


@pytest.mark.slow
@pytest.mark.parametrize("preset", PRESETS)
def test_all_buttons_lie_inside_the_window_beside_each_other_and_the_panels(preset):
    window = watching(preset)
    for size in SIZES:
        layout = in_size(window, size)
        buttons = [rect for _, rect in window.bar._buttons]
        assert all(is_inside(button, Rect(0, 0, *size)) for button in buttons), size
        panels = [layout.board, layout.header, *layout.tables, layout.outcomes, layout.chart]
        assert not overlaps([*buttons, *(panel for panel in panels if panel.width and panel.height)]), size
        assert min(layout.outcomes.height, layout.chart.height) >= 0, size
        assert layout.board.width >= 0.5 * min(size), size


@pytest.mark.slow
def test_buttons_are_large_enough_for_their_labels():
    window = watching("geo_patrol")
    for size in SIZES:
        layout = in_size(window, size)
        shapes = window.bar.shapes(layout, None)
        assert not [shape.text for shape in shapes if isinstance(shape, Text) and shape.text.endswith("..")], size
