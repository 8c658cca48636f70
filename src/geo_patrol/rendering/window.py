"""A window with a game in it: keys, buttons, messages, the page of keys, screenshots."""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from concurrent import futures
from contextlib import suppress
from pathlib import Path

import numpy as np
import pygame
from numpy.typing import NDArray

from geo_patrol.config.schema import GameConfig
from geo_patrol.rendering.controls import ButtonBar, Control, find_key
from geo_patrol.rendering.painter import Painter, text_extent
from geo_patrol.rendering.picture import Picture
from geo_patrol.rendering.screen import Event, Screen
from geo_patrol.scenes import theme
from geo_patrol.scenes.layout import Layout, make_layout
from geo_patrol.scenes.picture import fleet_size
from geo_patrol.scenes.shapes import Polygon, Rect, Shape, Text, box
from geo_patrol.sessions.playback import Playback
from geo_patrol.sessions.waiting import Act, AgentThread

_FRAMES_PER_SECOND = 60
MESSAGE_SECONDS = 3.0
_WAITING_FRAMES_PER_SECOND = 20
"""While an agent computes, which may need the processor itself."""
_PATIENCE_SECONDS = 0.5
"""After which the agent that is waited for is named."""


class WindowClosedError(Exception):
    """The window was closed while an agent was waited for."""


class GameWindow(ABC):
    """A window that shows a game and handles its events.

    Args:
        config: of the game.
        title: of the window.
        size: width and height in points.

    Attributes:
        playback: what is shown; subclasses set it.

    Raises:
        NoScreenError: there is no screen.
    """

    playback: Playback

    def __init__(self, config: GameConfig, title: str, size: tuple[int, int] = (1280, 720)) -> None:
        self.screen = Screen(title, size)
        self._config = config
        self._picture: Picture | None = None
        self._message, self._message_until = "", 0.0
        self._agents: AgentThread | None = None
        self._deferred: list[Event] = []
        self._leave = Control("close the window", self.screen.close, ("q",))
        self.shows_help = False
        self.pointer: tuple[int, int] | None = None
        self.controls = [
            *self.make_controls(),
            Control("save a picture", self.save_picture, ("s",), sign="camera"),
            Control("show or hide this page", self.toggle_help, ("?", "h", "f1"), sign="?"),
            Control("back, and at last close the window", self.go_back, ("escape",)),
            self._leave,
        ]
        self.bar = ButtonBar(self.controls)

    @abstractmethod
    def make_controls(self) -> list[Control]:
        """Return the controls besides those of every window."""

    def draw_game(self) -> pygame.Surface:
        """Draw the game and return the picture's surface."""
        return self.picture.draw(self.playback.snapshot, self.playback.progress)

    def overlay(self) -> Iterable[Shape]:
        """Return what belongs to the window and not to the picture of the game."""
        return ()

    def tick(self, seconds: float) -> bool:
        """Let time pass; return whether the picture changes by itself."""
        if not self.shows_help:
            self.playback.tick(seconds)
        return self.playback.is_moving

    @abstractmethod
    def click(self, pixel: tuple[int, int]) -> None:
        """Handle a click outside the buttons."""

    @property
    def picture(self) -> Picture:
        """Draws the game in the window's size."""
        size = self.screen.size
        if self._picture is None or (self._picture.width, self._picture.height) != size:
            self._picture = self._make_picture(*size)
        return self._picture

    @property
    def layout(self) -> Layout:
        """Where the parts of the picture are."""
        return self.picture.layout

    def _make_picture(self, width: int, height: int) -> Picture:
        """Make a picture with space for the buttons, and a line above them."""
        config = self._config
        layout = make_layout(width, height, config.board, fleet_size(config), measure=text_extent)
        picture = Picture(width, height, config, lambda available: 1 + self.bar.rows(layout, available))
        toolbar = picture.layout.toolbar
        line = picture.layout.line_height("normal") * 5 // 4
        area = Rect(toolbar.left, toolbar.top + line, toolbar.width, toolbar.height - line)
        self.bar.arrange(picture.layout, area)
        return picture

    def run(self) -> None:
        """Show the game until the window is closed."""
        try:
            with suppress(WindowClosedError):
                self._run()
        finally:
            self.screen.close()
            if self._agents is not None:
                self._agents.shut_down()

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
        """Return the events since the last call, first those deferred while an agent was waited for."""
        deferred, self._deferred = self._deferred, []
        return deferred + self.screen.events()

    def wait_for_agent(self, name: str, act: Act) -> NDArray[np.int64]:
        """Wait for an agent's orders while the window goes on showing the game.

        Closing the window takes effect at once; other keys and clicks do when the agent has decided.

        Args:
            name: of the agent, which is shown when it takes long.
            act: lets it choose its orders, in a thread of its own.

        Returns:
            (11,) order codes.

        Raises:
            WindowClosedError: the window was closed.
            AgentError: the agent raised an exception, or returned something else than orders.
        """
        self._agents = self._agents or AgentThread()
        orders = self._agents.submit(act)
        start, message = time.monotonic(), f"{name} is thinking"
        while not futures.wait([orders], 1 / _WAITING_FRAMES_PER_SECOND).done:
            if time.monotonic() - start > _PATIENCE_SECONDS:
                self.show_message(message)
            self._refresh()
        if self._message == message:
            self._message_until = 0.0
        return orders.result()

    def _refresh(self) -> None:
        for event in self.screen.events():
            if event.type == pygame.KEYDOWN and find_key(self.controls, event) is self._leave:
                self.screen.close()
            elif event.type == pygame.MOUSEMOTION:
                self.handle(event)
            else:
                self._deferred.append(event)
        if not self.screen.is_open:
            raise WindowClosedError
        self.screen.show(self.draw())

    def handle(self, event: Event) -> None:
        """Handle an event."""
        if not self.screen.is_open:
            return
        if event.type == pygame.KEYDOWN:
            control = find_key(self.controls, event)
            if self.shows_help and event.key != pygame.K_q:
                self.shows_help = False
            elif control is not None and control.is_open():
                control.run()
        elif event.type == pygame.MOUSEMOTION:
            self.pointer = self.screen.pixel(event.pos)
        elif event.type == pygame.MOUSEBUTTONDOWN and event.button == 1:
            self._press(self.screen.pixel(event.pos))

    def _press(self, pixel: tuple[int, int]) -> None:
        self.pointer = pixel
        assert self.picture is not None  # which arranges the buttons
        control = self.bar.at(pixel)
        if self.shows_help:
            self.shows_help = False
        elif control is None:
            self.click(pixel)
        elif control.is_open():
            control.run()

    def draw(self) -> pygame.Surface:
        """Draw the game and all that lies over it."""
        surface = self.draw_game()
        painter = Painter(surface)
        painter.paint(self.overlay())
        painter.paint(self.bar.shapes(self.layout, self.pointer))
        if time.monotonic() < self._message_until:
            painter.paint(self._message_shapes())
        else:
            self._message = ""
        if self.shows_help:
            painter.paint(self._help_shapes())
        return surface

    def show_message(self, message: str) -> None:
        """Show a message for a few seconds."""
        self._message, self._message_until = message, time.monotonic() + MESSAGE_SECONDS

    def go_back(self) -> None:
        """Take back what was opened last; if nothing is, close the window."""
        self.screen.close()

    def toggle_help(self) -> None:
        """Show or hide the page of keys."""
        self.shows_help = not self.shows_help

    def save_picture(self) -> None:
        """Save the game's picture as PNG in the current folder, beside those that are there."""
        surface = self.draw_game()
        number = 1
        while (path := Path(f"geo_patrol-{number}.png")).exists():
            number += 1
        try:
            pygame.image.save(surface, str(path))
        except (pygame.error, OSError) as error:
            self.show_message(f"the picture could not be saved: {error}")
        else:
            self.show_message(f"saved {path}")

    def _message_shapes(self) -> Iterator[Shape]:
        layout, board = self.layout, self.layout.board
        size = layout.text_size("normal")
        text = layout.fitted(self._message, size, board.width - 4 * size)
        bottom = board.center[0], board.bottom - size
        rect = Rect.anchored(layout.measure(text, size), "midbottom", bottom).inflated(2 * size, size)
        yield box(rect, theme.CARD_BRIGHT, theme.CHOICE, 1, rect.height // 2)
        yield Text(rect.center, text, size, theme.TEXT, "center")

    def help_lines(self) -> list[tuple[str, str]]:
        """Return the lines of the page of keys: keys, and what they do."""
        return [(" or ".join(map(_key_text, control.keys)), control.name) for control in self.controls if control.keys]

    def _help_shapes(self) -> Iterator[Shape]:
        layout, (width, height) = self.layout, self.screen.size
        size = layout.text_size("normal")
        lines = self.help_lines()
        line = min(round(size * 1.7), (height - 4 * size) // (len(lines) + 2))
        keys = max(layout.text_width(key, size) for key, _ in lines)
        extent = keys + max(layout.text_width(name, size) for _, name in lines) + 5 * size, line * (len(lines) + 2)
        card = Rect.anchored(extent, "center", (width // 2, height // 2))
        yield Polygon(((0, 0), (width, 0), (width, height), (0, height)), theme.SPACE, opacity=2 / 3)
        yield box(card, theme.PANEL, theme.RING_EDGE, layout.stroke(1), size)
        for row, (key, name) in enumerate(lines, start=1):
            y = card.top + line * (row + 0.5)
            yield Text((card.left + 2 * size + keys, y), key, size, theme.CHOICE, "midright")
            yield Text((card.left + 3 * size + keys, y), name, size, theme.TEXT)


def _key_text(key: str) -> str:
    shift, _, plain = key.rpartition("shift+")
    name = plain.upper() if len(plain) == 1 else plain.capitalize()
    return f"Shift {name}" if shift or key.startswith("shift+") else name
