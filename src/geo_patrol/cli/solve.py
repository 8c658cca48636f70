"""``geo-patrol solve``: solve a small game exactly."""

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from geo_patrol.cli import options
from geo_patrol.cli.errors import bad_input, plain_errors
from geo_patrol.cli.output import STDOUT, check_output, print_heading, write_json
from geo_patrol.versions import versions

if TYPE_CHECKING:
    from geo_patrol.solving import Solution

ROUNDING = 1e-9
"""Values up to here are printed as 0."""


@plain_errors
def solve(
    config: Annotated[str, typer.Argument(metavar="CONFIG", help="A preset's name, or a TOML file: duel, skirmish.")],
    overrides: options.OverridesOption = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Save the solution, for the agent solved:FILE.")
    ] = None,
    max_positions: Annotated[
        int, typer.Option(metavar="N", min=1, help="Refuse games that may have more positions.")
    ] = 100_000_000,
    threads: Annotated[
        int | None, typer.Option("--threads", "-t", metavar="N", min=1, help="Threads; one per core by default.")
    ] = None,
    json: options.Json = None,
    quiet: options.Quiet = False,
) -> None:
    """Solve a small game exactly: its value for both sides, and how to play it.

    Backward induction over all positions that can be reached; in each of them, both sides order at the same time, and an
    equilibrium of that matrix game is computed. Positions, memory and time are estimated first.
    """
    from geo_patrol.config.presets import load_config
    from geo_patrol.evaluation.executors import usable_cores
    from geo_patrol.solving import Limits, estimate, write_solution
    from geo_patrol.solving import solve as solve_game

    with bad_input():
        resolved = load_config(config, overrides)
    expected = estimate(resolved)
    for target in (json, None if out is None else str(out)):
        check_output(target)
    if not quiet and expected.positions <= max_positions:
        print(f"geo-patrol: {resolved.title}: {expected}", file=sys.stderr)
    start = time.perf_counter()
    report = None if quiet else lambda text: print(f"geo-patrol: {text}", file=sys.stderr, flush=True)
    solution = solve_game(resolved, Limits(max_positions, threads or usable_cores(), report))
    seconds = time.perf_counter() - start
    if out is not None:
        write_solution(out, solution)
    source = {"source": config, "overrides": overrides or [], "values": resolved.to_dict()}
    write_json(json, _report(solution, seconds) | {"config": source})
    if json != STDOUT:
        _print(solution, seconds, config, out)


def _report(solution: "Solution", seconds: float) -> dict[str, Any]:
    """Return the results as JSON data."""
    return {
        "format": "geo_patrol solve",
        "version": 1,
        "versions": versions(),
        "value": solution.value,
        "states": solution.num_positions,
        "certified_gap": solution.certified_gap,
        "seconds": seconds,
    }


def _print(solution: "Solution", seconds: float, source: str, out: Path | None) -> None:
    """Print the values, and what can be done with the solution."""
    console = print_heading(solution.config.title, f"{source}, {solution.num_positions:,} positions, {seconds:.1f} s")
    score, outcome = (value + 0.0 if abs(value) > ROUNDING else 0.0 for value in solution.value.values())
    console.print(f"value for alpha: score difference {score:+.4f}, wins minus losses {outcome:+.4f}")
    console.print(f"largest duality gap of a decision: {solution.certified_gap:.1e}")
    if out is not None:
        console.print(f"It is in {out}: geo-patrol match solved:{out} random -c {source}", soft_wrap=True)
