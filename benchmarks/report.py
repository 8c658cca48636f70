"""The report of a run, in Markdown."""

import csv
from typing import TextIO

from benchmarks.formatting import format_quantity, format_range, format_ratio, format_spread, markdown_table, paragraph
from benchmarks.goals import goals
from benchmarks.results import (
    Machine,
    Point,
    Profile,
    Results,
    Summary,
    agent_steps_per_second,
    bytes_per_second,
    env_steps_per_second,
    ratios,
    summarize,
)

_REFERENCE = "envpool-cartpole"
_MISSING = "missing"
_IDLE = 0.97
"""The fraction of a core from which a machine counts as idle."""


def machine_lines(results: Results) -> str:
    """Return a description of the machine, the software and the method."""
    machine = results.machine
    pinned = "each process pinned to as many cores as it has threads" if machine.is_pinned else "processes not pinned"
    length = f"{results.rounds} rounds of {results.seconds:g} s a contestant, interleaved"
    load = f", load before the run {machine.load}" if machine.load is not None else ""
    return paragraph(
        f"{machine.processor}, {machine.cores} cores, {machine.memory_gib:g} GiB, {machine.system}{load}; {pinned}; "
        f"{length}{_idleness(results)}. {_versions(machine)}."
    )


def _idleness(results: Results) -> str:
    """Return how much of its core a contestant with one thread had, with a warning if the machine was busy."""
    cores = [summarize(point.cores).median for point in results.points if point.threads == 1 and point.cores]
    if not cores:
        return ""
    fraction = min(summarize(cores).median, 1.0)
    warning = "" if fraction >= _IDLE else ": the machine was busy, measure again"
    return f"; contestants with one thread had {fraction:.0%} of their core (median){warning}"


def _versions(machine: Machine) -> str:
    return ", ".join([f"Python {machine.python}", *(f"{name} {number}" for name, number in machine.versions.items())])


def _relative_speed(results: Results, point: Point) -> Summary | None:
    """Return a contestant's agent steps over those of EnvPool's CartPole; None if one of them is missing."""
    reference = results.point(_REFERENCE)
    if reference is None or not point.steps_per_second or not point.agent_steps:
        return None
    return summarize(ratios(agent_steps_per_second(point), agent_steps_per_second(reference)))


def _compared(results: Results) -> list[Point]:
    """Return every contestant once, with the batch size of the comparison."""
    first: dict[str, Point] = {}
    for point in results.points:
        first.setdefault(point.name, point)
    return list(first.values())


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


def forward_model_table(results: Results) -> str:
    """Return the table of what searches do with games, and of reading replays; empty if it was not measured."""
    rows = [
        [
            point.title,
            point.unit,
            format_quantity((speed := summarize(env_steps_per_second(point))).median),
            format_spread(speed),
            f"{1e6 / speed.median:,.2f}",
        ]
        for point in _compared(results)
        if point.unit and point.steps_per_second
    ]
    return (
        markdown_table(("forward model and replays, 1 thread", "what", "a second (median)", "spread", "µs each"), rows)
        if rows
        else ""
    )


def _comparison_row(results: Results, point: Point) -> list[str]:
    head = [point.title, f"{point.batch:,}", str(point.threads)]
    if point.missing is not None:
        return [*head, _MISSING, *[""] * 8]
    relative = _relative_speed(results, point)
    speed = summarize(agent_steps_per_second(point))
    has_steps = point.agent_steps > 0
    return [
        *head,
        format_quantity(speed.median) if has_steps else "",
        format_spread(speed) if has_steps else "",
        format_quantity(summarize(env_steps_per_second(point)).median) if has_steps else "",
        format_ratio(relative),
        format_range(relative) if relative else "",
        format_quantity(summarize(bytes_per_second(point)).median) if point.payload else "",
        f"{summarize(point.cores).median:.2f}",
        format_quantity(summarize(ratios(agent_steps_per_second(point), point.cores)).median) if has_steps else "",
        f"{point.ended:.1%}" if point.ended is not None else "",
    ]


def missing_list(results: Results) -> str:
    """Return a list of what is missing and why; empty if nothing is."""
    points = {f"{point.title} ({point.batch:,})": point.missing for point in results.points}
    profiles = {f"the profile, {profile.observation},": profile.missing for profile in results.profiles}
    missing = {title: reason for title, reason in (points | profiles).items() if reason is not None}
    return "\n".join(f"- {title} is missing: {reason}." for title, reason in missing.items())


def included_list(results: Results) -> str:
    """Return a list of what a step of each contestant includes."""
    return "\n".join(f"- {point.title}: {point.includes}." for point in _compared(results))


def goals_table(results: Results) -> str:
    """Return the table of goals and measured values."""
    columns = ("ratio", "median", "spread", "target")
    rows = []
    for goal in goals(results):
        median = format_ratio(goal.summary) or _MISSING
        rows.append([goal.title, median, format_range(goal.summary) if goal.summary else "", goal.target])
    return markdown_table(columns, rows)


def sweep_table(results: Results) -> str:
    """Return the table of agent steps per second over the number of games."""
    names = [name for name in ("tokens-1", "tokens-2", "onehot-1", "onehot-2") if results.sweep(name)]
    batches = sorted({point.batch for name in names for point in results.sweep(name)})
    rows = []
    for batch in batches:
        found = [results.point(name, batch) for name in names]
        rows.append(
            [
                f"{batch:,}",
                *(
                    format_quantity(summarize(agent_steps_per_second(point)).median) if point else _MISSING
                    for point in found
                ),
            ]
        )
    return markdown_table(("games", *(_title_of(name) for name in names)), rows)


def _title_of(name: str) -> str:
    observation, threads = name.split("-")
    return f"{observation}, {threads} thread{'s' if threads != '1' else ''}"


def memory_table(results: Results) -> str:
    """Return the table of memory per game."""
    columns = ("observations", "bytes a game", "of these observations and masks", "games")
    rows = [
        [m.observation, f"{m.per_game:,.0f}", f"{m.payload_per_game:,}", f"{m.games[0]:,} .. {m.games[1]:,}"]
        for m in results.memory
    ]
    return markdown_table(columns, rows)


def profile_table(results: Results, profile: Profile) -> str:
    """Return the table of the time of each stage of a step."""
    name = f"{profile.observation}-1"
    one, many = results.point(name, 1), results.point(name, profile.games)
    if not one or not many or not profile.stages:
        return ""
    of_one, of_many = (summarize([1e6 / steps for steps in point.steps_per_second]).median for point in (one, many))
    per_game = (of_many - of_one) / (profile.games - 1)
    times = {"Python, independent of the number of games": of_one - per_game}
    times |= {stage: summarize(rounds).median for stage, rounds in profile.stages.items()}
    times["rewards, infos; less what the stages have in common"] = of_many - sum(times.values())
    times["the whole step"] = of_many
    rows = [[stage, f"{time:,.1f}", f"{time / of_many:.0%}"] for stage, time in times.items()]
    return markdown_table(
        (f"stage of a step, {profile.observation}, {profile.games:,} games", "µs", "of the step"), rows
    )


def report(results: Results) -> str:
    """Return the report."""
    sections = [
        machine_lines(results),
        goals_table(results),
        startup_lines(results),
        "### Contestants",
        comparison_table(results),
        forward_model_table(results),
        missing_list(results),
        "What a step includes:",
        included_list(results),
        "### Number of games and threads",
        "Agent steps a second (median):",
        sweep_table(results),
        "### Memory",
        memory_table(results),
        "### Where the time of a step goes",
        *(profile_table(results, profile) for profile in results.profiles),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def write_rounds(results: Results, file: TextIO) -> None:
    """Write every round of every contestant as CSV."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(("contestant", "batch", "threads", "round", "steps_per_second", "agent_steps_per_second", "cores"))
    for point in results.points:
        for i, (steps, cores) in enumerate(zip(point.steps_per_second, point.cores, strict=True)):
            agent_steps = f"{steps * point.agent_steps:.1f}"
            writer.writerow((point.name, point.batch, point.threads, i, f"{steps:.3f}", agent_steps, f"{cores:.3f}"))
