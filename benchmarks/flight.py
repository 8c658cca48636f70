"""Speed of the flight games: ``python benchmarks/flight.py``.

Steps a second beside Gymnasium's CartPole-v1, both as ``gymnasium.make`` makes them and with random actions, in rounds
that take turns; and how long the solver takes for missions of the package.
"""

import platform
import statistics
import time
from collections.abc import Callable
from typing import Any

import gymnasium
from rich import box
from rich.console import Console
from rich.progress import track
from rich.table import Table

import geo_patrol  # noqa: F401 - registers the environments
from geo_patrol.flight import solve

ROUNDS = 9
STEPS = 30_000
MISSIONS = ("sample", "sample_20", "survey_loop", "base_camp", "courier")
TARGET = {"sample_20": "< 60 s, proved"}


def steps_per_second(step: Callable[[], None]) -> float:
    """Return how often a function runs in a second."""
    start = time.perf_counter()
    for _ in range(STEPS):
        step()
    return STEPS / (time.perf_counter() - start)


def make_step(name: str) -> Callable[[], None]:
    """Return a function that plays a random legal step of an environment, and resets it where an episode is over."""
    env: gymnasium.Env[Any, Any] = gymnasium.make(name)
    env.action_space.seed(0)
    draw = getattr(env.unwrapped, "sample_action", env.action_space.sample)
    env.reset(seed=0)

    def step() -> None:
        *_, terminated, truncated, _ = env.step(draw())
        if terminated or truncated:
            env.reset()

    return step


def main() -> None:
    """Measure everything and print two tables."""
    console = Console(width=120)
    steps = Table("environment", "steps/s", "CartPole-v1", "ratio (median)", "spread", "target", box=box.MARKDOWN)
    cartpole = make_step("CartPole-v1")
    for name in ("GeoPatrol/SpaceshipCommander-v0", "GeoPatrol/PlanetaryProbe-v0"):
        ours = make_step(name)
        steps_per_second(ours)  # warm up
        rounds = [
            (steps_per_second(ours), steps_per_second(cartpole))
            for _ in track(range(ROUNDS), name, console=console, transient=True)
        ]
        ratios = sorted(one / other for one, other in rounds)
        one, other = (statistics.median(column) for column in zip(*rounds, strict=True))
        spread = f"{ratios[0]:.2f} .. {ratios[-1]:.2f}"
        steps.add_row(name, f"{one:,.0f}", f"{other:,.0f}", f"{statistics.median(ratios):.2f}", spread, ">= 0.5")
    console.print(f"{platform.machine()}, Python {platform.python_version()}, gymnasium {gymnasium.__version__}")
    console.print(steps)

    solving = Table("mission", "best", "status", "flights expanded", "seconds", "target", box=box.MARKDOWN)
    solve("sample", {"turns": 2})  # compiled before it is measured
    for name in MISSIONS:
        solution = solve(name)
        values = str(solution.score), solution.status, f"{solution.states:,}", f"{solution.seconds:.2f}"
        solving.add_row(name, *values, TARGET.get(name, ""))
    console.print(solving)


if __name__ == "__main__":
    main()
