"""A window with a guided first game: a lesson's steps, each played on the board."""

from collections.abc import Iterator

from geo_patrol.rendering.controls import Control
from geo_patrol.rendering.play import PlayWindow
from geo_patrol.rendering.screen import Screen
from geo_patrol.scenes import theme
from geo_patrol.scenes.lesson import lesson_shapes
from geo_patrol.scenes.orders import list_area
from geo_patrol.scenes.shapes import Shape, box
from geo_patrol.sessions.lesson import GameLesson, LessonSession
from geo_patrol.sessions.live import LiveGame

_WITHOUT = ("New", "Swap", "Watch", "Hint")
"""Buttons for whole games: the lesson has hints of its own."""


def learn(size: tuple[int, int] = (1280, 720), screen: Screen | None = None) -> None:
    """Show the guided first game until the window is closed.

    Args:
        size: size of the window in points.
        screen: where it is shown; by default, one of its own.

    Raises:
        NoScreenError: there is no screen.
    """
    LearnWindow(size, screen).run()


class LearnWindow(PlayWindow):
    """The window of ``learn``.

    Attributes:
        lesson: the steps.
    """

    session: LessonSession

    def __init__(self, size: tuple[int, int] = (1280, 720), screen: Screen | None = None) -> None:
        self.lesson = GameLesson()
        super().__init__(self.lesson.begin, size, screen)
        self.screen.set_title(self.lesson.title)

    def make_controls(self) -> list[Control]:
        """Return the controls for going through the steps and for giving orders."""
        return [
            Control("the step before", self._back, ("page up", "left"), label="Back"),
            Control(
                "the next step", self._next, ("space", "page down", "right"), label="Next", is_open=self._can_go_on,
                is_main=True,
            ),
            *(control for control in super().make_controls() if control.label not in _WITHOUT),
        ]  # fmt: skip

    def make_session(self, live: LiveGame) -> LessonSession:
        """Return the session of the current step."""
        return LessonSession(self.lesson, live, self.wait_for_agent)

    def _is_ordering(self) -> bool:
        return super()._is_ordering() and not self.lesson.is_done

    def _has_past(self) -> bool:
        return super()._has_past() or self.session.stage == "paused"

    def _can_go_on(self) -> bool:
        return self.lesson.is_done and not self.lesson.is_last

    def _next(self) -> None:
        self.lesson.next()
        self._begin(self.lesson.begin())

    def _back(self) -> None:
        self.lesson.back()
        self._begin(self.lesson.begin())

    def tick(self, seconds: float) -> bool:
        """Let time pass."""
        self.session.check_selection()
        return super().tick(seconds)

    @property
    def shows_outcomes(self) -> bool:
        """Whether the list of outcomes is shown: the card is in its stead."""
        return False

    @property
    def prompt(self) -> str:
        """What to do now, in a line."""
        if self.lesson.is_done:
            return "Close the window to leave" if self.lesson.is_last else "Next, or the space bar, goes on"
        entry = self.session.entry
        return super().prompt if entry is None or entry.selected is None else self.session.card.task

    def overlay(self) -> Iterator[Shape]:
        """Draw the orders being entered, and the card; it makes room for the options of a selected satellite."""
        yield from super().overlay()
        entry = self.session.entry
        lists_options = entry is not None and entry.selected is not None
        if entry is not None and lists_options and self.lesson.is_done:
            yield box(list_area(self.layout, entry.options(entry.selected)), theme.PANEL)
        if self.lesson.is_done or not lists_options:
            yield from lesson_shapes(self.layout, self.session.card)
