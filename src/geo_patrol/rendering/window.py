"""A window with a game in it: keys, buttons, messages, the page of keys, screenshots."""

import time
from abc import ABC, abstractmethod
from concurrent import futures
from contextlib import suppress
from pathlib import Path

import numpy as np
import pygame
from numpy.typing import NDArray

from geo_patrol.config.schema import GameConfig
from geo_patrol.rendering import glyphs, theme
from geo_patrol.rendering.controls import ButtonBar, Control, find_key
from geo_patrol.rendering.layout import make_layout
from geo_patrol.rendering.picture import Picture, fleet_size
from geo_patrol.rendering.screen import Event, Screen
from geo_patrol.sessions.waiting import Ask, Asker

_FRAMES_PER_SECOND = 60
_MESSAGE_SECONDS = 3.0
_WAITING_FRAMES_PER_SECOND = 20
"""While an agent thinks, which may need the time itself."""
_NOTICED_SECONDS = 0.5
"""Who thinks longer is named."""


class WindowClosedError(Exception):
    """The window was closed while an agent was waited for."""


class GameWindow(ABC):
    """A window that shows a game and hears what is done in it.

    Args:
        config: what is played.
        title: in the window's frame.
        size: width and height in points.

    Raises:
        NoScreenError: there is no screen.
    """

    def __init__(self, config: GameConfig, title: str, size: tuple[int, int] = (1280, 720)) -> None:
        self.screen = Screen(title, size)
        self._config = config
        self._picture: Picture | None = None
        self._message, self._message_until = "", 0.0
        self._asker: Asker | None = None
        self._unheard: list[Event] = []
        self._leave = Control("close the window", self.screen.close, ("q", "escape"))
        self.shows_help = False
        self.pointed_at: tuple[int, int] | None = None
        self.controls = [
            *self.make_controls(),
            Control("save a picture", self.save_picture, ("s",), sign="camera"),
            Control("show or hide this page", self.toggle_help, ("?", "h", "f1"), sign="?"),
            self._leave,
        ]
        self.bar = ButtonBar(self.controls)

    @abstractmethod
    def make_controls(self) -> list[Control]:
        """Return what can be done, besides what every window offers."""

    @abstractmethod
    def paint(self) -> pygame.Surface:
        """Draw the game and return the picture's surface."""

    def paint_over(self, surface: pygame.Surface) -> None:  # noqa: B027 - most windows have more to show, not all
        """Draw what belongs to the window and not to the picture of the game."""

    @abstractmethod
    def tick(self, seconds: float) -> bool:
        """Let time pass; return whether the picture changes by itself."""

    @abstractmethod
    def click(self, pixel: tuple[int, int]) -> None:
        """Hear of a click that met no button."""

    @property
    def picture(self) -> Picture:
        """What draws the game, in the window's size."""
        size = self.screen.size
        if self._picture is None or (self._picture.width, self._picture.height) != size:
            self._picture = self._make_picture(*size)
        return self._picture

    def _make_picture(self, width: int, height: int) -> Picture:
        """Make a picture with room for the buttons, and a line above them."""
        text = theme.text_size("normal", theme.scale_of(width, height))
        panel = make_layout(width, height, self._config.board, fleet_size(self._config)).header
        rows = self.bar.place(panel, text)
        picture = Picture(width, height, self._config, toolbar_rows=rows + 1)
        toolbar = picture.layout.toolbar
        line = picture.layout.line("normal") * 5 // 4
        self.bar.place(pygame.Rect(toolbar.left, toolbar.top + line, toolbar.width, toolbar.height - line), text)
        return picture

    def run(self) -> None:
        """Show the game until the window is closed."""
        try:
            with suppress(WindowClosedError):
                self._run()
        finally:
            self.screen.close()
            if self._asker is not None:
                self._asker.dismiss()

    def _run(self) -> None:
        last = time.monotonic()
        changes = True
        while self.screen.is_open:
            events = self.events()
            for event in events:
                self.handle(event)
            now = time.monotonic()
            moves = self.tick(now - last)
            last = now
            if (moves or changes or events) and self.screen.is_open:
                self.screen.show(self.draw())
            changes = moves or bool(self._message)
            time.sleep(1 / _FRAMES_PER_SECOND)

    def events(self) -> list[Event]:
        """Return what happened to the window since the last call, and what was not heard while an agent thought."""
        unheard, self._unheard = self._unheard, []
        return unheard + self.screen.events()

    def wait_for_agent(self, name: str, ask: Ask) -> NDArray[np.int64]:
        """Wait for an agent's orders, and go on showing the game.

        That the window is closed is heard at once; other keys and clicks are when the agent has decided.

        Args:
            name: of the agent, which is shown when it takes long.
            ask: asks it, in a thread of its own.

        Returns:
            (11,) order codes.

        Raises:
            WindowClosedError: the window was closed.
            AgentError: the agent raised an exception, or returned something else than orders.
        """
        self._asker = self._asker or Asker()
        orders = self._asker.begin(ask)
        begun, thinking = time.monotonic(), f"{name} is thinking"
        while not futures.wait([orders], 1 / _WAITING_FRAMES_PER_SECOND).done:
            if time.monotonic() - begun > _NOTICED_SECONDS:
                self.say(thinking)
            self._go_on_showing()
        if self._message == thinking:
            self._message_until = 0.0
        return orders.result()

    def _go_on_showing(self) -> None:
        for event in self.screen.events():
            if event.type == pygame.KEYDOWN and find_key(self.controls, event) is self._leave:
                self.screen.close()
            elif event.type == pygame.MOUSEMOTION:
                self.handle(event)
            else:
                self._unheard.append(event)
        if not self.screen.is_open:
            raise WindowClosedError
        self.screen.show(self.draw())

    def handle(self, event: Event) -> None:
        """Do what an event asks for."""
        if not self.screen.is_open:
            return
        if event.type == pygame.KEYDOWN:
            control = find_key(self.controls, event)
            if self.shows_help and event.key != pygame.K_q:
                self.shows_help = False
            elif control is not None and control.is_open():
                control.do()
        elif event.type == pygame.MOUSEMOTION:
            self.pointed_at = self.screen.pixel(event.pos)
        elif event.type == pygame.MOUSEBUTTONDOWN and event.button == 1:
            self._press(self.screen.pixel(event.pos))

    def _press(self, pixel: tuple[int, int]) -> None:
        self.pointed_at = pixel
        assert self.picture is not None  # which places the buttons
        control = self.bar.at(pixel)
        if self.shows_help:
            self.shows_help = False
        elif control is None:
            self.click(pixel)
        elif control.is_open():
            control.do()

    def draw(self) -> pygame.Surface:
        """Draw the game and all that lies over it."""
        surface = self.paint()
        self.paint_over(surface)
        layout = self.picture.layout
        self.bar.draw(surface, layout.text_size("normal"), self.pointed_at)
        if time.monotonic() < self._message_until:
            self._draw_message(surface)
        else:
            self._message = ""
        if self.shows_help:
            self._draw_help(surface)
        return surface

    def say(self, message: str) -> None:
        """Show a message for a few seconds."""
        self._message, self._message_until = message, time.monotonic() + _MESSAGE_SECONDS

    def toggle_help(self) -> None:
        """Show or hide the page of keys."""
        self.shows_help = not self.shows_help

    def save_picture(self) -> None:
        """Save the game's picture as PNG in the current folder, beside those that are there."""
        surface = self.paint()
        number = 1
        while (path := Path(f"geo_patrol-{number}.png")).exists():
            number += 1
        try:
            pygame.image.save(surface, str(path))
        except (pygame.error, OSError) as error:
            self.say(f"the picture could not be saved: {error}")
        else:
            self.say(f"saved {path}")

    def _draw_message(self, surface: pygame.Surface) -> None:
        layout = self.picture.layout
        size = layout.text_size("normal")
        label = glyphs.text(glyphs.fitted(self._message, size, layout.board.width - 4 * size), size, theme.TEXT)
        frame = label.get_rect(midbottom=(layout.board.centerx, layout.board.bottom - size)).inflate(2 * size, size)
        pygame.draw.rect(surface, theme.CARD_BRIGHT, frame, border_radius=frame.height // 2)
        pygame.draw.rect(surface, theme.CHOICE, frame, width=1, border_radius=frame.height // 2)
        surface.blit(label, label.get_rect(center=frame.center))

    def help_lines(self) -> list[tuple[str, str]]:
        """Return what the page of keys lists: keys, and what they do."""
        return [(" or ".join(map(_key_text, control.keys)), control.name) for control in self.controls if control.keys]

    def _draw_help(self, surface: pygame.Surface) -> None:
        layout = self.picture.layout
        size = layout.text_size("normal")
        lines = self.help_lines()
        line = min(round(size * 1.7), (surface.get_height() - 4 * size) // (len(lines) + 2))
        keys = max(glyphs.text_width(key, size) for key, _ in lines)
        width = keys + max(glyphs.text_width(name, size) for _, name in lines) + 5 * size
        card = pygame.Rect(0, 0, width, line * (len(lines) + 2))
        card.center = (surface.get_width() // 2, surface.get_height() // 2)
        veil(surface, 170)
        pygame.draw.rect(surface, theme.PANEL, card, border_radius=size)
        pygame.draw.rect(surface, theme.RING_EDGE, card, width=max(round(layout.scale), 1), border_radius=size)
        for row, (key, name) in enumerate(lines, start=1):
            middle = card.top + line * (row + 0.5)
            glyphs.put_text(surface, key, size, theme.CHOICE, (card.left + 2 * size + keys, middle), "midright")
            glyphs.put_text(surface, name, size, theme.TEXT, (card.left + 3 * size + keys, middle))


def veil(surface: pygame.Surface, alpha: int) -> None:
    """Darken a picture."""
    cover = pygame.Surface(surface.get_size(), 0, 32)
    cover.fill(theme.SPACE)
    cover.set_alpha(alpha)
    surface.blit(cover, (0, 0))


def _key_text(key: str) -> str:
    shift, _, plain = key.rpartition("shift+")
    name = plain.upper() if len(plain) == 1 else plain.capitalize()
    return f"Shift {name}" if shift or key.startswith("shift+") else name
