"""Play the guided first game in a real window, with xdotool moving and pressing the mouse; run by test_real_windows."""

import sys

import pygame
from drive_real_window import Hand, click_token

from geo_patrol import Order
from geo_patrol.rendering.learn import LearnWindow

COMMIT, NEXT = "commit the orders of this phase", "the next step"


def give(hand, order):
    """Click a satellite, and an order in its list."""
    window = hand.window
    click_token(hand, order.satellite, "alpha")
    assert window.session.entry.selected == order.satellite
    rects = {option.order: rect for option, rect in window._option_buttons() if option is not None}
    hand.click(rects[order].center)
    assert window.session.entry.pending[order.satellite] == order


def do_something_else(hand):
    """Commit what the step does not require."""
    window, step = hand.window, hand.window.lesson.step
    if not step.orders and step.select is None:
        entry = window.session.entry
        give(hand, entry.options(3)[0].order)
    hand.push(COMMIT)
    assert window.session.card.hint
    assert not window.lesson.is_done
    assert len(window.session.live.timeline) == 1
    if window.session.entry.orders:
        hand.push("undo")


def do_step(hand):
    window, step = hand.window, hand.window.lesson.step
    if step.select is not None:
        click_token(hand, 0, "alpha")
    else:
        for order in step.orders:
            give(hand, Order.parse(order))
        hand.push(COMMIT)
        while not window.lesson.is_done:
            hand.click((20, 20))
    assert window.lesson.is_done


def play_by_mouse(size):
    window = LearnWindow(size)
    assert pygame.display.get_driver() == "x11"
    assert window.screen.size == size
    hand = Hand(window)
    hand.wait(0.5)
    hand.click((20, 20))  # the first click may only raise the window
    steps = 0
    while True:
        hand.push(NEXT)
        assert window.lesson.index == steps  # it is not open yet
        do_something_else(hand)
        do_step(hand)
        steps += 1
        if window.lesson.is_last:
            break
        hand.push(NEXT)
    assert window.session.live.is_over
    window.screen.close()
    return steps


if __name__ == "__main__":
    width, height = map(int, sys.argv[1].split("x"))
    print(f"{play_by_mouse((width, height))} steps")  # noqa: T201
