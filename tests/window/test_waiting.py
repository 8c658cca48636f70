"""Windows while an agent computes its orders: they are shown, handle urgent events at once, and close."""

import threading

import numpy as np
import pygame
import pytest

from geo_patrol import AgentError, load_config, make_agent
from geo_patrol.drawing import screen
from geo_patrol.play.live import LiveGame
from geo_patrol.window.watch import WatchWindow, watch

CONFIG = load_config("geo_patrol")


class Ponderer:
    """Returns no orders until it may decide."""

    name, observation = "ponderer", "tokens"

    def __init__(self):
        self.may_decide, self.threads = threading.Event(), set()

    def reset(self, new_games):
        pass

    def act(self, observations, action_masks, generator):
        self.threads.add(threading.get_ident())
        assert self.may_decide.wait(60)
        return np.full((1, 11), 26)


@pytest.fixture
def ponderer():
    agent = Ponderer()
    yield agent
    agent.may_decide.set()


def when_shown(monkeypatch, *steps):
    """Run steps one after the other when the window is shown, each until it returns True."""
    waiting = list(steps)

    def show(_screen, _picture):
        if waiting and waiting[0]():
            waiting.pop(0)

    monkeypatch.setattr(screen.Screen, "show", show)
    return waiting


def post_key(window, key, character=""):
    pressed = {"key": key, "unicode": character, "mod": 0, "window": window.screen.window}
    return pygame.event.post(pygame.event.Event(pygame.KEYDOWN, **pressed))


def test_a_window_handles_keys_that_were_pressed_while_an_agent_was_thinking(ponderer, monkeypatch):
    live = LiveGame(CONFIG, (ponderer, make_agent("idle")), 1)
    window = WatchWindow(live.timeline, live.advance)
    left = when_shown(
        monkeypatch,
        lambda: window._message == "ponderer is thinking" and post_key(window, pygame.K_SPACE, " "),
        lambda: len(window._deferred) == 1 and window.playback.is_playing,
        lambda: ponderer.may_decide.set() is None,
        lambda: len(live.timeline) == 2 and not window.playback.is_playing and not window._message,
        lambda: post_key(window, pygame.K_RIGHT),
        lambda: post_key(window, pygame.K_RIGHT),
        lambda: len(live.timeline) == 3 and post_key(window, pygame.K_q, "q"),
    )
    window.run()
    assert left == []
    (thread,) = ponderer.threads  # always the same one
    assert thread != threading.get_ident()


@pytest.mark.parametrize("closed", ["by key", "by its frame"])
def test_a_window_closes_while_an_agent_thinks(closed, ponderer, monkeypatch):
    live = LiveGame(CONFIG, (ponderer, make_agent("idle")), 1)
    window = WatchWindow(live.timeline, live.advance)
    quit_event = pygame.event.Event(pygame.QUIT)
    close = {"by key": lambda: post_key(window, pygame.K_q, "q"), "by its frame": lambda: pygame.event.post(quit_event)}
    assert when_shown(monkeypatch, close[closed]) != []
    window.run()
    assert not ponderer.may_decide.is_set()
    assert len(live.timeline) == 1
    assert not window.screen.is_open


def test_an_agent_that_fails_in_its_thread_closes_the_window(ponderer):
    live = LiveGame(CONFIG, (ponderer, make_agent("idle")), 1)
    ponderer.may_decide = None
    with pytest.raises(AgentError, match="agent 'ponderer': act raised AttributeError"):
        watch(live.timeline, live.advance)
    assert screen.open_screens == []
    ponderer.may_decide = threading.Event()
