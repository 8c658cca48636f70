"""The same picture drawn by Chromium, from SVG, and by pygame; without texts, whose fonts differ."""

import io

import numpy as np
import pygame
import pytest

from geo_patrol import load_config, make_agent
from geo_patrol.rendering.painter import paint_drawing, text_extent
from geo_patrol.rendering.svg_writer import svg_text
from geo_patrol.scenes.picture import picture
from geo_patrol.scenes.shapes import Text
from geo_patrol.sessions.live import LiveGame

SIZE = 960, 540
NOTICEABLE = 64
"""Smallest difference of a channel, of 255, that counts as another colour."""
TOLERANCE = 0.015
"""Fraction of the pixels that may have another colour: edges are smoothed differently."""
POSITIONS = [
    ("geo_patrol", 0), ("geo_patrol", 8), ("od2d", 9), ("king_of_the_hill", 6), ("case1", 4), ("case2", 7), ("case3", 5),
    ("case4", 3), ("case5", 2), ("geo_patrol", 5),
]  # fmt: skip


def drawing_of(preset, phases):
    live = LiveGame(load_config(preset), (make_agent("scripted"), make_agent("raider")), seed=4)
    for _ in range(phases):
        live.advance()
    drawing = picture(live.timeline.snapshot(len(live.timeline) - 1), size=SIZE, measure=text_extent)
    drawing.shapes = [shape for shape in drawing.shapes if not isinstance(shape, Text)]
    return drawing


def pixels_of(surface):
    return pygame.surfarray.array3d(surface).swapaxes(0, 1).astype(int)


@pytest.mark.parametrize(("preset", "phases"), POSITIONS)
def test_chromium_and_pygame_draw_alike(open_page, tmp_path, preset, phases):
    drawing = drawing_of(preset, phases)
    path = tmp_path / "picture.html"
    path.write_text(f"<style>body{{margin:0}} svg{{display:block}}</style>{svg_text(drawing)}", encoding="utf-8")
    page = open_page(path.as_uri(), SIZE)
    shown = pixels_of(pygame.image.load(io.BytesIO(page.screenshot()), "picture.png"))
    painted = pixels_of(paint_drawing(drawing))
    assert shown.shape == painted.shape
    difference = float((np.abs(shown - painted).max(axis=-1) > NOTICEABLE).mean())
    assert difference < TOLERANCE
    other = pixels_of(paint_drawing(drawing_of(preset, phases + 1)))
    assert float((np.abs(shown - other).max(axis=-1) > NOTICEABLE).mean()) > difference, "it sees another position"
