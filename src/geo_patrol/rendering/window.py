"""A window with a game in it: its picture, the list of engagements, and pages about the game."""

import pygame

from geo_patrol.config.schema import GameConfig
from geo_patrol.rendering.base_window import Window
from geo_patrol.rendering.controls import Control
from geo_patrol.rendering.painter import Painter, text_extent
from geo_patrol.rendering.picture import Picture
from geo_patrol.rendering.screen import Screen
from geo_patrol.scenes.engagements import card_at, more_shapes
from geo_patrol.scenes.layout import Layout, make_layout
from geo_patrol.scenes.picture import card_board_shapes, fleet_size
from geo_patrol.scenes.satellites import Motion
from geo_patrol.scenes.shapes import Rect
from geo_patrol.sessions.advice import score_changes
from geo_patrol.sessions.game_pages import aim_tab, costs_tab, last_turn_tab, result_tab
from geo_patrol.sessions.pages import Page, Tab
from geo_patrol.sessions.playback import Playback


class GameWindow(Window):
    """A window that shows a game and handles its events.

    Args:
        config: configuration of the game.
        title: title of the window.
        size: width and height in points.
        screen: where it is shown; by default, one of its own. Who leaves a window on somebody else's screen returns there.

    Attributes:
        playback: what is shown; subclasses set it.

    Raises:
        NoScreenError: there is no screen.
    """

    playback: Playback
    lines_above_buttons = 1
    """Lines of text between the picture and the buttons."""

    def __init__(
        self, config: GameConfig, title: str, size: tuple[int, int] = (1280, 720), screen: Screen | None = None
    ) -> None:
        self._config = config
        self._picture: Picture | None = None
        super().__init__(title, size, screen)

    def make_controls(self) -> list[Control]:
        """Return the controls of every window with a game."""
        return [Control("the last turn: its score and all engagements", self.show_situation, ("o",))]

    def tick(self, seconds: float) -> bool:
        """Let time pass; return whether the picture changes by itself."""
        if self.page is None:
            self.playback.tick(seconds)
        return self.playback.is_moving

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

    style = layout

    @property
    def message_area(self) -> Rect:
        """The board, at whose bottom messages are."""
        return self.layout.board

    def set_config(self, config: GameConfig) -> None:
        """Draw games of another configuration from now on."""
        self._config, self._picture = config, None

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

    def draw_content(self) -> pygame.Surface:
        """Draw the game; while a card is pointed at, the board when its attacks were ordered, with lines for them."""
        snapshot, layout = self.playback.snapshot, self.layout
        surface = self.picture.draw(snapshot, self.playback.progress)
        if not self.shows_outcomes:
            return surface
        painter, last = Painter(surface), snapshot.last_phase
        if self.pointer is not None and self.playback.progress >= 1 and last is not None and last.outcomes:
            card = card_at(layout, snapshot, self.pointer)
            if card is not None:
                painter.paint(card_board_shapes(layout, Motion(layout.geometry, snapshot), card))
        painter.paint(more_shapes(layout, snapshot, self.pointer))
        return surface

    def scroll_content(self, rows: int) -> None:  # noqa: ARG002 - whichever way
        """Open the list of engagements under the pointer."""
        if self.shows_outcomes and self.pointer is not None and self.layout.outcomes.contains(self.pointer):
            self.show_situation()

    def help_tabs(self) -> tuple[Tab, ...]:
        """Return the keys, and the aim, the scoring and the costs of this game."""
        game = self.playback.snapshot.game
        return (*super().help_tabs(), aim_tab(game), costs_tab(game))

    def show_situation(self, index: int = 0) -> None:
        """Show a tab of the page about the last turn."""
        self.page = Page(self.situation_tabs(), index)

    def situation_tabs(self) -> tuple[Tab, ...]:
        """Return the result, if it is shown, and why the score changed in the last turn, with every engagement."""
        snapshot = self.playback.snapshot
        engagement = self.playback.timeline.last_engagement(self.playback.index)
        changes = () if engagement is None else score_changes(engagement)
        last_turn = last_turn_tab(snapshot.outcomes_turn, changes, snapshot.outcomes)
        return (result_tab(self.playback.timeline), last_turn) if snapshot.game.is_over else (last_turn,)

    @property
    def shows_outcomes(self) -> bool:
        """Whether the list of outcomes is shown."""
        return True
