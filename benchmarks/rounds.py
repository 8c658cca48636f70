"""The run: every round measures every contestant, so that a busy machine slows down all of them alike."""

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks.contestants import CONTESTANTS
from benchmarks.contestants.base import Contestant
from benchmarks.machine import describe_machine
from benchmarks.processes import WorkerProcess
from benchmarks.results import Memory, Point, Profile, Results, Startup
from benchmarks.startup import measure_compilation, measure_round
from benchmarks.worker import Missing, Ready, Timing

VECTOR = tuple(f"{observation}-{threads}" for threads in (1, 2) for observation in ("tokens", "onehot"))


_OURS = CONTESTANTS["tokens-1"].process


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
    profile_games: int


FULL = Plan(False, 9, 0.35, 0.3, (1, 4, 16, 64, 256, 1024, 4096, 16384), (1024, 16384), ("tokens", "onehot"), 1024)
QUICK = Plan(True, 2, 0.03, 0.03, (1, 16), (32, 512), ("tokens",), 32)


def points_of(plan: Plan, only: str) -> list[Point]:
    """Return what to measure, without results yet: the comparison first, then the other batch sizes."""
    selected = [contestant for contestant in CONTESTANTS.values() if only in contestant.name]
    points = [_point(contestant, _batch(contestant, plan)) for contestant in selected]
    points += [
        _point(contestant, batch)
        for contestant in selected
        if contestant.name in VECTOR
        for batch in plan.sweep
        if batch != _batch(contestant, plan)
    ]
    return points


def _batch(contestant: Contestant, plan: Plan) -> int:
    return contestant.quick_batch if plan.is_quick else contestant.batch


def _point(contestant: Contestant, batch: int) -> Point:
    return Point(
        name=contestant.name,
        title=contestant.title,
        batch=batch,
        threads=contestant.threads,
        includes=contestant.includes,
        is_peer=contestant.is_peer,
        unit=contestant.unit,
    )


def run(plan: Plan, only: str, logs: Path) -> Results:
    """Measure everything."""
    results = Results(
        machine=describe_machine(),
        is_quick=plan.is_quick,
        rounds=plan.rounds,
        seconds=plan.seconds,
        points=points_of(plan, only),
        startup=Startup(),
        profiles=[Profile(observation=observation, games=plan.profile_games) for observation in ("tokens", "onehot")],
    )
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    progress = Progress(*columns, console=Console(stderr=True), transient=True, refresh_per_second=2)
    with ExitStack() as stack, progress:
        workers = _start(results.points, stack, logs)
        for point in progress.track(results.points, description="warming up"):
            _prepare(point, workers[CONTESTANTS[point.name].process], plan)
        for _ in progress.track(range(plan.rounds), description="rounds"):
            _play_round(results, workers, plan)
        for observation in progress.track(plan.memory_observations, description="memory"):
            results.memory += _measure_memory(observation, plan, logs)
        if not plan.is_quick and not only:
            measure_compilation(results.startup)
    return results


def _start(points: list[Point], stack: ExitStack, logs: Path) -> dict[str, WorkerProcess]:
    """Start the worker process of each contestant."""
    workers: dict[str, WorkerProcess] = {}
    for contestant in (CONTESTANTS[point.name] for point in points):
        name = contestant.process
        if name not in workers:
            process = WorkerProcess(name, contestant.threads, dict(contestant.environment), logs)
            workers[name] = stack.enter_context(process)
    return workers


def _prepare(point: Point, worker: WorkerProcess, plan: Plan) -> None:
    """Create a contestant in its worker, and store how its steps are counted."""
    answer = worker.request("prepare", point.name, point.batch, plan.warm_up)
    if isinstance(answer, Ready):
        point.agent_steps, point.env_steps = answer.agent_steps, answer.env_steps
        point.payload, point.ended = answer.payload, answer.fraction_ended
    else:
        point.missing = answer.reason


def _play_round(results: Results, workers: dict[str, WorkerProcess], plan: Plan) -> None:
    """Measure every contestant once."""
    for point in results.points:
        if point.missing is not None:
            continue
        answer = workers[CONTESTANTS[point.name].process].request("run", point.name, point.batch, plan.seconds)
        if isinstance(answer, Timing):
            point.steps_per_second.append(answer.steps_per_second)
            point.cores.append(answer.cores)
        else:
            point.missing = answer.reason
            point.steps_per_second, point.cores = [], []
    if _OURS in workers:
        for profile in results.profiles:
            _profile_round(profile, workers[_OURS], plan)
    measure_round(results.startup)


def _profile_round(profile: Profile, worker: WorkerProcess, plan: Plan) -> None:
    """Measure the stages of a step once."""
    answer = worker.request("profile", profile.observation, profile.games, plan.seconds)
    if isinstance(answer, Missing):
        profile.missing = answer.reason
        return
    for stage, microseconds in answer.items():
        profile.stages.setdefault(stage, []).append(microseconds)


def _measure_memory(observation: str, plan: Plan, logs: Path) -> list[Memory]:
    """Measure the peak memory of two processes, with few and with many games; empty if it is not available."""
    peaks, payload = [], 0
    for games in plan.memory_games:
        with WorkerProcess(f"memory-{observation}-{games}", 1, {}, logs) as worker:
            ready = worker.request("prepare", f"{observation}-1", games, plan.warm_up)
            peak = worker.request("peak_memory")
        if isinstance(ready, Missing) or isinstance(peak, Missing):
            return []
        peaks.append(peak)
        payload = ready.payload // games
    few, many = peaks
    return [Memory(observation=observation, games=plan.memory_games, peak_bytes=(few, many), payload_per_game=payload)]
