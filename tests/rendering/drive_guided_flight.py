"""Fly the guided first flight in a real window, with xdotool moving and pressing the mouse; run by test_real_windows."""

import subprocess
import time

import pygame

from geo_patrol.flight.lesson import FlightLesson
from geo_patrol.flight.pictures.learn import LessonPlayer, LessonWindow


class Hand:
    """Moves the mouse over the window and clicks."""

    def __init__(self, player, window):
        self.player, self.window = player, window

    def run(self):
        """Handle the events that are there; return their types."""
        events = self.window.handle_events()
        for event in events:
            self.player._handle(event)
        self.player._draw()
        time.sleep(0.01)
        return {event.type for event in events}

    def click(self, pixel):
        """Press the mouse at a pixel, and wait until the window has received that."""
        left, top = self.window._screen._window.position
        x, y = left + round(pixel[0]), top + round(pixel[1])
        subprocess.run(["xdotool", "mousemove", str(x), str(y), "click", "1"], check=True)
        end = time.monotonic() + 20
        while pygame.MOUSEBUTTONDOWN not in self.run():
            assert time.monotonic() < end, "no click"

    def click_end_of(self, order):
        flight = self.player.flight
        x, y = self.player._layout.at(flight.end_of(flight.read_order(order)))
        self.click((x * self.window._scale, y * self.window._scale))


def fly_by_mouse():
    window = LessonWindow()
    player = LessonPlayer(FlightLesson(), window)
    player._draw()
    assert pygame.display.get_driver() == "x11"
    hand = Hand(player, window)
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        hand.run()
    hand.click((2, 2))
    steps = 0
    for step in player.lesson.steps:
        assert player.lesson.step is step
        hand.click_end_of(next(order for order in player.flight.legal_orders() if order != step.orders[0]))
        assert player.card.hint
        hand.click_end_of(step.orders[0])
        assert player.lesson.is_done
        hand.click(window.card_area.center)
        steps += 1
    assert player.flight.is_over
    window.close()
    return steps


if __name__ == "__main__":
    print(f"{fly_by_mouse()} steps")  # noqa: T201
