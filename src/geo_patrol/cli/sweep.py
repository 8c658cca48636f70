"""``geo-patrol sweep``: win rates over a grid of configuration values."""

from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from geo_patrol.cli import options
from geo_patrol.cli.campaign import Campaign, write_plots
from geo_patrol.cli.errors import bad_input, plain_errors
from geo_patrol.cli.output import (
    check_output,
    check_parquet,
    percent_interval,
    plain_table,
    print_heading,
    win_rate_columns,
    write_csv,
    write_parquet,
)
from geo_patrol.sides import SIDES

if TYPE_CHECKING:
    from geo_patrol.evaluation import Sweep

_Vary: TypeAlias = Annotated[
    list[str],
    typer.Option("--vary", "-v", metavar="KEY=VALUES", help="Such as bravo.patrols.ammo=0..4; may be repeated."),
]
_Csv: TypeAlias = Annotated[str | None, typer.Option("--csv", metavar="FILE", help="Write a row per cell as CSV.")]
_Parquet: TypeAlias = Annotated[
    str | None,
    typer.Option("--parquet", metavar="FILE", help="Write a row per cell as Parquet; needs the extra parquet."),
]

_MAX_ROWS = 200
_MAX_KEY_WIDTH = 12


@plain_errors
def sweep(
    vary: _Vary,
    agents: Annotated[
        tuple[str, str],
        typer.Option("--agents", "-a", metavar="AGENT AGENT", help="Two agents; may be the same one."),
    ] = ("scripted", "scripted"),
    config: options.ConfigOption = "geo_patrol",
    overrides: options.OverridesOption = None,
    games: Annotated[
        int, typer.Option("--games", "-n", metavar="N", help="Games per cell, even: half with sides swapped.")
    ] = 200,
    seed: options.Seed = None,
    processes: options.Processes = None,
    ray: options.Ray = None,
    move_time: options.MoveTime = 0.1,
    out: options.Out = None,
    json: options.Json = None,
    csv: _Csv = None,
    parquet: _Parquet = None,
    quiet: options.Quiet = False,
) -> None:
    """Play a match for every combination of varied values, and print win rates with their 95 % intervals.

    VALUES: 60,80,100 or 0..4 (all whole numbers) or 0..1..0.25 (with a step). --out DIR adds JSON, CSV and a heat map.
    """
    from geo_patrol.evaluation import play_sweep
    from geo_patrol.evaluation.sweep import parse_variations

    with bad_input():
        parse_variations(vary)
    _check_tables(csv, parquet)
    campaign = Campaign(
        agents=agents,
        config=config,
        overrides=overrides,
        games=games,
        seed=seed,
        move_time=move_time,
        processes=processes,
        ray=ray,
        out=out,
        json=json,
        quiet=quiet,
    )
    play = partial(
        play_sweep, *agents, vary, config=config, overrides=overrides or [], games=games, seed=seed, folder=out
    )
    result = campaign.run("sweep", "sweep", play, print_sweep, write_files)
    _write_tables(result, csv, parquet)


def _check_tables(csv: str | None, parquet: str | None) -> None:
    """Check that both tables can be written, before anything is played."""
    check_output(csv)
    check_output(parquet)
    if parquet is not None:
        check_parquet()


def _write_tables(result: "Sweep", csv: str | None, parquet: str | None) -> None:
    if csv is not None:
        write_csv(csv, _rows(result))
    if parquet is not None:
        write_parquet(parquet, _rows(result))


def write_files(out: Path, result: "Sweep", _data: dict[str, Any]) -> None:
    """Write the table as CSV, and plots."""
    from geo_patrol.evaluation.plots import sweep_figure

    write_csv(str(out / "sweep.csv"), _rows(result))
    write_plots(out / "sweep", sweep_figure, result)


def _rows(result: "Sweep") -> list[dict[str, Any]]:
    """Return a row for every cell: the varied values, two win rates, and what else was counted."""
    prefixes = SIDES if result.agents[0] == result.agents[1] else [f"first_as_{side}" for side in SIDES]
    columns = [_parse_column(variation.values) for variation in result.variations]
    return [
        {
            **{v.key: column[value] for v, column, value in zip(result.variations, columns, cell, strict=True)},
            **win_rate_columns(f"{prefixes[0]}_", asdict(summary.win_rates[0])),
            **win_rate_columns(f"{prefixes[1]}_", asdict(summary.win_rates[1])),
            "draw_rate": summary.draw_rate,
            "mean_turns": summary.mean_turns,
            "first_illegal_orders": summary.illegal_orders[0],
            "second_illegal_orders": summary.illegal_orders[1],
            "failures": len(summary.failures),
            "games_lost_by_failures": sum(failure.games for failure in summary.failures),
        }
        for cell, summary in zip(result.cells, result.results, strict=True)
    ]


def _parse_column(values: tuple[str, ...]) -> dict[str, Any]:
    """Return a variation's values by their texts: as numbers if all of them are."""
    for number in (int, float):
        with suppress(ValueError):
            return {value: number(value) for value in values}
    return {value: value for value in values}


def print_sweep(result: "Sweep", source: str) -> None:
    """Print a row for every cell."""
    first, second = result.agents
    heading = f"{first} against {second}, {result.games:,} games per cell"
    console = print_heading(heading, f"{result.title} ({source}), seed {result.seed}")
    if len(result.cells) > _MAX_ROWS:
        console.print(f"{len(result.cells):,} cells are too many to print: --out DIR or --json FILE keeps them")
    else:
        console.print(_table(result))
    _print_failures(console, result)


def _table(result: "Sweep") -> Any:
    table = plain_table()
    for variation in result.variations:
        heading = variation.key.replace(".", ".\n")
        width = min(max(map(len, heading.split("\n"))), _MAX_KEY_WIDTH)
        table.add_column(heading, justify="right", overflow="fold", min_width=width)
    for side in SIDES:
        heading = f"{side} wins" if result.agents[0] == result.agents[1] else f"{result.agents[0]} as {side} wins"
        table.add_column(heading, justify="right", overflow="fold")
        table.add_column("95% interval", justify="right", no_wrap=True)
    table.add_column("draws", justify="right", no_wrap=True)
    for cell, draws, *win_rates in zip(result.cells, result.draw_rates(), *result.win_rates().values(), strict=True):
        texts = [text for rate in win_rates for text in (f"{rate.win_rate:.1%}", percent_interval(rate.win_interval))]
        table.add_row(*cell, *texts, f"{draws:.1%}")
    return table


def _print_failures(console: Any, result: "Sweep") -> None:
    from rich.text import Text

    failures = [failure for cell in result.results for failure in cell.failures]
    messages = [failure.message for failure in failures]
    lost = sum(failure.games for failure in failures)
    if messages:
        console.print(f"\n{len(messages):,} failures of agents cost {lost:,} games:")
        for message in dict.fromkeys(messages):
            console.print(Text(message), soft_wrap=True)
