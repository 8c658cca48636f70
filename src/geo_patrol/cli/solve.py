"""``geo-patrol solve``: solve a small game exactly."""

import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from geo_patrol.base.versions import versions
from geo_patrol.cli import options, output

if TYPE_CHECKING:
    from geo_patrol.solving import GameSolution


def solve(
    config: Annotated[str, typer.Argument(metavar="CONFIG", help="A preset's name, or a TOML file: duel, skirmish.")],
    overrides: options.OverridesOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            parser=options.user_path,
            metavar="FILE",
            help="Save the solution, for the agent solved:FILE.",
        ),
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
    equilibrium of that matrix game is computed.
    """
    from geo_patrol.evaluation.executors import usable_cores
    from geo_patrol.solving import Limits, write_solution
    from geo_patrol.solving import solve as solve_game
    from geo_patrol.solving.backward_induction import COMPILE_SECONDS, is_compiled, make_board

    scenario = options.ConfigOptions(config=config, overrides=overrides)
    resolved = scenario.resolved
    make_board(resolved)  # refuses what cannot be solved before the solver is compiled
    output.check_outputs({"--json": json, "--out": out})
    if not (quiet or is_compiled()):
        print(f"geo-patrol: first, once, about {COMPILE_SECONDS} s to compile the solver", file=sys.stderr)
    start = time.perf_counter()
    report = None if quiet else lambda text: print(f"geo-patrol: {text}", file=sys.stderr, flush=True)
    solution = solve_game(resolved, Limits(max_positions, threads or usable_cores(), report))
    seconds = time.perf_counter() - start
    if out is not None:
        write_solution(out, solution)

    def print_result() -> None:
        _print_solution(solution, seconds, scenario.source)
        if out is not None:
            replaced = "".join(f" -s {shlex.quote(each)}" for each in overrides or [])
            print(f"It is in {out}: geo-patrol match solved:{shlex.quote(str(out))} random -c {config}{replaced}")

    data = {"format": "geo_patrol solve", "version": 1, "versions": versions(), **solution.to_dict()}
    data |= {"seconds": seconds, "config": scenario.to_dict()}
    output.write_results(lambda: data, print_result, json=json, quiet=quiet)


def _print_solution(solution: "GameSolution", seconds: float, source: str) -> None:
    """Print the values."""
    console = output.print_heading(
        solution.config.title, f"{source}, {solution.num_positions:,} positions, {seconds:.1f} s"
    )
    score, outcome = solution.value.values()
    console.print(f"value for alpha: score difference {score:+z.4f}, wins minus losses {outcome:+z.4f}")
    console.print(f"largest duality gap of a decision: {solution.certified_gap:.1e}")
