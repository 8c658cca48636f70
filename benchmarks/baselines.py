"""Learning methods beside each other: ``python -m benchmarks.baselines run --method mmd --config geo_patrol --seed 0``.

A run is a line of ``results.jsonl``; one that is there is not trained again, and an interrupted one continues where it
stopped. ``cross-play`` lets the results play each other, ``publish`` writes docs/baselines.md.
"""

import hashlib
import json
import os
import platform
import shutil
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from pydantic import BaseModel

from benchmarks.baseline_methods import EXPLOITABILITY, METHODS, Job
from benchmarks.machine import processor_name
from benchmarks.publish import put_between_markers

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy and PyTorch are used: docs/training.md, Threads

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "baselines.md"
_OUT = ROOT / "build" / "baselines"
PUBLISHED = Path(__file__).with_name("baselines.jsonl")
"""The results that the document shows: every run with its curve, command and the hash of its weights."""
PLOT = ROOT / "docs" / "pictures" / "exploitability.svg"
RESULTS = "results.jsonl"


class Run(BaseModel):
    """A trained policy and its results.

    Attributes:
        method: its key in ``METHODS``.
        config: the preset.
        seed: of all random streams.
        steps: of the environments, those of the budget.
        minutes: of training.
        curve: evaluations, with the columns of ``curve.csv`` and perhaps ``EXPLOITABILITY``.
        file: of the weights, in the folder of the results.
        sha256: of that file.
        machine: processor, number of cores and version of Python.
        command: repeats the run.
    """

    method: str
    config: str
    seed: int
    steps: int
    minutes: float
    curve: list[dict[str, float]]
    file: str
    sha256: str
    machine: str
    command: str

    @property
    def job(self) -> Job:
        """What tells runs apart."""
        return Job(self.method, self.config, self.seed, self.steps)


def read_runs(out: Path) -> list[Run]:
    """Read the results, one a line."""
    file = out / RESULTS
    if not file.exists():
        return []
    return [Run.model_validate_json(line) for line in file.read_text(encoding="utf-8").splitlines()]


def interquartile_mean(scores: Sequence[float]) -> tuple[float, float, float]:
    """Return the interquartile mean of the scores of seeds, and the ends of its 95 % bootstrap interval.

    As in Agarwal et al., "Deep reinforcement learning at the edge of the statistical precipice", 2021: the mean without
    the lowest and highest quarter; percentiles of 10,000 resamples of the seeds.
    """
    from scipy.stats import bootstrap, trim_mean

    estimate = float(trim_mean(scores, 0.25))
    if len(set(scores)) < 2:
        return estimate, estimate, estimate
    found = bootstrap(
        (np.asarray(scores),),
        lambda sample, axis: trim_mean(sample, 0.25, axis=axis),
        n_resamples=10_000,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    return estimate, float(found.low), float(found.high)


def table(runs: Sequence[Run]) -> str:
    """Return a table in Markdown with a row for each method, configuration and number of steps."""
    groups = defaultdict(list)
    for run in runs:
        groups[run.config, run.steps, run.method].append(run)
    opponents = sorted({name for run in runs for name in run.curve[-1] if f"{name} low" in run.curve[-1]})
    heading = ["configuration", "steps", "method", "seeds", "minutes", EXPLOITABILITY]
    heading += [f"`{name}`" for name in opponents]
    lines = [f"| {' | '.join(heading)} |", f"|{'---|' * len(heading)}"]
    for (config, steps, method), members in sorted(groups.items()):
        minutes = np.mean([run.minutes for run in members])
        cells = [config, f"{steps:,}", method, str(len(members)), f"{minutes:.1f}"]
        last = [run.curve[-1] for run in members]
        exact = [point[EXPLOITABILITY] for point in last if EXPLOITABILITY in point]
        cells += [_describe(exact, ".3f")]
        cells += [_describe([point[name] for point in last if name in point], ".1%") for name in opponents]
        lines.append(f"| {' | '.join(cells)} |")
    machines = "; ".join(sorted({run.machine for run in runs}))
    note = "Interquartile means over seeds, 95 % bootstrap intervals; games won in the final evaluation."
    return "\n".join([*lines, "", f"{note} {machines}; one thread."])


def _describe(scores: list[float], form: str) -> str:
    if not scores:
        return "-"
    return "{:{form}} ({:{form}}-{:{form}})".format(*interquartile_mean(scores), form=form)


def draw(runs: Sequence[Run], path: Path) -> bool:
    """Draw the exact exploitability over the steps, a line for each method; return False if no run has it."""
    groups = defaultdict(list)
    for run in runs:
        if EXPLOITABILITY in run.curve[-1]:
            groups[run.method].append(run)
    if not groups:
        return False
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "geo_patrol"
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    for method, members in sorted(groups.items()):
        curves = [[point for point in run.curve if EXPLOITABILITY in point] for run in members]
        points = list(zip(*curves, strict=True))
        steps = [np.mean([point["steps"] for point in each]) for each in points]
        estimates, low, high = np.array(
            [interquartile_mean([point[EXPLOITABILITY] for point in each]) for each in points]
        ).T
        axes.plot(steps, estimates, marker=".", label=f"{method}, {len(members)} seeds")
        axes.fill_between(steps, low, high, alpha=0.15)
    axes.set(xlabel="environment steps", ylabel="exact exploitability", ylim=(0, None))
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    figure.savefig(path, metadata={"Date": None})
    return True


app = typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode=None, help=__doc__)
Out = Annotated[Path, typer.Option("--out", help="Folder for trainings and results.")]
Config = Annotated[str, typer.Option("--config", help="Preset to train on.")]


@app.command()
def run(
    method: Annotated[str, typer.Option(help=f"One of {', '.join(METHODS)}.")],
    config: Config = "geo_patrol",
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random streams.")] = 0,
    steps: Annotated[int, typer.Option(min=1, help="Environment steps in all.")] = 4_000_000,
    out: Out = _OUT,
) -> None:
    """Train one policy, and add its results as a line."""
    if method not in METHODS:
        raise typer.BadParameter(f"there is no method {method!r}: choose {', '.join(METHODS)}", param_hint="--method")
    job = Job(method, config, seed, steps)
    if job in {found.job for found in read_runs(out)}:
        print(f"{method} on {config}, seed {seed}, {steps:,} steps: there already, in {out / RESULTS}")
        return
    trained = METHODS[method](job, _folder(out, job))
    result = Run(
        **job._asdict(),
        minutes=trained.curve[-1]["minutes"],
        curve=trained.curve,
        file=str(trained.file.relative_to(out)),
        sha256=hashlib.sha256(trained.file.read_bytes()).hexdigest(),
        machine=f"{processor_name()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        command=f"python -m benchmarks.baselines run --method {method} --config {config} --seed {seed} --steps {steps}",
    )
    with (out / RESULTS).open("a", encoding="utf-8") as results:
        results.write(result.model_dump_json() + "\n")


def _folder(out: Path, job: Job) -> Path:
    return out / f"{job.config}-{job.method}-{job.steps}-seed{job.seed}"


def _policy(out: Path, found: Run) -> str:
    file = out / found.file
    return f"{'torch' if file.suffix == '.pt' else 'policy'}:{file}"


@app.command()
def cross_play(config: Config = "geo_patrol", games: int = 1000, seed: int = 0, out: Out = _OUT) -> None:
    """Let all trained policies play each other, sides swapped, and write the results as JSON."""
    from geo_patrol import play_tournament

    policies = [_policy(out, found) for found in read_runs(out) if found.config == config]
    folder = out / f"cross-play-{config}-{len(policies)}"
    tournament = play_tournament(policies, config=config, games=games, seed=seed, folder=folder)
    (folder / "results.json").write_text(json.dumps(tournament.to_dict(), indent=1) + "\n", encoding="utf-8")


@app.command()
def publish(out: Out = _OUT) -> None:
    """Write the table and the plot of all results into docs, and the results themselves beside this file."""
    runs = read_runs(out)
    if not runs:
        raise typer.BadParameter(f"no results in {out}", param_hint="--out")
    text = DOCUMENT.read_text(encoding="utf-8")
    block = table(runs)
    if draw(runs, PLOT):
        block += f"\n\n![Exact exploitability over environment steps]({PLOT.relative_to(ROOT / 'docs').as_posix()})"
    DOCUMENT.write_text(put_between_markers(text, block), encoding="utf-8")
    shutil.copyfile(out / RESULTS, PUBLISHED)


if __name__ == "__main__":
    app()
