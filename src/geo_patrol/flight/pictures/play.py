"""The window to fly in: choose an endpoint of each turn, with the mouse or with keys."""

from pathlib import Path

import pygame

from geo_patrol.config.toml_files import mission_names
from geo_patrol.files import atomic_write
from geo_patrol.flight.best import name_of
from geo_patrol.flight.flight import ENGINE_KEYS, Flight
from geo_patrol.flight.mission import Mission, load_mission
from geo_patrol.flight.pictures.scene import COASTED, FLOWN, PULLED, flight_svg
from geo_patrol.flight.pictures.view import FlightView
from geo_patrol.flight.solver import QUICK_STATES, Solution, solve
from geo_patrol.rendering.controls import Control
from geo_patrol.rendering.screen import Event, Screen

_STEP_SECONDS = 0.25
_SOLVER = "the solver"
_KEYPAD = [f"[{digit}]" for digit in "589632147"]
"""Orders by key: around 5 on the keypad, keys lie in the directions of the engines."""


def fly(flight: Flight, screen: Screen | None = None, *, is_shown: bool = False) -> Flight:
    """Let a user fly until the window is closed, or left; return the flight.

    Args:
        flight: where it begins.
        screen: where it is shown; by default, a window of its own.
        is_shown: whether the flight so far is shown turn by turn first.

    Raises:
        NoScreenError: there is no screen.
    """
    window = FlightWindow(flight, screen)
    if is_shown:
        window.show_flight()
    window.run()
    return window.flight


class FlightWindow(FlightView):
    """The window of ``fly``."""

    _elapsed = 0.0
    """Seconds since the step of a turn that is shown."""

    def make_controls(self) -> list[Control]:
        """Return the controls for flying."""
        choosing, flown = self._can_fly, self._has_flown
        engines = [
            Control(f"engines {i}" if i else "coast", lambda i=i: self._fly_if_legal(i), (letter, key))  # type: ignore[misc]
            for i, (letter, key) in enumerate(zip(ENGINE_KEYS, _KEYPAD, strict=True))
        ]
        return [
            Control(
                "fly the chosen order", self._fly_chosen, ("return", "enter", "space"), label="Fly", is_open=choosing,
                is_main=True,
            ),
            Control("choose the next endpoint", self._choose_next, ("right", "down"), is_open=choosing),
            Control("choose the endpoint before", self._choose_previous, ("left", "up"), is_open=choosing),
            Control("undo: take the last turn back", self._undo, ("backspace", "u"), label="Undo", is_open=flown),
            Control("start again", self._restart, ("r",), label="Again", is_open=flown),
            Control("a hint: the best order that the solver finds", self._hint, ("i",), label="Hint", is_open=choosing),
            Control("show the best flight that the solver finds", self._solve, ("b",), label="Solve"),
            Control("the next mission", self._next_mission, ("n",), label="Next mission"),
            Control("save the flight: its picture and its orders", self._save, ("f",), label="Save"),
            *engines,
        ]  # fmt: skip

    # Time and clicks

    def tick(self, seconds: float) -> bool:
        """Show the steps of a turn one after the other."""
        if not self.animation:
            return False
        self._elapsed += seconds
        if self._elapsed >= _STEP_SECONDS:
            self._elapsed = 0.0
            self.animation.popleft()
            self.drawing = None
        return True

    def handle(self, event: Event) -> None:
        """Handle an event; pointing at an endpoint chooses it."""
        super().handle(event)
        if event.type == pygame.MOUSEMOTION and self.screen.is_open and self.page is None:
            index = self.choice_at(self.screen.pixel(event.pos))
            if index is not None and index != self.chosen:
                self.choose(index)

    def click(self, pixel: tuple[int, int]) -> None:
        """Fly to the endpoint that was clicked; while a turn is shown, skip the rest of it."""
        if self.animation:
            self._skip()
            return
        index = self.choice_at(pixel)
        if index is not None:
            self.fly(self.orders[index])

    def scroll_content(self, rows: int) -> None:
        """Choose another endpoint with the wheel."""
        if self._can_fly():
            self.choose((self.chosen + (1 if rows > 0 else -1)) % len(self.orders))

    # Controls

    def _can_fly(self) -> bool:
        return bool(self.orders) and not self.animation

    def _has_flown(self) -> bool:
        return self.flight.turn > 0

    def _choose_next(self) -> None:
        self.choose((self.chosen + 1) % len(self.orders))

    def _choose_previous(self) -> None:
        self.choose((self.chosen - 1) % len(self.orders))

    def _skip(self) -> None:
        self.animation.clear()
        self.drawing = None

    def _fly_chosen(self) -> None:
        self.fly(self.orders[self.chosen])

    def _fly_if_legal(self, order: int) -> None:
        if order in self.orders:
            self.fly(order)

    def fly(self, order: int) -> None:
        """Fly a turn, and show its steps one after the other."""
        self.flight.fly(order)
        self.set_flight(self.flight)
        self._show_turns([self.flight.copy()])

    def show_flight(self) -> None:
        """Show the flight from its start, turn by turn."""
        codes = self.flight.order_codes
        self._show_turns([Flight.from_orders(self.flight.mission, codes[: i + 1]) for i in range(len(codes))])

    def _show_turns(self, flights: list[Flight]) -> None:
        """Show the last turn of each flight step by step."""
        self._skip()
        for flight in flights:
            steps = (FLOWN,) if flight.mission.is_probe else (COASTED, PULLED, FLOWN)
            self.animation.extend((flight, step) for step in steps)

    def _undo(self) -> None:
        self._skip()
        self.set_flight(Flight.from_orders(self.flight.mission, self.flight.order_codes[:-1]))

    def _restart(self) -> None:
        self._skip()
        self.set_flight(Flight(self.flight.mission))

    def _hint(self) -> None:
        """Choose the next order of the best flight that goes on from here."""
        solution = self._find(self.flight.copy())
        code = solution.flight.order_codes[self.flight.turn]
        self.choose(self.orders.index(code))
        self.show_message(f"{self.flight.order_text(code)}: {solution.summary}")

    def _solve(self) -> None:
        """Show the best flight of the mission, turn by turn."""
        solution = self._find(Flight(self.flight.mission))
        self.set_flight(solution.flight)
        self.show_flight()
        self.show_message(solution.summary)

    def _find(self, start: Flight) -> Solution:
        return self.wait_for_agent(_SOLVER, lambda: solve(start, max_states=QUICK_STATES))

    def _next_mission(self) -> None:
        names = mission_names()
        name = name_of(self.flight.mission)
        self.open(load_mission(names[(names.index(name) + 1) % len(names)] if name in names else names[0]))

    def open(self, mission: Mission) -> None:
        """Start another mission."""
        self._skip()
        self.set_flight(Flight(mission))
        self.screen.set_title(f"geo_patrol: {mission.title}")

    def _save(self) -> None:
        """Write picture and orders into the current folder, beside the files that are there."""
        number = 1
        while any(Path(f"flight-{number}{suffix}").exists() for suffix in (".svg", ".txt")):
            number += 1
        orders = "; ".join(turn.order for turn in self.flight.turns if turn.order)
        try:
            for suffix, text in ((".svg", flight_svg(self.flight)), (".txt", f"{orders}\n")):
                with atomic_write(f"flight-{number}{suffix}") as file:
                    file.write(text)
        except OSError as error:
            self.show_message(f"the flight could not be saved: {error}")
        else:
            self.show_message(f"saved flight-{number}.svg, and its orders in flight-{number}.txt")
