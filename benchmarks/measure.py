"""The run: every round measures every contestant, so that a busy machine slows down all of them alike."""

import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks.contestants import CONTESTANTS, Contestant
from benchmarks.machine import describe_machine
from benchmarks.results import SWEPT, Memory, Point, Results, Startup
from benchmarks.worker import Missing, Ready, Timing, WorkerProcess

_QUICK_BATCH = 32
_LIBRARIES = "import numpy, numba, gymnasium, pettingzoo"
_FIRST_STEP = """
import time
import geo_patrol
start = time.perf_counter()
from geo_patrol import geo_patrol_v0
env = geo_patrol_v0.parallel_env()
env.reset(seed=0)
env.step(env.sample_actions())
"""
_FIRST_USE = """
envs = geo_patrol.make_vec("geo_patrol", 2)
envs.reset(seed=0)
envs.step(envs.sample_actions())
geo_patrol.play_match("scripted", "random", games=2, seed=0)
"""
_PRINT = "print(time.perf_counter() - start)\n"


@dataclass(frozen=True)
class Plan:
    """The amount to measure."""

    is_quick: bool
    rounds: int
    seconds: float
    warm_up: float
    sweep: tuple[int, ...]
    """Batch sizes of the vector environment."""
    memory_games: tuple[int, int]
    memory_observations: tuple[str, ...]

    def points(self, only: str) -> list[Point]:
        """Return what to measure, without results yet: the comparison first, then the other batch sizes."""
        selected = [contestant for contestant in CONTESTANTS.values() if only in contestant.name]
        return [_point(contestant, self._batch(contestant)) for contestant in selected] + [
            _point(contestant, batch)
            for contestant in selected
            if contestant.name in SWEPT
            for batch in self.sweep
            if batch != self._batch(contestant)
        ]

    def _batch(self, contestant: Contestant) -> int:
        return min(contestant.batch, _QUICK_BATCH) if self.is_quick else contestant.batch


FULL = Plan(False, 9, 0.35, 0.3, (1, 4, 16, 64, 256, 1024, 4096, 16384), (1024, 16384), ("tokens", "onehot"))
QUICK = Plan(True, 2, 0.03, 0.03, (1, 16), (32, 512), ("tokens",))


def _point(contestant: Contestant, batch: int) -> Point:
    return Point(
        name=contestant.name,
        title=contestant.title,
        batch=batch,
        threads=contestant.threads,
        includes=contestant.includes,
        unit=contestant.unit,
    )


def measure(plan: Plan, only: str, logs: Path) -> Results:
    """Measure everything, or the contestants whose names contain ``only``."""
    results = Results(
        machine=describe_machine(),
        is_quick=plan.is_quick,
        rounds=plan.rounds,
        seconds=plan.seconds,
        points=plan.points(only),
        startup=Startup(),
    )
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    progress = Progress(*columns, console=Console(stderr=True), transient=True, refresh_per_second=2)
    with ExitStack() as stack, progress:
        workers: dict[str, WorkerProcess] = {}
        for contestant in (CONTESTANTS[point.name] for point in results.points):
            if contestant.process not in workers:
                process = WorkerProcess(contestant.process, contestant.threads, logs)
                workers[contestant.process] = stack.enter_context(process)
        for point in progress.track(results.points, description="warming up"):
            _prepare(point, workers[CONTESTANTS[point.name].process], plan)
        for _ in progress.track(range(plan.rounds), description="rounds"):
            for point in results.points:
                _play_round(point, workers[CONTESTANTS[point.name].process], plan)
            if not only:
                _start_round(results.startup)
        if not only:
            for observation in progress.track(plan.memory_observations, description="memory"):
                results.memory += _measure_memory(observation, plan, logs)
            if not plan.is_quick:
                _measure_compilation(results.startup)
    return results


def _prepare(point: Point, worker: WorkerProcess, plan: Plan) -> None:
    """Create a contestant in its worker, and store how its steps are counted."""
    answer = worker.request("prepare", point.name, point.batch, plan.warm_up)
    if isinstance(answer, Ready):
        point.agent_steps, point.env_steps = answer.agent_steps, answer.env_steps
        point.payload, point.ended = answer.payload, answer.fraction_ended
    else:
        point.missing = answer.reason


def _play_round(point: Point, worker: WorkerProcess, plan: Plan) -> None:
    """Measure a contestant once."""
    if point.missing is not None:
        return
    answer = worker.request("run", point.name, point.batch, plan.seconds)
    if isinstance(answer, Timing):
        point.steps_per_second.append(answer.steps_per_second)
        point.cores.append(answer.cores)
    else:
        point.missing = answer.reason
        point.steps_per_second, point.cores = [], []


def _measure_memory(observation: str, plan: Plan, logs: Path) -> list[Memory]:
    """Measure the peak memory of two processes, with few and with many games; empty if it is not available."""
    peaks, payload = [], 0
    for games in plan.memory_games:
        with WorkerProcess(f"memory-{observation}-{games}", 1, logs) as worker:
            ready = worker.request("prepare", f"{observation}-1", games, plan.warm_up)
            peak = worker.request("peak_memory")
        if isinstance(ready, Missing) or isinstance(peak, Missing):
            return []
        peaks.append(peak)
        payload = ready.payload // games
    few, many = peaks
    return [Memory(observation=observation, games=plan.memory_games, peak_bytes=(few, many), payload_per_game=payload)]


def _run_timer(code: str, cache: str | None = None) -> float:
    """Run code that prints seconds in a fresh interpreter, and return them."""
    environment = os.environ | ({"NUMBA_CACHE_DIR": cache} if cache else {})
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return float(result.stdout)


def _start_round(startup: Startup) -> None:
    """Measure imports and the first step once, with compiled code in the cache."""
    ours, theirs = (
        _run_timer(f"import time; start = time.perf_counter()\n{code}\n{_PRINT}")
        for code in ("import geo_patrol", _LIBRARIES)
    )
    startup.imports.append((ours, theirs))
    startup.warm.append(_run_timer(_FIRST_STEP + _PRINT))


def _measure_compilation(startup: Startup) -> None:
    """Measure the first step, and the first use of everything common, each with an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        startup.cold = _run_timer(_FIRST_STEP + _PRINT, cache)
    with tempfile.TemporaryDirectory() as cache:
        startup.first_use = _run_timer(_FIRST_STEP + _FIRST_USE + _PRINT, cache)
