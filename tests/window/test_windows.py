"""The windows to watch a game and a file of games in, with posted events and without a screen."""

import pygame
import pytest

from geo_patrol import load_config, make_agent, play_match
from geo_patrol.drawing import screen
from geo_patrol.play.live import LiveGame
from geo_patrol.replays import ReplayReader
from geo_patrol.replays.files import GameList
from geo_patrol.window.games import GamesWindow
from geo_patrol.window.watch import WatchWindow, watch


def pump(window):
    for event in window.screen.events():
        window.handle(event)


def press(window, key, character="", mod=0):
    event = pygame.event.Event(pygame.KEYDOWN, key=key, unicode=character, mod=mod, window=window.screen.window)
    pygame.event.post(event)
    pump(window)


def click(window, pixel):
    event = pygame.event.Event(pygame.MOUSEBUTTONDOWN, pos=pixel, button=1, window=window.screen.window)
    pygame.event.post(event)
    pump(window)


def push(window, name):
    click(window, window.bar.rect_of(name).center)


def watching(size=(1000, 600)):
    live = LiveGame(load_config("case1"), (make_agent("scripted"), make_agent("random")), 4)
    window = WatchWindow(live.timeline, live.advance, size=size)
    window.draw()
    return window


@pytest.mark.parametrize("size", [(640, 480), (1280, 720)])
def test_speed_and_pause_are_shown(size):
    window = watching(size)

    def shown():
        course = window.progress_bar
        rest = window.picture.layout.toolbar.right - course.right
        strip = window.draw().subsurface(course.right, course.top, rest, course.height)
        return pygame.image.tobytes(strip, "RGB")

    usual = shown()
    push(window, "faster")
    faster = shown()
    press(window, pygame.K_SPACE, " ")
    assert len({usual, faster, shown()}) == 3


KEYS = {
    "pause or go on": (pygame.K_SPACE, " "),
    "a step forward": (pygame.K_RIGHT,),
    "a step back": (pygame.K_LEFT,),
    "a turn forward": (pygame.K_PAGEDOWN,),
    "a turn back": (pygame.K_PAGEUP,),
    "jump to the next engagement": (pygame.K_e, "e"),
    "jump to the engagement before": (pygame.K_e, "E", pygame.KMOD_LSHIFT),
    "faster": (pygame.K_PLUS, "+"),
    "slower": (pygame.K_MINUS, "-"),
    "begin again": (pygame.K_r, "r"),
}


@pytest.mark.parametrize("by", ["keys", "buttons"])
def test_every_control_of_watching(by):
    window = watching()
    go = window.playback

    def index_after(*names):
        for name in names:
            press(window, *KEYS[name]) if by == "keys" else push(window, name)
        return go.index

    assert index_after("pause or go on", *["a step forward"] * 3) == 2
    assert not go.is_playing
    assert index_after("a step back") == 1
    assert index_after("a turn forward") == 2
    assert index_after("a turn back") == 0
    first = index_after("jump to the next engagement")
    assert go.snapshot.outcomes
    assert index_after("jump to the next engagement") > first
    assert index_after("jump to the engagement before") == first
    index_after("faster")
    assert go.speed == 2
    index_after("slower", "slower")
    assert go.speed == 0.5
    assert index_after("begin again") == 0
    assert go.is_playing
    if by == "keys":
        press(window, pygame.K_END)
    else:
        click(window, (window.progress_bar.right - 1, window.progress_bar.center[1]))
    assert go.index == len(go.timeline) - 1
    press(window, pygame.K_UP)
    assert go.index < len(go.timeline) - 1
    press(window, pygame.K_DOWN)
    assert go.index == len(go.timeline) - 1
    window.draw()


def test_time_passes_while_watching():
    window = watching()
    assert window.tick(5)
    window.tick(5)
    assert window.playback.index > 0
    index = window.playback.index
    press(window, pygame.K_F1)
    window.tick(100)
    assert window.playback.index == index  # the help is shown


@pytest.mark.parametrize("size", [(640, 480), (1000, 600), (700, 740)])
def test_the_help_names_all_keys(size):
    window = watching(size)
    before = window.draw().copy()
    press(window, pygame.K_SLASH, "?")
    assert window.page is not None
    assert pygame.image.tobytes(window.draw(), "RGB") != pygame.image.tobytes(before, "RGB")
    lines = dict(window.help_lines())
    assert lines["Space"] == "pause or go on"
    assert lines["Shift E"] == "jump to the engagement before"
    assert set(lines.values()) == {control.name for control in window.controls if control.keys}
    press(window, pygame.K_a, "a")
    assert window.page is None
    push(window, "show or hide this page")
    assert window.page is not None
    click(window, (5, 5))
    assert window.page is None


def test_saved_pictures_overwrite_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    window = watching()
    press(window, pygame.K_s, "s")
    push(window, "save a picture")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["geo_patrol-1.png", "geo_patrol-2.png"]
    assert pygame.image.load(str(tmp_path / "geo_patrol-1.png")).get_size() == window.screen.size
    window.draw()
    monkeypatch.setattr(pygame.image, "save", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    press(window, pygame.K_s, "s")
    assert "disk full" in window._message
    window.draw()


def test_closing_the_window_ends_watching(monkeypatch):
    live = LiveGame(load_config("case1"), (make_agent("scripted"), make_agent("random")), 4)
    monkeypatch.setattr(screen.Screen, "show", lambda *_: pygame.event.post(pygame.event.Event(pygame.QUIT)))
    watch(live.timeline, live.advance)
    assert screen.open_screens == []
    monkeypatch.undo()
    window = watching()
    press(window, pygame.K_q, "q")
    window.run()
    assert not window.screen.is_open


def test_a_stale_quit_event_does_not_close_a_new_window():
    window = watching()
    window.screen.close()
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    window = watching()
    pump(window)
    assert window.screen.is_open


def test_clicks_are_in_points_and_pictures_in_pixels():
    class Dense:
        size = (1000, 600)

        def get_surface(self):
            return pygame.Surface((2000, 1200))

        def destroy(self):
            pass

    window = watching()
    window.screen.window.destroy()
    window.screen.window = Dense()
    assert window.draw().get_size() == (2000, 1200)
    center = window.bar.rect_of("pause or go on").center
    event = pygame.event.Event(pygame.MOUSEBUTTONDOWN, pos=(center[0] // 2, center[1] // 2), button=1)
    window.handle(event)
    assert not window.playback.is_playing


def test_a_resized_window_gets_a_picture_of_its_size():
    window = watching()
    window.screen.window.size = (800, 500)
    assert window.draw().get_size() == window.screen.size == (800, 500)
    push(window, "pause or go on")
    assert not window.playback.is_playing


def test_games_of_a_file_follow_each_other(tmp_path):
    path = tmp_path / "games.jsonl"
    play_match("random", "idle", config="case1", overrides={"turn_limit": 2}, games=2, seed=1, save=path)
    watched = GamesWindow(GameList(ReplayReader(path)), size=(1000, 600))
    watched.draw()
    assert watched.number == 0
    first = watched.playback.timeline
    press(watched, pygame.K_p)
    assert watched.number == 0
    press(watched, pygame.K_n)
    assert watched.number == 1
    assert watched.playback.timeline is not first
    assert watched.playback.index == 0
    push(watched, "the next game")
    assert watched.number == 1, "there are only two"
    push(watched, "the game before")
    assert watched.number == 0
    watched.draw()
