"""Frames a second of pictures, beside Gymnasium's CartPole-v1 (600 x 400) drawn in the same rounds.

Run it with ``python benchmarks/pictures.py``; medians of the time that a frame takes, in milliseconds.
"""

import os
import statistics
import time
from collections.abc import Callable
from typing import Any

os.environ["SDL_VIDEODRIVER"] = "dummy"

import gymnasium

from geo_patrol import GameConfig, geo_patrol_v0, load_config, make_agent
from geo_patrol.game.timeline import Snapshot
from geo_patrol.play.live import LiveGame
from geo_patrol.window.picture import Picture

ROUNDS, FRAMES = 5, 100
Draw = Callable[[int], Any]

SIZES = ((640, 480), (1280, 720), (3840, 2160))


def milliseconds(draw: Draw) -> float:
    """Return the median time of a frame."""
    times = []
    for frame in range(FRAMES):
        start = time.perf_counter()
        draw(frame)
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


def gliding(size: tuple[int, int], snapshot: Snapshot, config: GameConfig) -> Draw:
    """Return a function that draws a snapshot on its way."""
    picture = Picture(*size, config)
    return lambda frame: picture.frame(snapshot, (frame % FRAMES) / FRAMES)


def training() -> Draw:
    """Return a function that plays a step and draws it."""
    env = geo_patrol_v0.parallel_env(render_mode="rgb_array")
    env.reset(seed=1)

    def draw(_: int) -> None:
        if not env.agents:
            env.reset()
        env.step(env.sample_actions())
        env.render()

    return draw


def cart_pole() -> Draw:
    """Return a function that draws CartPole."""
    env = gymnasium.make("CartPole-v1", render_mode="rgb_array")
    env.reset(seed=1)
    return lambda _: env.render()


def main() -> None:
    """Measure all in interleaved rounds, and print medians."""
    live = LiveGame(load_config("geo_patrol"), (make_agent("scripted"), make_agent("scripted")), 13)
    while not live.is_over:
        live.advance()
    moving = live.timeline.snapshot(7)
    engaged = live.timeline.snapshot(live.timeline.next_engagement(0) or 0)
    what = {f"{width} x {height}, gliding": gliding((width, height), moving, live.config) for width, height in SIZES}
    what["1280 x 720, engagement and drift"] = gliding((1280, 720), engaged, live.config)
    what["1280 x 720, a step and its picture"] = training()
    what["CartPole-v1"] = cart_pole()
    measured: dict[str, list[float]] = {name: [] for name in what}
    for _ in range(ROUNDS):
        for name, draw in what.items():
            measured[name].append(milliseconds(draw))
    beside = statistics.median(measured["CartPole-v1"])
    for name, times in measured.items():
        median = statistics.median(times)
        print(f"{name:<36}{median:8.2f} ms {1000 / median:8.0f} frames/s {median / beside:8.2f} x CartPole")


if __name__ == "__main__":
    main()
