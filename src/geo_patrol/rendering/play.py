"""A window to play in, against an agent or against another person at the same screen."""

from collections.abc import Callable

import pygame

from geo_patrol.game import Satellite
from geo_patrol.notation import SatelliteId
from geo_patrol.rendering import glyphs, theme
from geo_patrol.rendering.controls import Control
from geo_patrol.rendering.playing import choices, order_art
from geo_patrol.rendering.playing.pointing import satellite_at
from geo_patrol.rendering.window import GameWindow, WindowClosedError
from geo_patrol.scenes.anchors import Slot, all_satellites, satellite_slots
from geo_patrol.sessions.live import LiveGame
from geo_patrol.sessions.order_entry import Option
from geo_patrol.sessions.play_session import PlaySession
from geo_patrol.sessions.playback import Playback

NewGame = Callable[[], LiveGame]


def play(new_game: NewGame, size: tuple[int, int] = (1280, 720)) -> None:
    """Play until the window is closed.

    Args:
        new_game: begins a game, one side or both of which people play; called at once, and for every further game.
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

    def __init__(self, new_game: NewGame, size: tuple[int, int] = (1280, 720)) -> None:
        self._new_game = new_game
        self.menu: choices.Choices = []
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
        """Return what can be done while playing."""
        return [
            Control(
                "commit the orders of this phase",
                self._commit,
                ("return", "enter"),
                label="Commit",
                is_open=self._orders,
                is_main=True,
            ),
            Control("undo", self._undo, ("u", "backspace"), label="Undo", is_open=self._can_undo),
            Control("guard with all that can", self._guard_all, ("g",), label="Guard all", is_open=self._can_guard),
            Control(
                "hold with all: take every order back", self._hold_all, ("x",), label="Hold all", is_open=self._orders
            ),
            Control("the next satellite without an order", self._select_next, ("tab",), is_open=self._orders),
            Control("show the last phase again", self._show_again, ("l",), label="Replay", is_open=self._has_past),
            Control("a new game", self._begin_again, ("n",), label="New", is_open=self._is_over),
        ]

    # What can be done

    def _orders(self) -> bool:
        return self.session.stage == "ordering"

    def _is_over(self) -> bool:
        return self.session.stage == "over"

    def _can_undo(self) -> bool:
        return self._orders() and self.session.desk is not None and self.session.desk.can_undo

    def _can_guard(self) -> bool:
        return self._orders() and self.session.desk is not None and self.session.desk.can_guard

    def _has_past(self) -> bool:
        return self.session.stage in ("ordering", "over") and len(self.playback.timeline) > 1

    def _commit(self) -> None:
        self.menu = []
        self.session.commit()
        if self.session.stage == "showing":
            self.playback.show_last()

    def _undo(self) -> None:
        self._change(lambda desk: desk.undo())

    def _guard_all(self) -> None:
        self._change(lambda desk: desk.guard_all())

    def _hold_all(self) -> None:
        self._change(lambda desk: desk.hold_all())

    def _select_next(self) -> None:
        self._change(lambda desk: desk.select_next())

    def _change(self, what: Callable[..., None]) -> None:
        self.menu = []
        if self.session.desk is not None:
            what(self.session.desk)

    def _show_again(self) -> None:
        self.playback.show_last()

    def _begin_again(self) -> None:
        live = self._new_game()
        self.screen.set_title(live.title)
        self._begin(live)

    def _begin(self, live: LiveGame) -> None:
        self.playback = Playback(live.timeline)
        self.playback.is_playing = False
        self.session = PlaySession(live, self.wait_for_agent)
        self.session.begin_phase()  # in which agents may be waited for

    # Time

    def tick(self, seconds: float) -> bool:
        """Let time pass; when a phase has been shown, the next one begins."""
        if not self.shows_help:
            self.playback.tick(seconds)
        if self.session.stage == "showing" and self.playback.has_rested:
            self.session.end_showing()
            if self.session.stage == "showing":  # nobody had anything to order
                self.playback.show_last()
            return True
        return self.playback.is_moving or self.session.stage == "showing"

    # Clicks

    def click(self, pixel: tuple[int, int]) -> None:
        """Hear of a click that met no button of the toolbar."""
        if self.session.stage == "curtain":
            self.session.lift_curtain()
        elif not self.playback.has_rested:
            self.playback.skip()
        elif self.session.stage == "ordering":
            self._click_while_ordering(pixel)

    def handle(self, event: pygame.event.Event) -> None:
        """Do what an event asks for; behind a curtain every key and button lifts it first."""
        starts = event.type == pygame.KEYDOWN or (event.type == pygame.MOUSEBUTTONDOWN and event.button == 1)
        leaves = event.type == pygame.KEYDOWN and event.key in (pygame.K_q, pygame.K_ESCAPE)
        if self.session.stage == "curtain" and starts and not leaves:
            self.session.lift_curtain()
        else:
            super().handle(event)

    def _click_while_ordering(self, pixel: tuple[int, int]) -> None:
        desk = self.session.desk
        assert desk is not None
        listed = self.menu or (self._choices() if desk.selected is not None else [])
        self.menu = []
        for option, rect in listed:
            if rect.collidepoint(pixel):
                self._choose(option)
                return
        satellite = satellite_at(self.picture.layout, self._satellites(), self._slots(), pixel)
        meant = self._meant(satellite, pixel)
        if len(meant) == 1:
            desk.give(meant[0].order)
        elif meant:
            self.menu = choices.place_menu(self.picture.layout, meant, pixel)
        elif satellite is not None and satellite.side == desk.side and desk.options(satellite.number):
            desk.select(satellite.number)
        else:
            desk.select(None)

    def _choose(self, option: Option | None) -> None:
        desk = self.session.desk
        assert desk is not None
        if option is not None:
            desk.give(option.order)
        elif desk.selected is not None:
            desk.hold(desk.selected)

    def _meant(self, satellite: SatelliteId | None, pixel: tuple[int, int]) -> list[Option]:
        """Return the selected satellite's options that a click on a satellite, or on a sector, may mean."""
        desk = self.session.desk
        assert desk is not None
        options = desk.options(desk.selected)
        aimed = [option for option in options if option.aim is not None and option.aim == satellite]
        if aimed or (satellite is not None and satellite.side == desk.side and desk.options(satellite.number)):
            return aimed  # none: it selects that satellite, even where the selected one could move to its sector
        sector = self.picture.layout.geometry.sector_of(pixel)
        return [option for option in options if option.sector is not None and option.sector == sector]

    def _choices(self) -> choices.Choices:
        desk = self.session.desk
        assert desk is not None
        return choices.place_options(self.picture.layout, desk.options(desk.selected))

    def _satellites(self) -> tuple[Satellite, ...]:
        return all_satellites(self.playback.scene.game)

    def _slots(self) -> dict[SatelliteId, Slot]:
        return satellite_slots(self.picture.layout.geometry, self._satellites())

    # Drawing

    def paint(self) -> pygame.Surface:
        """Draw the game."""
        return self.picture.draw(self.playback.scene, self.playback.progress)

    def paint_over(self, surface: pygame.Surface) -> None:
        """Draw what may be ordered and what has been, or the curtain."""
        desk, layout = self.session.desk, self.picture.layout
        if self.session.stage == "ordering" and desk is not None and self.playback.has_rested:
            order_art.put_desk(surface, layout, self._slots(), desk, with_prices=not self.menu)
            if desk.selected is not None:
                choices.draw_options(surface, layout, desk, self._choices(), self.pointed_at)
            choices.draw_menu(surface, layout, self.menu, self.pointed_at)
        size = layout.text_size("normal")
        place = layout.toolbar.left, layout.toolbar.top + layout.line("normal") // 2
        glyphs.put_text(surface, glyphs.fitted(self.prompt, size, layout.toolbar.width), size, theme.CHOICE, place)

    def draw(self) -> pygame.Surface:
        """Draw the window, all of it behind the curtain if there is one."""
        surface = super().draw()
        if self.session.stage == "curtain" and self.session.side is not None:
            order_art.draw_curtain(surface, self.picture.layout, self.session.side)
        return surface

    @property
    def prompt(self) -> str:
        """What there is to do now."""
        session, desk = self.session, self.session.desk
        if session.stage == "over":
            return "The game is over."
        if session.stage == "waiting":
            return "Waiting for the other side's orders."
        if desk is None:
            return "Click to go on at once."
        who = f"{desk.side.capitalize()}: " if len(session.people) > 1 else ""
        if desk.selected is not None:
            phase = session.live.timeline[-1].game.phase
            return who + (
                "click where it should go, or an order" if phase == "movement" else "click a target or an order"
            )
        held = "" if desk.pending else "; all others hold"
        return f"{who}click one of your satellites, then Commit{held}"
