"""A window in which orders are entered, with the mouse or with keys."""

from collections.abc import Callable, Iterator
from functools import partial

from geo_patrol.config.schema import GameConfig
from geo_patrol.notation import Satellite
from geo_patrol.rendering.controls import Control
from geo_patrol.rendering.screen import Screen
from geo_patrol.rendering.window import GameWindow
from geo_patrol.scenes import orders
from geo_patrol.scenes.satellites import Anchors, all_satellites, satellite_anchors
from geo_patrol.scenes.shapes import Shape
from geo_patrol.sessions.advice import HINT_AGENT, find_hint
from geo_patrol.sessions.order_entry import Option, OrderEntry
from geo_patrol.sessions.play_notes import PlayNotes
from geo_patrol.sessions.play_session import PlaySession


class OrderWindow(GameWindow):
    """A window with a game for which orders are entered.

    Args:
        config: configuration of the game.
        title: title of the window.
        size: width and height in points.
        screen: where it is shown; by default, one of its own.

    Attributes:
        session: the game that is played; subclasses set it.
        notes: what is said about it; subclasses set them.
        menu: the small menu that a click has opened.
    """

    session: PlaySession
    notes: PlayNotes

    def __init__(
        self, config: GameConfig, title: str, size: tuple[int, int] = (1280, 720), screen: Screen | None = None
    ) -> None:
        self.menu: orders.Buttons = []
        super().__init__(config, title, size, screen)

    def make_controls(self) -> list[Control]:
        """Return the controls for entering orders."""
        hold = "hold with all: take every order back"
        ordering = self._is_ordering
        undo, guard_all, hold_all, select_next = (
            partial(self._enter, change)
            for change in (OrderEntry.undo, OrderEntry.guard_all, OrderEntry.hold_all, OrderEntry.select_next)
        )
        return [
            Control("undo", undo, ("u", "backspace"), label="Undo", is_open=self._can_undo),
            Control("guard with all that can", guard_all, ("g",), label="Guard all", is_open=self._can_guard),
            Control(hold, hold_all, ("x",), label="Hold all", is_open=ordering),
            Control("the next satellite without an order", select_next, ("tab",), is_open=ordering),
            Control(
                "a hint: the orders that a search finds best", self._find_hint, ("i",), label="Hint", is_open=ordering
            ),
            Control("take the orders of the hint", self._take_hint, ("t",), is_open=self._has_hint),
            *super().make_controls(),
        ]

    @property
    def _entry(self) -> OrderEntry:
        """The orders that are being entered."""
        assert self.session.entry is not None
        return self.session.entry

    def _is_ordering(self) -> bool:
        return self.session.stage == "ordering"

    def _can_undo(self) -> bool:
        return self._is_ordering() and self._entry.can_undo

    def _can_guard(self) -> bool:
        return self._is_ordering() and self._entry.can_guard

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

    def click_board(self, pixel: tuple[int, int]) -> None:
        """Handle a click on a satellite, a sector, or an option."""
        entry = self._entry
        buttons = self.menu or (self._option_buttons() if entry.selected is not None else [])
        self.menu = []
        for option, rect in buttons:
            if rect.contains(pixel):
                self._choose(option)
                return
        if entry.selected is not None and orders.list_area(self.layout, entry.options(entry.selected)).contains(pixel):
            entry.select(None)  # it may cover the tables
            return
        satellite = orders.satellite_at(self.layout, self._satellites(), self._anchors(), pixel)
        options = entry.options_at(satellite, self.layout.geometry.sector_of(pixel))
        if len(options) == 1:
            entry.give(options[0].order)
        elif options:
            self.menu = orders.menu_buttons(self.layout, options, pixel)
        elif satellite is not None and satellite.side == entry.side and entry.options(satellite.number):
            entry.select(satellite.number)
        else:
            entry.select(None)

    def _choose(self, option: Option | None) -> None:
        if option is not None:
            self._entry.give(option.order)
        elif self._entry.selected is not None:
            self._entry.hold(self._entry.selected)

    def _option_buttons(self) -> orders.Buttons:
        return orders.option_buttons(self.layout, self._entry.options(self._entry.selected))

    def _satellites(self) -> tuple[Satellite, ...]:
        return all_satellites(self.playback.snapshot.game)

    def _anchors(self) -> Anchors:
        return satellite_anchors(self.layout.geometry, self._satellites())

    def overlay(self) -> Iterator[Shape]:
        """Draw the orders being entered."""
        layout = self.layout
        if self._is_ordering() and self.playback.is_finished:
            if self.notes.hint is not None:
                yield from orders.hint_shapes(layout, self._anchors(), self._entry, self.notes.hint.orders)
            yield from orders.order_shapes(layout, self._satellites(), self._entry, with_costs=not self.menu)
            if self._entry.selected is not None:
                yield from orders.option_shapes(layout, self._entry, self._option_buttons(), self.pointer)
            yield from orders.menu_shapes(layout, self.menu, self.pointer)

    @property
    def shows_outcomes(self) -> bool:
        """Whether the list of outcomes is shown, and not that of orders in its stead."""
        return self.session.entry is None or self.session.entry.selected is None
