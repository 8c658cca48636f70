"""The start menu, and the window of a file of games, with posted events and without a screen."""

import pygame
import pytest

from geo_patrol import make_agent, play_match, preset_names
from geo_patrol.agents.registry import DIFFICULTIES
from geo_patrol.rendering import games as games_window
from geo_patrol.rendering.games import GamesWindow
from geo_patrol.rendering.screen import Screen
from geo_patrol.rendering.start import StartWindow
from geo_patrol.replays import ReplayReader
from geo_patrol.replays.files import GameList
from geo_patrol.sessions.menu import (
    ChosenGame,
    Entry,
    FlyMission,
    Learn,
    Menu,
    OpenReplay,
    PlayGame,
    WatchGame,
    start_list,
    watch_list,
)

SIZES = [(480, 360), (400, 724), (1280, 720), (1920, 1080)]


def missions():
    return [Entry("Sample", "Spaceship Commander", lambda: FlyMission("sample"))]


@pytest.fixture
def folder(tmp_path):
    for name in ("one", "two"):
        play_match(
            "random",
            "idle",
            config="case1",
            overrides={"turn_limit": 2},
            games=2,
            seed=1,
            save=tmp_path / f"{name}.jsonl",
        )
    return tmp_path


@pytest.fixture
def started(folder):
    screen = Screen("test", (1280, 720))
    return StartWindow(screen, Menu(start_list(folder, missions)))


def press(window, *keys):
    for key in keys:
        event = pygame.event.Event(pygame.KEYDOWN, key=key, unicode="", mod=0, window=window.screen.window)
        pygame.event.post(event)
        for received in window.screen.events():
            window.handle(received)


def click(window, pixel):
    pygame.event.post(pygame.event.Event(pygame.MOUSEBUTTONDOWN, pos=pixel, button=1, window=window.screen.window))
    for received in window.screen.events():
        window.handle(received)


def choose(window, *labels):
    """Click entries by the beginnings of their labels, scrolling to them."""
    for label in labels:
        entries = window.menu.current.entries
        index = next(i for i, entry in enumerate(entries) if entry.label.startswith(label))
        window.menu.select(index)
        window.draw()
        layout = window.layout
        click(window, layout.entries[index - layout.first].center)
    return window.menu.choice


def test_everything_can_be_chosen_by_mouse(folder):
    def start():
        return StartWindow(Screen("test", (640, 480)), Menu(start_list(folder, missions)))

    assert choose(start(), "Play", "King", "Easy", "Bravo") == PlayGame("king_of_the_hill", ("turtle", None))
    assert choose(start(), "Play", "GEO", "Another") == PlayGame("geo_patrol", (None, None))
    assert choose(start(), "Watch", "GEO", "scripted", "random") == WatchGame("geo_patrol", ("scripted", "random"))
    assert choose(start(), "Flight", "Sample") == FlyMission("sample")
    assert choose(start(), "Learn", "Spaceship") == Learn("spaceship_commander")
    assert choose(start(), "Open", "one") == OpenReplay(folder / "one.jsonl")


def test_everything_can_be_chosen_by_keys(started):
    press(started, pygame.K_RETURN, pygame.K_RETURN, pygame.K_DOWN, pygame.K_RETURN, pygame.K_UP, pygame.K_SPACE)
    assert started.menu.choice == PlayGame("geo_patrol", ("scripted", None))


def test_escape_goes_back_and_at_last_leaves(started):
    press(started, pygame.K_RETURN, pygame.K_DOWN, pygame.K_RETURN)
    assert started.menu.current.title == "Against whom?"
    press(started, pygame.K_ESCAPE)
    assert (started.menu.current.title, started.menu.current.index) == ("Which game?", 1)
    click(started, started.layout.back.center)
    assert started.menu.is_first
    press(started, pygame.K_ESCAPE)
    assert started.run() is None
    assert started.screen.is_open


def test_q_closes_the_window(started):
    press(started, pygame.K_q)
    assert not started.screen.is_open
    assert started.run() is None


def test_the_newest_file_comes_first_and_an_empty_folder_says_so(folder, tmp_path):
    import os

    os.utime(folder / "one.jsonl", (2e9, 2e9))
    menu = Menu(start_list(folder, missions))
    menu.move(3)
    menu.open()
    assert [entry.label for entry in menu.current.entries] == ["one.jsonl", "two.jsonl"]
    empty = Menu(start_list(tmp_path / "missing", missions))
    empty.move(3)
    empty.open()
    assert empty.current.entries[0].label == "No game has been saved yet"
    empty.open()
    assert empty.choice is None


@pytest.mark.parametrize("size", SIZES)
def test_entries_lie_inside_without_overlap_and_every_one_can_be_reached(size, folder):
    screen = Screen("test", size)
    for first in (start_list(folder, missions), watch_list()):
        window = StartWindow(screen, Menu(first))
        for _ in first.entries:
            window.draw()
            layout, index = window.layout, window.menu.current.index
            assert layout.first <= index < layout.first + len(layout.entries)
            rects = [layout.title, *layout.entries, layout.hint]
            assert all(
                rect.left >= 0 and rect.right <= screen.size[0] and rect.bottom <= screen.size[1] for rect in rects
            )
            assert not any(a.overlaps(b) for i, a in enumerate(rects) for b in rects[:i])
            window.menu.move(1)


def test_pointing_does_not_scroll(folder):
    window = StartWindow(Screen("test", (480, 360)), Menu(watch_list()))
    window.menu.move(-1)  # the last one
    window.draw()
    first = window.layout.first
    assert first > 0
    window._point(window.layout.entries[0].center)
    window.draw()
    assert window.layout.first == first
    assert window.menu.current.index == first


def test_opponents_of_every_difficulty_play_every_preset():
    assert [one.elo for one in DIFFICULTIES] == sorted(one.elo for one in DIFFICULTIES)
    for preset in preset_names():
        for one in DIFFICULTIES:
            overrides = {"turn_limit": 1}
            result = play_match(one.agent, make_agent("idle"), config=preset, overrides=overrides, games=2, seed=0)
            assert not result.illegal_orders.any()


@pytest.fixture
def watched(folder):
    window = GamesWindow(GameList(ReplayReader(folder / "one.jsonl")), size=(1000, 600))
    window.draw()
    return window


def test_games_of_a_file_follow_each_other(watched):
    assert watched.number == 0
    first = watched.playback.timeline
    press(watched, pygame.K_p)
    assert watched.number == 0
    press(watched, pygame.K_n)
    assert watched.number == 1
    assert watched.playback.timeline is not first
    assert watched.playback.index == 0
    click(watched, watched.bar.rect_of("the next game").center)
    assert watched.number == 1, "there are only two"
    click(watched, watched.bar.rect_of("the game before").center)
    assert watched.number == 0
    watched.draw()


def test_a_game_is_chosen_from_a_list(watched, monkeypatch):
    seen = []

    class Chooser(StartWindow):
        def run(self):
            seen.extend((entry.label, entry.note) for entry in self.menu.current.entries)
            return ChosenGame(1)

    monkeypatch.setattr(games_window, "StartWindow", Chooser)
    click(watched, watched.bar.rect_of("the list of games").center)
    assert watched.number == 1
    assert [label for label, _ in seen] == [
        "game 0: random (alpha) against idle (bravo)",
        "game 1: idle (alpha) against random (bravo)",
    ]
    assert all(note.endswith("2 turns") for _, note in seen)
