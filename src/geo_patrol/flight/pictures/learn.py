"""A window with a guided first flight: a lesson's steps, each flown on the map."""

from dataclasses import replace

import pygame

from geo_patrol.flight.lesson import FlightLesson
from geo_patrol.flight.pictures.window import Player, Window
from geo_patrol.rendering.painter import Painter, text_extent
from geo_patrol.rendering.screen import Event, Screen
from geo_patrol.scenes import theme
from geo_patrol.scenes.lesson import CardLayout
from geo_patrol.scenes.shapes import Drawing, Rect
from geo_patrol.sessions.lesson import Card

_MIN_CARD_WIDTH = 18
"""Of a card beside the map, in heights of its letters."""
_MIN_CARD_LINES = 9
"""Of a card beneath the map, so that the map keeps its size while the text changes."""


def learn(screen: Screen | None = None) -> None:
    """Show the guided first flight until the window is closed.

    Args:
        screen: where it is shown; by default, a window of its own.

    Raises:
        NoScreenError: there is no screen.
    """
    window = LessonWindow(screen=screen)
    try:
        LessonPlayer(FlightLesson(), window).play()
    finally:
        window.close()


class LessonWindow(Window):
    """A window with a card beside the drawing, or beneath it where that leaves the drawing larger.

    Attributes:
        card: what is written on the card.
        card_area: where the card is, in pixels.
    """

    card: Card

    def __init__(self, screen: Screen | None = None) -> None:
        super().__init__(screen=screen)
        self.card_area = Rect(0, 0, 0, 0)

    def paint_beside(self, picture: pygame.Surface, drawing: Drawing) -> tuple[int, int]:
        """Paint the card; return the width and height that are left for the drawing."""
        width, height = picture.get_size()
        size = theme.text_size("normal", theme.scale_of(width, height))
        free = width - round(height * drawing.width / drawing.height)
        beside_width = max(free, _MIN_CARD_WIDTH * size)
        beside = CardLayout(self.card, beside_width, size, text_extent)
        beneath = CardLayout(self.card, width, size, text_extent)
        beneath_height = max(beneath.height, round(_MIN_CARD_LINES * theme.LINE_HEIGHT * size))
        sizes = (width - beside_width, height), (width, height - beneath_height)
        scales = [min(size[0] / drawing.width, size[1] / drawing.height) for size in sizes]
        if scales[0] >= scales[1] and beside.height <= height:
            card, left, top, remaining = beside, width - beside_width, 0, sizes[0]
        else:
            card, left, top, remaining = beneath, 0, round(drawing.height * scales[1]), sizes[1]
        Painter(picture).paint(card.shapes(left, top))
        self.card_area = Rect(left, top, width - left, card.height)
        return remaining

    def hits_card(self, event: Event) -> bool:
        """Return whether a mouse event is on the card."""
        assert self._screen is not None
        return self.card_area.contains(self._screen.pixel(event.pos))


class LessonPlayer(Player):
    """Lets a user fly the steps of a lesson.

    Args:
        lesson: the steps.
        window: where they are shown.
    """

    def __init__(self, lesson: FlightLesson, window: LessonWindow) -> None:
        self.lesson = lesson
        self._lesson_window = window
        super().__init__(lesson.begin(), window)

    @property
    def card(self) -> Card:
        """What the player reads now, and how the next step is reached."""
        card = self.lesson.card_of(self.flight)
        if not self.lesson.is_done:
            return card
        return replace(
            card, task="Close the window to leave." if self.lesson.is_last else "Click here, or press Space."
        )

    def _draw(self) -> None:
        self._lesson_window.card = self.card
        super()._draw()

    def _fly(self, order: int) -> None:
        """Fly the order of the step; any other one shows its hint."""
        if self.lesson.fly(self.flight, order):
            super()._fly(order)
            self._orders = []
            self.lesson.finish()
        self._changed = True

    def _handle(self, event: Event) -> None:
        if event.type == pygame.MOUSEBUTTONDOWN and event.button == 1 and self._lesson_window.hits_card(event):
            self._next()
        else:
            super()._handle(event)

    def _handle_key(self, key: int) -> None:
        if key == pygame.K_BACKSPACE:
            self.lesson.back()
            self._set_flight(self.lesson.begin())
        elif key == pygame.K_r:
            self.lesson.restart()
            self._set_flight(self.lesson.begin())
        elif key in (pygame.K_SPACE, pygame.K_RETURN, pygame.K_KP_ENTER) and self.lesson.is_done:
            self._next()
        else:
            super()._handle_key(key)

    def _next(self) -> None:
        """Go to the next step if this one is done."""
        if self.lesson.is_done and not self.lesson.is_last:
            self.lesson.next()
            self._set_flight(self.lesson.begin())
