"""The report of a run in Markdown, with its goals and its plot, and where it is published."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.documents import DOCS, markdown_table, paragraph, with_blocks
from benchmarks.results import (
    SWEPT,
    Point,
    Results,
    Summary,
    agent_steps_per_second,
    bytes_per_second,
    env_steps_per_second,
    ratios,
    summarize,
)

DOCUMENT = DOCS / "results" / "benchmarks.md"
PLOT = DOCS / "pictures" / "throughput.svg"
PUBLISHED = Path(__file__).with_name("published.json")
"""The raw results that the document shows."""
_ENVPOOL = "envpool-cartpole"
_MISSING = "missing"
_IDLE = 0.97
"""The fraction of a core from which a machine counts as idle."""
_FLAT_FROM = 256
"""The smallest batch size from which the throughput should be constant."""


class Goal(NamedTuple):
    """A ratio with its target and its measured value."""

    title: str
    target: str
    summary: Summary | None
    """None if one side of the ratio is missing."""


def goals(results: Results) -> Iterator[Goal]:
    """Yield the performance goals of the project with the measured values."""

    def compare(title: str, target: str, ours: str, theirs: str, metric: Callable[[Point], list[float]]) -> Goal:
        one, other = results.point(ours), results.point(theirs)
        return Goal(title, target, summarize(ratios(metric(one), metric(other))) if one and other else None)

    for observation, target in (("tokens", ">= 2.8"), ("onehot", ">= 1.2")):
        title = f"agent steps: vector, {observation}, 1 thread / EnvPool CartPole-v1, 1 thread"
        yield compare(title, target, f"{observation}-1", _ENVPOOL, agent_steps_per_second)
    title = "bytes of observations and masks: vector, onehot, 1 thread / bytes copied by one core"
    yield compare(title, ">= 0.25", "onehot-1", "copy", bytes_per_second)
    for observation in ("tokens", "onehot"):
        title = f"agent steps: vector, {observation}, 2 threads / 1 thread"
        yield compare(title, ">= 1.6", f"{observation}-2", f"{observation}-1", agent_steps_per_second)
    for observation in ("tokens", "onehot"):
        yield _flatness(results, observation)
    single = "gymnasium-cartpole"
    title = "steps: parallel_env / CartPole-v1, one environment each"
    yield compare(title, ">= 1.2", "parallel", single, env_steps_per_second)
    for name in ("SpaceshipCommander", "PlanetaryProbe"):
        if results.point(name.lower()):
            title = f"steps: {name}-v0 / CartPole-v1, one environment each"
            yield compare(title, ">= 0.5", name.lower(), single, env_steps_per_second)
    startup = results.startup
    if startup.imports:
        imports = summarize([ours / theirs for ours, theirs in startup.imports])
        yield Goal("seconds to import: geo_patrol / the libraries under it together", "<= 1.5", imports)
        yield Goal("seconds to the first step, compiled before", "<= 1", summarize(startup.warm))
    for title, seconds in (("first step", startup.cold), ("parallel step, vector step and match", startup.first_use)):
        if seconds is not None:
            yield Goal(
                f"seconds to the {title}, compiling (once per version and machine)", "announced", summarize([seconds])
            )


def _flatness(results: Results, observation: str) -> Goal:
    """Return the throughput of the slowest batch size over that of the fastest, by medians."""
    points = [point for point in results.sweep(f"{observation}-1") if point.batch >= _FLAT_FROM]
    medians = [summarize(agent_steps_per_second(point)).median for point in points]
    title = f"slowest / fastest batch of {_FLAT_FROM:,} games or more, {observation}, 1 thread"
    return Goal(title, ">= 0.75", summarize([min(medians) / max(medians)]) if medians else None)


def format_quantity(value: float) -> str:
    """Format a quantity with three significant digits and a unit prefix."""
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k"), (1.0, "")):
        if value >= 0.9995 * size:  # 999.5 would be rounded up to the next unit
            digits = f"{value / size:#.3g}"
            return f"{digits.rstrip('.')}{unit}"
    return f"{value:.2f}"


def _median(quantities: list[float]) -> str:
    return format_quantity(summarize(quantities).median)


def _median_and_spread(quantities: list[float]) -> list[str]:
    summary = summarize(quantities)
    return [format_quantity(summary.median), f"{format_quantity(summary.low)} .. {format_quantity(summary.high)}"]


def _ratio_and_spread(summary: Summary | None, missing: str = "") -> list[str]:
    if summary is None:
        return [missing, ""]
    spread = f"{summary.low:.2f} .. {summary.high:.2f}" if summary.low != summary.high else ""
    return [f"{summary.median:.2f}", spread]


def machine_lines(results: Results) -> str:
    """Return a description of the machine, the software and the method."""
    machine = results.machine
    pinned = "each process pinned to as many cores as it has threads" if machine.is_pinned else "processes not pinned"
    length = f"{results.rounds} rounds of {results.seconds:g} s a contestant, interleaved"
    load = f", load before the run {machine.load}" if machine.load is not None else ""
    versions = [f"Python {machine.python}", *(f"{name} {number}" for name, number in machine.versions.items())]
    return paragraph(
        f"{machine.processor}, {machine.cores} cores, {machine.memory_gib:g} GiB, {machine.system}{load}; {pinned}; "
        f"{length}{_idleness(results)}. {', '.join(versions)}."
    )


def _idleness(results: Results) -> str:
    """Return how much of its core a contestant with one thread had, with a warning if the machine was busy."""
    cores = [summarize(point.cores).median for point in results.points if point.threads == 1 and point.cores]
    if not cores:
        return ""
    fraction = min(summarize(cores).median, 1.0)
    warning = "" if fraction >= _IDLE else ": the machine was busy, measure again"
    return f"; contestants with one thread had {fraction:.0%} of their core (median){warning}"


def goals_table(results: Results) -> str:
    """Return the table of goals and measured values."""
    rows = [[goal.title, *_ratio_and_spread(goal.summary, _MISSING), goal.target] for goal in goals(results)]
    return markdown_table(("ratio", "median", "spread", "target"), rows)


def startup_lines(results: Results) -> str:
    """Return a sentence about the time to start; empty if it was not measured."""
    startup = results.startup
    if not startup.imports:
        return ""
    ours, libraries = (summarize(list(seconds)).median for seconds in zip(*startup.imports, strict=True))
    compilation = f", {startup.cold:.0f} s the very first time, while the engine is compiled" if startup.cold else ""
    return paragraph(
        f"`import geo_patrol` takes {ours:.2f} s (NumPy, Numba, Gymnasium and PettingZoo together {libraries:.2f} s), "
        f"the first step of an environment {summarize(startup.warm).median:.1f} s after that{compilation}."
    )


def _compared(results: Results) -> list[Point]:
    """Return every contestant once, with the batch size of the comparison."""
    first: dict[str, Point] = {}
    for point in results.points:
        first.setdefault(point.name, point)
    return list(first.values())


def comparison_table(results: Results) -> str:
    """Return the table of all contestants that step environments."""
    columns = (
        "contestant",
        "batch",
        "threads",
        "agent steps/s (median)",
        "spread",
        "env steps/s",
        "/ EnvPool CartPole",
        "spread of the ratio",
        "observations and masks, bytes/s",
        "cores used",
        "agent steps per core second",
        "ended per step",
    )
    return markdown_table(columns, [_comparison_row(results, point) for point in _compared(results) if not point.unit])


def _comparison_row(results: Results, point: Point) -> list[str]:
    head = [point.title, f"{point.batch:,}", str(point.threads)]
    if point.missing is not None:
        return [*head, _MISSING, *[""] * 8]
    steps, reference, relative = agent_steps_per_second(point), results.point(_ENVPOOL), None
    if reference is not None and point.agent_steps:
        relative = summarize(ratios(steps, agent_steps_per_second(reference)))
    return [
        *head,
        *(_median_and_spread(steps) if point.agent_steps else ("", "")),
        _median(env_steps_per_second(point)) if point.agent_steps else "",
        *_ratio_and_spread(relative),
        _median(bytes_per_second(point)) if point.payload else "",
        f"{summarize(point.cores).median:.2f}",
        _median(ratios(steps, point.cores)) if point.agent_steps else "",
        f"{point.ended:.1%}" if point.ended is not None else "",
    ]


def unit_table(results: Results) -> str:
    """Return the table of what is not stepping environments: positions, replays, frames; empty if it was not measured."""
    rows = []
    for point in _compared(results):
        if point.unit and point.steps_per_second:
            speed = env_steps_per_second(point)
            rows.append([point.title, point.unit, *_median_and_spread(speed), f"{1e6 / summarize(speed).median:,.2f}"])
    columns = ("positions, replays and frames, 1 thread", "what", "a second (median)", "spread", "µs each")
    return markdown_table(columns, rows)


def missing_list(results: Results) -> str:
    """Return a list of what is missing and why; empty if nothing is."""
    return "\n".join(
        f"- {point.title} ({point.batch:,}) is missing: {point.missing}."
        for point in results.points
        if point.missing is not None
    )


def sweep_table(results: Results) -> str:
    """Return the table of agent steps per second over the number of games."""
    names = [name for name in SWEPT if results.sweep(name)]
    batches = sorted({point.batch for name in names for point in results.sweep(name)})
    rows = []
    for batch in batches:
        found = [results.point(name, batch) for name in names]
        rows.append([f"{batch:,}", *(_median(agent_steps_per_second(point)) if point else _MISSING for point in found)])
    return markdown_table(("games", *(SWEPT[name] for name in names)), rows)


def memory_table(results: Results) -> str:
    """Return the table of memory per game."""
    columns = ("observations", "bytes a game", "of these observations and masks", "games")
    rows = [
        [m.observation, f"{m.per_game:,.0f}", f"{m.payload_per_game:,}", f"{m.games[0]:,} .. {m.games[1]:,}"]
        for m in results.memory
    ]
    return markdown_table(columns, rows)


def included_list(results: Results) -> str:
    """Return what a step of each contestant includes, those of the same beside each other."""
    titles: dict[str, list[str]] = {}
    for point in _compared(results):
        titles.setdefault(point.includes, []).append(point.title)
    return "\n".join(f"- {'; '.join(each)}: {includes}." for includes, each in titles.items())


def report(results: Results) -> str:
    """Return the report."""
    sections = [
        machine_lines(results),
        goals_table(results),
        startup_lines(results),
        "### Contestants",
        comparison_table(results),
        unit_table(results),
        missing_list(results),
        "What a step includes:",
        included_list(results),
        "### Number of games and threads",
        "Agent steps a second (median):",
        sweep_table(results),
        "### Memory",
        memory_table(results),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def document(results: Results) -> str:
    """Return the text of the document with the results of a run."""
    plot = f"![Agent steps a second over the number of games](../{PLOT.relative_to(DOCS).as_posix()})"
    return with_blocks(DOCUMENT, {"benchmarks": f"{report(results)}\n{plot}"})


def draw(results: Results, *paths: Path) -> None:
    """Draw throughput over the number of games into files, each in the format of its suffix.

    Raises:
        ValueError: the run has no results of the vector environment.
        ModuleNotFoundError: matplotlib is not installed.
    """
    swept = {name: results.sweep(name) for name in SWEPT if results.sweep(name)}
    if not swept:
        raise ValueError("no results of the vector environment")
    import matplotlib as mpl
    from matplotlib import ticker
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "geo_patrol"
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    for name, points in swept.items():
        batches = [point.batch for point in points]
        medians, lows, highs = zip(*(summarize(agent_steps_per_second(point)) for point in points), strict=True)
        colour, style = "#0072b2" if "tokens" in name else "#d55e00", "-" if name.endswith("-1") else "--"
        axes.plot(batches, medians, style, color=colour, marker="o", markersize=4, label=SWEPT[name])
        axes.fill_between(batches, lows, highs, color=colour, alpha=0.15)
    if point := results.point(_ENVPOOL):
        label = f"{point.title.removesuffix(', 1 thread')}, {point.batch:,}, 1 thread"
        axes.axhline(summarize(agent_steps_per_second(point)).median, color="0.4", linestyle=":", label=label)
    onehot, copy = results.point("onehot-1"), results.point("copy")
    if onehot and copy:
        limit = summarize(bytes_per_second(copy)).median / onehot.payload * onehot.agent_steps
        axes.axhline(limit, color="#d55e00", linestyle=":", alpha=0.6, label="onehot at the speed of a copy, one core")
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="games side by side (both seats of each)",
        ylabel="agent steps a second",
        title="geo_patrol vector environment: medians, lowest to highest round shaded",
    )
    batches = sorted({point.batch for points in swept.values() for point in points})
    axes.set_xticks(batches, [f"{batch:,}" for batch in batches])
    axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(ticker.EngFormatter())
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    for path in paths:
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None, dpi=120)
