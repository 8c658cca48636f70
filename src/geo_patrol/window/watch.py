"""A window to watch a game in, live or recorded: picture, keys, buttons, messages, pages of help."""

import time
from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import suppress
from pathlib import Path

import pygame

from geo_patrol.config.schema import GameConfig
from geo_patrol.drawing.painter import Painter, text_extent
from geo_patrol.drawing.screen import Event, Screen
from geo_patrol.drawing.shapes import Box, Circle, Rect, Shape, Text, box
from geo_patrol.drawing.sheet import PageLine, Tab
from geo_patrol.game.timeline import Timeline
from geo_patrol.play.live import AgentThread, T
from geo_patrol.play.playback import SPEEDS, Advance, Playback
from geo_patrol.play.telling import aim_tab, costs_tab, last_turn_tab, result_tab, score_changes
from geo_patrol.scenes import theme
from geo_patrol.scenes.engagements import card_at, more_shapes
from geo_patrol.scenes.layout import Layout, make_layout
from geo_patrol.scenes.pages import Page, lay_out_page, page_shapes
from geo_patrol.scenes.picture import card_board_shapes, fleet_size
from geo_patrol.scenes.satellites import Motion
from geo_patrol.window.controls import ButtonBar, Control, find_key
from geo_patrol.window.picture import Picture

_FRAMES_PER_SECOND = 60
_MESSAGE_SECONDS = 3.0
_WAITING_FRAMES_PER_SECOND = 20
"""While an agent computes, which may need the processor itself."""
_PATIENCE_SECONDS = 0.5
"""After which the agent that is waited for is named."""
_TURNING_KEYS = {pygame.K_LEFT: -1, pygame.K_RIGHT: 1, pygame.K_TAB: 1}
_SCROLLING_KEYS = {pygame.K_UP: -1, pygame.K_DOWN: 1, pygame.K_PAGEUP: -10, pygame.K_PAGEDOWN: 10}
"""Keys of a page."""
_LINE_ABOVE_BUTTONS = 1.25
"""Height of the progress bar with its surroundings, in lines."""


class WindowClosedError(Exception):
    """The window was closed while an agent was waited for."""


def watch(
    timeline: Timeline,
    advance: Advance | None = None,
    title: str = "geo_patrol",
    size: tuple[int, int] = (1280, 720),
) -> None:
    """Show a game until the window is closed.

    Args:
        timeline: the game; it may go on growing.
        advance: plays the next phase of a live game, as ``LiveGame.advance`` does; None for a recording.
        title: title of the window.
        size: size of the window in points.

    Raises:
        NoScreenError: there is no screen.
    """
    WatchWindow(timeline, advance, title, size).run()


class WatchWindow:
    """The window of ``watch``.

    Attributes:
        playback: what is shown.
        page: the page of text over the picture, if one is open.
        pointer: pixel of the mouse.

    Raises:
        NoScreenError: there is no screen.
    """

    def __init__(
        self,
        timeline: Timeline,
        advance: Advance | None = None,
        title: str = "geo_patrol",
        size: tuple[int, int] = (1280, 720),
    ) -> None:
        self.playback = Playback(timeline, advance, self.wait_for_agent)
        self.screen = Screen(title, size)
        self._config = timeline[0].config
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
            Control("show or hide this page", self.show_help, ("?", "h", "f1"), sign="?"),
            Control("close this page, or the window", self.screen.close, ("escape",)),
            self._leave,
        ]
        self.bar = ButtonBar(self.controls)

    def make_controls(self) -> list[Control]:
        """Return the controls for moving about in the game."""
        playback = self.playback
        return [
            Control("begin again", playback.restart, ("r", "home"), sign="restart"),
            Control(
                "jump to the engagement before", playback.previous_engagement, ("shift+e",), sign="previous engagement"
            ),
            Control("a turn back", playback.previous_turn, ("page up", "up"), sign="previous turn"),
            Control("a step back", playback.back, ("left",), sign="back"),
            Control("pause or go on", playback.toggle, ("space",), sign="pause"),
            Control("a step forward", playback.forward, ("right",), sign="forward"),
            Control("a turn forward", playback.next_turn, ("page down", "down"), sign="next turn"),
            Control("jump to the next engagement", playback.next_engagement, ("e",), sign="next engagement"),
            Control("to the last position", playback.to_end, ("end",)),
            Control("slower", playback.slower, ("-",), sign="minus"),
            Control("faster", playback.faster, ("+", "="), sign="plus"),
            Control("the last turn: its score and all engagements", self.show_situation, ("o",)),
        ]

    # Time and events

    def run(self) -> None:
        """Show the window until it is closed."""
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
        """Wait for an agent's orders while the window goes on.

        Closing the window takes effect at once; other keys and clicks do when the agent has decided.

        Args:
            name: name of the agent, which is shown when it takes long.
            act: lets it choose, in a thread of its own.

        Returns:
            What ``act`` returned: (11,) order codes.

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
        placed = lay_out_page(self.layout, self.screen.size, page)
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
        """Scroll the page; without one, open the list of engagements under the pointer, whichever way."""
        if self.page is not None:
            self.page.scroll(rows)
            self.page.first = min(self.page.first, lay_out_page(self.layout, self.screen.size, self.page).last_first)
        elif self.pointer is not None and self.layout.outcomes.contains(self.pointer):
            self.show_situation()

    def tick(self, seconds: float) -> bool:
        """Let time pass; return whether the picture changes by itself."""
        if self.page is None:
            self.playback.tick(seconds)
        return self.playback.is_moving

    # Drawing

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

    def set_config(self, config: GameConfig) -> None:
        """Draw games of another configuration from now on."""
        self._config, self._picture = config, None

    def _make_picture(self, width: int, height: int) -> Picture:
        """Make a picture with space for the buttons, and the lines above them."""
        config = self._config
        layout = make_layout(width, height, config.board, fleet_size(config), measure=text_extent)
        lines = int(_LINE_ABOVE_BUTTONS * layout.line_height("normal"))
        picture = Picture(width, height, config, lambda available: lines + self.bar.height(layout, available))
        toolbar = picture.layout.toolbar
        area = Rect(toolbar.left, toolbar.top + lines, toolbar.width, toolbar.height - lines)
        self.bar.arrange(picture.layout, area)
        return picture

    def draw_content(self) -> pygame.Surface:
        """Draw the game; while a card is pointed at, the board when its attacks were ordered, with lines for them."""
        snapshot, layout = self.playback.snapshot, self.layout
        surface = self.picture.draw(snapshot, self.playback.progress)
        painter, last = Painter(surface), snapshot.last_phase
        if self.pointer is not None and self.playback.progress >= 1 and last is not None and last.outcomes:
            card = card_at(layout, snapshot, self.pointer)
            if card is not None:
                painter.paint(card_board_shapes(layout, Motion(layout.geometry, snapshot), card))
        painter.paint(more_shapes(layout, snapshot, self.pointer))
        return surface

    def draw(self) -> pygame.Surface:
        """Draw the window with all that lies over its content."""
        surface = self.draw_content()
        painter = Painter(surface)
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
        self._message, self._message_until = message, time.monotonic() + _MESSAGE_SECONDS

    @property
    def progress_bar(self) -> Rect:
        """Where the bar is that shows how far the game has come."""
        layout = self.layout
        size = layout.text_size("small")
        speed = layout.text_width(f"{min(SPEEDS)} x  paused", size) + size  # written behind the bar
        toolbar = layout.toolbar
        return Rect(toolbar.left, toolbar.top, toolbar.width - speed, layout.line_height("normal"))

    def click(self, pixel: tuple[int, int]) -> None:
        """Go to the point of the progress bar that was clicked, or open the list of engagements."""
        bar = self.progress_bar
        if bar.contains(pixel):
            self.playback.seek((pixel[0] - bar.left) / bar.width)
        elif self.layout.outcomes.contains(pixel):
            self.show_situation()

    def overlay(self) -> Iterator[Shape]:
        """Draw the progress bar with its engagements, and the speed."""
        layout, bar, timeline = self.layout, self.progress_bar, self.playback.timeline
        y = bar.center[1]
        height = max(bar.height // 4, 3)
        track = Rect(bar.left, y - height // 2, bar.width, height)
        last = max(len(timeline) - 1, 1)
        played = track._replace(width=round(track.width * self.playback.index / last))
        yield box(track, theme.FUEL_TRACK, r=height // 2)
        yield box(played, theme.SOFT, r=height // 2)
        for index, phase in enumerate(timeline.phases, start=1):
            if phase.outcomes:
                x = track.left + round(track.width * min(index, last) / last)
                yield Box(x - 1, track.top - height, 2, 3 * height, theme.TEXT)
        yield Circle((played.right, y), height * 1.4, theme.CHOICE)
        speed = f"{self.playback.speed:g} x" + ("" if self.playback.is_playing else "  paused")
        yield Text((layout.toolbar.right, y), speed, layout.text_size("small"), theme.SOFT, "midright")

    # Pages and messages

    def show_help(self) -> None:
        """Show the keys, and the aim, the scoring and the costs of this game."""
        game = self.playback.snapshot.game
        keys = Tab("Keys", tuple(PageLine(*line) for line in self.help_lines()))
        self.page = Page((keys, aim_tab(game), costs_tab(game)))

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
        style, area = self.layout, self.layout.board
        size = style.text_size("normal")
        text = style.fitted(self._message, size, area.width - 4 * size)
        bottom = area.center[0], area.bottom - size
        rect = Rect.anchored(style.measure(text, size), "midbottom", bottom).inflated(2 * size, size)
        yield box(rect, theme.CARD_BRIGHT, theme.CHOICE, 1, rect.height // 2)
        yield Text(rect.center, text, size, theme.TEXT, "center")

    def help_lines(self) -> list[tuple[str, str]]:
        """Return the lines of the page of keys: keys, and what they do."""
        return [(" or ".join(map(_key_text, control.keys)), control.name) for control in self.controls if control.keys]

    def show_situation(self) -> None:
        """Show the result, if the game is over, and why the score changed in the last turn, with every engagement."""
        snapshot = self.playback.snapshot
        engagement = self.playback.timeline.last_engagement(self.playback.index)
        changes = () if engagement is None else score_changes(engagement)
        last_turn = last_turn_tab(snapshot.outcomes_turn, changes, snapshot.outcomes)
        self.page = Page(
            (result_tab(self.playback.timeline), last_turn) if snapshot.result is not None else (last_turn,)
        )


def _key_text(key: str) -> str:
    plain = key.removeprefix("shift+")
    name = plain.upper() if len(plain) == 1 else plain.capitalize()
    return name if plain == key else f"Shift {name}"
