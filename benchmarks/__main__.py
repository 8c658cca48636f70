"""Benchmarks: ``python -m benchmarks run`` measures, ``python -m benchmarks publish`` updates the documents."""

import dataclasses
import shutil
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.markdown import Markdown

from benchmarks.contestants import CONTESTANTS
from benchmarks.measure import FULL, QUICK, measure
from benchmarks.publish import DOCUMENT, PLOT, PUBLISHED, document, draw, report
from benchmarks.results import Results

app = typer.Typer(
    add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None, help=__doc__
)
_OUT = Path("build") / "benchmarks"
_RAW = "results.json"
_WIDTH = 220  # of the table of contestants

Out = Annotated[Path, typer.Option("--out", help="Folder for the results, the report and the plot.")]


@app.command()
def run(
    out: Out = _OUT,
    quick: Annotated[bool, typer.Option(help="A run of a few seconds that only checks that everything works.")] = False,
    rounds: Annotated[int | None, typer.Option(min=1, help="Rounds (9).")] = None,
    seconds: Annotated[float | None, typer.Option(min=0.001, help="Seconds per contestant and round (0.35).")] = None,
    only: Annotated[str, typer.Option(help="Only contestants whose names contain this.")] = "",
) -> None:
    """Measure all contestants in interleaved rounds; about five minutes."""
    if not any(only in name for name in CONTESTANTS):
        raise typer.BadParameter(f"{only!r} is in none of {', '.join(CONTESTANTS)}", param_hint="--only")
    plan = QUICK if quick else FULL
    plan = dataclasses.replace(plan, rounds=rounds or plan.rounds, seconds=seconds or plan.seconds)
    logs = out / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    results = measure(plan, only, logs)
    (out / _RAW).write_text(results.model_dump_json(indent=1) + "\n", encoding="utf-8")
    (out / "report.md").write_text(report(results), encoding="utf-8")
    Console(width=max(Console().width, _WIDTH)).print(Markdown(report(results)))
    try:
        draw(results, out / "throughput.svg", out / "throughput.png")
    except ModuleNotFoundError as error:
        print(f"no plot: {error.name} is not installed")
    except ValueError as error:
        print(f"no plot: {error}")
    print(f"written to {out}: {', '.join(sorted(path.name for path in out.iterdir() if path.is_file()))}")
    if any(point.missing is not None and point.missing.startswith("failed") for point in results.points):
        raise typer.Exit(1)


@app.command()
def publish(out: Out = _OUT) -> None:
    """Write the results of the last full run into docs/results/benchmarks.md."""
    try:
        results = Results.model_validate_json((out / _RAW).read_text(encoding="utf-8"))
    except (OSError, ValidationError) as error:
        raise typer.BadParameter(f"no results in {out}: {error}", param_hint="--out") from None
    if results.is_quick:
        raise typer.BadParameter(f"{out} holds a quick run, which does not measure speed", param_hint="--out")
    draw(results, PLOT)
    DOCUMENT.write_text(document(results), encoding="utf-8")
    shutil.copyfile(out / _RAW, PUBLISHED)


if __name__ == "__main__":
    app()
