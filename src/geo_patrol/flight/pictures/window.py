"""The window: shows flights, and lets a player fly one. Closing it ends neither an episode nor a program."""

import os

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")

import pygame

from geo_patrol.flight.flight import Flight
from geo_patrol.flight.pictures.chart import GREY, MARGIN, PAPER, Layout
from geo_patrol.flight.pictures.scene import COASTED, FLOWN, PULLED, add_choice, add_outlook, flight_drawing
from geo_patrol.rendering.painter import paint_drawing
from geo_patrol.rendering.screen import Event, Screen
from geo_patrol.scenes.shapes import Drawing, Text

_CLICK_RANGE = 18.0
_STEP_SECONDS = 0.25
_FPS = 30
_HELP = "click an endpoint, or arrow keys and Enter; Backspace takes a turn back, R starts again, Esc leaves"
_LETTERS = [ord(letter) for letter in "swedcxzaq"]
_KEYPAD = [getattr(pygame, f"K_KP{digit}") for digit in "589632147"]
_KEYS = {key: order for keys in (_LETTERS, _KEYPAD) for order, key in enumerate(keys)}
"""Orders by key: around S, and around 5 on the keypad, keys lie in the directions of the engines."""


class Window:
    """A window that shows drawings, as large as fits.

    Args:
        fps: turns a second that ``show`` plays, all steps of a turn together.
        screen: where drawings are shown, which stays open; by default, one of its own.
    """

    def __init__(self, fps: float = 4.0, screen: Screen | None = None) -> None:
        self._seconds = 1.0 / fps
        self._screen = screen
        self._owns_screen = screen is None
        self._is_closed = False
        self._events: list[Event] = []
        self._shown: tuple[int, ...] = ()
        self._scale = 1.0

    @property
    def is_closed(self) -> bool:
        """Whether it has been closed, by the user or by ``close``."""
        return self._is_closed or (self._screen is not None and not self._screen.is_open)

    def show(self, flight: Flight) -> None:
        """Show a flight, the steps of a new turn one after the other. Do nothing after it was closed."""
        orders = tuple(flight.order_codes)
        is_new = flight.turn and orders != self._shown
        self._shown = orders
        steps = (COASTED, PULLED, FLOWN) if is_new and not flight.mission.is_probe else (FLOWN,)
        for step in steps:
            self.handle_events()
            if self.is_closed:
                return
            self.draw(flight_drawing(flight, steps=step))
            self.wait(self._seconds / len(steps))

    def draw(self, drawing: Drawing) -> None:
        """Show a drawing.

        Raises:
            NoScreenError: there is no screen.
        """
        if self.is_closed:
            return
        if self._screen is None:
            self._screen = Screen("geo_patrol: flight", (round(drawing.width), round(drawing.height)))
        picture = pygame.Surface(self._screen.size)
        picture.fill(PAPER)
        width, height = self.paint_beside(picture, drawing)
        self._scale = min(width / drawing.width, height / drawing.height)
        picture.blit(paint_drawing(drawing, self._scale), (0, 0))
        self._screen.show(picture)

    def paint_beside(self, picture: pygame.Surface, drawing: Drawing) -> tuple[int, int]:  # noqa: ARG002
        """Paint what the window shows besides a drawing; return the width and height that are left for the drawing."""
        return picture.get_size()

    def position_of(self, point: tuple[int, int]) -> tuple[float, float]:
        """Return the position on the drawing of a point of the window."""
        assert self._screen is not None
        x, y = self._screen.pixel(point)
        return x / self._scale, y / self._scale

    def handle_events(self) -> list[Event]:
        """Return the events since the last call; a closing event closes the window."""
        self._receive()
        events, self._events = self._events, []
        return events

    def wait(self, seconds: float) -> None:
        """Wait; end early when the user closes the window."""
        until = pygame.time.get_ticks() + 1000 * seconds
        while not self.is_closed and pygame.time.get_ticks() < until:
            pygame.time.wait(10)
            self._receive()

    def _receive(self) -> None:
        if self._screen is not None and not self.is_closed:
            self._events += self._screen.events()
        if self.is_closed:
            self._events = []

    def close(self) -> None:
        """Close the window."""
        self._is_closed = True
        if self._screen is not None and self._owns_screen:
            self._screen.close()


def order_label(flight: Flight, code: int) -> str:
    """Return an order with what the player should know of it: that it leads off the map, and its cost."""
    cost = flight.cost_of(code)
    off = "" if flight.mission.is_on_map(flight.end_of(code)) else ", off the map"
    return flight.order_text(code) + off + (f" ({-cost})" if cost else "")


class Player:
    """Lets a user fly a mission in a window.

    Args:
        flight: where the flight begins.
        window: where it is shown.
    """

    def __init__(self, flight: Flight, window: Window) -> None:
        self._window = window
        self._layout = Layout(flight.mission)
        self._set_flight(flight)

    def play(self) -> Flight:
        """Return the flight as it is when the user leaves.

        Raises:
            NoScreenError: there is no screen.
        """
        while not self._window.is_closed:
            if self._changed:
                self._draw()
            for event in self._window.handle_events():
                self._handle(event)
            self._window.wait(1 / _FPS)
        return self.flight

    def _set_flight(self, flight: Flight) -> None:
        self.flight = flight
        self._orders: list[int] = flight.action_mask().nonzero()[0].tolist()
        self._choose(0)

    def _choose(self, index: int) -> None:
        self._chosen, self._changed = index, True

    def _draw(self) -> None:
        self._changed = False
        drawing, layout = flight_drawing(self.flight), self._layout
        if self.flight.mode in ("flying", "docked") and not self.flight.is_over:
            add_outlook(drawing, layout, self.flight)
        for index, order in enumerate(self._orders):
            if index != self._chosen:
                add_choice(drawing, layout, self.flight.end_of(order))
        if self._orders:
            order = self._orders[self._chosen]
            add_choice(drawing, layout, self.flight.end_of(order), order_label(self.flight, order))
        drawing.add(Text((drawing.width - MARGIN, layout.bottom + 72), _HELP, 11, GREY, "midright"))
        self._window.draw(drawing)

    def _handle(self, event: Event) -> None:
        if event.type in (pygame.WINDOWRESIZED, pygame.WINDOWEXPOSED):
            self._changed = True
        elif event.type == pygame.KEYDOWN:
            self._handle_key(event.key)
        elif event.type == pygame.MOUSEMOTION or (event.type == pygame.MOUSEBUTTONDOWN and event.button == 1):
            index = self._choice_at(event.pos)
            if index is None:
                return
            if index != self._chosen:
                self._choose(index)
            if event.type == pygame.MOUSEBUTTONDOWN:
                self._fly(self._orders[index])

    def _choice_at(self, point: tuple[int, int]) -> int | None:
        """Return the index of the order whose endpoint is nearest to a point of the window; None if none is near."""
        x, y = self._window.position_of(point)
        ends = [self._layout.at(self.flight.end_of(order)) for order in self._orders]
        distances = [max(abs(end[0] - x), abs(end[1] - y)) for end in ends]
        nearest = min(distances, default=_CLICK_RANGE)
        return distances.index(nearest) if nearest < _CLICK_RANGE else None

    def _handle_key(self, key: int) -> None:
        mission, orders, count = self.flight.mission, self.flight.order_codes, len(self._orders)
        if key == pygame.K_ESCAPE:
            self._window.close()
        elif key == pygame.K_BACKSPACE:
            self._set_flight(Flight.from_orders(mission, orders[:-1]))
        elif key == pygame.K_r:
            self._set_flight(Flight(mission))
        elif count and key in (pygame.K_RIGHT, pygame.K_DOWN):
            self._choose((self._chosen + 1) % count)
        elif count and key in (pygame.K_LEFT, pygame.K_UP):
            self._choose((self._chosen - 1) % count)
        elif count and key in (pygame.K_RETURN, pygame.K_KP_ENTER, pygame.K_SPACE):
            self._fly(self._orders[self._chosen])
        elif _KEYS.get(key) in self._orders:
            self._fly(_KEYS[key])

    def _fly(self, order: int) -> None:
        """Fly a turn, and show its steps one after the other."""
        self.flight.fly(order)
        if not self.flight.mission.is_probe:
            for steps in (COASTED, PULLED):
                self._window.draw(flight_drawing(self.flight, steps=steps))
                self._window.wait(_STEP_SECONDS)
        self._set_flight(self.flight)
