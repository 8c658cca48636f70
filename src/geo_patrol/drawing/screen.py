"""Windows. Several may be open at once; each receives its own events only."""

import logging
import os
import sys
from typing import TypeAlias

import pygame

from geo_patrol.base.errors import GeoPatrolError

Event: TypeAlias = "pygame.event.Event"

_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")
_MIN_SIZE = (400, 360)
_MAX_FRACTION = 0.9
"""Largest fraction of the desktop that a new window takes."""
open_screens: "list[Screen]" = []


class NoScreenError(GeoPatrolError):
    """There is no screen to open a window on."""


def init_display() -> None:
    """Initialise the display.

    Raises:
        NoScreenError: there is no screen.
    """
    os.environ.setdefault("SDL_MOUSE_FOCUS_CLICKTHROUGH", "1")  # the click that raises a window counts as well
    if sys.platform == "win32":
        os.environ.setdefault("SDL_WINDOWS_DPI_AWARENESS", "permonitorv2")
    if sys.platform == "linux" and not any(map(os.environ.get, _DISPLAYS)):  # SDL would look for one, and complain
        raise _no_screen("DISPLAY is not set")
    try:
        if not pygame.display.get_init():
            pygame.display.init()
        driver = pygame.display.get_driver()
    except pygame.error as error:
        raise _no_screen(str(error)) from None
    if driver == "offscreen" and "SDL_VIDEODRIVER" not in os.environ:  # what SDL falls back to
        pygame.display.quit()
        raise _no_screen("no display found")


def warn_of_no_screen(error: NoScreenError) -> None:
    """Warn that an environment with render mode "human" is not shown, so that training goes on without a screen."""
    message = "render_mode='human': %s; without a screen use 'rgb_array' (pictures) or 'ansi' (text)"
    logging.getLogger("geo_patrol").warning(message, error)


def _no_screen(reason: str) -> NoScreenError:
    return NoScreenError(
        f"there is no screen to open a window on ({reason}): run it on a desktop, set DISPLAY, or put xvfb-run before "
        "the command"
    )


def is_invisible() -> bool:
    """Return whether the driver shows no windows, as in tests."""
    return pygame.display.get_driver() in ("dummy", "offscreen")


class Screen:
    """A window that shows pictures.

    Args:
        title: title of the window.
        size: width and height in points; it is made smaller where the desktop is.

    Raises:
        NoScreenError: there is no screen.
    """

    def __init__(self, title: str, size: tuple[int, int] = (1280, 720)) -> None:
        init_display()
        if not open_screens:
            pygame.event.clear([pygame.QUIT, pygame.WINDOWCLOSE])  # of windows that are gone
        desktop = pygame.display.get_desktop_sizes()[0]
        size = max(size[0], _MIN_SIZE[0]), max(size[1], _MIN_SIZE[1])
        scale = min(1.0, *(_MAX_FRACTION * available / needed for available, needed in zip(desktop, size, strict=True)))
        try:
            self.window: pygame.Window | None = pygame.Window(
                title,
                (round(size[0] * scale), round(size[1] * scale)),
                resizable=True,
                allow_high_dpi=True,
                hidden=True,
            )
            self.window.get_surface()  # for the first one SDL may open the window anew, unseen
        except pygame.error as error:
            raise _no_screen(str(error)) from None
        self.window.minimum_size = _MIN_SIZE
        self.window.show()
        self._events: list[Event] = []
        open_screens.append(self)

    @property
    def is_open(self) -> bool:
        """Whether it has not been closed."""
        return self.window is not None

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels; on screens of high resolution more than in points."""
        assert self.window is not None
        width, height = self.window.get_surface().get_size()
        return width, height

    def pixel(self, point: tuple[int, int]) -> tuple[int, int]:
        """Return the pixel of an event's position, which is in points."""
        assert self.window is not None
        points, pixels = self.window.size, self.size
        x, y = (round(at * many / few) for at, many, few in zip(point, pixels, points, strict=True))
        return x, y

    def show(self, picture: pygame.Surface) -> None:
        """Show a picture of the window's size."""
        if self.window is not None:
            self.window.get_surface().blit(picture, (0, 0))
            self.window.flip()

    def events(self) -> list[Event]:
        """Return the window's events since the last call; a closing event closes it."""
        for event in pygame.event.get():  # of all windows
            for screen in open_screens:
                screen.receive(event)
        events, self._events = self._events, []
        if any(event.type in (pygame.QUIT, pygame.WINDOWCLOSE) for event in events):
            self.close()
        return events

    def receive(self, event: Event) -> None:
        """Queue an event that is for this window, or for all."""
        if getattr(event, "window", None) in (None, self.window):
            self._events.append(event)

    def set_title(self, title: str) -> None:
        """Change the window's title."""
        if self.window is not None:
            self.window.title = title

    def close(self) -> None:
        """Close the window, if it is open."""
        if self.window is not None:
            self.window.destroy()
            self.window = None
            open_screens.remove(self)
