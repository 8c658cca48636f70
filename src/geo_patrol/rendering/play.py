"""A window to play in, against an agent or against another person at the same screen."""

import time
from collections.abc import Callable, Iterator
from functools import partial

import pygame

from geo_patrol.notation import Satellite
from geo_patrol.rendering.controls import Control
from geo_patrol.rendering.painter import Painter
from geo_patrol.rendering.window import MESSAGE_SECONDS, GameWindow, WindowClosedError
from geo_patrol.scenes import theme
from geo_patrol.scenes.orders import (
    Buttons,
    curtain_shapes,
    hint_shapes,
    list_area,
    menu_buttons,
    menu_shapes,
    option_buttons,
    option_shapes,
    order_shapes,
    satellite_at,
)
from geo_patrol.scenes.pages import line_shapes
from geo_patrol.scenes.satellites import Anchors, all_satellites, satellite_anchors
from geo_patrol.scenes.shapes import Rect, Shape
from geo_patrol.sessions.hints import HINT_AGENT, find_hint
from geo_patrol.sessions.live import LiveGame
from geo_patrol.sessions.order_entry import Option, OrderEntry
from geo_patrol.sessions.pages import Tab
from geo_patrol.sessions.play_notes import PlayNotes
from geo_patrol.sessions.play_session import PlaySession
from geo_patrol.sessions.playback import Playback

_NOTE_COLORS = {"hint": theme.TEXT, "danger": theme.WARNING, "score": theme.SOFT}
NewGame = Callable[[], LiveGame]


def play(new_game: NewGame, size: tuple[int, int] = (1280, 720)) -> None:
    """Play until the window is closed.

    Args:
        new_game: begins a game with one or two people; called at once, and for every further game.
        size: of the window in points.

    Raises:
        NoScreenError: there is no screen.
        AgentError: an agent raised an exception, or returned something else than orders.
    """
    PlayWindow(new_game, size).run()


class PlayWindow(GameWindow):
    """The window of ``play``.

    Attributes:
        session: the game that is played.
        menu: the small menu that a click has opened.
    """

    lines_above_buttons = 2

    def __init__(self, new_game: NewGame, size: tuple[int, int] = (1280, 720)) -> None:
        self._new_game = new_game
        self.menu: Buttons = []
        self._leaves_until = 0.0
        live = new_game()
        super().__init__(live.config, live.title, size=size)
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
        hold = "hold with all: take every order back"
        ordering = self._is_ordering
        undo, guard_all, hold_all, select_next = (
            partial(self._enter, change)
            for change in (OrderEntry.undo, OrderEntry.guard_all, OrderEntry.hold_all, OrderEntry.select_next)
        )
        return [
            Control(commit, self._commit, ("return", "enter"), label="Commit", is_open=ordering, is_main=True),
            Control("undo", undo, ("u", "backspace"), label="Undo", is_open=self._can_undo),
            Control("guard with all that can", guard_all, ("g",), label="Guard all", is_open=self._can_guard),
            Control(hold, hold_all, ("x",), label="Hold all", is_open=ordering),
            Control("the next satellite without an order", select_next, ("tab",), is_open=ordering),
            Control(
                "a hint: the orders that a search finds best", self._find_hint, ("i",), label="Hint", is_open=ordering
            ),
            Control("take the orders of the hint", self._take_hint, ("t",), is_open=self._has_hint),
            Control("show the last phase again", self._replay, ("l",), label="Replay", is_open=self._has_past),
            Control("a new game", self._restart, ("n",), label="New", is_open=self._is_over),
        ]

    @property
    def _entry(self) -> OrderEntry:
        """The orders that are being entered."""
        assert self.session.entry is not None
        return self.session.entry

    # Controls

    def _is_ordering(self) -> bool:
        return self.session.stage == "ordering"

    def _is_over(self) -> bool:
        return self.session.stage == "over"

    def _can_undo(self) -> bool:
        return self._is_ordering() and self._entry.can_undo

    def _can_guard(self) -> bool:
        return self._is_ordering() and self._entry.can_guard

    def _has_past(self) -> bool:
        return self.session.stage in ("ordering", "over") and len(self.playback.timeline) > 1

    def _commit(self) -> None:
        self.menu = []
        self.session.commit()
        self._show_played_phase()

    def _enter(self, change: Callable[[OrderEntry], None]) -> None:
        """Change the orders that are being entered."""
        self.menu = []
        change(self._entry)

    def _has_hint(self) -> bool:
        return self._is_ordering() and self.notes.hint is not None

    def _find_hint(self) -> None:
        game, side = self.session.live.game, self._entry.side
        self.notes.hint = self.wait_for_agent(HINT_AGENT.name, lambda: find_hint(game, side))

    def _take_hint(self) -> None:
        hint = self.notes.hint
        if hint is not None:
            self._enter(lambda entry: entry.give_all(hint.orders))

    def _replay(self) -> None:
        self.playback.show_last()

    def _restart(self) -> None:
        live = self._new_game()
        self.screen.set_title(live.title)
        self._begin(live)

    def go_back(self) -> None:
        """Close the menu, or deselect the satellite; otherwise ask, and close the window the second time."""
        if self.menu:
            self.menu = []
        elif self._is_ordering() and self._entry.selected is not None:
            self._entry.select(None)
        elif self._is_over() or time.monotonic() < self._leaves_until:
            self.screen.close()
        else:
            self._leaves_until = time.monotonic() + MESSAGE_SECONDS
            self.show_message("Escape again leaves the game; the orders of this phase are lost")

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
            self._click_while_ordering(pixel)

    def handle(self, event: pygame.event.Event) -> None:
        """Handle an event; behind a curtain every key and button lifts it first."""
        starts = event.type == pygame.KEYDOWN or (event.type == pygame.MOUSEBUTTONDOWN and event.button == 1)
        leaves = event.type == pygame.KEYDOWN and event.key in (pygame.K_q, pygame.K_ESCAPE)
        if self.session.stage == "curtain" and starts and not leaves:
            self.session.lift_curtain()
        else:
            super().handle(event)

    def _click_while_ordering(self, pixel: tuple[int, int]) -> None:
        entry = self._entry
        buttons = self.menu or (self._option_buttons() if entry.selected is not None else [])
        self.menu = []
        for option, rect in buttons:
            if rect.contains(pixel):
                self._choose(option)
                return
        if entry.selected is not None and list_area(self.layout, entry.options(entry.selected)).contains(pixel):
            entry.select(None)  # it may cover the tables
            return
        satellite = satellite_at(self.layout, self._satellites(), self._anchors(), pixel)
        options = entry.options_at(satellite, self.layout.geometry.sector_of(pixel))
        if len(options) == 1:
            entry.give(options[0].order)
        elif options:
            self.menu = menu_buttons(self.layout, options, pixel)
        elif satellite is not None and satellite.side == entry.side and entry.options(satellite.number):
            entry.select(satellite.number)
        else:
            entry.select(None)

    def _choose(self, option: Option | None) -> None:
        if option is not None:
            self._entry.give(option.order)
        elif self._entry.selected is not None:
            self._entry.hold(self._entry.selected)

    def _option_buttons(self) -> Buttons:
        return option_buttons(self.layout, self._entry.options(self._entry.selected))

    def _satellites(self) -> tuple[Satellite, ...]:
        return all_satellites(self.playback.snapshot.game)

    def _anchors(self) -> Anchors:
        return satellite_anchors(self.layout.geometry, self._satellites())

    # Drawing

    def overlay(self) -> Iterator[Shape]:
        """Draw the orders being entered, and a line that says what to do."""
        layout = self.layout
        if self.session.stage == "ordering" and self.playback.is_finished:
            if self.notes.hint is not None:
                yield from hint_shapes(layout, self._anchors(), self._entry, self.notes.hint.orders)
            yield from order_shapes(layout, self._satellites(), self._entry, with_costs=not self.menu)
            if self._entry.selected is not None:
                yield from option_shapes(layout, self._entry, self._option_buttons(), self.pointer)
            yield from menu_shapes(layout, self.menu, self.pointer)
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

    @property
    def shows_outcomes(self) -> bool:
        """Whether the list of outcomes is shown, and not that of orders in its stead."""
        return self.session.entry is None or self.session.entry.selected is None

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
        session, entry = self.session, self.session.entry
        if session.stage == "over":
            return "The game is over."
        if session.stage == "waiting":
            return "Waiting for the other side's orders."
        if entry is None:
            return "Click to go on at once."
        who = f"{entry.side.capitalize()}: " if len(session.people) > 1 else ""
        if entry.selected is None:
            hold = "" if entry.pending else "; the others hold"
            return f"{who}click a satellite, then Commit{hold}"
        phase = session.live.timeline[-1].game.phase
        return who + ("click where it should go, or an order" if phase == "movement" else "click a target or an order")
