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

    def wait(self, seconds=0.1):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for event in self.window.handle_events():
                self.player._handle(event)
            self.player._draw()
            time.sleep(0.01)

    def click(self, pixel):
        left, top = self.window._screen._window.position
        x, y = left + round(pixel[0]), top + round(pixel[1])
        subprocess.run(["xdotool", "mousemove", str(x), str(y), "click", "1"], check=True)
        self.wait()

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
    hand.wait(0.5)
    hand.click((2, 2))  # the first click may only raise the window
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
