"""Use the help, the notes and the hints of a real window with the mouse alone; run by test_real_windows.

The argument is the window's size, such as 480x360.
"""

import subprocess
import sys

import pygame
from drive_real_window import Hand
from golden_images import playing

from geo_patrol.scenes.pages import lay_out_page


def turn_wheel(hand, pixel, button):
    """Turn the wheel over a pixel: button 4 is up, 5 down."""
    left, top = hand.window.screen.window.position
    command = ["xdotool", "mousemove", str(left + pixel[0]), str(top + pixel[1]), "click", str(button)]
    subprocess.run(command, check=True)
    hand.wait(0.1)


def use_help(size):
    window = playing()
    window.screen.window.size = size
    assert pygame.display.get_driver() == "x11"
    hand = Hand(window)
    hand.wait(0.5)
    assert window.screen.size == size
    hand.click((20, 20))  # the first click may only raise the window
    hand.push("show or hide this page")
    for title in ("Aim", "Costs", "Keys"):
        tabs = lay_out_page(window.layout, size, window.page).tabs
        hand.click(next(rect for tab, rect in zip(window.page.tabs, tabs, strict=True) if tab.title == title).center)
        assert window.page.tab.title == title
    turn_wheel(hand, window.layout.board.center, 5)
    hand.click((20, 20))
    assert window.page is None
    hand.click(window.note_area.center)
    assert window.page.tab.title == "Danger"
    hand.click((20, 20))
    turn_wheel(hand, window.layout.outcomes.center, 5)
    assert window.page.tab.title == "Last turn"
    hand.click((20, 20))
    hand.push("a hint: the orders that a search finds best")
    assert window.notes.hint is not None
    hand.click(window.note_area.center)
    assert window.session.entry.orders == window.notes.hint.orders
    hand.push("commit the orders of this phase")
    assert len(window.session.live.timeline) == 2
    window.screen.close()


if __name__ == "__main__":
    width, height = map(int, sys.argv[1].split("x"))
    use_help((width, height))
    print("used")  # noqa: T201
