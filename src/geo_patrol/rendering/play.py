"""A window to play in, against an agent or against another person at the same screen."""

from collections.abc import Callable, Iterator

import pygame

from geo_patrol.rendering.base_window import WindowClosedError
from geo_patrol.rendering.controls import Control
from geo_patrol.rendering.order_window import OrderWindow
from geo_patrol.rendering.painter import Painter
from geo_patrol.rendering.screen import Screen
from geo_patrol.rendering.watch import WatchWindow
from geo_patrol.scenes import theme
from geo_patrol.scenes.orders import (
    curtain_shapes,
)
from geo_patrol.scenes.pages import line_shapes
from geo_patrol.scenes.shapes import Rect, Shape
from geo_patrol.sessions.live import LiveGame
from geo_patrol.sessions.pages import Tab
from geo_patrol.sessions.play_notes import PlayNotes
from geo_patrol.sessions.play_session import PlaySession
from geo_patrol.sessions.playback import Playback

_NOTE_COLORS = {"hint": theme.TEXT, "danger": theme.WARNING, "score": theme.SOFT}
NewGame = Callable[[], LiveGame]


def play(
    new_game: NewGame,
    size: tuple[int, int] = (1280, 720),
    screen: Screen | None = None,
    swap_sides: Callable[[], None] | None = None,
) -> None:
    """Play until the window is closed.

    Args:
        new_game: begins a game with one or two people; called at once, and for every further game.
        size: size of the window in points.
        screen: where it is shown; by default, one of its own.
        swap_sides: swaps the sides in all further games; None where that makes no difference.

    Raises:
        NoScreenError: there is no screen.
        AgentError: an agent raised an exception, or returned something else than orders.
    """
    PlayWindow(new_game, size, screen, swap_sides).run()


class PlayWindow(OrderWindow):
    """The window of ``play``.

    Attributes:
        session: the game that is played.
        menu: the small menu that a click has opened.
    """

    lines_above_buttons = 2

    def __init__(
        self,
        new_game: NewGame,
        size: tuple[int, int] = (1280, 720),
        screen: Screen | None = None,
        swap_sides: Callable[[], None] | None = None,
    ) -> None:
        self._new_game, self._swap_sides = new_game, swap_sides
        live = new_game()
        super().__init__(live.config, live.title, size, screen)
        try:
            self._begin(live)
        except WindowClosedError:
            pass  # there is nothing left to run
        except BaseException:
            self.screen.close()
            raise

    def make_controls(self) -> list[Control]:
        """Return the controls for giving orders."""
        commit = "commit the orders of this phase"
        replay = "show the last phase again; after the end, watch the game from its start"
        swap = "a new game with the sides swapped"
        swapping = [Control(swap, self._restart_swapped, ("c",), label="Swap")] if self._swap_sides else []
        return [
            Control(commit, self._commit, ("return", "enter"), label="Commit", is_open=self._is_ordering, is_main=True),
            *super().make_controls(),
            Control(replay, self._replay, ("l",), label="Replay", is_open=self._has_past),
            Control("a new game", self._restart, ("n",), label="New"),
            *swapping,
        ]

    # Controls

    def _is_over(self) -> bool:
        return self.session.stage == "over"

    def _has_past(self) -> bool:
        return self.session.stage in ("ordering", "over") and len(self.playback.timeline) > 1

    def _commit(self) -> None:
        self.menu = []
        self.session.commit()
        self._show_played_phase()

    def _replay(self) -> None:
        """Show the last phase again; a game that is over from its start, in the same window, until it is left."""
        if not self._is_over():
            self.playback.show_last()
            return
        live = self.session.live
        WatchWindow(live.timeline, title=live.title, screen=self.screen).run()
        if self.screen.is_open:
            self.screen.set_title(live.title)

    def _restart_swapped(self) -> None:
        assert self._swap_sides is not None
        if self._may_abandon("C again starts a new game with the sides swapped"):
            self._swap_sides()
            self._start_new_game()

    def _restart(self) -> None:
        if self._may_abandon("N again starts a new game"):
            self._start_new_game()

    def _may_abandon(self, question: str) -> bool:
        """Return whether the game is over, or has been given up by asking for the same thing twice."""
        return self._is_over() or self.confirm(f"{question}; the orders of this phase are lost")

    def _start_new_game(self) -> None:
        live = self._new_game()
        self.screen.set_title(live.title)
        self._begin(live)

    def go_back(self) -> None:
        """Close the menu, or deselect the satellite; otherwise ask, and close the window the second time."""
        if self.menu:
            self.menu = []
        elif self._is_ordering() and self._entry.selected is not None:
            self._entry.select(None)
        elif self._may_abandon("Escape again leaves the game"):
            self.leave()

    def _begin(self, live: LiveGame) -> None:
        self.playback = Playback(live.timeline)
        self.playback.to_end()  # of what was played before, if the game is resumed
        self.session = self.make_session(live)
        self.notes = PlayNotes(self.session)
        self.session.begin_phase()  # in which agents may be waited for
        self._show_played_phase()

    def make_session(self, live: LiveGame) -> PlaySession:
        """Return the session of a game that begins."""
        return PlaySession(live, self.wait_for_agent)

    def _show_played_phase(self) -> None:
        """Show the last phase if the session has played it: all have committed, or nobody has anything to order."""
        if self.session.stage == "showing":
            self.playback.show_last()

    # Time

    def tick(self, seconds: float) -> bool:
        """Let time pass; when a phase has been shown, the next one begins."""
        is_moving = super().tick(seconds)
        if self.session.stage != "showing":
            return is_moving
        if self.playback.is_finished:
            self.session.end_showing()
            self._show_played_phase()
            if self._is_over():
                self.show_situation()
        return True

    # Clicks

    def click(self, pixel: tuple[int, int]) -> None:
        """Handle a click outside the buttons of the toolbar."""
        if self.session.stage == "curtain":
            self.session.lift_curtain()
        elif not self.playback.is_finished:
            self.playback.skip()
        elif self.note_area.contains(pixel) and self._has_hint():
            self._take_hint()
        elif self.note_area.contains(pixel):
            self.show_situation(len(self.situation_tabs()) - 1)
        elif self.shows_outcomes and self.layout.outcomes.contains(pixel):
            self.show_situation()
        elif self.session.stage == "ordering":
            self.click_board(pixel)

    def handle(self, event: pygame.event.Event) -> None:
        """Handle an event; behind a curtain every key and button lifts it first."""
        starts = event.type == pygame.KEYDOWN or (event.type == pygame.MOUSEBUTTONDOWN and event.button == 1)
        leaves = event.type == pygame.KEYDOWN and event.key in (pygame.K_q, pygame.K_ESCAPE)
        if self.session.stage == "curtain" and starts and not leaves:
            self.session.lift_curtain()
        else:
            super().handle(event)

    # Drawing

    def overlay(self) -> Iterator[Shape]:
        """Draw the orders being entered, and a line that says what to do."""
        layout = self.layout
        yield from super().overlay()
        note = self.notes.note(self.playback.index)
        if note is not None:
            yield from line_shapes(layout, self.note_area, note.texts, _NOTE_COLORS[note.kind])
        prompts = self.prompt, self.prompt.partition(";")[0]
        yield from line_shapes(layout, self._prompt_area, prompts, theme.CHOICE)

    @property
    def note_area(self) -> Rect:
        """Where the note is."""
        toolbar = self.layout.toolbar
        return Rect(toolbar.left, toolbar.top, toolbar.width, self.layout.line_height("normal"))

    @property
    def _prompt_area(self) -> Rect:
        return self.note_area.moved(0, self.layout.line_height("normal") * 5 // 4)

    def situation_tabs(self) -> tuple[Tab, ...]:
        """Return the last turn, and the danger to the own HVA."""
        return (*super().situation_tabs(), *([self.notes.danger] if self.session.stage == "ordering" else []))

    def draw(self) -> pygame.Surface:
        """Draw the window, all of it behind the curtain if there is one."""
        surface = super().draw()
        if self.session.stage == "curtain" and self.session.side is not None:
            Painter(surface).paint(curtain_shapes(self.layout, *surface.get_size(), self.session.side))
        return surface

    @property
    def prompt(self) -> str:
        """What to do now, in a line."""
        return self.session.prompt
