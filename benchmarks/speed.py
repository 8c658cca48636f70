"""Speed, as ratios against things run side by side: ``python benchmarks/speed.py``.

Every ratio is the median over rounds in which both sides take turns, so that a busy machine disturbs both alike.
"""

import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from typing import Any

import gymnasium
import numba
import numpy as np
import pettingzoo
from rich import box
from rich.console import Console
from rich.progress import track
from rich.table import Table

from geo_patrol import geo_patrol_v0

ROUNDS = 9
STEPS = 30_000
PEERS = "import numpy, numba, gymnasium, pettingzoo"
FIRST_STEP = """
import time
import geo_patrol
start = time.perf_counter()
from geo_patrol import geo_patrol_v0
env = geo_patrol_v0.parallel_env()
env.reset(seed=0)
env.step(env.sample_actions())
print(time.perf_counter() - start)
"""


def steps_per_second(step: Callable[[], None]) -> float:
    """Return how often a function runs in a second."""
    start = time.perf_counter()
    for _ in range(STEPS):
        step()
    return STEPS / (time.perf_counter() - start)


def make_ours() -> Callable[[], None]:
    """Return a function that plays one phase of the parallel environment with orders from its own sampler."""
    env = geo_patrol_v0.parallel_env()
    env.reset(seed=0)

    def step() -> None:
        env.step(env.sample_actions())
        if not env.agents:
            env.reset()

    return step


def make_cartpole() -> Callable[[], None]:
    """Return a function that plays one step of Gymnasium's CartPole-v1 with random actions."""
    env: gymnasium.Env[Any, Any] = gymnasium.make("CartPole-v1")
    env.action_space.seed(0)
    env.reset(seed=0)

    def step() -> None:
        *_, terminated, truncated, _ = env.step(env.action_space.sample())
        if terminated or truncated:
            env.reset()

    return step


def seconds_of(code: str) -> float:
    """Return how long a fresh interpreter takes to run code, its own start left aside."""
    timed = f"import time; start = time.perf_counter()\n{code}\nprint(time.perf_counter() - start)"
    result = subprocess.run([sys.executable, "-c", timed], check=True, capture_output=True, text=True)
    return float(result.stdout)


def first_step_seconds(cache: str | None = None) -> tuple[float, str]:
    """Return how long making an environment and its first step take after the import, and what was said meanwhile."""
    environment = os.environ | ({"NUMBA_CACHE_DIR": cache} if cache else {})
    command = [sys.executable, "-c", FIRST_STEP]
    result = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return float(result.stdout), result.stderr.strip()


def show(what: str, console: Console) -> Iterable[int]:
    """Return the rounds, with a progress bar."""
    return track(range(ROUNDS), what, console=console, transient=True)


def main() -> None:
    """Measure everything and print a table."""
    console = Console(width=140)  # the table is Markdown, for the README
    ours, cartpole = make_ours(), make_cartpole()
    steps_per_second(ours)  # warm up
    turns = [(steps_per_second(ours), steps_per_second(cartpole)) for _ in show("stepping", console)]
    imports = [(seconds_of("import geo_patrol"), seconds_of(PEERS)) for _ in show("importing", console)]
    warm = [first_step_seconds()[0] for _ in show("first steps", console)]
    with tempfile.TemporaryDirectory() as cache:
        cold, said = first_step_seconds(cache)

    table = Table(box=box.MARKDOWN)
    for column in ("what", "geo_patrol", "beside", "ratio (median)", "spread", "target"):
        table.add_column(column)
    add_ratio(table, "steps/s: parallel_env with its own sampler, CartPole-v1", turns, ">= 0.8", "{:,.0f}")
    add_ratio(table, "seconds to import: geo_patrol, its peers together", imports, "<= 1.5", "{:.3f}")
    table.add_row("seconds to the first step, compiled before", f"{statistics.median(warm):.3f}", "", "", "", "<= 1")
    table.add_row("seconds to the first step, compiling", f"{cold:.1f}", "", "", "", "announced")
    console.print(f"{platform.machine()}, Python {platform.python_version()}, {versions()}")
    console.print(table)
    console.print(f"said while compiling: {said}")


def versions() -> str:
    """Return the versions of what is measured with."""
    found = {"numpy": np, "numba": numba, "gymnasium": gymnasium, "pettingzoo": pettingzoo}
    return ", ".join(f"{name} {module.__version__}" for name, module in found.items())


def add_ratio(table: Table, what: str, rounds: list[tuple[float, float]], target: str, form: str) -> None:
    """Add a row for pairs of ours and theirs."""
    ratios = sorted(ours / theirs for ours, theirs in rounds)
    ours, theirs = (statistics.median(column) for column in zip(*rounds, strict=True))
    spread = f"{ratios[0]:.2f} .. {ratios[-1]:.2f}"
    table.add_row(what, form.format(ours), form.format(theirs), f"{statistics.median(ratios):.2f}", spread, target)


if __name__ == "__main__":
    main()
