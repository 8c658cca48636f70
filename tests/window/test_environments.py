"""Render modes of the environments."""

import os
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
    if isinstance(env, gymnasium.Env):
        for _ in range(steps):
            env.step(env.sample_action())
    elif hasattr(env, "agent_selection"):
        for _ in range(steps):
            actions = env.unwrapped.sample_actions()
            for side in ("alpha", "bravo"):
                env.step(actions[side])
    else:
        for _ in range(steps):
            env.step(env.sample_actions())


@pytest.fixture(autouse=True)
def no_window_stays_open():
    yield
    for window in list(screen.open_screens):
        window.close()


@pytest.mark.parametrize("make", MAKERS)
def test_pictures_as_arrays(make):
    env = make(render_mode="rgb_array", render_size=(640, 360))
    env.reset(seed=1)
    frames = [env.render()]
    play(env)
    frames.append(env.render())
    for frame in frames:
        assert frame.shape == (360, 640, 3)
        assert frame.dtype == np.uint8
    assert not np.array_equal(*frames)
    env.reset(seed=1)
    assert np.array_equal(env.render(), frames[0])
    env.close()
    assert screen.open_screens == []


@pytest.mark.parametrize("make", MAKERS)
def test_human_mode_shows_a_window_by_itself(make):
    env = make(render_mode="human")
    assert screen.open_screens == []
    env.reset(seed=1)
    assert len(screen.open_screens) == 1
    play(env)
    assert env.render() is None
    env.close()
    assert screen.open_screens == []


@pytest.mark.parametrize("make", MAKERS)
def test_a_closed_window_changes_nothing_else(make):
    env = make(render_mode="human")
    env.reset(seed=1)
    (window,) = screen.open_screens
    pygame.event.post(pygame.event.Event(pygame.WINDOWCLOSE, window=window.window))
    play(env)
    assert screen.open_screens == []
    assert env.render() is None
    env.reset(seed=2)
    play(env)
    assert screen.open_screens == []
    watched = env.unwrapped.game() if hasattr(env, "unwrapped") else env.game()
    other = make()
    other.reset(seed=1)
    play(other)
    other.reset(seed=2)
    play(other)
    unwatched = other.unwrapped.game() if hasattr(other, "unwrapped") else other.game()
    assert watched == unwatched


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
    assert np.array_equal(other.render()[board], env.render()[board]) or env.game().outcomes
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


def run(code, **environment):
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name not in ("SDL_VIDEODRIVER", "DISPLAY", "WAYLAND_DISPLAY")
    }
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=inherited | environment,
    )


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
    done = run(code)
    assert (done.returncode, done.stdout) == (0, "(720, 1280, 3)\n"), done.stderr


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems always have a screen")
def test_without_a_screen_human_mode_warns_and_continues():
    code = """
from geo_patrol import geo_patrol_v0
env = geo_patrol_v0.parallel_env(render_mode="human")
for seed in (1, 2):
    env.reset(seed=seed)
    while env.agents:
        env.step(env.sample_actions())
    env.render()
env.close()
print("done")
"""
    done = run(code)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    assert done.stderr.count("there is no screen to open a window on") == 1
    assert "rgb_array" in done.stderr
