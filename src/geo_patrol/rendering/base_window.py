"""A window: keys, buttons, messages, pages of help, pictures of it; what is in it is up to subclasses."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures
from contextlib import suppress
from pathlib import Path

import pygame

from geo_patrol.rendering.controls import ButtonBar, Control, find_key
from geo_patrol.rendering.painter import Painter
from geo_patrol.rendering.screen import Event, Screen
from geo_patrol.scenes import theme
from geo_patrol.scenes.layout import TextStyle
from geo_patrol.scenes.pages import lay_out_page, page_shapes
from geo_patrol.scenes.shapes import Rect, Shape, Text, box
from geo_patrol.sessions.live import AgentThread, T
from geo_patrol.sessions.pages import Page, PageLine, Tab

_FRAMES_PER_SECOND = 60
MESSAGE_SECONDS = 3.0
_WAITING_FRAMES_PER_SECOND = 20
"""While an agent computes, which may need the processor itself."""
_PATIENCE_SECONDS = 0.5
"""After which the agent that is waited for is named."""
_TURNING_KEYS = {pygame.K_LEFT: -1, pygame.K_RIGHT: 1, pygame.K_TAB: 1}
_SCROLLING_KEYS = {pygame.K_UP: -1, pygame.K_DOWN: 1, pygame.K_PAGEUP: -10, pygame.K_PAGEDOWN: 10}
"""Keys of a page."""


class WindowClosedError(Exception):
    """The window was closed while an agent was waited for."""


class Window(ABC):
    """A window and its events.

    Args:
        title: title of the window.
        size: width and height in points.
        screen: where it is shown; by default, one of its own. Who leaves a window on somebody else's screen returns there.

    Attributes:
        page: the page of text over the picture, if one is open.
        pointer: pixel of the mouse.

    Raises:
        NoScreenError: there is no screen.
    """

    def __init__(self, title: str, size: tuple[int, int] = (1280, 720), screen: Screen | None = None) -> None:
        self.screen = screen or Screen(title, size)
        self.screen.set_title(title)
        self._owns_screen = screen is None
        self._has_left = False
        self._message, self._message_until = "", 0.0
        self._agents: AgentThread | None = None
        self._deferred: list[Event] = []
        self._leave = Control("close the window", self.screen.close, ("q",))
        self.page: Page | None = None
        self.pointer: tuple[int, int] | None = None
        self.controls = [
            *self.make_controls(),
            *([] if self._owns_screen else [Control("leave: back to the menu", self.leave, ("m",), label="Leave")]),
            Control("save a picture", self.save_picture, ("s",), sign="camera"),
            Control("show or hide this page", self.show_help, ("?", "h", "f1"), sign="?"),
            Control("back, and at last close the window", self.go_back, ("escape",)),
            self._leave,
        ]
        self.bar = ButtonBar(self.controls)

    @abstractmethod
    def make_controls(self) -> list[Control]:
        """Return the controls besides those of every window."""

    @property
    @abstractmethod
    def style(self) -> TextStyle:
        """How texts are written; it is asked for before anything is drawn, and arranges the buttons."""

    @abstractmethod
    def draw_content(self) -> pygame.Surface:
        """Draw what the window is about, and return the surface, which may be drawn on."""

    def overlay(self) -> Iterable[Shape]:
        """Return what belongs to the window and not to its picture."""
        return ()

    @abstractmethod
    def tick(self, seconds: float) -> bool:
        """Let time pass; return whether the picture changes by itself."""

    @abstractmethod
    def click(self, pixel: tuple[int, int]) -> None:
        """Handle a click outside the buttons."""

    @property
    def message_area(self) -> Rect:
        """The part of the window at whose bottom messages are."""
        return Rect(0, 0, *self.screen.size)

    def run(self) -> None:
        """Show the window until it is closed, or left."""
        try:
            with suppress(WindowClosedError):
                self._run()
        finally:
            if self._owns_screen:
                self.screen.close()
            if self._agents is not None:
                self._agents.shut_down()

    def _run(self) -> None:
        last = time.monotonic()
        changes = True
        while self.screen.is_open and not self._has_left:
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

    def wait_for_agent(self, name: str, act: Callable[[], T]) -> T:
        """Wait for an agent's orders, or its advice, while the window goes on.

        Closing the window takes effect at once; other keys and clicks do when the agent has decided.

        Args:
            name: name of the agent, which is shown when it takes long.
            act: lets it choose, in a thread of its own.

        Returns:
            What ``act`` returned: (11,) order codes, or a hint.

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
            if self.page is not None and control is not self._leave:
                self._press_on_page(self.page, event.key)
            elif control is not None and control.is_open():
                control.run()
        elif event.type == pygame.MOUSEWHEEL:
            self._scroll(-3 * event.y)
        elif event.type == pygame.MOUSEMOTION:
            self.pointer = self.screen.pixel(event.pos)
        elif event.type == pygame.MOUSEBUTTONDOWN and event.button == 1:
            self._press(self.screen.pixel(event.pos))

    def _press(self, pixel: tuple[int, int]) -> None:
        self.pointer = pixel
        page, control = self.page, self.bar.at(pixel)
        if page is not None and not self._leaves_page(page, pixel):
            return
        self.page = None
        if control is not None and control.is_open():
            control.run()
        elif control is None and page is None:
            self.click(pixel)

    def _leaves_page(self, page: Page, pixel: tuple[int, int]) -> bool:
        """Turn to the tab that was clicked, or close the page; return whether the click is for a button beside it."""
        placed = lay_out_page(self.style, self.screen.size, page)
        clicked = [index for index, tab in enumerate(placed.tabs) if tab.contains(pixel)]
        if clicked:
            page.turn_to(clicked[0])
        elif placed.card.contains(pixel):
            self.page = None
        return not placed.card.contains(pixel)

    def _press_on_page(self, page: Page, key: int) -> None:
        """Turn or scroll the page; every other key closes it."""
        if key in _TURNING_KEYS:
            page.turn_to(page.index + _TURNING_KEYS[key])
        elif key in _SCROLLING_KEYS:
            self._scroll(_SCROLLING_KEYS[key])
        else:
            self.page = None

    def _scroll(self, rows: int) -> None:
        if self.page is None:
            self.scroll_content(rows)
        else:
            self.page.scroll(rows)
            self.page.first = min(self.page.first, lay_out_page(self.style, self.screen.size, self.page).last_first)

    @abstractmethod
    def scroll_content(self, rows: int) -> None:
        """Handle the mouse wheel outside of pages: so many rows down, or up if they are negative."""

    def draw(self) -> pygame.Surface:
        """Draw the window with all that lies over its content."""
        surface = self.draw_content()
        painter = Painter(surface)
        painter.paint(self.overlay())
        painter.paint(self.bar.shapes(self.style, self.pointer))
        if time.monotonic() < self._message_until:
            painter.paint(self._message_shapes())
        else:
            self._message = ""
        if self.page is not None:
            painter.paint(page_shapes(self.style, self.screen.size, self.page, self.pointer))
        return surface

    def show_message(self, message: str) -> None:
        """Show a message for a few seconds."""
        self._message, self._message_until = message, time.monotonic() + MESSAGE_SECONDS

    def confirm(self, question: str) -> bool:
        """Return whether the same question is still shown, and so is answered with yes; otherwise ask it."""
        if self._message == question and time.monotonic() < self._message_until:
            self._message_until = 0.0
            return True
        self.show_message(question)
        return False

    def go_back(self) -> None:
        """Take back what was opened last; if nothing is, leave."""
        self.leave()

    def leave(self) -> None:
        """Close the window, or return to whoever showed it."""
        if self._owns_screen:
            self.screen.close()
        self._has_left = True

    def show_help(self) -> None:
        """Show the page of help."""
        self.page = Page(self.help_tabs())

    def help_tabs(self) -> tuple[Tab, ...]:
        """Return the tabs of the page of help: first the keys."""
        return (Tab("Keys", tuple(PageLine(*line) for line in self.help_lines())),)

    def save_picture(self) -> None:
        """Save the picture as PNG in the current folder, beside those that are there."""
        surface = self.draw_content()
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
        style, area = self.style, self.message_area
        size = style.text_size("normal")
        text = style.fitted(self._message, size, area.width - 4 * size)
        bottom = area.center[0], area.bottom - size
        rect = Rect.anchored(style.measure(text, size), "midbottom", bottom).inflated(2 * size, size)
        yield box(rect, theme.CARD_BRIGHT, theme.CHOICE, 1, rect.height // 2)
        yield Text(rect.center, text, size, theme.TEXT, "center")

    def help_lines(self) -> list[tuple[str, str]]:
        """Return the lines of the page of keys: keys, and what they do."""
        return [(" or ".join(map(_key_text, control.keys)), control.name) for control in self.controls if control.keys]


def _key_text(key: str) -> str:
    shift, _, plain = key.rpartition("shift+")
    name = plain.upper() if len(plain) == 1 else plain.capitalize()
    return f"Shift {name}" if shift or key.startswith("shift+") else name
