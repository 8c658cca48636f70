"""A window that shows flights. Closing it ends neither an episode nor a program."""

import pygame

from geo_patrol.drawing.painter import paint_drawing
from geo_patrol.drawing.screen import Screen
from geo_patrol.drawing.shapes import Drawing
from geo_patrol.flight.flight import Flight
from geo_patrol.flight.pictures.scene import COASTED, FLOWN, PAPER, PULLED, flight_drawing


class FlightViewer:
    """A window that shows drawings, as large as fits.

    Args:
        fps: turns a second that ``show`` plays, all steps of a turn together.
    """

    def __init__(self, fps: float = 4.0) -> None:
        self._seconds = 1.0 / fps
        self._screen: Screen | None = None
        self._is_closed = False
        self._shown: tuple[int, ...] = ()

    @property
    def is_closed(self) -> bool:
        """Whether it has been closed, by the user or by ``close``."""
        return self._is_closed or (self._screen is not None and not self._screen.is_open)

    def show(self, flight: Flight) -> None:
        """Show a flight, the steps of a new turn one after the other. Do nothing after it was closed."""
        orders = tuple(flight.order_codes)
        is_new = flight.turn and orders != self._shown
        self._shown = orders
        steps = (COASTED, PULLED, FLOWN) if is_new and not flight.mission.is_probe else (FLOWN,)
        for step in steps:
            self._receive()
            if self.is_closed:
                return
            self.draw(flight_drawing(flight, steps=step))
            self.wait(self._seconds / len(steps))

    def draw(self, drawing: Drawing) -> None:
        """Show a drawing.

        Raises:
            NoScreenError: there is no screen.
        """
        if self._screen is None:
            self._screen = Screen("geo_patrol: flight", (round(drawing.width), round(drawing.height)))
        picture = pygame.Surface(self._screen.size)
        picture.fill(PAPER)
        width, height = picture.get_size()
        scale = min(width / drawing.width, height / drawing.height)
        picture.blit(paint_drawing(drawing, scale), (0, 0))
        self._screen.show(picture)

    def wait(self, seconds: float) -> None:
        """Wait; end early when the user closes the window."""
        until = pygame.time.get_ticks() + 1000 * seconds
        while not self.is_closed and pygame.time.get_ticks() < until:
            pygame.time.wait(10)
            self._receive()

    def _receive(self) -> None:
        """Let the user close the window; nothing else can be done in it."""
        if self._screen is not None and not self.is_closed:
            self._screen.events()

    def close(self) -> None:
        """Close the window."""
        self._is_closed = True
        if self._screen is not None:
            self._screen.close()
