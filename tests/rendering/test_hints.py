"""Hints in the window to play in: asked for by key or button, shown, taken, and gone with the position."""

import threading

import numpy as np
import pygame
import pytest
from positions import arranged
from test_windows import click, playing, press, push

from geo_patrol import Game, Order
from geo_patrol.agents.search import Search, SearchAgent
from geo_patrol.rendering import order_window
from geo_patrol.scenes.orders import hint_shapes
from geo_patrol.scenes.shapes import Polyline
from geo_patrol.sessions import advice
from geo_patrol.sessions.advice import Hint, find_hint

SUGGESTED = Hint((Order(9, "prograde"), Order(10, "radial_in")), 0.625, 80)


@pytest.fixture
def quick(monkeypatch):
    """Search with few rollouts; return the agent."""
    agent = SearchAgent(Search(rollouts=48, candidates=4))
    monkeypatch.setattr(advice, "HINT_AGENT", agent)
    return agent


def test_a_hint_is_what_the_search_chooses_with_the_fraction_that_it_won(quick):
    game = Game("geo_patrol", seed=1)
    advice = quick.advise(game, 0, np.random.default_rng(5))
    masks = game.action_mask("alpha")[None]
    chosen = quick.plan([game], np.zeros(1, np.int64), np.zeros((1, 0)), masks, np.random.default_rng(5))
    assert advice.orders.tolist() == chosen[0].tolist()
    assert advice.rollouts > 0
    assert 2 * advice.rollouts * advice.win_probability == pytest.approx(
        round(2 * advice.rollouts * advice.win_probability)
    )


def test_a_hint_knows_who_wins(quick):
    lost = {"alpha": {number: {"fuel": 4, "ammo": 0} for number in range(11)}}
    won = {"bravo": lost["alpha"]}
    assert find_hint(arranged(**lost), "alpha").win_probability < 0.1
    assert find_hint(arranged(**won), "alpha").win_probability > 0.9


def test_a_hint_is_asked_for_in_the_thread_of_agents_and_taken_by_key_or_click(monkeypatch):
    threads = []

    def suggest(_game, side):
        threads.append((threading.current_thread().name, side))
        return SUGGESTED

    monkeypatch.setattr(order_window, "find_hint", suggest)
    window = playing()
    entry = window.session.entry
    press(window, pygame.K_t, "t")  # there is none yet
    assert entry.orders == ()
    push(window, "a hint: the orders that a search finds best")
    assert threads == [("geo_patrol-agents", "alpha")]
    assert entry.orders == ()
    assert window.notes.note(0).texts[0] == "Hint: won 62% of 80 games played out; T, or a click here, takes it"
    shapes = hint_shapes(window.layout, window._anchors(), entry, SUGGESTED.orders)
    assert sum(isinstance(shape, Polyline) and shape.dashed for shape in shapes) == 2
    window.draw()
    press(window, pygame.K_t, "t")
    assert entry.orders == SUGGESTED.orders
    press(window, pygame.K_u, "u")
    assert entry.orders == ()
    click(window, window.note_area.center)
    assert entry.orders == SUGGESTED.orders
    press(window, pygame.K_RETURN, "\r")
    assert window.session.live.timeline.phases[0].orders[0] == SUGGESTED.orders
    window.tick(10)
    window.tick(10)
    assert window.session.stage == "ordering"
    assert window.notes.hint is None
    press(window, pygame.K_i, "i")
    assert window.notes.hint is SUGGESTED
