"""The window of the guided first game, without a screen."""

import pygame
import pytest
from test_windows import press

from geo_patrol import Order
from geo_patrol.rendering.learn import LearnWindow
from geo_patrol.scenes.lesson import lesson_shapes
from geo_patrol.scenes.shapes import Box, Text


@pytest.mark.parametrize("size", [(480, 360), (640, 480), (1280, 720), (400, 724), (720, 1280)])
def test_the_card_of_every_step_fits_beside_the_board(size, monkeypatch):
    window = LearnWindow(size)
    monkeypatch.setattr(type(window.screen), "size", size)  # the dummy desktop is smaller than some of them
    layout = window.layout
    for _ in window.lesson.steps:
        window.lesson.has_failed = True
        shapes = list(lesson_shapes(layout, window.session.card))
        *_, card = (shape for shape in shapes if isinstance(shape, Box))
        texts = [shape for shape in shapes if isinstance(shape, Text)]
        area = (card.left, card.top, card.left + card.width, card.top + card.height)
        assert area[0] >= layout.header.left
        assert area[2] <= layout.header.right
        assert area[3] <= max(layout.outcomes.bottom, layout.chart.bottom)
        assert area[1] >= layout.header.top
        for text in texts:
            assert area[1] < text.position[1] < area[3]
            assert layout.text_width(text.text, text.size) <= card.width
        window.lesson.finish()
        window._next()


def test_keys_go_through_the_steps():
    window = LearnWindow((1000, 600))
    window.draw()
    press(window, pygame.K_SPACE, " ")
    assert window.lesson.index == 0
    press(window, pygame.K_TAB, "\t")
    window.tick(0)
    assert window.lesson.is_done
    assert window.prompt == "Next, or the space bar, goes on"
    window.draw()
    press(window, pygame.K_SPACE, " ")
    assert window.lesson.index == 1
    press(window, pygame.K_RETURN, "\r")
    assert window.session.card.hint
    window.draw()
    press(window, pygame.K_PAGEUP)
    assert window.lesson.index == 0
    assert not window.lesson.is_done


def test_the_task_stays_in_sight_while_a_satellite_is_selected():
    window = LearnWindow((1000, 600))
    window.lesson.next()
    window._begin(window.lesson.begin())
    press(window, pygame.K_TAB, "\t")
    assert window.prompt == window.session.card.task


def test_a_step_that_is_done_can_be_shown_again_and_nothing_else_can_be_played():
    window = LearnWindow((1000, 600))
    while window.lesson.step.id != "shoot":
        window._next()
    window._enter(lambda entry: entry.give(Order(3, "shoot", 1)))
    press(window, pygame.K_RETURN, "\r")
    while not window.lesson.is_done:
        window.tick(10)
    window.draw()
    assert window.page is None
    assert window.playback.is_finished
    press(window, pygame.K_l, "l")
    assert window.playback.progress < 1
    window.tick(10)
    for key, letter in ((pygame.K_RETURN, "\r"), (pygame.K_n, "n"), (pygame.K_x, "x")):
        press(window, key, letter)
    assert len(window.session.live.timeline) == 2
    assert window.lesson.is_done
