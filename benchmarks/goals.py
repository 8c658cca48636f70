"""What the project promises of its speed, as ratios, and what a run says to it."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from benchmarks.results import (
    Point,
    Results,
    Summary,
    agent_rates,
    env_rates,
    payload_rates,
    ratios,
    summarize,
)

_FLAT_FROM = 256
"""The smallest batch from which the throughput is to stay the same."""


class Goal(NamedTuple):
    """A ratio, what it should be, and what it was."""

    what: str
    target: str
    figures: Summary | None
    """None where one side of it is missing."""


def _compare(
    results: Results, what: str, target: str, ours: str, theirs: str, rate: Callable[[Point], list[float]]
) -> Goal:
    one, other = results.point(ours), results.point(theirs)
    return Goal(what, target, summarize(ratios(rate(one), rate(other))) if one and other else None)


def _flatness(results: Results, observation: str, threads: int) -> Goal:
    """Return the slowest over the fastest batch size, by medians."""
    points = [point for point in results.sweep(f"{observation}-{threads}") if point.batch >= _FLAT_FROM]
    medians = [summarize(agent_rates(point)).median for point in points]
    ratio = min(medians) / max(medians) if medians else None
    what = f"slowest / fastest batch of {_FLAT_FROM:,} games or more, {observation}, {threads} thread(s)"
    return Goal(what, ">= 0.75", Summary(ratio, ratio, ratio) if ratio is not None else None)


def goals(results: Results) -> Iterator[Goal]:
    """List all promises with what was measured."""
    envpool = "envpool-cartpole"
    for observation, target in (("tokens", ">= 2.3"), ("onehot", ">= 1.2")):
        what = f"agent steps: vector, {observation}, 1 thread / EnvPool CartPole-v1, 1 thread"
        yield _compare(results, what, target, f"{observation}-1", envpool, agent_rates)
    what = "bytes of observations and masks: vector, onehot, 1 thread / bytes copied by one core"
    yield _compare(results, what, ">= 0.25", "onehot-1", "copy", payload_rates)
    for observation in ("tokens", "onehot"):
        what = f"agent steps: vector, {observation}, 2 threads / 1 thread"
        yield _compare(results, what, ">= 1.6", f"{observation}-2", f"{observation}-1", agent_rates)
    for observation in ("tokens", "onehot"):
        yield _flatness(results, observation, 1)
    what = "steps: parallel_env / CartPole-v1, one environment each"
    yield _compare(results, what, ">= 0.8", "parallel", "gymnasium-cartpole", env_rates)
    startup = results.startup
    if startup.imports:
        imports = summarize([ours / theirs for ours, theirs in startup.imports])
        yield Goal("seconds to import: geo_patrol / the libraries under it together", "<= 1.5", imports)
        yield Goal("seconds to the first step, compiled before", "<= 1", summarize(startup.warm))
    if startup.cold is not None:
        cold = Summary(startup.cold, startup.cold, startup.cold)
        yield Goal("seconds to the first step, compiling (once for a version and machine)", "announced", cold)
