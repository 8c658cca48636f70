"""The performance goals of the project as ratios, and the results of a run."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from benchmarks.results import (
    Point,
    Results,
    Summary,
    agent_steps_per_second,
    bytes_per_second,
    env_steps_per_second,
    ratios,
    summarize,
)

_FLAT_FROM = 256
"""The smallest batch size from which the throughput should be constant."""


class Goal(NamedTuple):
    """A ratio with its target and its measured value."""

    title: str
    target: str
    summary: Summary | None
    """None if one side of the ratio is missing."""


def _compare(
    results: Results, title: str, target: str, ours: str, theirs: str, metric: Callable[[Point], list[float]]
) -> Goal:
    one, other = results.point(ours), results.point(theirs)
    return Goal(title, target, summarize(ratios(metric(one), metric(other))) if one and other else None)


def _flatness(results: Results, observation: str, threads: int) -> Goal:
    """Return the throughput of the slowest batch size over that of the fastest, by medians."""
    points = [point for point in results.sweep(f"{observation}-{threads}") if point.batch >= _FLAT_FROM]
    medians = [summarize(agent_steps_per_second(point)).median for point in points]
    ratio = min(medians) / max(medians) if medians else None
    title = f"slowest / fastest batch of {_FLAT_FROM:,} games or more, {observation}, {threads} thread(s)"
    return Goal(title, ">= 0.75", Summary(ratio, ratio, ratio) if ratio is not None else None)


def goals(results: Results) -> Iterator[Goal]:
    """Yield all goals with the measured values."""
    envpool = "envpool-cartpole"
    for observation, target in (("tokens", ">= 2.8"), ("onehot", ">= 1.2")):
        title = f"agent steps: vector, {observation}, 1 thread / EnvPool CartPole-v1, 1 thread"
        yield _compare(results, title, target, f"{observation}-1", envpool, agent_steps_per_second)
    title = "bytes of observations and masks: vector, onehot, 1 thread / bytes copied by one core"
    yield _compare(results, title, ">= 0.25", "onehot-1", "copy", bytes_per_second)
    for observation in ("tokens", "onehot"):
        title = f"agent steps: vector, {observation}, 2 threads / 1 thread"
        yield _compare(results, title, ">= 1.6", f"{observation}-2", f"{observation}-1", agent_steps_per_second)
    for observation in ("tokens", "onehot"):
        yield _flatness(results, observation, 1)
    title = "steps: parallel_env / CartPole-v1, one environment each"
    yield _compare(results, title, ">= 1.2", "parallel", "gymnasium-cartpole", env_steps_per_second)
    startup = results.startup
    if startup.imports:
        imports = summarize([ours / theirs for ours, theirs in startup.imports])
        yield Goal("seconds to import: geo_patrol / the libraries under it together", "<= 1.5", imports)
        yield Goal("seconds to the first step, compiled before", "<= 1", summarize(startup.warm))
    for title, seconds in (("first step", startup.cold), ("parallel step, vector step and match", startup.first_use)):
        if seconds is not None:
            summary = Summary(seconds, seconds, seconds)
            yield Goal(f"seconds to the {title}, compiling (once per version and machine)", "announced", summary)
