"""A window with a game in it: keys, buttons, messages, pages of help, screenshots."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures
from contextlib import suppress
from pathlib import Path

import pygame

from geo_patrol.config.schema import GameConfig
from geo_patrol.rendering.controls import ButtonBar, Control, find_key
from geo_patrol.rendering.painter import Painter, text_extent
from geo_patrol.rendering.picture import Picture
from geo_patrol.rendering.screen import Event, Screen
from geo_patrol.scenes import theme
from geo_patrol.scenes.engagements import more_shapes
from geo_patrol.scenes.layout import Layout, make_layout
from geo_patrol.scenes.pages import lay_out_page, page_shapes
from geo_patrol.scenes.picture import fleet_size
from geo_patrol.scenes.shapes import Rect, Shape, Text, box
from geo_patrol.sessions.game_pages import aim_tab, costs_tab, last_turn_tab
from geo_patrol.sessions.pages import Line, Page, Tab
from geo_patrol.sessions.playback import Playback
from geo_patrol.sessions.score_changes import score_changes
from geo_patrol.sessions.waiting import AgentThread, T

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
    lines_above_buttons = 1
    """Lines of text between the picture and the buttons."""

    def __init__(self, config: GameConfig, title: str, size: tuple[int, int] = (1280, 720)) -> None:
        self.screen = Screen(title, size)
        self._config = config
        self._picture: Picture | None = None
        self._message, self._message_until = "", 0.0
        self._agents: AgentThread | None = None
        self._deferred: list[Event] = []
        self._leave = Control("close the window", self.screen.close, ("q",))
        self.page: Page | None = None
        self.pointer: tuple[int, int] | None = None
        self.controls = [
            *self.make_controls(),
            Control("save a picture", self.save_picture, ("s",), sign="camera"),
            Control("the last turn: its score and all engagements", self.show_situation, ("o",)),
            Control("show or hide this page", self.show_help, ("?", "h", "f1"), sign="?"),
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
        if self.page is None:
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
        """Make a picture with space for the buttons, and the lines above them."""
        config = self._config
        layout = make_layout(width, height, config.board, fleet_size(config), measure=text_extent)
        lines = self.lines_above_buttons * layout.line_height("normal") * 5 // 4
        picture = Picture(width, height, config, lambda available: lines + self.bar.height(layout, available))
        toolbar = picture.layout.toolbar
        area = Rect(toolbar.left, toolbar.top + lines, toolbar.width, toolbar.height - lines)
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

    def wait_for_agent(self, name: str, act: Callable[[], T]) -> T:
        """Wait for an agent's orders, or its advice, while the window goes on showing the game.

        Closing the window takes effect at once; other keys and clicks do when the agent has decided.

        Args:
            name: of the agent, which is shown when it takes long.
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
        assert self.picture is not None  # which arranges the buttons
        control = self.bar.at(pixel)
        if self.page is not None:
            self._click_page(self.page, pixel)
        elif control is None:
            self.click(pixel)
        elif control.is_open():
            control.run()

    def _click_page(self, page: Page, pixel: tuple[int, int]) -> None:
        """Turn to the tab that was clicked, or close the page."""
        tabs = lay_out_page(self.layout, self.screen.size, page).tabs
        clicked = [index for index, tab in enumerate(tabs) if tab.contains(pixel)]
        if clicked:
            page.turn_to(clicked[0])
        else:
            self.page = None

    def _press_on_page(self, page: Page, key: int) -> None:
        """Turn or scroll the page; every other key closes it."""
        if key in _TURNING_KEYS:
            page.turn_to(page.index + _TURNING_KEYS[key])
        elif key in _SCROLLING_KEYS:
            self._scroll(_SCROLLING_KEYS[key])
        else:
            self.page = None

    def _scroll(self, rows: int) -> None:
        """Scroll the page, or open the list of engagements under the pointer."""
        if self.page is not None:
            self.page.scroll(rows)
            self.page.first = min(self.page.first, lay_out_page(self.layout, self.screen.size, self.page).last_first)
        elif self.shows_outcomes and self.pointer is not None and self.layout.outcomes.contains(self.pointer):
            self.show_situation()

    def draw(self) -> pygame.Surface:
        """Draw the game and all that lies over it."""
        surface = self.draw_game()
        painter = Painter(surface)
        if self.shows_outcomes:
            painter.paint(more_shapes(self.layout, self.playback.snapshot, self.pointer))
        painter.paint(self.overlay())
        painter.paint(self.bar.shapes(self.layout, self.pointer))
        if time.monotonic() < self._message_until:
            painter.paint(self._message_shapes())
        else:
            self._message = ""
        if self.page is not None:
            painter.paint(page_shapes(self.layout, self.screen.size, self.page, self.pointer))
        return surface

    def show_message(self, message: str) -> None:
        """Show a message for a few seconds."""
        self._message, self._message_until = message, time.monotonic() + MESSAGE_SECONDS

    def go_back(self) -> None:
        """Take back what was opened last; if nothing is, close the window."""
        self.screen.close()

    def show_help(self) -> None:
        """Show the keys, and the aim, the scoring and the costs of this game."""
        game = self.playback.snapshot.game
        keys = Tab("Keys", tuple(Line(*line) for line in self.help_lines()))
        self.page = Page((keys, aim_tab(game), costs_tab(game)))

    def show_situation(self, index: int = 0) -> None:
        """Show a tab of the page about the last turn."""
        self.page = Page(self.situation_tabs(), index)

    def situation_tabs(self) -> tuple[Tab, ...]:
        """Return why the score changed in the last turn that has been shown, and every outcome of its engagement."""
        snapshot = self.playback.snapshot
        turn = self.playback.timeline.last_engagement(self.playback.index)
        changes = () if turn is None else score_changes(*turn)
        return (last_turn_tab(snapshot.outcomes_turn, changes, snapshot.outcomes),)

    @property
    def shows_outcomes(self) -> bool:
        """Whether the list of outcomes is shown."""
        return True

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


def _key_text(key: str) -> str:
    shift, _, plain = key.rpartition("shift+")
    name = plain.upper() if len(plain) == 1 else plain.capitalize()
    return f"Shift {name}" if shift or key.startswith("shift+") else name
