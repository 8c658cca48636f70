"""The window: shows flights, and lets a player fly one. Closing it ends neither an episode nor a program."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")

import pygame

from geo_patrol.flight.flight import Flight
from geo_patrol.flight.grid import Point
from geo_patrol.flight.pictures.colors import GREY, PAPER
from geo_patrol.flight.pictures.layout import Layout
from geo_patrol.flight.pictures.scene import COASTED, FLOWN, PULLED, add_choice, add_outlook, flight_drawing
from geo_patrol.rendering.painter import paint_drawing
from geo_patrol.rendering.screen import Event, NoScreenError, Screen
from geo_patrol.scenes.shapes import Drawing, Text

_CLICK_RANGE = 18.0
_STEP_SECONDS = 0.25
_FPS = 30
_HELP = "click an endpoint, or arrow keys and Enter; Backspace takes a turn back, R starts again, Esc leaves"
_KEYS = {  # their places on the keyboard are the directions of the engines
    pygame.K_s: 0,
    pygame.K_w: 1,
    pygame.K_e: 2,
    pygame.K_d: 3,
    pygame.K_c: 4,
    pygame.K_x: 5,
    pygame.K_z: 6,
    pygame.K_a: 7,
    pygame.K_q: 8,
    pygame.K_KP5: 0,
    pygame.K_KP8: 1,
    pygame.K_KP9: 2,
    pygame.K_KP6: 3,
    pygame.K_KP3: 4,
    pygame.K_KP2: 5,
    pygame.K_KP1: 6,
    pygame.K_KP4: 7,
    pygame.K_KP7: 8,
}


class WindowError(RuntimeError):
    """There is no screen to open a window on."""


class Window:
    """A window that shows drawings, as large as fits.

    Args:
        fps: turns a second that ``show`` plays, all steps of a turn together.
    """

    def __init__(self, fps: float = 4.0) -> None:
        self._seconds = 1.0 / fps
        self._screen: Screen | None = None
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
            WindowError: there is no screen.
        """
        if self.is_closed:
            return
        if self._screen is None:
            self._screen = _open(drawing)
        picture = pygame.Surface(self._screen.size)
        width, height = picture.get_size()
        self._scale = min(width / drawing.width, height / drawing.height)
        picture.fill(PAPER)
        picture.blit(paint_drawing(drawing, self._scale), (0, 0))
        self._screen.show(picture)

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
        if self._screen is not None:
            self._screen.close()


def _open(drawing: Drawing) -> Screen:
    try:
        return Screen("geo_patrol: flight", (round(drawing.width), round(drawing.height)))
    except NoScreenError as error:
        alternative = 'give render_mode "rgb_array" or "ansi", or geo-patrol fly --text'
        raise WindowError(f"no window can be opened here: {error}; or {alternative}") from None


@dataclass(frozen=True)
class Choice:
    """An order that the player can give, and where it leads."""

    order: int
    end: Point
    label: str


def choices(flight: Flight) -> list[Choice]:
    """Return the orders that a player can choose from."""
    return [
        Choice(code, flight.end_of(code), _label(flight, code)) for code in flight.action_mask().nonzero()[0].tolist()
    ]


def _label(flight: Flight, code: int) -> str:
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
        self.flight = flight
        self._window = window
        self._chosen = 0
        self._changed = True

    def play(self) -> Flight:
        """Return the flight as it is when the user leaves.

        Raises:
            WindowError: there is no screen.
        """
        while not self._window.is_closed:
            if self._changed:
                self._draw()
            for event in self._window.handle_events():
                self._handle(event)
            self._window.wait(1 / _FPS)
        return self.flight

    def _draw(self) -> None:
        self._changed = False
        drawing = flight_drawing(self.flight)
        layout = Layout(self.flight.mission)
        offered = choices(self.flight)
        if self.flight.mode in ("flying", "docked") and not self.flight.is_over:
            add_outlook(drawing, layout, self.flight)
        for index, choice in enumerate(offered):
            if index != self._chosen:
                add_choice(drawing, layout, choice.end, choice.label, is_chosen=False)
        if offered:
            chosen = offered[self._chosen]
            add_choice(drawing, layout, chosen.end, chosen.label, is_chosen=True)
        drawing.add(Text((drawing.width - 24, layout.bottom + 72), _HELP, 11, GREY, "midright"))
        self._window.draw(drawing)

    def _handle(self, event: Event) -> None:
        if event.type in (pygame.WINDOWRESIZED, pygame.WINDOWEXPOSED):
            self._changed = True
        elif event.type == pygame.MOUSEMOTION:
            self._point_at(event.pos)
        elif event.type == pygame.MOUSEBUTTONDOWN and event.button == 1:
            if self._point_at(event.pos):
                self._fly(choices(self.flight)[self._chosen].order)
        elif event.type == pygame.KEYDOWN:
            self._handle_key(event.key)

    def _point_at(self, point: tuple[int, int]) -> bool:
        """Choose the endpoint under the mouse; return whether there is one."""
        position = self._window.position_of(point)
        nearest = nearest_choice(Layout(self.flight.mission), choices(self.flight), position)
        if nearest is None:
            return False
        self._changed |= nearest != self._chosen
        self._chosen = nearest
        return True

    def _handle_key(self, key: int) -> None:
        offered = choices(self.flight)
        if key == pygame.K_ESCAPE:
            self._window.close()
        elif key == pygame.K_BACKSPACE:
            self._set_flight(self.flight.order_codes[:-1])
        elif key == pygame.K_r:
            self._set_flight([])
        elif offered and key in (pygame.K_RIGHT, pygame.K_DOWN):
            self._choose((self._chosen + 1) % len(offered))
        elif offered and key in (pygame.K_LEFT, pygame.K_UP):
            self._choose((self._chosen - 1) % len(offered))
        elif offered and key in (pygame.K_RETURN, pygame.K_KP_ENTER, pygame.K_SPACE):
            self._fly(offered[self._chosen].order)
        elif _KEYS.get(key) in [choice.order for choice in offered]:
            self._fly(_KEYS[key])

    def _choose(self, index: int) -> None:
        self._chosen, self._changed = index, True

    def _set_flight(self, orders: list[int]) -> None:
        self.flight = Flight.from_orders(self.flight.mission, orders)
        self._choose(0)

    def _fly(self, order: int) -> None:
        """Fly a turn, and show its steps one after the other."""
        self.flight.fly(order)
        if not self.flight.mission.is_probe:
            for steps in (COASTED, PULLED):
                self._window.draw(flight_drawing(self.flight, steps=steps))
                self._window.wait(_STEP_SECONDS)
        self._choose(0)


def nearest_choice(layout: Layout, offered: Sequence[Choice], position: tuple[float, float]) -> int | None:
    """Return which choice's endpoint is near a position on the drawing; None if none is."""
    best, nearest = None, _CLICK_RANGE
    for index, choice in enumerate(offered):
        x, y = layout.at(choice.end)
        distance = max(abs(x - position[0]), abs(y - position[1]))
        if distance < nearest:
            best, nearest = index, distance
    return best
