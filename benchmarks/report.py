"""Tables of a run, in Markdown."""

import csv
from typing import TextIO

from benchmarks.formatting import markdown_table, paragraph, show_range, show_rate, show_ratio, show_spread
from benchmarks.goals import goals
from benchmarks.results import (
    Machine,
    Point,
    Profile,
    Results,
    Summary,
    agent_rates,
    env_rates,
    payload_rates,
    ratios,
    summarize,
)

_YARDSTICK = "envpool-cartpole"
_IN_README = (
    "tokens-1",
    "onehot-1",
    "tokens-2",
    "onehot-2",
    "envpool-cartpole",
    "gymnasium-vector-cartpole",
    "gymnasium-sync-cartpole",
    "pgx-connect_four",
    "pgx-backgammon",
    "supersuit",
    "parallel",
    "gymnasium-cartpole",
)
_MISSING = "missing"
_IDLE = 0.97
"""The share of a core from which a machine counts as idle."""


def machine_lines(results: Results) -> str:
    """Return what was measured on, with and how, for a reader."""
    machine = results.machine
    pinned = "each process held on as many cores as it has threads" if machine.is_pinned else "processes not pinned"
    length = f"{results.rounds} rounds of {results.seconds:g} s a contestant, interleaved"
    load = f", load before the run {machine.load}" if machine.load is not None else ""
    return paragraph(
        f"{machine.processor}, {machine.cores} cores, {machine.memory_gib:g} GiB, {machine.system}{load}; {pinned}; "
        f"{length}{_idleness(results)}. {_versions(machine)}."
    )


def _idleness(results: Results) -> str:
    """Say how much of its core a contestant of one thread had: less than all of it where somebody else was at work."""
    shares = [summarize(point.cores).median for point in results.points if point.threads == 1 and point.cores]
    if not shares:
        return ""
    share = min(summarize(shares).median, 1.0)
    warning = "" if share >= _IDLE else ": the machine was busy, measure again"
    return f"; contestants of one thread had {share:.0%} of their core (median){warning}"


def _versions(machine: Machine) -> str:
    return ", ".join([f"Python {machine.python}", *(f"{name} {number}" for name, number in machine.versions.items())])


def _beside(results: Results, point: Point) -> Summary | None:
    """Return a contestant's agent steps over those of EnvPool's CartPole, round by round."""
    yardstick = results.point(_YARDSTICK)
    if yardstick is None or not point.steps_per_second or not point.agent_steps:
        return None
    return summarize(ratios(agent_rates(point), agent_rates(yardstick)))


def _compared(results: Results) -> list[Point]:
    """List every contestant once, with the batch of the comparison."""
    first: dict[str, Point] = {}
    for point in results.points:
        first.setdefault(point.name, point)
    return list(first.values())


def readme_table(results: Results) -> str:
    """Return the selection that the README shows."""
    columns = ("environment", "at once", "agent steps/s (median)", "spread", "/ EnvPool CartPole")
    return markdown_table(columns, [_readme_row(results, p) for p in _compared(results) if p.name in _IN_README])


def _readme_row(results: Results, point: Point) -> list[str]:
    if point.missing is not None:
        return [point.title, f"{point.batch:,}", _MISSING, "", ""]
    figures = summarize(agent_rates(point))
    return [
        point.title,
        f"{point.batch:,}",
        show_rate(figures.median),
        show_spread(figures),
        show_ratio(_beside(results, point)),
    ]


def startup_lines(results: Results) -> str:
    """Return how long the start takes, in a sentence; empty where it was not measured."""
    startup = results.startup
    if not startup.imports:
        return ""
    ours, under_it = (summarize(list(seconds)).median for seconds in zip(*startup.imports, strict=True))
    compiling = f", {startup.cold:.0f} s the very first time, while the engine is compiled" if startup.cold else ""
    return paragraph(
        f"`import geo_patrol` takes {ours:.2f} s (NumPy, Numba, Gymnasium and PettingZoo together {under_it:.2f} s), "
        f"the first step of an environment {summarize(startup.warm).median:.1f} s after that{compiling}."
    )


def comparison_table(results: Results) -> str:
    """Return everything that was compared."""
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
        "ended a step",
    )
    return markdown_table(columns, [_comparison_row(results, point) for point in _compared(results)])


def _comparison_row(results: Results, point: Point) -> list[str]:
    head = [point.title, f"{point.batch:,}", str(point.threads)]
    if point.missing is not None:
        return [*head, _MISSING, *[""] * 8]
    beside = _beside(results, point)
    rates = summarize(agent_rates(point))
    has_steps = point.agent_steps > 0
    return [
        *head,
        show_rate(rates.median) if has_steps else "",
        show_spread(rates) if has_steps else "",
        show_rate(summarize(env_rates(point)).median) if has_steps else "",
        show_ratio(beside),
        show_range(beside) if beside else "",
        show_rate(summarize(payload_rates(point)).median) if point.payload else "",
        f"{summarize(point.cores).median:.2f}",
        show_rate(summarize(ratios(agent_rates(point), point.cores)).median) if has_steps else "",
        f"{point.ended:.1%}" if point.ended is not None else "",
    ]


def missing_list(results: Results) -> str:
    """Return why contestants are missing, as a list; empty if none is."""
    points = {f"{point.title} ({point.batch:,})": point.missing for point in results.points}
    profiles = {f"the profile, {profile.observation},": profile.missing for profile in results.profiles}
    missing = {what: reason for what, reason in (points | profiles).items() if reason is not None}
    return "\n".join(f"- {what} is missing: {reason}." for what, reason in missing.items())


def included_list(results: Results) -> str:
    """Return what a step of each contestant includes, as a list."""
    return "\n".join(f"- {point.title}: {point.includes}." for point in _compared(results))


def goals_table(results: Results) -> str:
    """Return the promises and what came out."""
    columns = ("ratio", "median", "spread", "target")
    rows = []
    for goal in goals(results):
        found = show_ratio(goal.figures) or _MISSING
        rows.append([goal.what, found, show_range(goal.figures) if goal.figures else "", goal.target])
    return markdown_table(columns, rows)


def sweep_table(results: Results) -> str:
    """Return agent steps a second over the number of games."""
    names = [name for name in ("tokens-1", "tokens-2", "onehot-1", "onehot-2") if results.sweep(name)]
    batches = sorted({point.batch for name in names for point in results.sweep(name)})
    rows = []
    for batch in batches:
        found = [results.point(name, batch) for name in names]
        rows.append(
            [f"{batch:,}", *(show_rate(summarize(agent_rates(point)).median) if point else _MISSING for point in found)]
        )
    return markdown_table(("games", *(_title_of(name) for name in names)), rows)


def _title_of(name: str) -> str:
    observation, threads = name.split("-")
    return f"{observation}, {threads} thread{'s' if threads != '1' else ''}"


def memory_table(results: Results) -> str:
    """Return what a game holds."""
    columns = ("observations", "bytes a game", "of these observations and masks", "games")
    rows = [
        [m.observation, f"{m.per_game:,.0f}", f"{m.payload_per_game:,}", f"{m.games[0]:,} .. {m.games[1]:,}"]
        for m in results.memory
    ]
    return markdown_table(columns, rows)


def profile_table(results: Results, profile: Profile) -> str:
    """Return where the time of a step goes."""
    name = f"{profile.observation}-1"
    one, many = results.point(name, 1), results.point(name, profile.games)
    if not one or not many or not profile.parts:
        return ""
    of_one, of_many = (summarize([1e6 / rate for rate in point.steps_per_second]).median for point in (one, many))
    a_game = (of_many - of_one) / (profile.games - 1)
    parts = {"Python, whatever the number of games": of_one - a_game}
    parts |= {part: summarize(figures).median for part, figures in profile.parts.items()}
    parts["reports, infos; less what the parts share"] = of_many - sum(parts.values())
    parts["the whole step"] = of_many
    rows = [[part, f"{taken:,.1f}", f"{taken / of_many:.0%}"] for part, taken in parts.items()]
    return markdown_table((f"part of a step, {profile.observation}, {profile.games:,} games", "µs", "share"), rows)


def report(results: Results) -> str:
    """Return the whole report."""
    parts = [
        machine_lines(results),
        goals_table(results),
        startup_lines(results),
        "### Contestants",
        comparison_table(results),
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
    return "\n\n".join(part for part in parts if part) + "\n"


def write_rounds(results: Results, file: TextIO) -> None:
    """Write every round of every contestant as CSV."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(("contestant", "batch", "threads", "round", "steps_per_second", "agent_steps_per_second", "cores"))
    for point in results.points:
        for place, (rate, cores) in enumerate(zip(point.steps_per_second, point.cores, strict=True)):
            agent_rate = f"{rate * point.agent_steps:.1f}"
            writer.writerow((point.name, point.batch, point.threads, place, f"{rate:.3f}", agent_rate, f"{cores:.3f}"))
