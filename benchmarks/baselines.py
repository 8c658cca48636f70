"""Learning methods beside each other: ``python -m benchmarks.baselines run --method mmd --config geo_patrol --seed 0``.

A run is a line of ``results.jsonl``; one that is there is not trained again, and an interrupted one continues where it
stopped. ``cross-play`` lets the results play each other, ``publish`` writes docs/baselines.md.
"""

import hashlib
import json
import os
import platform
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from pydantic import BaseModel

from benchmarks.machine import processor_name
from benchmarks.publish import put_between_markers

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy and PyTorch are used: docs/training.md, Threads

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "baselines.md"
_OUT = ROOT / "build" / "baselines"
RESULTS = "results.jsonl"
PSRO_SIZE = 8  # policies of a population; each response gets the same part of the steps


class Run(BaseModel):
    """A trained policy and its results.

    Attributes:
        method: its key in ``METHODS``.
        config: the preset.
        seed: of all random streams.
        steps: of the environments, those of the budget.
        minutes: of training.
        curve: evaluations, with the columns of ``curve.csv``; of a population only that of the mixture.
        sha256: of the file of weights.
        machine: processor, number of cores and version of Python.
        command: repeats the run.
    """

    method: str
    config: str
    seed: int
    steps: int
    minutes: float
    curve: list[dict[str, float]]
    sha256: str
    machine: str
    command: str

    @property
    def key(self) -> tuple[str, str, int, int]:
        """What tells runs apart."""
        return self.method, self.config, self.seed, self.steps


def _train(method: str, config: str, seed: int, steps: int, folder: Path) -> tuple[list[dict[str, float]], Path]:
    """Train by a method of the trainer; return the curve and the file of the policy."""
    from geo_patrol.training import train
    from geo_patrol.training.methods import configure

    settings: dict[str, Any] = {"config": (config,), "eval_config": config, "total_timesteps": steps}
    curve = train(configure(method, out=folder, seed=seed, save_policies=True, **settings))
    return [point.to_row() for point in curve], folder / "policy.safetensors"


def _train_population(
    method: str,  # noqa: ARG001 - as the others
    config: str,
    seed: int,
    steps: int,
    folder: Path,
) -> tuple[list[dict[str, float]], Path]:
    """Train a population from random weights; return one evaluation of its mixture, and the file of that."""
    from geo_patrol import play_match
    from geo_patrol.training import Evaluation, TrainingConfig, WinRate, train
    from geo_patrol.training.population import MIXTURE, train_population

    settings: dict[str, Any] = {"config": (config,), "eval_config": config, "total_timesteps": steps // PSRO_SIZE}
    first = TrainingConfig(out=folder / "first", seed=seed, **settings)
    minutes = train(first)[-1].minutes
    responses = TrainingConfig(out=folder, seed=seed, **settings)
    train_population(responses, [str(first.out / "policy.safetensors")], size=PSRO_SIZE, processes=1)
    minutes += sum(_last_minutes(file) for file in folder.glob("responses/*/curve.csv"))
    file = folder / MIXTURE
    win_rates = {}
    for opponent in first.eval_opponents:
        total = (
            play_match(f"policy:{file}", opponent, config=config, games=5 * first.eval_games, seed=seed).summary().total
        )
        win_rates[opponent] = WinRate(float(total.win_rate), *map(float, total.win_interval))
    return [Evaluation(minutes, steps, win_rates).to_row()], file


def _last_minutes(curve: Path) -> float:
    return float(curve.read_text(encoding="utf-8").splitlines()[-1].partition(",")[0])


METHODS: dict[str, Callable[[str, str, int, int, Path], tuple[list[dict[str, float]], Path]]] = {
    "league": _train,
    "self-play": _train,
    "mmd": _train,
    "entropy": _train,
    "psro": _train_population,
}


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
    heading = ["configuration", "steps", "method", "seeds", "minutes", *(f"`{name}`" for name in opponents)]
    lines = [f"| {' | '.join(heading)} |", f"|{'---|' * len(heading)}"]
    for (config, steps, method), members in sorted(groups.items()):
        minutes = np.mean([run.minutes for run in members])
        cells = [config, f"{steps:,}", method, str(len(members)), f"{minutes:.1f}"]
        cells += [_describe([run.curve[-1][name] for run in members if name in run.curve[-1]]) for name in opponents]
        lines.append(f"| {' | '.join(cells)} |")
    machines = "; ".join(sorted({run.machine for run in runs}))
    note = "Interquartile means over seeds, 95 % bootstrap intervals; games won in the final evaluation."
    return "\n".join([*lines, "", f"{note} {machines}; one thread."])


def _describe(scores: list[float]) -> str:
    if not scores:
        return "-"
    estimate, low, high = interquartile_mean(scores)
    return f"{estimate:.1%} ({low:.1%}-{high:.1%})"


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
    if (method, config, seed, steps) in {found.key for found in read_runs(out)}:
        print(f"{method} on {config}, seed {seed}, {steps:,} steps: there already, in {out / RESULTS}")
        return
    curve, file = METHODS[method](method, config, seed, steps, _folder(out, method, config, seed, steps))
    result = Run(
        method=method,
        config=config,
        seed=seed,
        steps=steps,
        minutes=curve[-1]["minutes"],
        curve=curve,
        sha256=hashlib.sha256(file.read_bytes()).hexdigest(),
        machine=f"{processor_name()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        command=f"python -m benchmarks.baselines run --method {method} --config {config} --seed {seed} --steps {steps}",
    )
    with (out / RESULTS).open("a", encoding="utf-8") as results:
        results.write(result.model_dump_json() + "\n")


def _folder(out: Path, method: str, config: str, seed: int, steps: int) -> Path:
    return out / f"{config}-{method}-{steps}-seed{seed}"


def _policy(out: Path, found: Run) -> Path:
    name = "mixture" if found.method == "psro" else "policy"
    return _folder(out, *found.key) / f"{name}.safetensors"


@app.command()
def cross_play(config: Config = "geo_patrol", games: int = 1000, seed: int = 0, out: Out = _OUT) -> None:
    """Let all trained policies play each other, sides swapped, and write the results as JSON."""
    from geo_patrol import play_tournament

    policies = [f"policy:{_policy(out, found)}" for found in read_runs(out) if found.config == config]
    folder = out / f"cross-play-{config}-{len(policies)}"
    tournament = play_tournament(policies, config=config, games=games, seed=seed, folder=folder)
    (folder / "results.json").write_text(json.dumps(tournament.to_dict(), indent=1) + "\n", encoding="utf-8")


@app.command()
def publish(out: Out = _OUT) -> None:
    """Write the table of all results into docs/baselines.md."""
    runs = read_runs(out)
    if not runs:
        raise typer.BadParameter(f"no results in {out}", param_hint="--out")
    text = DOCUMENT.read_text(encoding="utf-8")
    DOCUMENT.write_text(put_between_markers(text, table(runs)), encoding="utf-8")


if __name__ == "__main__":
    app()
