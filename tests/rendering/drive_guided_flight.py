"""Fly the guided first flight in a real window, with xdotool moving and pressing the mouse; run by test_real_windows."""

import subprocess
import time

import pygame

from geo_patrol.flight.lesson import FlightLesson
from geo_patrol.flight.pictures.learn import LessonWindow


class Hand:
    """Moves the mouse over the window and clicks."""

    def __init__(self, window):
        self.window = window

    def run(self):
        """Handle the events that are there, and show turns at once; return the types of the events."""
        events = self.window.events()
        for event in events:
            self.window.handle(event)
        while self.window.tick(1):
            pass
        self.window.screen.show(self.window.draw())
        time.sleep(0.01)
        return {event.type for event in events}

    def click(self, pixel):
        """Press the mouse at a pixel, and wait until the window has received that."""
        left, top = self.window.screen.window.position
        x, y = left + round(pixel[0]), top + round(pixel[1])
        subprocess.run(["xdotool", "mousemove", str(x), str(y), "click", "1"], check=True)
        end = time.monotonic() + 20
        while pygame.MOUSEBUTTONDOWN not in self.run():
            assert time.monotonic() < end, "no click"

    def click_end_of(self, order):
        self.click(self.window.pixel_of(self.window.flight.read_order(order)))


def fly_by_mouse():
    lesson = FlightLesson()
    window = LessonWindow(lesson)
    assert pygame.display.get_driver() == "x11"
    hand = Hand(window)
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        hand.run()
    hand.click((2, 2))
    steps = 0
    for step in lesson.steps:
        assert lesson.step is step
        hand.click_end_of(next(order for order in window.flight.legal_orders() if order != step.orders[0]))
        assert window.card.hint
        hand.click_end_of(step.orders[0])
        assert lesson.is_done
        hand.click(window.card_area.center)
        steps += 1
    assert window.flight.is_over
    window.screen.close()
    return steps


if __name__ == "__main__":
    print(f"{fly_by_mouse()} steps")  # noqa: T201
