"""Learning methods beside each other: ``python -m research.baselines run --config duel --seed 0 --seed 1 --steps 2000000``.

A run is a line of ``results.jsonl``, see ``research.results``. ``bound`` trains responses to the results, ``cross-play`` lets
them play each other, ``publish`` writes docs/results/baselines.md.
"""

import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from pydantic import BaseModel

from benchmarks.documents import DOCS, ROOT, markdown_table, with_blocks
from benchmarks.machine import machine_name
from geo_patrol.base.errors import PolicyError
from geo_patrol.cli.output import Commands
from research.baseline_methods import (
    AVERAGE_EXPLOITABILITY,
    EXPLOITABILITY,
    METHODS,
    SATELLITE_METHODS,
    SELF_PLAY_EXPLOITABILITY,
    SOLVED,
    Job,
)
from research.downloads import enter, pack
from research.results import RESULTS, append_line, read_lines

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy and PyTorch are used: docs/train/training.md, Threads

DOCUMENT = DOCS / "results" / "baselines.md"
_OUT = ROOT / "build" / "baselines"
PUBLISHED = Path(__file__).with_name("baselines.jsonl")
"""The results that the document shows: every run with its curve, command and the hash of its weights."""
PLOT = DOCS / "pictures" / "exploitability.svg"
WEIGHTS = "geo_patrol-baselines-v0.zip"
BOUNDS = "bounds.jsonl"
CROSS_PLAY = "cross-play-{}.json"
_RESPONSE_SEED = 1_000  # apart from the seeds of runs


class Run(BaseModel):
    """A trained policy and its results.

    Attributes:
        method: its key in ``METHODS``.
        config: the preset.
        seed: of all random streams.
        steps: of the environments, if they are the budget.
        time_limit: minutes of training, if these are the budget.
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
    steps: int | None = None
    time_limit: float | None = None
    minutes: float
    curve: list[dict[str, float]]
    file: str
    sha256: str
    machine: str
    command: str

    @property
    def job(self) -> Job:
        """What tells runs apart."""
        return Job(self.method, self.config, self.seed, self.steps, self.time_limit)


class Bound(BaseModel):
    """A response trained to the policy of a run: its win rate bounds the policy's exploitability from below.

    Attributes:
        sha256: of the policy's file.
        response_steps: for which the response was trained, starting from ``policy:base``.
        win_rate: of the response in its final evaluation.
    """

    sha256: str
    response_steps: int
    win_rate: float


def interquartile_mean(scores: Sequence[float]) -> tuple[float, float, float]:
    """Return the interquartile mean of the scores of seeds, and the ends of its 95% bootstrap interval.

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


def by_section(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """Group runs by configuration and budget."""
    groups = defaultdict(list)
    for run in sorted(runs, key=lambda run: run.job.section):
        groups[run.job.section].append(run)
    return groups


def tables(runs: Sequence[Run], bounds: Sequence[Bound] = ()) -> str:
    """Return a table in Markdown for each configuration and budget, with a row for each method."""
    blocks = [
        f"`{members[0].config}`, {members[0].job.budget}:\n\n{_table(members, bounds)}"
        for members in by_section(runs).values()
    ]
    machines = "; ".join(sorted({run.machine for run in runs}))
    note = "Interquartile means over seeds, 95% bootstrap intervals where there are several; games won in the final evaluation."
    return "\n\n".join([*blocks, f"{note} {machines}; one thread."])


def _table(runs: Sequence[Run], bounds: Sequence[Bound]) -> str:
    methods = defaultdict(list)
    for run in runs:
        methods[run.method].append(run)
    responses = {bound.sha256: bound.win_rate for bound in bounds}
    opponents = sorted({name for run in runs for name in run.curve[-1] if f"{name} low" in run.curve[-1]})
    rows = []
    for method, members in sorted(methods.items()):
        last = [run.curve[-1] for run in members]
        steps, minutes = np.mean([point["steps"] for point in last]), np.mean([run.minutes for run in members])
        row = {"method": method, "seeds": str(len(members)), "steps": f"{steps:,.0f}", "minutes": f"{minutes:.1f}"}
        for column in (EXPLOITABILITY, AVERAGE_EXPLOITABILITY, SELF_PLAY_EXPLOITABILITY):
            row[column] = _describe([point[column] for point in last if column in point], ".3f")
        row["wins of a response"] = _describe(
            [responses[run.sha256] for run in members if run.sha256 in responses], ".1%"
        )
        rows.append(
            row
            | {f"`{name}`": _describe([point[name] for point in last if name in point], ".1%") for name in opponents}
        )
    columns = [name for name in rows[0] if any(row[name] != "-" for row in rows)]
    return markdown_table(columns, [[row[name] for name in columns] for row in rows])


def cross_play_table(played: Mapping[str, Any]) -> str:
    """Return a table in Markdown with the mean win rates between methods, and of each method from either side.

    Args:
        played: what ``cross-play`` writes; the agents are named by their methods and seeds.
    """
    methods = list(dict.fromkeys(name.split()[0] for name in played["agents"]))
    won = defaultdict(list)
    for pairing in played["pairings"]:
        first, second = (pairing[agent].split()[0] for agent in ("first", "second"))
        for row, column, sign in ((first, second, 1), (second, first, -1)):
            if first != second:
                won[row, column].append(_score(pairing["total"], sign))
            won[row, "as alpha"].append(_score(pairing["first_as_alpha" if sign > 0 else "first_as_bravo"], sign))
            won[row, "as bravo"].append(_score(pairing["first_as_bravo" if sign > 0 else "first_as_alpha"], sign))
    columns = [*methods, "as alpha", "as bravo"]
    rows = [
        [row, *(f"{100 * np.mean(won[row, column]):.1f}" if won[row, column] else "-" for column in columns)]
        for row in methods
    ]
    table = markdown_table(["mean score of the row, %", *columns], rows)
    games = f"{played['games_a_pairing']:,} side-swapped games for each two of {len(played['agents'])} policies"
    return f"{table}\n\n{games}; a draw counts one half. The last two columns are against all policies."


def _score(record: Mapping[str, Any], sign: int) -> float:
    """Return the score of the first agent of a pairing (sign 1) or of the second one (-1), 0 to 1."""
    score = (record["wins"] + record["draws"] / 2) / record["games"]
    return float(score if sign > 0 else 1 - score)


def _describe(scores: list[float], form: str) -> str:
    if not scores:
        return "-"
    if len(scores) == 1:  # which tells nothing of other seeds
        return f"{scores[0]:{form}}"
    return "{:{form}} ({:{form}}-{:{form}})".format(*interquartile_mean(scores), form=form)


def draw(runs: Sequence[Run], path: Path) -> bool:
    """Draw the exact exploitability over the steps, a panel for each method; return False if no run has it.

    Grey lines are seeds, the blue one is their interquartile mean with its interval.
    """
    groups = defaultdict(list)
    for run in runs:
        if EXPLOITABILITY in run.curve[-1]:
            groups[run.method].append(run)
    if not groups:
        return False
    from geo_patrol.evaluation.figures import new_figure, save_figure, series_style, style_axes

    rows, blue = -(-len(groups) // 3), series_style(0)["color"]
    figure = new_figure(8, 0.5 + 2.2 * rows)
    panels = figure.subplots(rows, 3, sharex=True, sharey=True, squeeze=False).flat
    for (method, members), axes in zip(sorted(groups.items()), panels, strict=False):
        curves = [[point for point in run.curve if EXPLOITABILITY in point] for run in members]
        points = list(zip(*curves, strict=True))
        steps = [np.mean([point["steps"] for point in each]) / 1e6 for each in points]
        scores = np.array([[point[EXPLOITABILITY] for point in each] for each in points])
        estimates, low, high = np.array([interquartile_mean(each) for each in scores.tolist()]).T
        axes.plot(steps, scores, color="0.6", linewidth=0.8)
        axes.plot(steps, estimates, color=blue, marker=".")
        axes.fill_between(steps, low, high, color=blue, alpha=0.15)
        style_axes(axes)
        axes.set(title=f"{method}, {len(members)} seeds", ylim=(0, 1.02))
        axes.tick_params(labelbottom=True)  # the panel below may be empty
    for axes in panels:
        axes.set_axis_off()
    figure.supxlabel("million environment steps", fontsize="medium")
    figure.supylabel("exact exploitability", fontsize="medium")
    save_figure(path.with_suffix(""), figure, [path.suffix])
    return True


app = Commands(add_completion=False, no_args_is_help=True, rich_markup_mode=None, help=__doc__)
Out = Annotated[Path, typer.Option("--out", help="Folder for trainings and results.")]
Config = Annotated[str, typer.Option("--config", help="Preset to train on.")]
USUAL_METHODS, FIRST_SEED = [name for name in METHODS if name not in SATELLITE_METHODS], [0]


@app.command()
def run(
    method: Annotated[list[str], typer.Option(help="What to train by; several times: by each.")] = USUAL_METHODS,
    config: Config = "geo_patrol",
    seed: Annotated[
        list[int], typer.Option(min=0, help="Of all random streams; several times: a run of each.")
    ] = FIRST_SEED,
    steps: Annotated[int, typer.Option(min=1, help="Environment steps in all.")] = 4_000_000,
    minutes: Annotated[float | None, typer.Option(min=1e-3, help="Training time in all, instead of --steps.")] = None,
    out: Out = _OUT,
) -> None:
    """Train a policy by each method from each seed, and add its results as a line."""
    for name in method:
        if name not in METHODS:
            raise typer.BadParameter(f"there is no method {name!r}: choose {', '.join(METHODS)}", param_hint="--method")
    for job_seed, name in product(seed, method):
        job = Job(name, config, job_seed, steps) if minutes is None else Job(name, config, job_seed, time_limit=minutes)
        if job in {found.job for found in read_lines(out / RESULTS, Run)}:
            print(f"{name} on {config}, seed {job_seed}, {job.budget}: there already, in {out / RESULTS}")
            continue
        trained = METHODS[name](job, _folder(out, job))
        if not job.is_complete(trained.curve):
            raise KeyboardInterrupt  # which a training ends at with what it has learned, and has to end all of them
        result = Run(
            **job._asdict(),
            minutes=trained.curve[-1]["minutes"],
            curve=trained.curve,
            file=str(trained.file.relative_to(out)),
            sha256=hashlib.sha256(trained.file.read_bytes()).hexdigest(),
            machine=machine_name(),
            command=f"python -m research.baselines run --method {name} --config {config} --seed {job_seed} "
            + (f"--steps {steps}" if minutes is None else f"--minutes {minutes:g}"),
        )
        append_line(out / RESULTS, result)


def _folder(out: Path, job: Job) -> Path:
    return out / f"{job.config}-{job.method}-{job.steps or f'{job.time_limit:g}min'}-seed{job.seed}"


def _policy(out: Path, found: Run) -> str:
    file = out / found.file
    return f"{'torch' if file.suffix == '.pt' else 'policy'}:{file}"


@app.command()
def bound(
    config: Config = "geo_patrol",
    steps: Annotated[int, typer.Option(min=1, help="Environment steps of each response.")] = 1_000_000,
    out: Out = _OUT,
) -> None:
    """Train a response to each policy that has none, from ``policy:base``, and add its win rate as a line."""
    from geo_patrol.training import TrainingConfig, train_best_response

    done = {found.sha256 for found in read_lines(out / BOUNDS, Bound) if found.response_steps == steps}
    for found in read_lines(out / RESULTS, Run):
        if found.config == config and found.sha256 not in done:
            agent, folder = _policy(out, found), out / "responses" / f"{found.sha256[:16]}-{steps}"
            settings: dict[str, Any] = {"config": (config,), "eval_config": config, "initial_policy": "base"}
            response = TrainingConfig(out=folder, seed=_RESPONSE_SEED, total_timesteps=steps, **settings)
            last = train_best_response(agent, response.replace(num_evaluations=1))[-1]
            line = Bound(sha256=found.sha256, response_steps=steps, win_rate=last.win_rates[agent].value)
            append_line(out / BOUNDS, line)


@app.command()
def cross_play(config: Config = "geo_patrol", games: int = 400, seed: int = 0, out: Out = _OUT) -> None:
    """Let all policies that were trained with the same budget play each other, sides swapped, and write the results as JSON."""
    from geo_patrol.evaluation import play_tournament

    for section, members in by_section(
        [found for found in read_lines(out / RESULTS, Run) if found.config == config]
    ).items():
        runs = {_policy(out, found): found for found in members}
        folder = out / f"cross-play-{section}-{len(runs)}"
        played = play_tournament(list(runs), config=config, games=games, seed=seed, folder=folder).to_dict()
        text = json.dumps({key: played[key] for key in ("agents", "games_a_pairing", "seed", "pairings")}, indent=1)
        for policy, found in runs.items():
            text = text.replace(json.dumps(policy), json.dumps(f"{found.method} seed {found.seed}"))
        (out / CROSS_PLAY.format(section)).write_text(text + "\n", encoding="utf-8")


@app.command()
def publish(out: Out = _OUT) -> None:
    """Write tables and plot of the results into docs, the results beside this file, and the weights into a download.

    What is published of configurations and budgets without results in the folder stays. On solved configurations, so do
    the runs of methods that the folder lacks; elsewhere all policies are compared, so it must have all methods.
    """
    runs = read_lines(out / RESULTS, Run)
    if not runs:
        raise typer.BadParameter(f"no results in {out}", param_hint="--out")
    sections, published = by_section(runs), read_lines(PUBLISHED, Run)
    text = DOCUMENT.read_text(encoding="utf-8")
    for section, chosen in sections.items():
        methods = {found.method for found in chosen}
        others = [found for found in published if found.job.section == section and found.method not in methods]
        if others and chosen[0].config not in SOLVED:
            missing_methods = ", ".join(sorted({found.method for found in others}))
            raise typer.BadParameter(f"no results of {missing_methods}, published of {section}", param_hint="--out")
        sections[section] = [*others, *chosen]
    if missing := [section for section in sections if f"<!-- {section}: begin" not in text]:
        raise typer.BadParameter(
            f"{DOCUMENT.name} has no section for the results of {', '.join(missing)}", param_hint="--out"
        )
    pack_weights(runs, out)
    enter(out / WEIGHTS)
    blocks = {}
    for section, chosen in sections.items():
        block = tables(chosen, read_lines(out / BOUNDS, Bound))
        if (played := out / CROSS_PLAY.format(section)).exists():
            block += f"\n\nAgainst each other:\n\n{cross_play_table(json.loads(played.read_text('utf-8')))}"
        if draw(chosen, PLOT):
            block += f"\n\n![Exact exploitability over environment steps](../{PLOT.relative_to(DOCS).as_posix()})"
            block += "\n\nGrey lines are seeds, the blue one is their interquartile mean with its interval."
        blocks[section] = block
        published = [found for found in published if found.job.section != section] + chosen
    DOCUMENT.write_text(with_blocks(DOCUMENT, blocks), encoding="utf-8")
    PUBLISHED.write_text("".join(f"{found.model_dump_json()}\n" for found in published), encoding="utf-8")


def pack_weights(runs: Sequence[Run], out: Path) -> None:
    """Write the weights of all runs, averaged ones too, into a download with a file for ``sha256sum --check``.

    Raises:
        PolicyError: a file is not that of its run.
    """
    contents, hashes = {}, {}
    for found in runs:
        last = out / found.file
        for file in sorted(last.parent.glob(f"{last.stem}*{last.suffix}")):
            name, content = file.relative_to(out).as_posix(), file.read_bytes()
            contents[name], hashes[name] = content, hashlib.sha256(content).hexdigest()
        if hashes.get(found.file) != found.sha256:
            raise PolicyError(f"{last}: these are not the weights of its run, whose SHA-256 is {found.sha256}")
    sums = "".join(f"{digest}  {name}\n" for name, digest in hashes.items()).encode()
    pack(out / WEIGHTS, contents | {"SHA256SUMS": sums})


if __name__ == "__main__":
    app()
