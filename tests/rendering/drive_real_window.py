"""Play a whole game in a real window, with xdotool moving and pressing the mouse; run by test_real_windows."""

import random
import subprocess
import time

import pygame

from geo_patrol import SatelliteId, load_config, make_agent
from geo_patrol.rendering.play import PlayWindow
from geo_patrol.scenes.panel import row_of
from geo_patrol.sessions.live import LiveGame


class Hand:
    """Moves the mouse over the window and clicks."""

    def __init__(self, window):
        self.window, self.clicks = window, 0

    def wait(self, seconds=0.03):
        """Let the window run on."""
        last, end = time.monotonic(), time.monotonic() + seconds
        while time.monotonic() < end:
            for event in self.window.screen.events():
                self.window.handle(event)
            now = time.monotonic()
            self.window.tick(now - last)
            last = now
            time.sleep(0.005)
        if self.window.screen.is_open:
            self.window.screen.show(self.window.draw())

    def click(self, pixel):
        left, top = self.window.screen.window.position
        subprocess.run(["xdotool", "mousemove", str(left + pixel[0]), str(top + pixel[1]), "click", "1"], check=True)
        self.clicks += 1
        self.wait()

    def push(self, name):
        self.click(self.window.bar.rect_of(name).center)


def click_token(hand, number, side="bravo"):
    """Click a satellite on the board, or in its fleet if it is in a stack."""
    window, anchors = hand.window, hand.window._anchors()
    anchor = anchors[SatelliteId(side, number)]
    if list(anchors.values()).count(anchor) > 1:
        hand.click(row_of(window.layout, side, number).center)
        return
    across, down = window.layout.geometry.point(anchor.position)
    hand.click((round(across), round(down)))


def order(hand, rng):
    """Give some satellites orders by clicking them and one of their options."""
    window, entry = hand.window, hand.window.session.entry
    for number in range(11):
        if entry.options(number) and rng.random() < 0.25:
            click_token(hand, number)
            assert entry.selected == number, (entry.selected, number)
            option, rect = rng.choice(window._option_buttons()[:-1])
            hand.click(rect.center)
            assert entry.pending[number] == option.order
    before = entry.orders
    if before:
        hand.push("undo")
        assert entry.orders != before
    hand.push("commit the orders of this phase")


def play_by_mouse():
    config = load_config("geo_patrol")
    window = PlayWindow(lambda: LiveGame(config, (make_agent("scripted"), None), 4))
    assert pygame.display.get_driver() == "x11"
    hand, rng = Hand(window), random.Random(1)
    hand.wait(0.5)
    hand.click((20, 20))  # the first click may only raise the window
    while window.session.stage != "over":
        if window.session.stage == "showing" or not window.playback.is_finished:
            hand.click((20, 20))
        else:
            order(hand, rng)
    assert window.session.live.is_over
    hand.push("a new game")
    assert window.session.stage == "ordering"
    window.screen.close()
    return hand.clicks


if __name__ == "__main__":
    print(f"played to the end with {play_by_mouse()} clicks")  # noqa: T201
