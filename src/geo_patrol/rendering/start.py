"""The window of the start menu."""

import time

import pygame

from geo_patrol.rendering.painter import Painter, text_extent
from geo_patrol.rendering.screen import Event, Screen
from geo_patrol.scenes import theme
from geo_patrol.scenes.menu import MenuLayout, lay_out_menu, menu_shapes
from geo_patrol.sessions.menu import Choice, Menu

_FRAMES_PER_SECOND = 60
_STEPS = {pygame.K_UP: -1, pygame.K_DOWN: 1, pygame.K_PAGEUP: -5, pygame.K_PAGEDOWN: 5, pygame.K_TAB: 1}
_OPENING = (pygame.K_RETURN, pygame.K_KP_ENTER, pygame.K_SPACE, pygame.K_RIGHT)
_CLOSING = (pygame.K_ESCAPE, pygame.K_BACKSPACE, pygame.K_LEFT)


class StartWindow:
    """Lets a person choose from a menu, with the mouse or with keys.

    Args:
        screen: where it is shown.
        menu: what there is to choose from.
    """

    def __init__(self, screen: Screen, menu: Menu) -> None:
        self.screen, self.menu = screen, menu
        self._has_left = False
        screen.set_title("geo_patrol")

    @property
    def layout(self) -> MenuLayout:
        """Where the parts of the menu are."""
        return lay_out_menu(*self.screen.size, self.menu)

    def run(self) -> Choice | None:
        """Return what has been chosen; None if the menu was left, or the window was closed."""
        is_new = True
        while self.screen.is_open and not self._has_left and self.menu.choice is None:
            events = self.screen.events()
            for event in events:
                self.handle(event)
            if (events or is_new) and self.screen.is_open:
                self.screen.show(self.draw())
            is_new = False
            time.sleep(1 / _FRAMES_PER_SECOND)
        return self.menu.choice if self.screen.is_open else None

    def draw(self) -> pygame.Surface:
        """Draw the menu; after the choice, that it is being opened."""
        if self.menu.choice is not None:
            self.menu.message = "loading ..."
        layout = self.layout
        self.menu.current.first = layout.first
        surface = pygame.Surface(self.screen.size, 0, 32)
        surface.fill(theme.SPACE)
        Painter(surface).paint(menu_shapes(layout, self.menu, text_extent))
        return surface

    def handle(self, event: Event) -> None:
        """Handle an event."""
        if not self.screen.is_open or self.menu.choice is not None:
            return
        if event.type == pygame.KEYDOWN:
            self._press(event.key)
        elif event.type == pygame.MOUSEWHEEL:
            self.menu.move(-event.y)
        elif event.type == pygame.MOUSEMOTION:
            self._point(self.screen.pixel(event.pos))
        elif event.type == pygame.MOUSEBUTTONDOWN and event.button == 1:
            self._click(self.screen.pixel(event.pos))

    def _press(self, key: int) -> None:
        if key in _STEPS:
            self.menu.move(_STEPS[key])
        elif key in _OPENING:
            self.menu.open()
        elif key == pygame.K_q:
            self.screen.close()
        elif key in _CLOSING:
            self._has_left = not self.menu.back()

    def _point(self, pixel: tuple[int, int]) -> None:
        index = self.layout.entry_at(pixel)
        if index is not None:
            self.menu.select(index)

    def _click(self, pixel: tuple[int, int]) -> None:
        layout = self.layout
        index = layout.entry_at(pixel)
        if index is not None:
            self.menu.select(index)
            self.menu.open()
        elif layout.back.contains(pixel):
            self.menu.back()
