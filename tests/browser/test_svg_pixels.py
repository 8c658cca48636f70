"""The same picture drawn by Chromium, from SVG, and by pygame; without texts, whose fonts differ."""

import io
from dataclasses import replace

import numpy as np
import pygame
import pytest

from geo_patrol import load_config, make_agent
from geo_patrol.drawing.painter import paint_drawing, text_extent
from geo_patrol.drawing.shapes import Text, Use
from geo_patrol.drawing.svg import svg_text
from geo_patrol.play.live import LiveGame
from geo_patrol.scenes.picture import picture

SIZE = 960, 540
BLOCK = 6
"""Pixels of the squares whose mean colors are compared: edges are smoothed differently, but in the mean alike."""
NOTICEABLE = 40
"""Smallest difference of a channel, of 255, that counts as another color."""
TOLERANCE = 0.0005
"""Fraction of the squares that may have another color; with the position a phase later, ten times as many have."""
LARGE = {"extends": "geo_patrol", "board": {"inner_ring": 1, "outer_ring": 6, "goal_ring": 6}}
SMALL = {"extends": "case1", "board": {"inner_ring": 2, "outer_ring": 3, "goal_ring": 3}}
POSITIONS = [
    ("geo_patrol", 0), ("geo_patrol", 8), ("od2d", 9), ("king_of_the_hill", 6), ("case2", 7), (LARGE, 5), (SMALL, 1),
]  # fmt: skip


def drawing_of(preset, phases):
    live = LiveGame(load_config(preset), (make_agent("scripted"), make_agent("raider")), seed=4)
    for _ in range(phases):
        live.advance()
    drawing = picture(live.timeline.snapshot(len(live.timeline) - 1), size=SIZE, measure=text_extent)
    drawing.shapes = without_texts(drawing.shapes)
    return drawing


def without_texts(shapes):
    """Return shapes without the texts among them and in their symbols."""
    return [
        replace(shape, symbol=replace(shape.symbol, shapes=tuple(without_texts(shape.symbol.shapes))))
        if isinstance(shape, Use)
        else shape
        for shape in shapes
        if not isinstance(shape, Text)
    ]


def colors_of(surface):
    """Return the mean colors of the squares of a picture."""
    width, height = SIZE
    pixels = pygame.surfarray.array3d(surface)
    assert pixels.shape == (width, height, 3)
    return pixels.reshape(width // BLOCK, BLOCK, height // BLOCK, BLOCK, 3).mean((1, 3))


def difference(one, other):
    """Return the fraction of the squares that have another color."""
    return float((np.abs(one - other).max(axis=-1) > NOTICEABLE).mean())


@pytest.mark.parametrize(("preset", "phases"), POSITIONS, ids=str)
def test_chromium_and_pygame_draw_alike(open_page, tmp_path, preset, phases):
    drawing = drawing_of(preset, phases)
    path = tmp_path / "picture.html"
    path.write_text(f"<style>body{{margin:0}} svg{{display:block}}</style>{svg_text(drawing)}", encoding="utf-8")
    page = open_page(path.as_uri(), SIZE)
    shown = colors_of(pygame.image.load(io.BytesIO(page.screenshot()), "picture.png"))
    assert difference(shown, colors_of(paint_drawing(drawing))) < TOLERANCE
    assert difference(shown, colors_of(paint_drawing(drawing_of(preset, phases + 1)))) > 10 * TOLERANCE
