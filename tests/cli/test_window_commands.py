"""``geo-patrol watch`` and ``geo-patrol play``: their arguments, and their messages without a screen."""

import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pygame
import pytest

from geo_patrol import load_config
from geo_patrol.agents.basic import RandomAgent
from geo_patrol.cli.play import GameSaver, start_game
from geo_patrol.drawing import screen
from geo_patrol.replays import Recorder, ReplayReader, check
from geo_patrol.window import watch
from tests.support.commands import run

REPLAY = Path(__file__).parents[1] / "data" / "replay.jsonl.gz"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems always have a screen")
@pytest.mark.parametrize(
    ("arguments", "instead"),
    [(["watch", "scripted", "random"], "geo-patrol match --show"), (["replay", REPLAY], "--text")],
)
def test_without_a_screen_it_is_said_what_to_do(arguments, instead):
    drivers = ("SDL_VIDEODRIVER", "DISPLAY", "WAYLAND_DISPLAY")
    environment = {name: value for name, value in os.environ.items() if name not in drivers}
    command = [sys.executable, "-m", "geo_patrol", *arguments]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert (ran.returncode, ran.stdout) == (2, "")
    (line,) = ran.stderr.splitlines()
    assert "there is no screen to open a window on" in line
    assert instead in line


def test_watching_shows_the_game_of_the_seed(monkeypatch):
    seen = []
    monkeypatch.setattr(watch, "watch", lambda *what: seen.append(what))
    for _ in range(2):
        assert run("watch", "scripted", "random", "-c", "case1", "--seed", 5).exit_code == 0
    for timeline, advance, title in seen:
        assert title == "Case 1: three rounds: scripted (alpha) against random (bravo), seed 5"
        for _ in range(6):
            advance()
        assert len(timeline) == 7
    assert seen[0][0][-1] == seen[1][0][-1]


def test_agents_of_users_do_not_act_before_the_game_begins():
    """They may be stateful or slow."""

    class Own(RandomAgent):
        calls = ()

        def reset(self, new_games):
            self.calls += ("reset",)

        def act(self, *_):
            self.calls += ("act",)

    own = Own()
    start_game("case1", (own, None), 1)
    assert own.calls == ("reset",)


def test_games_at_the_terminal_are_saved(monkeypatch, tmp_path):
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
    live = start_game("case1", (None, None), 1, has_window=False)
    with GameSaver.create(f"{tmp_path}/my games/", live) as saver:
        live.advance()
    (path,) = (tmp_path / "my games").iterdir()
    assert saver.message() == f"The game is saved. Go on with: geo-patrol play --text --resume '{path}'"
    (game,) = ReplayReader(path)
    assert (game.seed, game.agents, len(game.phases), check(game)) == (1, ("person", "person"), 1, None)


@pytest.mark.parametrize(
    "name", ["bot.py:Bot", "os.path:Bot", "no_such_module:Bot", "torch:bot.py:Bot", "onnx:net.onnx"]
)
def test_agents_that_a_replay_names_by_their_files_are_not_loaded(name, tmp_path, monkeypatch):
    """A replay may be untrusted: resuming it must not run the code that it names."""
    (tmp_path / "bot.py").write_text("open('it was run', 'w')")
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "game.jsonl"
    with Recorder(path, load_config("case1")) as recorder:
        recorder.begin(seed=1, alpha="person", bravo=name)
        recorder.record_codes(np.zeros((2, 11), np.int64))
    before = path.read_bytes()
    ran = run("play", "--text", "--resume", path)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr == (
        f"geo-patrol: {path}: bravo: agent {name!r}: user-defined agents and networks that a replay names are not loaded: that would run them\n"
    )
    assert path.read_bytes() == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["bot.py", "game.jsonl"]


def test_a_window_that_is_closed_at_once_ends_well(monkeypatch):
    monkeypatch.setattr(screen.Screen, "show", lambda *_: pygame.event.post(pygame.event.Event(pygame.QUIT)))
    ran = run("watch", "scripted", "random")
    assert (ran.exit_code, ran.output) == (0, "")
