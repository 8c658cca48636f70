"""The window of a file of games, with posted events and without a screen."""

import pygame
import pytest

from geo_patrol import play_match
from geo_patrol.replays import ReplayReader
from geo_patrol.replays.files import GameList
from geo_patrol.window.games import GamesWindow
from tests.window.test_windows import click, press


@pytest.fixture
def watched(tmp_path):
    path = tmp_path / "games.jsonl"
    play_match("random", "idle", config="case1", overrides={"turn_limit": 2}, games=2, seed=1, save=path)
    window = GamesWindow(GameList(ReplayReader(path)), size=(1000, 600))
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
