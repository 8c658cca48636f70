"""Real windows on a virtual screen, driven with xdotool."""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    not (shutil.which("Xvfb") and shutil.which("xdotool")), reason="Xvfb and xdotool are not installed"
)


@pytest.fixture(scope="module")
def screen():
    """Start a virtual screen; yield the environment variables for it."""
    read_end, write_end = os.pipe()
    # Without -noreset the server restarts when its last client leaves, and refuses clients that connect meanwhile.
    command = ["Xvfb", "-displayfd", str(write_end), "-screen", "0", "1600x1000x24", "-nolisten", "tcp", "-noreset"]
    server = subprocess.Popen(command, pass_fds=[write_end], stderr=subprocess.DEVNULL)
    os.close(write_end)
    with os.fdopen(read_end) as answer:
        display = f":{answer.readline().strip()}"
    environment = {
        name: value for name, value in os.environ.items() if name not in ("SDL_VIDEODRIVER", "WAYLAND_DISPLAY")
    }
    yield environment | {"DISPLAY": display, "COLUMNS": "80"}
    server.terminate()
    server.wait(10)


@contextmanager
def started(screen, *arguments, **options):
    """Run Python with arguments; kill the process at the end in every case."""
    process = subprocess.Popen(
        [sys.executable, *map(str, arguments)],
        env=screen,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def xdotool(screen, *arguments):
    return subprocess.run(["xdotool", *map(str, arguments)], env=screen, check=False, capture_output=True, text=True)


def window_of(screen, process):
    """Wait for the window of a process, and return its number."""
    for _ in range(600):
        assert process.poll() is None, process.communicate()
        found = xdotool(screen, "search", "--onlyvisible", "--pid", process.pid).stdout.split()
        if found:
            time.sleep(0.3)
            return found[-1]
        time.sleep(0.1)
    raise AssertionError("no window")


def close_window(screen, window):
    """Press a window's button to close it; in a process of its own, which X ends when the window is not there."""
    command = [sys.executable, str(Path(__file__).with_name("close_real_window.py")), window]
    closing = subprocess.run(command, env=screen, check=False, capture_output=True, text=True, timeout=60)
    assert closing.returncode == 0, closing.stderr


def end_of(process, seconds=60):
    out, err = process.communicate(timeout=seconds)
    return process.returncode, out, err


@pytest.mark.slow
def test_watching_handles_keys_and_saves_pictures(screen, tmp_path):
    command = ["-m", "geo_patrol", "watch", "scripted", "random", "--config", "case1", "--seed", 5]
    with started(screen, *command, cwd=tmp_path) as process:
        window = window_of(screen, process)
        xdotool(screen, "windowfocus", window)
        for key in ("e", "s", "space", "Left", "Right", "question", "s", "s", "q"):
            xdotool(screen, "key", key)
            time.sleep(0.15)
        assert end_of(process) == (0, "", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["geo_patrol-1.png", "geo_patrol-2.png"]


@pytest.mark.slow
def test_episodes_of_two_agents_in_a_window_go_on_without_it(screen):
    example = Path(__file__).parents[2] / "examples" / "two_agents_in_a_window.py"
    with started(screen, "-W", "error", example) as process:
        close_window(screen, window_of(screen, process))
        status, out, err = end_of(process)
    assert (status, err) == (0, "")
    assert len(out.splitlines()) == 2


@pytest.mark.slow
def test_ctrl_c_ends_in_a_line(screen):
    with started(screen, "-m", "geo_patrol", "watch", "scripted", "scripted") as process:
        window_of(screen, process)
        process.send_signal(signal.SIGINT)
        assert end_of(process) == (130, "", "geo-patrol: interrupted\n")


SLEEPS = f"{Path(__file__).parents[1] / 'support' / 'own_agents.py'}:Sleeps"


@pytest.mark.slow
def test_closing_the_window_does_not_wait_for_an_agent(screen):
    with started(screen, "-m", "geo_patrol", "watch", SLEEPS, "random") as process:
        window = window_of(screen, process)
        time.sleep(2)
        close_window(screen, window)
        assert end_of(process) == (0, "", "")


SHOWN = """
import os, subprocess, time
from geo_patrol.drawing.screen import Screen

def windows():
    screen.events()
    time.sleep(0.3)
    command = ["xdotool", "search", "--onlyvisible", "--pid", str(os.getpid())]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()

screen = Screen("orbits")
opened = windows()
width, height = screen.size
assert len(opened) == 1 and windows() == opened, (opened, windows())
"""


@pytest.mark.slow
def test_drawing_opens_no_second_window(screen):
    """SDL replaces a window by another one at the first drawing, unless it was drawn on before."""
    with started(screen, "-c", SHOWN) as process:
        status, _, err = end_of(process)
    assert status == 0, err
