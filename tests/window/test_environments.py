"""Render modes of the environments."""

import subprocess
import sys

import gymnasium
import numpy as np
import pygame
import pytest

import geo_patrol  # noqa: F401 - registers the environments
from geo_patrol import geo_patrol_v0
from geo_patrol.drawing import screen
from geo_patrol.envs.single import SoloGeoPatrol

MAKERS = [geo_patrol_v0.parallel_env, geo_patrol_v0.env, geo_patrol_v0.raw_env, SoloGeoPatrol]


def play(env, steps=6):
    """Play a few steps of any environment."""
    for _ in range(steps):
        if isinstance(env, gymnasium.Env):
            env.step(env.sample_action())
        elif hasattr(env, "agent_selection"):
            actions = env.unwrapped.sample_actions()
            for side in ("alpha", "bravo"):
                env.step(actions[side])
        else:
            env.step(env.sample_actions())


@pytest.mark.parametrize("make", MAKERS)
def test_pictures_as_arrays(make):
    env = make(render_mode="rgb_array", render_size=(640, 360))
    env.reset(seed=1)
    first = env.render()
    play(env)
    second = env.render()
    assert first.shape == second.shape == (360, 640, 3)
    assert first.dtype == np.uint8
    assert not np.array_equal(first, second)
    env.reset(seed=1)
    assert np.array_equal(env.render(), first)
    env.close()
    assert screen.open_screens == []


@pytest.mark.parametrize("make", MAKERS)
def test_a_closed_window_changes_nothing_else(make):
    env = make(render_mode="human")
    assert screen.open_screens == []
    env.reset(seed=1)
    (window,) = screen.open_screens
    play(env, 1)
    assert env.render() is None
    assert screen.open_screens == [window]
    env.reset(seed=1)
    pygame.event.post(pygame.event.Event(pygame.WINDOWCLOSE, window=window.window))
    play(env)
    assert screen.open_screens == []
    assert env.render() is None
    env.reset(seed=2)
    play(env)
    assert screen.open_screens == []
    other = make()
    for seed, steps in ((1, 1), (1, 6), (2, 6)):
        other.reset(seed=seed)
        play(other, steps)
    assert env.unwrapped.game() == other.unwrapped.game()


def test_several_environments_show_windows_of_their_own():
    envs = [geo_patrol_v0.parallel_env(config=config, render_mode="human") for config in ("case1", "od2d", "case1")]
    for env in envs:
        env.reset(seed=1)
    windows = list(screen.open_screens)
    assert len(windows) == 3
    pygame.event.post(pygame.event.Event(pygame.WINDOWCLOSE, window=windows[1].window))
    for env in envs:
        play(env)
    assert screen.open_screens == [windows[0], windows[2]]
    envs[0].close()
    play(envs[2])
    assert screen.open_screens == [windows[2]]


def test_restored_games_are_shown():
    env = geo_patrol_v0.parallel_env(render_mode="rgb_array", render_size=(640, 360))
    env.reset(seed=1)
    play(env)
    saved = env.save()
    other = geo_patrol_v0.parallel_env(render_mode="rgb_array", render_size=(640, 360))
    other.restore(saved)
    board = np.s_[:200, :200]
    assert np.array_equal(other.render()[board], env.render()[board])
    play(other, 1)
    other.render()


def test_ansi_and_no_render_mode():
    for make in MAKERS:
        env = make(render_mode="ansi")
        env.reset(seed=1)
        assert "turn 1, movement" in env.render()
    with pytest.raises(RuntimeError, match="reset must be called first"):
        geo_patrol_v0.parallel_env(render_mode="rgb_array").render()


@pytest.mark.parametrize(
    "options", [{"render_mode": "video"}, {"render_size": (10, 10)}, {"render_size": 5}, {"render_size": (1e9, 2)}]
)
def test_wrong_render_options_are_explained(options):
    for make in MAKERS:
        with pytest.raises(ValueError, match="render_"):
            make(**options)


def test_gymnasium_records_videos_from_it():
    env = gymnasium.make("GeoPatrol/Case1-v0", render_mode="rgb_array")
    assert env.metadata["render_modes"] == ["human", "rgb_array", "ansi"]
    recorded = gymnasium.wrappers.RenderCollection(env)
    recorded.reset(seed=1)
    recorded.step(env.unwrapped.sample_action())
    assert [frame.shape for frame in recorded.render()] == [(720, 1280, 3)] * 2


@pytest.mark.slow
def test_pygame_is_imported_only_for_pictures():
    code = """
import sys, geo_patrol
from geo_patrol import geo_patrol_v0
for mode in (None, "ansi"):
    env = geo_patrol_v0.parallel_env(render_mode=mode)
    env.reset(seed=1); env.step(env.sample_actions()); env.render(); env.close()
assert "pygame" not in sys.modules
env = geo_patrol_v0.parallel_env(render_mode="rgb_array")
env.reset(seed=1); print(env.render().shape)
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "(720, 1280, 3)\n"), done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="other systems always have a screen")
def test_without_a_screen_human_mode_warns_and_continues(monkeypatch, caplog):
    for variable in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"):
        monkeypatch.delenv(variable, raising=False)
    env = geo_patrol_v0.parallel_env(render_mode="human")
    for seed in (1, 2):
        env.reset(seed=seed)
        play(env)
        assert env.render() is None
    env.close()
    (record,) = caplog.records
    assert "there is no screen to open a window on" in record.getMessage()
    assert "rgb_array" in record.getMessage()
