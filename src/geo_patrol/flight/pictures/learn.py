"""A window with a guided first flight: a lesson's steps, each flown on the map."""

from dataclasses import replace

import pygame

from geo_patrol.flight.lesson import FlightLesson
from geo_patrol.flight.pictures.play import FlightWindow
from geo_patrol.rendering.controls import Control
from geo_patrol.rendering.painter import Painter, text_extent
from geo_patrol.rendering.screen import Screen
from geo_patrol.scenes import theme
from geo_patrol.scenes.lesson import CardLayout
from geo_patrol.scenes.shapes import Drawing, Rect
from geo_patrol.sessions.lesson import Card

_MIN_CARD_WIDTH = 18
"""Smallest width of a card beside the map, in heights of its letters."""
_MIN_CARD_LINES = 9
"""Smallest number of lines of a card beneath the map, so that the map keeps its size while the text changes."""
_NOT_IN_LESSONS = ("Fly", "Undo", "Again", "Hint", "Solve", "Next mission", "Save")


def learn(screen: Screen | None = None) -> None:
    """Show the guided first flight until the window is closed, or left.

    Args:
        screen: where it is shown; by default, a window of its own.

    Raises:
        NoScreenError: there is no screen.
    """
    LessonWindow(FlightLesson(), screen).run()


class LessonWindow(FlightWindow):
    """Lets a user fly the steps of a lesson; a card is beside the map, or beneath it where that leaves it larger.

    Attributes:
        lesson: the steps.
        card_area: where the card is, in pixels.
    """

    def __init__(self, lesson: FlightLesson, screen: Screen | None = None) -> None:
        self.lesson = lesson
        self.card_area = Rect(0, 0, 0, 0)
        super().__init__(lesson.begin(), screen)
        self.screen.set_title(lesson.title)

    def make_controls(self) -> list[Control]:
        """Return the controls for going through the steps, and for flying."""
        return [
            Control("the step before, or this one again", self._back, ("page up", "backspace"), label="Back"),
            Control(
                "the next step", self._next, ("space", "page down"), label="Next", is_open=self._can_go_on, is_main=True
            ),
            Control("fly the chosen order", self._fly_chosen, ("return", "enter"), is_open=self._can_fly),
            *(control for control in super().make_controls() if control.label not in _NOT_IN_LESSONS),
        ]

    @property
    def card(self) -> Card:
        """What the player reads now, and how the next step is reached."""
        card = self.lesson.card_of(self.flight)
        if not self.lesson.is_done:
            return card
        task = "Close the window to leave." if self.lesson.is_last else "Click here, or press Space."
        return replace(card, task=task)

    @property
    def prompts(self) -> tuple[str, ...]:
        """The line above the buttons."""
        return (self.lesson.title,)

    def space_for(self, drawing: Drawing, surface: pygame.Surface) -> tuple[int, int]:
        """Paint the card; return the width and height that are left for the drawing."""
        width, height = self.content_area.width, self.content_area.height
        size = theme.text_size("normal", theme.scale_of(*self.screen.size))
        shown = self.shown_height(drawing)
        free = width - round(height * drawing.width / shown)
        beside_width = max(free, _MIN_CARD_WIDTH * size)
        beside = CardLayout(self.card, beside_width, size, text_extent)
        beneath = CardLayout(self.card, width, size, text_extent)
        beneath_height = max(beneath.height, round(_MIN_CARD_LINES * theme.LINE_HEIGHT * size))
        sizes = (width - beside_width, height), (width, height - beneath_height)
        scales = [min(size[0] / drawing.width, size[1] / shown) for size in sizes]
        if scales[0] >= scales[1] and beside.height <= height:
            card, left, top, remaining = beside, width - beside_width, 0, sizes[0]
        else:
            card, left, top, remaining = beneath, 0, round(shown * scales[1]), sizes[1]
        Painter(surface).paint(card.shapes(left, top))
        self.card_area = Rect(left, top, width - left, card.height)
        return remaining

    def click(self, pixel: tuple[int, int]) -> None:
        """Go on if the card of a step that is done was clicked; otherwise fly to the endpoint."""
        if not self.card_area.contains(pixel):
            super().click(pixel)
        elif self._can_go_on():
            self._next()

    def fly(self, order: int) -> None:
        """Fly the order of the step; any other one shows its hint."""
        if self.lesson.fly(self.flight, order):
            super().fly(order)
            self.orders = []
            self.lesson.finish()

    def _can_go_on(self) -> bool:
        return self.lesson.is_done and not self.lesson.is_last

    def _next(self) -> None:
        self.lesson.next()
        self._begin_step()

    def _back(self) -> None:
        self.lesson.back()
        self._begin_step()

    def _begin_step(self) -> None:
        self._skip()
        self.set_flight(self.lesson.begin())
